//! Programs that are not Rust's: emulators, and what pages are tested in.
use crate::{process, Error};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(1800);

/// A program on the PATH.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|candidate| candidate.is_file())
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

/// The path of an emulator, `qemu-system-arm` or another one, which is installed from the distribution's packages if it is missing.
///
/// # Errors
/// [`Error::Missing`] where it cannot be; it says what to do.
pub fn ensure_qemu(program: &str) -> Result<PathBuf, Error> {
    ensure("QEMU", program, package_of(program), &how_to_install(program))
}

/// Chromium, which pages are tested in; installs it on Debian and Ubuntu if it is missing.
///
/// # Errors
/// [`Error::Missing`] where it cannot be; it says what to do.
pub fn ensure_chromium() -> Result<PathBuf, Error> {
    ensure("Chromium", "chromium", "chromium", "Debian, Ubuntu: apt-get install chromium")
}

/// Node, which WebAssembly is tested in; installs it on Debian and Ubuntu if it is missing.
///
/// # Errors
/// [`Error::Missing`] where it cannot be; it says what to do.
pub fn ensure_node() -> Result<PathBuf, Error> {
    ensure("Node", "node", "nodejs", "Debian, Ubuntu: apt-get install nodejs")
}

/// The path of a program, from the package of Debian and Ubuntu that has it.
fn ensure(what: &str, program: &str, package: &str, how: &str) -> Result<PathBuf, Error> {
    static LOCK: Mutex<()> = Mutex::new(());
    let _one_at_a_time = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = find_program(program) {
        return Ok(found);
    }
    let hint = format!("Install it ({how}) and see that {program} is on the PATH.");
    apt_install(what, &[package], &hint)?;
    find_program(program).ok_or_else(|| Error::Missing {
        what: what.to_owned(),
        why: format!("the package {package} holds no {program}"),
        hint,
    })
}

/// Installs Debian packages, as root.
pub(super) fn apt_install(what: &str, packages: &[&str], hint: &str) -> Result<(), Error> {
    let missing = |why: String| Error::Missing { what: what.to_owned(), why, hint: hint.to_owned() };
    let apt = find_program("apt-get").ok_or_else(|| missing("there is no apt-get here".to_owned()))?;
    if !is_root() {
        return Err(missing(format!("installing {} takes root", packages.join(" and "))));
    }
    say(&format!("installing {} with apt-get", packages.join(" and ")));
    let apt_get = |arguments: &[&str]| {
        let mut command = Command::new(&apt);
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        process::succeed(&mut command, "apt-get", LIMIT).map_err(|error| missing(error.to_string()))
    };
    apt_get(&["update", "-qq"])?;
    apt_get(&[&["install", "-y", "-qq", "--no-install-recommends"], packages].concat())?;
    Ok(())
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Tells people what is being installed.
pub(super) fn say(what: &str) {
    eprintln!("kiln: {what}");
}
