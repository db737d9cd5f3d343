//! Running one command after the other, with its name and its time.
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
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

/// A command that runs beside others. Its output is shown when it has ended.
pub(crate) struct Beside {
    name: String,
    command: String,
    child: Child,
    started: Instant,
}

impl Beside {
    /// Starts it.
    ///
    /// # Errors
    /// Where it cannot be started.
    pub(crate) fn start(name: &str, command: &mut Command) -> Result<Beside, Failure> {
        say(&format!("{name}: runs beside what follows"));
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.map_err(|error| format!("{name}: cannot start {command:?}: {error}"))?;
        Ok(Beside { name: name.into(), command: format!("{command:?}"), child, started: Instant::now() })
    }

    /// Waits for it.
    ///
    /// # Errors
    /// Where it failed.
    pub(crate) fn end(self) -> Result<(), Failure> {
        let Beside { name, command, child, started } = self;
        let output = child.wait_with_output().map_err(|error| format!("{name}: {error}"))?;
        say(&name);
        print!("{}{}", String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&output.stdout));
        if !output.status.success() {
            return Err(format!("{name} failed ({}): {command}", output.status).into());
        }
        say(&format!("{name}: done after {:.0} s", started.elapsed().as_secs_f64()));
        Ok(())
    }
}
