//! Reader of TOSA flatbuffers (`.tosa`, version 1.0 of the specification), which the Arm backend of ExecuTorch and other compilers write.
//!
//! The bytes are not trusted: every offset and length is checked, and memory stays in proportion to the file. Integers are what the specification says, to the last bit:
//! see [`lower`].
//!
//! Element types: floats of 16 bits are computed in 32 bits. Integers of 4 bits are bytes, and those of 48 bits have 64.

#[cfg(feature = "tosa")]
mod inspect;
#[cfg(feature = "tosa")]
mod lower;
#[cfg(feature = "tosa")]
mod names;
#[cfg(feature = "tosa")]
mod reader;
#[cfg(feature = "tosa")]
mod schema;
#[cfg(feature = "tosa")]
#[cfg(test)]
mod testing;
#[cfg(feature = "tosa")]
#[cfg(test)]
mod tests;

#[cfg(feature = "tosa")]
pub(crate) use reader::READER;

/// Whether the bytes carry the file identifier of TOSA.
pub(crate) fn is_tosa(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(b"TOSA")
}
