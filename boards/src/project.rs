//! The crates that a build is made of: written out under one folder, so that an installed Kiln needs no checkout.
use crate::error::{at, Error};
use crate::process::{self, Ended};
use crate::source::{Releases, Source, RUNTIME};
use crate::work::{work_dir, write};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

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
    ("src/second_core.rs", include_str!("../harness/src/second_core.rs")),
    ("src/second_core_clint.rs", include_str!("../harness/src/second_core_clint.rs")),
    ("src/second_core_sse200.rs", include_str!("../harness/src/second_core_sse200.rs")),
    ("src/semihosting.rs", include_str!("../harness/src/semihosting.rs")),
    ("src/stack.rs", include_str!("../harness/src/stack.rs")),
    ("src/validate.rs", include_str!("../harness/src/validate.rs")),
];
const HARNESS_MANIFEST: &str = include_str!("../harness/manifest.toml");

/// Linking a network of many megabytes with fat LTO on a slow machine takes minutes.
const LIMIT: Duration = Duration::from_secs(1800);

/// Writes the crate `kiln-harness`, by which every program runs its model, under [`work_dir`] and returns its folder.
///
/// # Errors
/// Where a file cannot be written.
pub fn harness() -> Result<PathBuf, Error> {
    let folder = work_dir()?.join("harness");
    let runtime = Source::find().dependency(RUNTIME, Releases::This, &["default-features = false"]);
    write(&folder.join("Cargo.toml"), HARNESS_MANIFEST.replace("kiln-nn = \"{source}\"", &runtime))?;
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
    /// Writes the package and has Cargo build it, optimised; what its target is, `configure` says. How that ended.
    ///
    /// # Errors
    /// [`Error::Packages`] where Cargo could not get a package. That it does not compile is none.
    pub(crate) fn build(
        &self,
        what: &str,
        configure: impl FnOnce(&mut Command) -> Result<(), Error>,
    ) -> Result<Ended, Error> {
        let work = work_dir()?;
        let folder = self.write(&work)?;
        let mut cargo = process::cargo();
        cargo.current_dir(&folder).args(["build", "--release", "--quiet", "--target-dir"]);
        cargo.arg(work.join("target"));
        configure(&mut cargo)?;
        let ended = process::run(&mut cargo, what, LIMIT)?;
        if ended.status.success() && self.dependencies.is_empty() {
            // Versions once resolved are kept for every later package, which then needs no registry.
            let lock = folder.join("Cargo.lock");
            write(&work.join("Cargo.lock"), &fs::read_to_string(&lock).map_err(at(&lock))?)?;
        }
        if !ended.status.success() && lacks_packages(&ended.output) {
            let help = Source::find().help();
            return Err(Error::Packages { what: what.to_owned(), output: ended.output, help });
        }
        Ok(ended)
    }

    /// The executable that a build for `target` makes; `ending` is that of its file's name.
    pub(crate) fn executable(&self, target: &str, ending: &str) -> Result<PathBuf, Error> {
        let name = format!("{}{ending}", self.name);
        Ok(work_dir()?.join("target").join(target).join("release").join(name))
    }

    /// Writes the package (only what changed, so that Cargo rebuilds only what it must) and returns its folder.
    fn write(&self, work: &Path) -> Result<PathBuf, Error> {
        harness()?;
        let folder = work.join("packages").join(&self.name);
        let lock = folder.join("Cargo.lock");
        if let (false, Ok(resolved)) = (lock.exists(), fs::read_to_string(work.join("Cargo.lock"))) {
            write(&lock, &resolved)?;
        }
        write(&folder.join("Cargo.toml"), self.manifest())?;
        write(&folder.join("src/main.rs"), &self.main_rs)?;
        for (path, content) in &self.files {
            write(&folder.join(path), content)?;
        }
        Ok(folder)
    }

    fn manifest(&self) -> String {
        let features = format!("features = {:?}", self.runtime_features);
        let runtime =
            Source::find().dependency(RUNTIME, Releases::This, &["default-features = false", &features]);
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
             {runtime}\n\
             kiln-harness = {{ path = \"../../harness\", features = {harness_features:?} }}\n\
             {dependencies}\n\
             {profile}\n\
             \n\
             [workspace]\n",
            name = self.name,
            harness_features = self.harness_features,
            profile = self.profile,
        )
    }
}

/// Whether Cargo says that it cannot get a package.
fn lacks_packages(output: &str) -> bool {
    const SAID: [&str; 5] = [
        "no matching package",
        "failed to select a version",
        "failed to get `",
        "failed to download",
        "unable to update registry",
    ];
    SAID.iter().any(|said| output.contains(said))
}

/// A program around the model in `model_rs`, for a board or for a process; `run` is the function of the harness that it is given to.
pub(crate) fn main_rs(machine: &str, model_rs: &Path, model: &str, run: &str) -> String {
    format!(
        "//! Runs one model on {machine}.\n\
         #![cfg_attr(target_os = \"none\", no_std, no_main)]\n\
         \n\
         #[path = {model_rs:?}]\n\
         #[allow(dead_code)]\n\
         mod model;\n\
         \n\
         kiln_harness::main!(model::{model} = model::{model}::new(), kiln_harness::{run});\n"
    )
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
    fn packages_that_cargo_cannot_get_are_told_from_other_errors() {
        assert!(lacks_packages(
            "error: no matching package named `kiln-nn` found\nlocation searched: crates.io index"
        ));
        assert!(lacks_packages(
            "error: failed to get `kiln-nn` as a dependency of package `kiln-program v0.0.0`"
        ));
        assert!(!lacks_packages("error[E0425]: cannot find function `get` in this scope"));
    }
}
