//! Portable bytecode of StableHLO: what `jax.export` and `stablehlo.serialize_portable_artifact` write.
//!
//! It is MLIR's bytecode with the operations of VHLO, a dialect for files of which nothing ever changes. `cursor` reads numbers, `file` the tables,
//! `types`, `attributes`, `dense` and `places` their entries, and `ir` the operations. `known` lists VHLO's operations, and `upgrade` makes StableHLO's
//! attributes of theirs. `form` beside this folder tells files of `jax.export` apart, and `export` finds the bytecode in them.
//!
//! The bytes are not trusted. Every length is checked, attributes and regions lie in one another only so deep, and what is read takes memory in proportion to
//! the file. Weights are not copied.

mod attributes;
mod cursor;
mod dense;
mod file;
mod ir;
mod known;
mod places;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod types;
mod upgrade;

use super::form::MAGIC;
#[cfg(test)]
use super::form::{is_bytecode, is_jax_export, jax_payload};
use super::module::Module;
use kiln_ir::error::Error;

/// Reads bytecode.
///
/// # Errors
/// [`Error::Malformed`] for damaged files, and [`Error::Unsupported`] for those of newer versions or of other dialects.
pub(super) fn read(bytes: &[u8]) -> Result<Module<'_>, Error> {
    Ok(file::File::open(bytes)?.module()?)
}
