//! The crates that a build is made of: written out under one folder, so that an installed Kiln needs no checkout.
use crate::error::{at, Error};
use crate::firmware::Mode;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs};

/// The sources of `kiln-harness`, by path inside the crate.
const HARNESS: &[(&str, &str)] = &[
    ("src/arm.rs", include_str!("../harness/src/arm.rs")),
    ("src/bench.rs", include_str!("../harness/src/bench.rs")),
    ("src/counter_arm.rs", include_str!("../harness/src/counter_arm.rs")),
    ("src/counter_riscv.rs", include_str!("../harness/src/counter_riscv.rs")),
    ("src/firmware.rs", include_str!("../harness/src/firmware.rs")),
    ("src/hosted.rs", include_str!("../harness/src/hosted.rs")),
    ("src/layers.rs", include_str!("../harness/src/layers.rs")),
    ("src/lib.rs", include_str!("../harness/src/lib.rs")),
    ("src/program.rs", include_str!("../harness/src/program.rs")),
    ("src/report.rs", include_str!("../harness/src/report.rs")),
    ("src/riscv.rs", include_str!("../harness/src/riscv.rs")),
    ("src/semihosting.rs", include_str!("../harness/src/semihosting.rs")),
    ("src/stack.rs", include_str!("../harness/src/stack.rs")),
    ("src/validate.rs", include_str!("../harness/src/validate.rs")),
];
const HARNESS_MANIFEST: &str = include_str!("../harness/manifest.toml");

/// Where everything is written: `KILN_WORK_DIR` if set, `target/kiln` of the checkout this crate was compiled in if that
/// still exists, `target/kiln` of the current directory otherwise.
///
/// # Errors
/// Where the folder cannot be created.
pub fn work_dir() -> Result<PathBuf, Error> {
    let folder = match env::var_os("KILN_WORK_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => checkout().unwrap_or_default().join("target").join("kiln"),
    };
    fs::create_dir_all(&folder).map_err(at(&folder))?;
    // Without symbolic links and relative parts: paths below are written into manifests.
    folder.canonicalize().map_err(at(&folder))
}

/// The checkout of Kiln that this crate was compiled in, if it still exists.
pub fn checkout() -> Option<PathBuf> {
    checkout_of(Path::new(env!("CARGO_MANIFEST_DIR"))).ok().flatten()
}

/// What crates depend on: that checkout, or (`None`) the release of the same version, where this crate is one.
///
/// # Errors
/// [`Error::Missing`] where the checkout has gone: a registry may have something else under the same name and version.
pub fn source() -> Result<Option<PathBuf>, Error> {
    checkout_of(Path::new(env!("CARGO_MANIFEST_DIR")))
}

/// The checkout that the folder of this crate is in; a registry's folder has the crate's name and version.
fn checkout_of(boards: &Path) -> Result<Option<PathBuf>, Error> {
    let Some(root) = boards.parent().filter(|_| boards.ends_with("boards")) else { return Ok(None) };
    match root.join("runtime-nostd/Cargo.toml").exists() {
        true => Ok(Some(root.to_owned())),
        false => Err(Error::Missing {
            what: "the runtime".to_owned(),
            why: format!(
                "the checkout of Kiln that this program was built in is no longer at {}",
                root.display()
            ),
            hint: "Install cargo-kiln again, where the checkout is now: cargo install --path cli".to_owned(),
        }),
    }
}

/// Writes the crate `kiln-harness`, by which every program runs its model, under [`work_dir`] and returns its folder.
///
/// # Errors
/// Where a file cannot be written.
pub fn harness() -> Result<PathBuf, Error> {
    write_harness(&work_dir()?, &runtime_dependency()?)
}

fn write_harness(work: &Path, runtime: &str) -> Result<PathBuf, Error> {
    let folder = work.join("harness");
    let manifest =
        HARNESS_MANIFEST.replace("\"{runtime}\"", &format!("{{ {runtime}, default-features = false }}"));
    write(&folder.join("Cargo.toml"), manifest)?;
    for (path, source) in HARNESS {
        write(&folder.join(path), source)?;
    }
    Ok(folder)
}

/// One generated package: a `main.rs` around a model, depending on the harness and the runtime.
pub(crate) struct Package<'a> {
    /// Folder of the package, and name of its executable: different for whatever may be built side by side.
    pub(crate) name: String,
    pub(crate) main_rs: String,
    pub(crate) harness_features: Vec<String>,
    pub(crate) runtime_features: &'a [String],
    /// Further crates: names and folders.
    pub(crate) dependencies: &'a [(&'a str, &'a Path)],
    /// `[profile.release]` and what else there is of profiles.
    pub(crate) profile: &'a str,
    /// Further files: path in the package, and content.
    pub(crate) files: Vec<(&'static str, String)>,
}

impl Package<'_> {
    /// Writes the package (only what changed, so that Cargo rebuilds only what it must) and returns its folder.
    pub(crate) fn write(&self, work: &Path) -> Result<PathBuf, Error> {
        let runtime = runtime_dependency()?;
        write_harness(work, &runtime)?;
        let folder = work.join("packages").join(&self.name);
        // Versions once resolved are kept for every later package, which then needs no registry.
        let lock = folder.join("Cargo.lock");
        if let (false, Ok(resolved)) = (lock.exists(), fs::read_to_string(work.join("Cargo.lock"))) {
            write(&lock, &resolved)?;
        }
        write(&folder.join("Cargo.toml"), self.manifest(&runtime))?;
        write(&folder.join("src/main.rs"), &self.main_rs)?;
        for (path, content) in &self.files {
            write(&folder.join(path), content)?;
        }
        Ok(folder)
    }

    fn manifest(&self, runtime: &str) -> String {
        let dependencies: String = self
            .dependencies
            .iter()
            .map(|(name, folder)| format!("{name} = {{ path = {folder:?} }}\n"))
            .collect();
        // Every package has the same name, and so the same lock file.
        format!(
            "[package]\n\
             name = \"kiln-program\"\n\
             version = \"0.0.0\"\n\
             edition = \"2021\"\n\
             \n\
             [[bin]]\n\
             name = \"{name}\"\n\
             path = \"src/main.rs\"\n\
             \n\
             [dependencies]\n\
             kiln-nn = {{ {runtime}, default-features = false, features = {runtime_features:?} }}\n\
             kiln-harness = {{ path = \"../../harness\", features = {harness_features:?} }}\n\
             {dependencies}\n\
             {profile}\n\
             \n\
             [workspace]\n",
            name = self.name,
            runtime_features = self.runtime_features,
            harness_features = self.harness_features,
            profile = self.profile,
        )
    }

    /// Keeps the versions that Cargo resolved in `folder`.
    pub(crate) fn keep_lock(work: &Path, folder: &Path) -> Result<(), Error> {
        let path = folder.join("Cargo.lock");
        write(&work.join("Cargo.lock"), &fs::read_to_string(&path).map_err(at(&path))?)
    }
}

/// Where the runtime comes from: the checkout, or the registry's release of the same version.
fn runtime_dependency() -> Result<String, Error> {
    Ok(match source()? {
        Some(root) => format!("path = {:?}", root.join("runtime-nostd")),
        None => format!("version = \"={}\"", env!("CARGO_PKG_VERSION")),
    })
}

/// A program around the model in `model_rs`, for a board or for a process.
pub(crate) fn main_rs(machine: &str, model_rs: &Path, model: &str, mode: Mode) -> String {
    format!(
        "//! Runs one model on {machine}.\n\
         #![cfg_attr(target_os = \"none\", no_std, no_main)]\n\
         \n\
         #[path = {model_rs:?}]\n\
         #[allow(dead_code)]\n\
         mod model;\n\
         \n\
         kiln_harness::main!(model::{model} = model::{model}::new(), kiln_harness::{run});\n",
        run = mode.function(),
    )
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
    fn every_source_of_the_harness_is_carried_along() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("harness/src");
        let mut found: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| format!("src/{}", entry.unwrap().file_name().display()))
            .collect();
        found.sort();
        assert_eq!(found, HARNESS.iter().map(|file| file.0).collect::<Vec<_>>());
    }

    #[test]
    fn a_checkout_that_is_gone_is_no_release() {
        assert!(checkout().is_some() && source().unwrap() == checkout());
        assert_eq!(checkout_of(Path::new("/registry/src/index/kiln-nn-boards-0.1.0")).unwrap(), None);
        let message = checkout_of(Path::new("/no/such/checkout/boards")).unwrap_err().to_string();
        assert!(message.contains("no longer at /no/such/checkout\n"), "{message}");
    }

    #[test]
    fn names_are_safe_and_differ() {
        let (one, two) =
            (unique_name(Path::new("a/my model.v1.rs"), 1), unique_name(Path::new("a/my model.v1.rs"), 2));
        assert!(one.starts_with("my_model_v1-") && one != two, "{one} {two}");
    }
}
