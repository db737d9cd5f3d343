//! What can go wrong, said so that it can be mended.

use crate::spelling::Door;
use std::fmt;

/// One thing that is wrong with a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: `operator 12 CONV_2D "model/conv"`, `tensor 7 "weights"`; empty for the model as a whole.
    pub place: String,
    /// What is wrong there, with the numbers.
    pub what: String,
    /// The way out.
    pub help: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.what)?;
        if !self.help.is_empty() {
            write!(f, "\n    help: {}", self.help)?;
        }
        Ok(())
    }
}

impl Problem {
    /// With options as they are written through a door.
    fn through(self, door: Door) -> Self {
        let Problem { place, what, help } = self;
        Problem { place: door.translate(&place), what: door.translate(&what), help: door.translate(&help) }
    }
}

/// Why a model could not be compiled. Its `Debug` is its `Display`: that is what a build script ends with.
#[derive(Clone, PartialEq, Eq)]
pub enum Error {
    /// The file could not be read.
    Io {
        /// The path as given.
        path: String,
        /// What the operating system says.
        message: String,
    },
    /// The generated file could not be written; nothing of it was.
    Write {
        /// The path.
        path: String,
        /// What the operating system says.
        message: String,
    },
    /// The bytes are no model of a known format, or a damaged one.
    Malformed(Problem),
    /// The model is sound, but uses something Kiln cannot compile. Every such thing is listed.
    Unsupported(Vec<Problem>),
    /// An option does not fit the model, or is no option.
    Options(Problem),
    /// The compiled model needs more memory than the budget allows.
    OverBudget(Vec<Problem>),
    /// A stage of the compiler broke one of its own invariants: a bug in Kiln.
    Internal {
        /// The stage or pass.
        stage: String,
        /// The violated invariants.
        message: String,
    },
}

impl Error {
    /// An [`Error::Internal`].
    pub fn internal(stage: &str, message: impl Into<String>) -> Self {
        Error::Internal { stage: stage.into(), message: message.into() }
    }

    /// With options as they are written through a door.
    #[must_use]
    pub fn through(self, door: Door) -> Self {
        let all =
            |problems: Vec<Problem>| problems.into_iter().map(|problem| problem.through(door)).collect();
        match self {
            Error::Malformed(problem) => Error::Malformed(problem.through(door)),
            Error::Unsupported(problems) => Error::Unsupported(all(problems)),
            Error::Options(problem) => Error::Options(problem.through(door)),
            Error::OverBudget(problems) => Error::OverBudget(all(problems)),
            other @ (Error::Io { .. } | Error::Write { .. } | Error::Internal { .. }) => other,
        }
    }

    /// An [`Error::Malformed`] of a damaged file.
    pub fn malformed(place: impl Into<String>, what: impl Into<String>) -> Self {
        let help = "the file is damaged or cut short: copy or export it again".into();
        Error::Malformed(Problem { place: place.into(), what: what.into(), help })
    }
}

fn list(f: &mut fmt::Formatter<'_>, title: &str, problems: &[Problem]) -> fmt::Result {
    write!(f, "{title}")?;
    problems.iter().try_for_each(|p| write!(f, "\n  - {p}"))
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io { path, message } => write!(f, "cannot read `{path}`: {message}"),
            Error::Write { path, message } => {
                write!(f, "cannot write `{path}`: {message}\n    help: its folder has to exist, and to let you write")
            }
            Error::Malformed(problem) => write!(f, "not a readable model: {problem}"),
            Error::Unsupported(problems) => list(f, "this model cannot be compiled:", problems),
            Error::Options(problem) => write!(f, "{problem}"),
            Error::OverBudget(problems) => list(f, "the compiled model is over budget:", problems),
            Error::Internal { stage, message } => {
                write!(f, "internal error in {stage} (this is a bug in Kiln, please report it): {message}")
            }
        }
    }
}

impl std::error::Error for Error {}
