//! Constants that lie in other files than the model. What reads those files is given by the caller: no reader touches any.

use kiln_ir::error::{Error, Problem};

/// The data of a constant in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct External {
    /// The constant: `constant "fc.weight"`.
    pub place: String,
    /// The file's path, as the model has it.
    pub location: String,
    /// Where in the file the data begins.
    pub offset: u64,
    /// How many bytes it has; all up to the end of the file where the model does not say.
    pub length: Option<u64>,
}

/// Reads such data.
pub type Fetch<'f> = dyn FnMut(&External) -> Result<Vec<u8>, Error> + 'f;

impl External {
    /// The error for data that its file does not hold, or that is in no file the model may name.
    pub fn missing(&self, what: impl Into<String>, help: impl Into<String>) -> Error {
        Error::Malformed(Problem { place: self.place.clone(), what: what.into(), help: help.into() })
    }
}
