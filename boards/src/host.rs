//! The same harness as an ordinary process.
use crate::cases::{Cases, Outputs};
use crate::emulated::EmulatedHost;
use crate::error::{at, Error};
use crate::firmware::Mode;
use crate::project::{main_rs, Package};
use crate::run::RunDir;
use crate::work::unique_name;
use crate::{process, toolchain};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What to build.
#[derive(Debug, Clone)]
pub struct BuildRequest<'a> {
    /// Rust that Kiln emitted.
    pub model_rs: &'a Path,
    /// Name of the model's type in `model_rs`: it implements `kiln::Model` and has a `const fn new()`.
    pub model_type: &'a str,
    /// Features of the crate `kiln`.
    pub runtime_features: &'a [String],
}

/// A program for this machine, or for an emulated host.
#[derive(Debug, Clone)]
pub struct Program {
    /// The executable.
    pub executable: PathBuf,
    /// What runs it: this machine itself, or an emulator on it.
    pub on: Option<&'static EmulatedHost>,
}

/// In few parts that are optimised each for itself: kernels made for the sizes of layers are compiled up to twice as fast as with Cargo's own settings.
const PROFILE: &str = "\
[profile.release]
opt-level = 3
codegen-units = 2
lto = \"off\"
panic = \"abort\"
debug = \"line-tables-only\"
overflow-checks = true";

/// Builds a program for this machine that runs the cases of a file through the model.
///
/// Optimised, and with overflow checks: arithmetic that would wrap on a board ends the program here.
///
/// # Errors
/// [`Error::Failed`] where the model does not compile.
pub fn build(request: &BuildRequest) -> Result<Program, Error> {
    build_on(None, request)
}

/// The same for an emulated host, where one is named. Installs the Rust target if it is missing.
///
/// # Errors
/// As [`build`], and [`Error::Missing`] where the target or the emulator cannot be installed.
pub fn build_on(on: Option<&'static EmulatedHost>, request: &BuildRequest) -> Result<Program, Error> {
    let machine = on.map_or("this machine", |host| host.name);
    let model_rs = request.model_rs.canonicalize().map_err(at(request.model_rs))?;
    let package = Package {
        name: unique_name(&model_rs, (&model_rs, request.model_type, request.runtime_features, machine)),
        main_rs: main_rs(machine, &model_rs, request.model_type, Mode::Validate.function()),
        harness_features: Vec::new(),
        runtime_features: request.runtime_features,
        dependencies: &[],
        profile: PROFILE,
        files: Vec::new(),
    };
    let what = format!("building {} for {machine}", model_rs.display());
    // Of this machine too: where this is called, Cargo's configuration may have another target.
    let (target, ending) = match on {
        None => (toolchain::host_target()?, std::env::consts::EXE_SUFFIX),
        Some(host) => (host.target.to_owned(), host.ending()),
    };
    let ended = package.build(&what, |cargo| {
        cargo.args(["--target", &target]);
        on.map_or(Ok(()), |host| host.configure(cargo))
    })?;
    ended.succeed(&what)?;
    let executable = package.executable(&target, ending)?;
    Ok(Program { executable, on })
}

/// Runs every case, and returns the outputs of each; with the instruction set of that name (`kiln::Level::name`), or the best that the machine has.
///
/// # Errors
/// [`Error::Missing`] where an emulator cannot be installed, [`Error::Failed`] with what the program printed, [`Error::TimedOut`] after `limit`.
pub fn validate(
    program: &Program,
    cases: &Cases,
    level: Option<&str>,
    limit: Duration,
) -> Result<Outputs, Error> {
    Ok(validate_timed(program, cases, level, limit)?.0)
}

/// As [`validate`], and how long each case took: the time of an emulated host says nothing about real ones.
///
/// # Errors
/// As [`validate`].
pub fn validate_timed(
    program: &Program,
    cases: &Cases,
    level: Option<&str>,
    limit: Duration,
) -> Result<(Outputs, Vec<Duration>), Error> {
    let machine = program.on.map_or("this machine", |host| host.name);
    let run = RunDir::new()?;
    run.put_cases(cases)?;
    let mut command = match program.on {
        None => Command::new(&program.executable),
        Some(host) => host.command()?,
    };
    if program.on.is_some() {
        command.arg(&program.executable);
    }
    command.current_dir(run.path());
    if let Some(level) = level {
        command.env("KILN_LEVEL", level);
    }
    process::succeed(&mut command, &format!("running the model on {machine}"), limit)?;
    Ok((run.take_outputs()?, run.take_times()?))
}
