//! Finds what building and running firmware needs, and installs what is missing.
//!
//! Whatever is already there is found without touching the network. Whatever is installed is announced on standard error.
mod distribution;

use crate::{process, Error};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

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

/// A compiler for `target`: the current toolchain's if it has the target, else the distribution's if that has it; else
/// the target is installed, from rustup's server where there is one, or else from the distribution's library sources.
///
/// # Errors
/// [`Error::Missing`] where neither is possible; it says what to do.
pub fn ensure_target(target: &str) -> Result<Toolchain, Error> {
    static FOUND: Mutex<BTreeMap<String, Toolchain>> = Mutex::new(BTreeMap::new());
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(toolchain) = found.get(target) {
        return Ok(toolchain.clone());
    }
    let toolchain = match installed(target) {
        Some(toolchain) => toolchain,
        None => install(target)?,
    };
    found.insert(target.to_owned(), toolchain.clone());
    Ok(toolchain)
}

/// Sees to it that the compiler which Cargo takes by itself has the standard library of `target`: rustup installs it if it is missing.
///
/// # Errors
/// [`Error::Missing`] where it cannot; it says what to do.
pub fn ensure_std_target(target: &str) -> Result<(), Error> {
    static LOCK: Mutex<()> = Mutex::new(());
    let _one_at_a_time = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    if has_library(&current_rustc(), target, "libstd-") {
        return Ok(());
    }
    add_with_rustup(target).map_err(|why| Error::Missing {
        what: format!("Rust target {target}"),
        why,
        hint: format!("`rustup target add {target}` installs it, with its standard library."),
    })
}

/// Whether the compiler that Cargo takes by itself can build for `target`.
pub fn has_target_already(target: &str) -> bool {
    has_target(&current_rustc(), target)
}

/// How to install an emulator, for people.
pub fn how_to_install(program: &str) -> String {
    match package_of(program) {
        // It passes calls of the system on to one of the same kind.
        USER_MODE => {
            format!("Debian, Ubuntu: apt-get install {USER_MODE}; other systems than Linux cannot have it")
        }
        package => format!("Debian, Ubuntu: apt-get install {package}; macOS: brew install qemu"),
    }
}

/// The package that has QEMU for single processes.
const USER_MODE: &str = "qemu-user";

/// The package of Debian and Ubuntu that has an emulator.
fn package_of(program: &str) -> &str {
    match program {
        "qemu-system-arm" => program,
        _ if program.starts_with("qemu-system") => "qemu-system-misc",
        _ => USER_MODE,
    }
}

/// A compiler that has `target` already.
fn installed(target: &str) -> Option<Toolchain> {
    if has_target(&current_rustc(), target) {
        return Some(Toolchain::default());
    }
    distribution::installed(target)
}

fn install(target: &str) -> Result<Toolchain, Error> {
    let rustup = add_with_rustup(target);
    match rustup {
        Ok(()) => return Ok(Toolchain::default()),
        Err(ref why) => {
            say(&format!("rustup could not add {target} ({why}); trying the distribution's rustc"))
        }
    }
    distribution::install(target).map_err(|error| match (error, rustup) {
        (Error::Missing { what, why, hint }, Err(rustup)) => {
            Error::Missing { what, why: format!("rustup: {rustup}; {why}"), hint }
        }
        (error, _) => error,
    })
}

/// `Err` says why not, in a few words.
fn add_with_rustup(target: &str) -> Result<(), String> {
    let Some(rustup) = find_program("rustup") else { return Err("rustup is not installed".to_owned()) };
    say(&format!("adding target {target} with rustup"));
    let limit = Duration::from_secs(600);
    match process::run(Command::new(rustup).args(["target", "add", target]), "rustup target add", limit) {
        Ok(ended) if ended.status.success() && has_target(&current_rustc(), target) => Ok(()),
        Ok(ended) => {
            let reason = ended
                .output
                .lines()
                .find(|line| line.starts_with("error"))
                .unwrap_or("error: no reason given");
            Err(reason.trim_start_matches("error: ").to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}

/// The path of an emulator, `qemu-system-arm` or another one, which is installed from the distribution's packages if it is missing.
///
/// # Errors
/// [`Error::Missing`] where it cannot be; it says what to do.
pub fn ensure_qemu(program: &str) -> Result<PathBuf, Error> {
    static LOCK: Mutex<()> = Mutex::new(());
    let _one_at_a_time = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(qemu) = find_program(program) {
        return Ok(qemu);
    }
    let package = package_of(program);
    let hint = format!("Install it ({}) and see that {program} is on the PATH.", how_to_install(program));
    distribution::apt_install("QEMU", &[package], &hint)?;
    find_program(program).ok_or_else(|| Error::Missing {
        what: "QEMU".to_owned(),
        why: format!("the package {package} holds no {program}"),
        hint,
    })
}

/// Chromium, which pages are tested in; installs it on Debian and Ubuntu if it is missing.
///
/// # Errors
/// [`Error::Missing`] where it cannot be; it says what to do.
pub fn ensure_chromium() -> Result<PathBuf, Error> {
    ensure_package("Chromium", "chromium", "chromium")
}

/// Node, which WebAssembly is tested in; installs it on Debian and Ubuntu if it is missing.
///
/// # Errors
/// [`Error::Missing`] where it cannot be; it says what to do.
pub fn ensure_node() -> Result<PathBuf, Error> {
    ensure_package("Node", "node", "nodejs")
}

/// The path of a program, from the package of Debian and Ubuntu that has it.
fn ensure_package(what: &str, program: &str, package: &str) -> Result<PathBuf, Error> {
    if let Some(found) = find_program(program) {
        return Ok(found);
    }
    let hint = format!(
        "Install it (Debian, Ubuntu: apt-get install {package}) and see that {program} is on the PATH."
    );
    distribution::apt_install(what, &[package], &hint)?;
    find_program(program).ok_or_else(|| Error::Missing {
        what: what.to_owned(),
        why: format!("the package {package} holds no {program}"),
        hint,
    })
}

/// The compiler that Cargo takes by itself.
fn current_rustc() -> PathBuf {
    std::env::var_os("RUSTC").map_or_else(|| "rustc".into(), PathBuf::from)
}

/// Whether `rustc` can build for `target`.
fn has_target(rustc: &Path, target: &str) -> bool {
    has_library(rustc, target, "libcore-")
}

/// Whether `rustc` has a library of `target` whose file's name begins so.
fn has_library(rustc: &Path, target: &str, library: &str) -> bool {
    let Some(sysroot) = sysroot(rustc) else { return false };
    let Ok(libraries) = std::fs::read_dir(library_dir(&sysroot, target)) else { return false };
    libraries.flatten().any(|file| file.file_name().to_string_lossy().starts_with(library))
}

fn library_dir(sysroot: &Path, target: &str) -> PathBuf {
    sysroot.join("lib/rustlib").join(target).join("lib")
}

fn sysroot(rustc: &Path) -> Option<PathBuf> {
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
    output.status.success().then(|| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}

/// A program on the PATH.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
}

fn say(what: &str) {
    eprintln!("kiln: {what}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_a_target_of_the_current_compiler() {
        let rustc = current_rustc();
        let version = Command::new(&rustc).arg("-vV").output().unwrap().stdout;
        let version = String::from_utf8(version).unwrap();
        let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
        assert!(has_target(&rustc, host));
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
