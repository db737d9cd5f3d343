//! Portable bytecode of StableHLO: what `jax.export` and `stablehlo.serialize_portable_artifact` write.
//!
//! It is MLIR's bytecode with the operations of VHLO, a dialect for files of which nothing ever changes. `cursor` reads numbers, `file` the tables,
//! `types`, `attributes`, `dense` and `places` their entries, and `ir` the operations. `known` lists VHLO's operations, and `upgrade` makes StableHLO's
//! attributes of theirs. `export` finds the bytecode in a file of `jax.export`.
//!
//! The bytes are not trusted. Every length is checked, attributes and regions lie in one another only so deep, and what is read takes memory in proportion to
//! the file. Weights are not copied.

mod attributes;
mod cursor;
mod dense;
mod export;
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

use super::module::Module;
use kiln_ir::error::Error;

/// How bytecode begins.
const MAGIC: &[u8] = b"ML\xefR";

/// Whether the bytes begin as MLIR's bytecode does.
pub(crate) fn is_bytecode(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Whether the bytes are a file of `jax.export` with bytecode in it.
pub(crate) fn is_jax_export(bytes: &[u8]) -> bool {
    export::payload(bytes).is_some()
}

/// The bytecode in a file of `jax.export`.
///
/// # Errors
/// [`Error::Malformed`] if there is none.
pub(crate) fn jax_payload(bytes: &[u8]) -> Result<&[u8], Error> {
    export::payload(bytes).ok_or_else(export::damaged)
}

/// Reads bytecode.
///
/// # Errors
/// [`Error::Malformed`] for damaged files, and [`Error::Unsupported`] for those of newer versions or of other dialects.
pub(super) fn read(bytes: &[u8]) -> Result<Module<'_>, Error> {
    Ok(file::File::open(bytes)?.module()?)
}
