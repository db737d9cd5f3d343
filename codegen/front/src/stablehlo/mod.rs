//! Reader of StableHLO, which jax and XLA write: MLIR's text and bytecode, jax.export's files, and XLA's HLO text.
//!
//! Readers of these forms give a [`module`]; lowering makes a graph of it. The bytes are not trusted: every length is checked, and memory stays in proportion
//! to the file.
//!
//! Element types: unsigned integers of 16, 32 and 64 bits are signed ones of the same bits, also at inputs and outputs. Floats of 16 and 64 bits are computed in 32 bits;
//! what is converted to half precision or bfloat16 loses its digits there. Complex numbers are two tensors, and cannot be inputs or outputs.
//!
//! Axes have no order of their own in StableHLO. Ops on images see them in ONNX's order ([`NodeCx`](crate::onnx::lower::NodeCx) has the means), and passes remove
//! the transposes.

#[cfg(feature = "stablehlo")]
mod bytecode;
mod export;
mod form;
#[cfg(feature = "stablehlo")]
mod hlo_text;
#[cfg(feature = "stablehlo")]
mod lower;
#[cfg(feature = "stablehlo")]
mod module;
#[cfg(feature = "stablehlo")]
mod reader;
#[cfg(feature = "stablehlo")]
mod scanner;
#[cfg(feature = "stablehlo")]
#[cfg(test)]
mod testing;
#[cfg(feature = "stablehlo")]
mod text;

#[cfg(feature = "stablehlo")]
pub(crate) use reader::READER;

/// Whether the bytes look like such a module.
pub(crate) fn is_stablehlo(bytes: &[u8]) -> bool {
    form::is_stablehlo_text(bytes)
        || form::is_hlo_text(bytes)
        || form::is_bytecode(bytes)
        || form::is_jax_export(bytes)
}
