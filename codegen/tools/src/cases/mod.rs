//! Cases of a model: NumPy files with inputs and expected outputs ([`golden`]), inputs made of pictures, recordings and numbers ([`feed`]), what
//! the interpreter makes of them ([`run`]), and how outputs compare ([`compare`]).

pub mod compare;
pub mod feed;
pub mod golden;
pub mod noise;
mod npy;
pub mod npz;
pub mod run;
pub mod values;

use kiln_interp::InterpError;
use std::fmt;

/// What is wrong with a file of cases, or why they cannot be run: a sentence for the user, with a way out where there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    /// In such words.
    pub fn new(text: impl Into<String>) -> Self {
        Error(text.into())
    }

    /// With the place in front of it.
    pub(crate) fn within(self, place: impl fmt::Display) -> Self {
        Error(format!("{place}: {self}"))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<InterpError> for Error {
    fn from(error: InterpError) -> Self {
        Error(error.to_string())
    }
}

/// A result whose error is for the user.
pub type Result<T> = std::result::Result<T, Error>;
