//! Reader of ONNX models (`.onnx`).
//!
//! The bytes are not trusted: every length is checked, memory stays in proportion to the file, and whatever is wrong ends in an
//! [`Error`](kiln_ir::error::Error) with its place. What operators mean is what the ONNX specification says, in the version of their sets that the file names.

#[cfg(feature = "onnx")]
mod external;
#[cfg(any(
    feature = "onnx",
    feature = "pt2",
    feature = "stablehlo",
    feature = "torchscript",
    feature = "tosa"
))]
pub(crate) mod lower;
#[cfg(any(
    feature = "onnx",
    feature = "pt2",
    feature = "stablehlo",
    feature = "torchscript",
    feature = "tosa"
))]
mod proto;
#[cfg(feature = "onnx")]
mod reader;
#[cfg_attr(not(feature = "onnx"), allow(dead_code))]
mod wire;

#[cfg(feature = "onnx")]
pub(crate) use reader::READER;
use wire::{Message, Value};

/// Whether the bytes look like a model: a message with a version, a graph and operator sets.
pub(crate) fn is_onnx(bytes: &[u8]) -> bool {
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
