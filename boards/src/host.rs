//! The same harness as an ordinary process.
use crate::cases::{Cases, Outputs};
use crate::error::{at, Error};
use crate::firmware::{cargo, Mode};
use crate::process;
use crate::project::{main_rs, unique_name, work_dir, Package};
use crate::run::RunDir;
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

/// A program for this machine.
#[derive(Debug, Clone)]
pub struct Program {
    /// The executable.
    pub executable: PathBuf,
}

const BUILD_LIMIT: Duration = Duration::from_secs(1800);

/// Builds a program for this machine that runs the cases of a file through the model.
///
/// Optimised, and with overflow checks: arithmetic that would wrap on a board ends the program here.
///
/// # Errors
/// [`Error::Failed`] where the model does not compile.
pub fn build(request: &BuildRequest) -> Result<Program, Error> {
    let work = work_dir()?;
    let model_rs = request.model_rs.canonicalize().map_err(at(request.model_rs))?;
    let package = Package {
        name: unique_name(&model_rs, (&model_rs, request.model_type, request.runtime_features)),
        main_rs: main_rs("this machine", &model_rs, request.model_type, Mode::Validate),
        harness_features: Vec::new(),
        runtime_features: request.runtime_features,
        dependencies: &[],
        profile: "[profile.release]\nopt-level = 3\npanic = \"abort\"\ndebug = \"line-tables-only\"\noverflow-checks = true",
        files: Vec::new(),
    };
    let folder = package.write(&work)?;
    let target = work.join("target");
    let mut cargo = cargo();
    cargo.current_dir(&folder).args(["build", "--release", "--quiet", "--target-dir"]).arg(&target);
    process::succeed(&mut cargo, &format!("building {} for this machine", model_rs.display()), BUILD_LIMIT)?;
    Package::keep_lock(&work, &folder)?;
    Ok(Program { executable: target.join("release").join(&package.name) })
}

/// Runs every case, and returns the outputs of each; with the instruction set of that name (`kiln::Level::name`), or the best that this machine has.
///
/// # Errors
/// [`Error::Failed`] with what the program printed, [`Error::TimedOut`] after `limit`.
pub fn validate(
    program: &Program,
    cases: &Cases,
    level: Option<&str>,
    limit: Duration,
) -> Result<Outputs, Error> {
    let run = RunDir::new()?;
    run.put_cases(cases)?;
    let mut command = Command::new(&program.executable);
    command.current_dir(run.path());
    if let Some(level) = level {
        command.env("KILN_LEVEL", level);
    }
    process::succeed(&mut command, "running the model on this machine", limit)?;
    run.take_outputs()
}
