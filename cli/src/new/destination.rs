//! The folder that is made.

use anyhow::{bail, Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Names that a package cannot have, besides Rust's keywords: crates of Rust, Cargo's own folders, and what a firmware depends on.
const TAKEN: [&str; 41] = [
    "alloc",
    "build",
    "core",
    "cortex_m",
    "cortex_m_rt",
    "cortex_m_semihosting",
    "defmt",
    "defmt_rtt",
    "deps",
    "embassy_executor",
    "embassy_nrf",
    "embassy_rp",
    "embassy_stm32",
    "embassy_time",
    "esp_bootloader_esp_idf",
    "esp_hal",
    "esp_rtos",
    "embedded_test",
    "examples",
    "incremental",
    "kiln",
    "kiln_test",
    "nrf52833_pac",
    "nrf52840_pac",
    "nrf5340_app_pac",
    "panic_probe",
    "panic_semihosting",
    "portable_atomic",
    "proc_macro",
    "riscv",
    "riscv_rt",
    "rp2040_boot2",
    "rp2040_pac",
    "rp235x_pac",
    "rtic",
    "sample",
    "semihosting",
    "static_cell",
    "std",
    "stm32_metapac",
    "test",
];

/// A folder that is free, under a name that a crate can have.
#[derive(Debug)]
pub(super) struct Destination {
    folder: PathBuf,
    /// The package's name.
    pub(super) name: String,
}

impl Destination {
    /// Checks name and folder.
    ///
    /// # Errors
    /// Says what is wrong with the name, or what stands in the folder.
    pub(super) fn check(folder: &Path) -> Result<Destination> {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        check_name(&name).with_context(|| format!("`{}` cannot be the name of a crate", folder.display()))?;
        if folder.exists() {
            if !folder.is_dir() {
                bail!("`{}` is there already, and is no folder; choose another name", folder.display());
            }
            let mut entries =
                fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
            if let Some(entry) = entries.next().transpose()? {
                bail!(
                    "the folder `{}` is not empty: it has `{}`; choose another name, or remove it",
                    folder.display(),
                    entry.file_name().to_string_lossy()
                );
            }
        }
        Ok(Destination { folder: folder.to_owned(), name })
    }

    /// The crate's name in Rust.
    pub(super) fn crate_ident(&self) -> String {
        self.name.replace('-', "_")
    }

    /// Writes files (path in the folder, content): all of them, or none.
    ///
    /// # Errors
    /// Where one cannot be written.
    pub(super) fn write(&self, files: &[(String, Vec<u8>)]) -> Result<()> {
        let parent =
            self.folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(parent).with_context(|| format!("cannot create `{}`", parent.display()))?;
        let partial = parent.join(format!(".{}.partial-{}", self.name, std::process::id()));
        let written = self.write_by_way_of(&partial, files);
        if written.is_err() {
            // Best effort: the error is what matters.
            let _ = fs::remove_dir_all(&partial);
        }
        written
    }

    fn write_by_way_of(&self, partial: &Path, files: &[(String, Vec<u8>)]) -> Result<()> {
        for (path, content) in files {
            let path = partial.join(path);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)
                    .with_context(|| format!("cannot create `{}`", folder.display()))?;
            }
            fs::write(&path, content).with_context(|| format!("cannot write `{}`", path.display()))?;
        }
        if self.folder.exists() {
            // Empty, or this fails.
            fs::remove_dir(&self.folder)
                .with_context(|| format!("cannot replace `{}`", self.folder.display()))?;
        }
        fs::rename(partial, &self.folder)
            .with_context(|| format!("cannot create `{}`", self.folder.display()))
    }
}

fn check_name(name: &str) -> Result<()> {
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        bail!("it has to begin with a letter, as `kws-demo` does");
    }
    if let Some(c) = name.chars().find(|&c| !c.is_ascii_alphanumeric() && c != '-' && c != '_') {
        bail!("it has a {c:?}; letters, digits, `-` and `_` are possible");
    }
    let ident = name.replace('-', "_");
    if syn::parse_str::<syn::Ident>(&ident).is_err() {
        bail!("`{ident}` is a keyword of Rust");
    }
    if TAKEN.contains(&ident.as_str()) {
        bail!("a crate or folder that the firmware needs has that name");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["kws", "kws-demo", "Kws_2", "a/b/kws"] {
            assert!(Destination::check(Path::new(good)).is_ok(), "{good}");
        }
        let wrong = [
            ("2kws", "begin with a letter"),
            ("", "begin with a letter"),
            ("kws demo", "has a ' '"),
            ("wörter", "has a 'ö'"),
            ("fn", "keyword"),
            ("defmt-rtt", "needs has that name"),
        ];
        for (name, why) in wrong {
            let message = format!("{:#}", Destination::check(Path::new(name)).unwrap_err());
            assert!(message.contains(why), "{message}");
        }
    }

    #[test]
    fn all_files_or_none() {
        let root = std::env::temp_dir().join(format!("kiln-new-{}", std::process::id()));
        let folder = root.join("deep/kws");
        let destination = Destination::check(&folder).unwrap();
        let file = |path: &str| (path.to_owned(), b"text".to_vec());

        // The second needs a folder where the first is a file.
        assert!(destination.write(&[file("src"), file("src/main.rs")]).is_err());
        assert_eq!(fs::read_dir(root.join("deep")).unwrap().count(), 0);

        destination.write(&[file("Cargo.toml"), file("src/main.rs")]).unwrap();
        assert_eq!(fs::read_to_string(folder.join("src/main.rs")).unwrap(), "text");
        assert_eq!(fs::read_dir(root.join("deep")).unwrap().count(), 1);

        let message = Destination::check(&folder).unwrap_err().to_string();
        assert!(message.contains("is not empty"), "{message}");
        fs::remove_dir_all(root).unwrap();
    }
}
