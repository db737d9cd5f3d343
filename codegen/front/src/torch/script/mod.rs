//! Reader of TorchScript (`.pt`): the archives that `torch.jit.save` writes.
//!
//! An archive has the code of the module as text in a part of Python's grammar, its attributes as a pickle, and the weights as they lie in memory. The code is executed while
//! the graph is built ([`eval`]): numbers, lists and shapes are known, and tensors are values of the graph. What remains are calls of ATen operators, which become what
//! those of exported programs become ([`lower`](super::lower)). Loops are unrolled, and branches are taken, as the shapes of inputs say.

#[cfg(feature = "torchscript")]
mod arena;
#[cfg(feature = "torchscript")]
mod code;
#[cfg(feature = "torchscript")]
mod eval;
#[cfg(feature = "torchscript")]
mod inspect;
#[cfg(feature = "torchscript")]
mod lexer;
#[cfg(feature = "torchscript")]
mod model;
#[cfg(feature = "torchscript")]
mod reader;
#[cfg(feature = "torchscript")]
mod schema;
#[cfg(feature = "torchscript")]
mod syntax;
#[cfg(feature = "torchscript")]
#[cfg(test)]
mod testing;
#[cfg(feature = "torchscript")]
#[cfg(test)]
mod tests;
#[cfg(feature = "torchscript")]
mod types;

#[cfg(feature = "torchscript")]
use super::lower::short;
use crate::archive::Archive;
#[cfg(feature = "torchscript")]
pub(crate) use reader::READER;

/// Whether the bytes look like such an archive.
pub(crate) fn is_torchscript(bytes: &[u8]) -> bool {
    Archive::open(bytes).is_some_and(|archive| archive.has_code())
}
