//! Running one command after the other, with its name and its time.
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Why a chore did not finish, in words.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    // The manifest's folder is one below.
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

/// Tells people what is going on.
pub(crate) fn say(what: &str) {
    println!("==> {what}");
}

/// A Cargo command in `folder`.
pub(crate) fn cargo(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder).args(arguments);
    command
}

/// The same for packages that are workspaces of their own. All have one target folder: the compiler in them is built once.
pub(crate) fn cargo_outside(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = cargo(folder, arguments);
    // Optimising the compiler would take minutes, and it has small models to compile.
    command.args(["--config", "profile.release.package.kiln-nn-codegen.opt-level=0"]);
    command.env("CARGO_TARGET_DIR", root().join("target/examples"));
    command
}

/// Runs a command, showing its output.
///
/// # Errors
/// Where it cannot be started, or fails.
pub(crate) fn run(name: &str, command: &mut Command) -> Result<(), Failure> {
    say(name);
    let started = Instant::now();
    let status = command.status().map_err(|error| format!("{name}: cannot start {command:?}: {error}"))?;
    if !status.success() {
        return Err(format!("{name} failed ({status}): {command:?}").into());
    }
    say(&format!("{name}: done in {:.0} s", started.elapsed().as_secs_f64()));
    Ok(())
}
