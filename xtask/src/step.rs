//! Running one command after the other, with its name and its time.
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
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
    for package in ["codegen", "front", "interp", "ir", "tools"] {
        command.args(["--config", &format!("profile.release.package.kiln-nn-{package}.opt-level=0")]);
    }
    // Macros and build scripts have no symbols for debuggers, whatever the program has: so fewer of them are compiled twice.
    command.args(["--config", "profile.release.build-override.debug=false"]);
    command.args(["--config", "profile.release.build-override.strip='debuginfo'"]);
    command.env("CARGO_TARGET_DIR", root().join("target/examples"));
    command
}

/// The program of `cargo kiln`, as building the tests of the workspace left it: beside this one.
///
/// # Errors
/// Where this program does not know where it is.
pub(crate) fn tested_program() -> Result<PathBuf, Failure> {
    Ok(std::env::current_exe()?.with_file_name("cargo-kiln"))
}

/// `cargo kiln`: the [`tested_program`].
///
/// # Errors
/// Where this program does not know where it is.
pub(crate) fn tested_kiln() -> Result<Command, Failure> {
    let mut command = Command::new(tested_program()?);
    command.current_dir(root()).arg("kiln");
    Ok(command)
}

thread_local! {
    /// Whether this thread's commands run beside those of another.
    static IS_BESIDE: Cell<bool> = const { Cell::new(false) };
}

/// Runs a command, showing its output: at once, or when it has ended if it runs [beside] others.
///
/// # Errors
/// Where it cannot be started, or fails.
pub(crate) fn run(name: &str, command: &mut Command) -> Result<(), Failure> {
    let started = Instant::now();
    let status = match IS_BESIDE.get() {
        false => {
            say(name);
            command.status()
        }
        true => {
            say(&format!("{name}: begins beside"));
            command.stdin(Stdio::null()).output().map(|output| {
                let texts = [&output.stderr, &output.stdout].map(|text| String::from_utf8_lossy(text));
                println!("==> {name}\n{}", texts.concat());
                output.status
            })
        }
    };
    let status = status.map_err(|error| format!("{name}: cannot start {command:?}: {error}"))?;
    if !status.success() {
        return Err(format!("{name} failed ({status}): {command:?}").into());
    }
    say(&format!("{name}: done in {:.0} s", started.elapsed().as_secs_f64()));
    Ok(())
}

/// Does two things at once: most of what compiles or tests uses one processor for much of its time. What is done `beside` shows output when a command has ended.
///
/// # Errors
/// Where one of them fails, when both have ended.
pub(crate) fn beside(
    beside: impl FnOnce() -> Result<(), Failure> + Send,
    main: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            IS_BESIDE.set(true);
            beside().map_err(|error| error.to_string())
        });
        let first = main();
        let second = other.join().unwrap_or_else(|_| Err("a step that ran beside others panicked".into()));
        match (first, second) {
            (Err(first), Err(second)) => Err(format!("{first}\n{second}").into()),
            (first, second) => first.and(second.map_err(Into::into)),
        }
    })
}
