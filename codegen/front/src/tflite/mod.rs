//! Reader of TensorFlow Lite models (`.tflite`, schema version 3).
//!
//! The bytes are not trusted: every offset and length is checked, memory stays in proportion to the file, and whatever is
//! wrong ends in an [`Error`] with its place.

#[cfg(feature = "tflite")]
mod flexbuffer;
#[cfg(feature = "tflite")]
mod inspect;
#[cfg(feature = "tflite")]
mod lower;
#[cfg(feature = "tflite")]
mod names;
#[cfg(feature = "tflite")]
mod options;
#[cfg(feature = "tflite")]
mod reader;
#[cfg(feature = "tflite")]
mod schema;
// For tests in this and other crates. They are no feature, because each set of features would compile this crate once more.
#[cfg(feature = "tflite")]
#[doc(hidden)]
pub mod seeds;
#[cfg(feature = "tflite")]
#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;

#[cfg(feature = "tflite")]
pub(crate) use reader::READER;
#[cfg(feature = "tflite")]
pub use reader::{operators, read};

#[cfg(feature = "tflite")]
use {crate::budget::Budget, kiln_ir::error::Error, schema::Model};

/// Whether the bytes carry the file identifier of TFLite.
pub fn is_tflite(bytes: &[u8]) -> bool {
    bytes.get(4..8) == Some(b"TFL3")
}

#[cfg(feature = "tflite")]
fn parse<'a>(bytes: &'a [u8], budget: &mut Budget) -> Result<Model<'a>, Error> {
    if !is_tflite(bytes) {
        return Err(crate::foreign::error(bytes));
    }
    Model::parse(bytes, budget)
}
