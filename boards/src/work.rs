//! The folder that everything is written to.
use crate::error::{at, Error};
use crate::source::own_checkout;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs};

/// Where everything is written: `KILN_WORK_DIR` if set, `target/kiln` of the checkout this crate was compiled in if that
/// still exists, `target/kiln` of the current directory otherwise.
///
/// # Errors
/// Where the folder cannot be created.
pub fn work_dir() -> Result<PathBuf, Error> {
    let folder = match env::var_os("KILN_WORK_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => own_checkout().unwrap_or_default().join("target").join("kiln"),
    };
    fs::create_dir_all(&folder).map_err(at(&folder))?;
    // Without symbolic links and relative parts: paths below are written into manifests.
    folder.canonicalize().map_err(at(&folder))
}

/// A name for files and Cargo targets: `stem` made safe, and a hash of everything that tells one build from another.
pub(crate) fn unique_name(stem: &Path, different: impl Hash) -> String {
    let stem = stem.file_stem().unwrap_or_default().to_string_lossy();
    let safe: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let mut hasher = DefaultHasher::new();
    different.hash(&mut hasher);
    format!("{safe}-{:08x}", hasher.finish() as u32)
}

/// Writes a file unless it has that content already. Others never see half of it.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Error> {
    let content = content.as_ref();
    if fs::read(path).is_ok_and(|present| present == content) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(at(folder))?;
    }
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let partial = path.with_extension(format!("{}-{count}.partial", std::process::id()));
    fs::write(&partial, content).map_err(at(&partial))?;
    fs::rename(&partial, path).map_err(at(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_and_differ() {
        let (one, two) =
            (unique_name(Path::new("a/my model.v1.rs"), 1), unique_name(Path::new("a/my model.v1.rs"), 2));
        assert!(one.starts_with("my_model_v1-") && one != two, "{one} {two}");
    }
}
