//! The reader of TensorFlow Lite, as the table of formats has it.

use super::inspect::inspect;
use super::{lower, names, parse};
use crate::budget::Budget;
use crate::{Read, Reader};
use kiln_ir::error::Error;
use kiln_ir::options::Options;
use kiln_ir::Graph;

pub(crate) const READER: Reader = Reader {
    read: read_all,
    inspect,
    embed: |_, _| Ok(None),
    operators: || operators().map(|(_, name)| name).collect(),
};

/// Reads a model and lowers it to a graph named `name`. `options` say what it leaves open.
///
/// # Errors
///
/// [`Error::Malformed`] for bytes that are no sound model, [`Error::Unsupported`] with every operator, type and shape
/// that cannot be compiled, [`Error::Options`] for options that do not fit the model.
pub fn read(bytes: &[u8], name: &str, options: &Options) -> Result<Graph, Error> {
    read_all(bytes, name, options)?.complete()
}

fn read_all(bytes: &[u8], name: &str, options: &Options) -> Result<Read, Error> {
    let mut budget = Budget::new(bytes.len());
    let model = parse(bytes, &mut budget)?;
    lower::lower(&model, name, options, budget)
}

/// Number in the schema, and name, of every operator that can be lowered, in some number format at least.
pub fn operators() -> impl Iterator<Item = (i32, String)> {
    lower::builtins().map(|code| (code, names::builtin(code)))
}
