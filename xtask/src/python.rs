//! Python packages, in environments of their own below `target/kiln`.
use crate::step::{run, say, Failure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The Python of a virtual environment with these packages and no others, which is made where it is not there yet.
///
/// # Errors
/// Where there is no Python with the module venv, or the packages cannot be installed.
pub(crate) fn environment(folder: &Path, packages: &[&str]) -> Result<PathBuf, Failure> {
    let python = folder.join("bin/python");
    // Written at last: without it, or with other versions in it, the packages are installed (again).
    let complete = folder.join("complete");
    let packages_in_lines = packages.join("\n");
    if fs::read_to_string(&complete).is_ok_and(|installed| installed == packages_in_lines) {
        return Ok(python);
    }
    fs::create_dir_all(folder)?;
    say(&format!("{} are installed into {}", packages.join(", "), folder.display()));
    let mut create = Command::new("python3");
    run("a Python environment", create.args(["-m", "venv"]).arg(folder)).map_err(|error| {
        format!("this needs Python 3.10 or newer, with its module venv (on Debian: apt install python3-venv): {error}")
    })?;
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
    run(&packages.join(", "), &mut install)
        .map_err(|error| format!("the packages cannot be installed; is there no network? {error}"))?;
    fs::write(complete, packages_in_lines)?;
    Ok(python)
}
