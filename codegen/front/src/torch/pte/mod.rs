//! Reader of ExecuTorch programs (`.pte`): what `to_executorch()` writes.
//!
//! A program is a flatbuffer ([`schema`]) with methods. Behind the flatbuffer stand segments with the data of tensors ([`data`]). A method is a list of instructions on numbered
//! values ([`chain`]). An instruction calls an operator that writes its results into values. A value may be written several times, so each write gets a name of its own. What
//! remains are nodes of ATen operators, which become what those of exported programs become ([`lower`](super::lower)).
//!
//! The bytes are not trusted: every offset and length is checked, and memory stays in proportion to the file.

#[cfg(feature = "executorch")]
mod arguments;
#[cfg(feature = "executorch")]
mod chain;
#[cfg(feature = "executorch")]
mod data;
#[cfg(feature = "executorch")]
mod import;
#[cfg(feature = "executorch")]
mod inspect;
#[cfg(feature = "executorch")]
mod known;
#[cfg(feature = "executorch")]
mod numbers;
#[cfg(feature = "executorch")]
mod reader;
#[cfg(feature = "executorch")]
mod schema;
#[cfg(feature = "executorch")]
mod signatures;
#[cfg(feature = "executorch")]
#[cfg(test)]
mod testing;
#[cfg(feature = "executorch")]
#[cfg(test)]
mod tests;

#[cfg(feature = "executorch")]
pub(crate) use reader::READER;

/// Whether the bytes carry the file identifier of ExecuTorch programs.
pub(crate) fn is_executorch(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(b"ET12")
}
