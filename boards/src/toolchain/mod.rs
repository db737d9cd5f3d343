//! Finds what building and running firmware needs, and installs what is missing.
//!
//! Whatever is already there is found without touching the network. Whatever is installed is announced on standard error.
mod distribution;
mod programs;
mod rustc;

pub use programs::{ensure_chromium, ensure_node, ensure_qemu, find_program, how_to_install};
pub use rustc::{has_target_already, host_target, Toolchain};

use crate::{process, Error};
use programs::say;
use rustc::{current_rustc, has_library, has_library_sources, has_target};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long rustup may take.
const LIMIT: Duration = Duration::from_secs(600);

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

/// The path of rust-analyzer, which editors ask about code, for the compiler that Cargo takes by itself. It reads the sources of the standard
/// library; rustup installs both if they are missing.
///
/// # Errors
/// [`Error::Missing`] where it cannot; it says what to do.
pub fn ensure_rust_analyzer() -> Result<PathBuf, Error> {
    static LOCK: Mutex<()> = Mutex::new(());
    let _one_at_a_time = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    const ADD: [&str; 4] = ["component", "add", "rust-analyzer", "rust-src"];
    let missing = |why| Error::Missing {
        what: RUST_ANALYZER.to_owned(),
        why,
        hint: format!("`rustup {}` installs it, with the sources of the standard library.", ADD.join(" ")),
    };
    if !has_rust_analyzer() {
        say("adding rust-analyzer with rustup");
        rustup(&ADD).map_err(missing)?;
    }
    find_program(RUST_ANALYZER)
        .filter(|_| has_rust_analyzer())
        .ok_or_else(|| missing("rustup installed none that starts".to_owned()))
}

const RUST_ANALYZER: &str = "rust-analyzer";

/// Whether rust-analyzer starts (rustup has a program of that name even where it has no rust-analyzer), and has what it reads.
fn has_rust_analyzer() -> bool {
    let version = process::run(Command::new(RUST_ANALYZER).arg("--version"), RUST_ANALYZER, LIMIT);
    version.is_ok_and(|ended| ended.status.success()) && has_library_sources(&current_rustc())
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
    say(&format!("adding target {target} with rustup"));
    rustup(&["target", "add", target])?;
    match has_target(&current_rustc(), target) {
        true => Ok(()),
        false => Err("no reason given".to_owned()),
    }
}

/// Has rustup add something. `Err` says why not, in a few words.
fn rustup(arguments: &[&str]) -> Result<(), String> {
    let Some(rustup) = find_program("rustup") else { return Err("rustup is not installed".to_owned()) };
    match process::run(Command::new(rustup).args(arguments), "rustup", LIMIT) {
        Ok(ended) if ended.status.success() => Ok(()),
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
