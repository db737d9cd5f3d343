//! Reader of PyTorch's exported programs (`.pt2`): the archives that `torch.export.save` writes.
//!
//! An archive has the program as JSON, and the weights as they lie in memory. Weights of older archives, and of classes of their own, are pickles, of which nothing is executed.

#[cfg(feature = "pt2")]
mod import;
#[cfg(feature = "pt2")]
mod inputs;
#[cfg(feature = "pt2")]
mod inspect;
#[cfg(feature = "pt2")]
mod outputs;
#[cfg(feature = "pt2")]
mod program;
#[cfg(feature = "pt2")]
mod reader;
#[cfg(feature = "pt2")]
mod saved;
#[cfg(feature = "pt2")]
mod store;
#[cfg(feature = "pt2")]
#[cfg(test)]
mod testing;
#[cfg(feature = "pt2")]
#[cfg(test)]
mod tests;

use crate::archive::Archive;
#[cfg(feature = "pt2")]
pub(crate) use reader::READER;

/// How the name of the program ends in archives of torch up to 2.7.
const OLD_PROGRAM: &str = "serialized_exported_program.json";

/// Whether the bytes look like such an archive.
pub(crate) fn is_pt2(bytes: &[u8]) -> bool {
    let Some(archive) = Archive::open(bytes) else { return false };
    archive.ending(OLD_PROGRAM).is_some() || archive.programs().next().is_some()
}
