//! Compilers of Rust, and what they can build for.
use crate::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A compiler that can build for a target.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Toolchain {
    /// The compiler, where it is not the one that Cargo would take by itself.
    pub rustc: Option<PathBuf>,
    /// Folder with `rust-lld`, where the compiler does not bring its own.
    pub linker_dir: Option<PathBuf>,
}

impl Toolchain {
    /// The environment a `cargo build` needs: names and values, or `None` where a variable must not be set.
    pub fn env(&self) -> Vec<(&'static str, Option<OsString>)> {
        let mut env = vec![("RUSTC_BOOTSTRAP", None)];
        if let Some(rustc) = &self.rustc {
            env.push(("RUSTC", Some(rustc.into())));
        }
        if let Some(linker_dir) = &self.linker_dir {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let folders = std::env::split_paths(&path).chain([linker_dir.clone()]);
            // Joining fails only for folders that contain the separator, which no split path does.
            env.extend(std::env::join_paths(folders).ok().map(|path| ("PATH", Some(path))));
        }
        env
    }

    /// Gives `command` that environment.
    pub fn apply(&self, command: &mut Command) {
        for (name, value) in self.env() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
    }
}

/// Whether the compiler that Cargo takes by itself can build for `target`.
pub fn has_target_already(target: &str) -> bool {
    has_target(&current_rustc(), target)
}

/// The target of this machine, which the compiler that Cargo takes by itself builds for.
///
/// # Errors
/// Where the compiler does not start, or does not say.
pub fn host_target() -> Result<String, Error> {
    let rustc = current_rustc();
    let start = |source| Error::Start { program: rustc.display().to_string(), source };
    let said = Command::new(&rustc).arg("-vV").output().map_err(start)?.stdout;
    let said = String::from_utf8_lossy(&said);
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    let unknown = || Error::Malformed { what: "the answer of rustc -vV".to_owned(), why: said.to_string() };
    host.map(str::to_owned).ok_or_else(unknown)
}

/// The compiler that Cargo takes by itself.
pub(super) fn current_rustc() -> PathBuf {
    std::env::var_os("RUSTC").map_or_else(|| "rustc".into(), PathBuf::from)
}

/// Whether `rustc` can build for `target`.
pub(super) fn has_target(rustc: &Path, target: &str) -> bool {
    has_library(rustc, target, "libcore-")
}

/// Whether `rustc` has a library of `target` whose file's name begins so.
pub(super) fn has_library(rustc: &Path, target: &str, library: &str) -> bool {
    let Some(sysroot) = sysroot(rustc) else { return false };
    let Ok(libraries) = std::fs::read_dir(library_dir(&sysroot, target)) else { return false };
    libraries.flatten().any(|file| file.file_name().to_string_lossy().starts_with(library))
}

/// Whether `rustc` has the sources of the standard library.
pub(super) fn has_library_sources(rustc: &Path) -> bool {
    sysroot(rustc).is_some_and(|sysroot| sysroot.join("lib/rustlib/src/rust/library/core").is_dir())
}

pub(super) fn library_dir(sysroot: &Path, target: &str) -> PathBuf {
    sysroot.join("lib/rustlib").join(target).join("lib")
}

pub(super) fn sysroot(rustc: &Path) -> Option<PathBuf> {
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
    output.status.success().then(|| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn the_host_is_a_target_of_the_current_compiler() {
        let (rustc, host) = (current_rustc(), host_target().unwrap());
        assert!(has_target(&rustc, &host));
        assert!(!has_target(&rustc, "vax-dec-vms"));
    }

    #[test]
    fn the_environment_adds_the_linker_last() {
        let toolchain = Toolchain { rustc: Some("/usr/bin/rustc".into()), linker_dir: Some("/lld".into()) };
        let env: BTreeMap<_, _> = toolchain.env().into_iter().collect();
        assert_eq!(env["RUSTC"], Some("/usr/bin/rustc".into()));
        assert!(env["PATH"].as_ref().unwrap().to_string_lossy().ends_with(":/lld"));
        assert_eq!(env["RUSTC_BOOTSTRAP"], None);
    }
}
