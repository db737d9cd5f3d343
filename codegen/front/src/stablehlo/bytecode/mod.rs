//! Portable bytecode of StableHLO: what `jax.export` and `stablehlo.serialize_portable_artifact` write.
//!
//! It is MLIR's bytecode with the operations of VHLO, a dialect for files of which nothing ever changes. `cursor` reads numbers, `file` the tables,
//! `types`, `attributes`, `dense` and `places` their entries, and `ir` the operations. `known` lists VHLO's operations, and `upgrade` makes StableHLO's
//! attributes of theirs. `export` finds the bytecode in a file of `jax.export`.
//!
//! The bytes are not trusted. Every length is checked, attributes and regions lie in one another only so deep, and what is read takes memory in proportion to
//! the file. Weights are not copied.

#[cfg(feature = "stablehlo")]
mod attributes;
#[cfg(feature = "stablehlo")]
mod cursor;
#[cfg(feature = "stablehlo")]
mod dense;
mod export;
#[cfg(feature = "stablehlo")]
mod file;
#[cfg(feature = "stablehlo")]
mod ir;
#[cfg(feature = "stablehlo")]
mod known;
#[cfg(feature = "stablehlo")]
mod places;
#[cfg(feature = "stablehlo")]
#[cfg(test)]
mod tests;
#[cfg(feature = "stablehlo")]
mod types;
#[cfg(feature = "stablehlo")]
mod upgrade;

#[cfg(feature = "stablehlo")]
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
#[cfg(feature = "stablehlo")]
pub(super) fn read(bytes: &[u8]) -> Result<Module<'_>, Error> {
    Ok(file::File::open(bytes)?.module()?)
}
