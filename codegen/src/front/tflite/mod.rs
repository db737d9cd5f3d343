//! Reader of TensorFlow Lite models (`.tflite`, schema version 3).
//!
//! The bytes are not trusted: every offset and length is checked, memory stays in proportion to the file, and whatever is
//! wrong ends in an [`Error`] with its place.

mod flatbuffer;
mod flexbuffer;
mod inspect;
mod lower;
mod names;
mod options;
mod schema;
// For tests in this and other crates. They are no feature, because each set of features would compile this crate once more.
#[doc(hidden)]
pub mod seeds;
#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;

use super::budget::Budget;
use super::Read;
use crate::error::Error;
use crate::ir::Graph;
use crate::options::Options;
pub(super) use inspect::inspect;
use schema::Model;

/// Whether the bytes carry the file identifier of TFLite.
pub fn is_tflite(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(b"TFL3")
}

/// Reads a model and lowers it to a graph named `name`. `options` say what it leaves open.
///
/// # Errors
///
/// [`Error::Malformed`] for bytes that are no sound model, [`Error::Unsupported`] with every operator, type and shape
/// that cannot be compiled, [`Error::Options`] for options that do not fit the model.
pub fn read(bytes: &[u8], name: &str, options: &Options) -> Result<Graph, Error> {
    read_all(bytes, name, options)?.complete()
}

/// As [`read`], with what cannot be compiled beside what can.
pub(super) fn read_all(bytes: &[u8], name: &str, options: &Options) -> Result<Read, Error> {
    let mut budget = Budget::new(bytes.len());
    let model = parse(bytes, &mut budget)?;
    lower::lower(&model, name, options, budget)
}

/// Number in the schema, and name, of every operator that can be lowered, in some number format at least.
pub fn operators() -> impl Iterator<Item = (i32, String)> {
    lower::builtins().map(|code| (code, names::builtin(code)))
}

fn parse<'a>(bytes: &'a [u8], budget: &mut Budget) -> Result<Model<'a>, Error> {
    if !is_tflite(bytes) {
        return Err(super::other_format(bytes));
    }
    Model::parse(bytes, budget)
}
