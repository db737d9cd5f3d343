//! Reader of ONNX models (`.onnx`).
//!
//! The bytes are not trusted: every length is checked, memory stays in proportion to the file, and whatever is wrong ends in an
//! [`Error`](crate::error::Error) with its place. What operators mean is what the ONNX specification says, in the version of their sets that the file names.

mod external;
mod lower;
mod proto;
mod wire;

pub(crate) use external::{missing, External, Fetch};

use super::budget::Budget;
use crate::error::Error;
use crate::front::{Read, Summary};
use crate::options::Options;
use proto::{Failure, Model};
use wire::{Message, Value};

/// Whether the bytes look like a model: a message with a version, a graph and operator sets.
pub(super) fn is_onnx(bytes: &[u8]) -> bool {
    let (mut version, mut graph, mut opsets) = (false, false, false);
    for field in Message(bytes) {
        match field {
            Ok((1, Value::Varint(1..=1000))) => version = true,
            Ok((7, Value::Bytes(_))) => graph = true,
            Ok((8, Value::Bytes(_))) => opsets = true,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    version && graph && opsets
}

/// Names of the operators that can be lowered; those of other domains with the domain in front.
pub(super) fn operators() -> impl Iterator<Item = &'static str> {
    lower::operators()
}

/// Reads a model and lowers it to a graph named `name`, with everything that cannot be compiled beside it.
///
/// # Errors
/// [`Error::Malformed`] for bytes that are no sound model, [`Error::Unsupported`] where nothing of it can be read.
pub(super) fn read(bytes: &[u8], name: &str, options: &Options) -> Result<Read, Error> {
    let (model, budget) = parse(bytes)?;
    lower::lower(&model, name, options, budget)
}

/// Lists what a file contains, with shapes as far as the model can be followed.
///
/// # Errors
/// [`Error::Malformed`] for bytes that are no sound model.
pub(super) fn inspect(bytes: &[u8]) -> Result<Summary, Error> {
    let (model, budget) = parse(bytes)?;
    Ok(Summary { file_bytes: bytes.len(), ..lower::inspect(&model, budget)? })
}

/// The model with the constants that lie in other files; `None` where there are none.
///
/// # Errors
/// Those of `fetch`, and [`Error::Malformed`].
pub(super) fn embed(bytes: &[u8], fetch: &mut Fetch<'_>) -> Result<Option<Vec<u8>>, Error> {
    external::embed(bytes, fetch)
}

fn parse(bytes: &[u8]) -> Result<(Model<'_>, Budget), Error> {
    // Nodes and attributes are small messages, of which larger structures are made.
    let mut budget = Budget::new(bytes.len().saturating_mul(4));
    let model = Model::parse(bytes, &mut budget).map_err(|failure| match failure {
        Failure::Broken(broken) => Error::malformed("model", broken.to_string()),
        Failure::Budget(error) => error,
    })?;
    Ok((model, budget))
}
