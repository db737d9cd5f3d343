//! What can go wrong between a generated model and the numbers of a run.
use std::fmt;
use std::path::PathBuf;
use std::process::ExitStatus;

/// Why a build or a run did not happen.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// No board has that name.
    UnknownBoard {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// No USB device is there that could be a debug probe.
    NoProbe,
    /// The board is real, and this needs an emulated one.
    NotEmulated {
        /// The board's name.
        board: String,
    },
    /// Something is not installed and could not be.
    Missing {
        /// What is missing.
        what: String,
        /// Why it could not be installed.
        why: String,
        /// What a person can do about it.
        hint: String,
    },
    /// A file or folder could not be read or written.
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A program could not be started.
    Start {
        /// The program.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// A program failed.
    Failed {
        /// The program, and what it was doing.
        what: String,
        /// How it ended.
        status: ExitStatus,
        /// What it printed.
        output: String,
    },
    /// Cargo could not get a package that a build needs.
    Packages {
        /// The build.
        what: String,
        /// What Cargo said.
        output: String,
        /// What a person can do about it.
        help: String,
    },
    /// A folder that was said to be a checkout of Kiln is none.
    NoCheckout {
        /// Which.
        folder: PathBuf,
    },
    /// A program took too long and was ended.
    TimedOut {
        /// The program, and what it was doing.
        what: String,
        /// The limit.
        seconds: u64,
        /// What it had printed.
        output: String,
    },
    /// A file or an answer is not what it should be.
    Malformed {
        /// What it is.
        what: String,
        /// What is wrong.
        why: String,
    },
    /// The image does not fit the board's memories.
    TooLarge {
        /// The board's name.
        board: String,
        /// The linker's words.
        output: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::UnknownBoard { name, known } => {
                write!(f, "there is no board `{name}`; there are {}", known.join(", "))
            }
            Error::NoProbe => f.write_str(
                "no debug probe found: this machine has no USB device\nPlug in the board's debug USB port or, for a board without a probe of its own (such as a Pico), a debug probe.",
            ),
            Error::NotEmulated { board } => {
                write!(
                    f,
                    "board `{board}` is a real one: firmware runs on it with a debug probe, not under QEMU"
                )
            }
            Error::Missing { what, why, hint } => write!(f, "{what} is not installed: {why}\n{hint}"),
            Error::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Error::Start { program, source } => write!(f, "cannot start {program}: {source}"),
            Error::Failed { what, status, output } => {
                write!(f, "{what} failed ({status})\n{}", output.trim_end())
            }
            Error::Packages { what, output, help } => {
                write!(f, "{what} needs a package that Cargo cannot get\n{}\nhelp: {help}", output.trim_end())
            }
            Error::NoCheckout { folder } => write!(
                f,
                "`{}` is no checkout of Kiln: it lacks `runtime-nostd` or `kiln-test`",
                folder.display()
            ),
            Error::TimedOut { what, seconds, output } => {
                write!(f, "{what} was ended after {seconds} s\n{}", output.trim_end())
            }
            Error::Malformed { what, why } => write!(f, "{what}: {why}"),
            Error::TooLarge { board, output } => {
                write!(f, "the model does not fit the memories of board `{board}`:\n{}", output.trim_end())
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } | Error::Start { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Attaches the path to an I/O error.
pub(crate) fn at(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.into();
    move |source| Error::Io { path, source }
}
