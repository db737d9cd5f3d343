//! Reader of PyTorch's exported programs (`.pt2`): the archives that `torch.export.save` writes.
//!
//! An archive is a zip file with the program as JSON and the weights as they lie in memory. The bytes are not trusted: every length is checked, memory stays
//! in proportion to the file, nothing is decompressed, and no pickle is read. What operators mean is what ATen computes in float32.
//!
//! Tensors of PyTorch are channel-first, as those of ONNX. So operators are lowered by the means of ONNX's ([`NodeCx`](crate::onnx::lower::NodeCx)), and what
//! means the same becomes the same ops.

mod archive;
#[cfg(feature = "pt2")]
mod json;
#[cfg(feature = "pt2")]
mod lower;
#[cfg(feature = "pt2")]
mod program;
#[cfg(feature = "pt2")]
mod reader;
#[cfg(feature = "pt2")]
#[cfg(test)]
mod testing;
#[cfg(feature = "pt2")]
#[cfg(test)]
mod tests;
#[cfg(feature = "pt2")]
mod weights;

use archive::Archive;
#[cfg(feature = "pt2")]
pub(crate) use reader::READER;

/// How the name of the program ends in archives of torch up to 2.7.
const OLD_PROGRAM: &str = "serialized_exported_program.json";

/// Whether the bytes look like such an archive.
pub(crate) fn is_pt2(bytes: &[u8]) -> bool {
    let Some(archive) = Archive::open(bytes) else { return false };
    archive.ending(OLD_PROGRAM).is_some() || archive.programs().next().is_some()
}
