//! Reader of Keras's models: `.keras` archives of Keras 3, and the HDF5 files (`.h5`) of Keras 2 and 3.
//!
//! - [`hdf5`]: the container of weights, and of whole models in the old form.
//! - [`value`], [`model`]: the configuration, which is JSON: layers, and calls of them.
//! - [`variables`], [`store`]: which variables a layer has, and where the file has them.
//! - [`lower`]: what each layer becomes.
//!
//! The bytes are not trusted: every length is checked, and memory stays in proportion to the file. No code of the model is run: `Lambda` layers and classes of the model's
//! author are refused.
//!
//! What layers compute is what Keras does with the backend TensorFlow in float32. Half precision is computed as float32. An open first axis is a batch of one.

#[cfg(feature = "keras")]
mod hdf5;
#[cfg(feature = "keras")]
mod lower;
#[cfg(feature = "keras")]
mod model;
#[cfg(feature = "keras")]
mod reader;
#[cfg(feature = "keras")]
mod store;
#[cfg(feature = "keras")]
#[cfg(test)]
mod tests;
#[cfg(feature = "keras")]
mod value;
#[cfg(feature = "keras")]
mod variables;

use crate::archive::Archive;
#[cfg(feature = "keras")]
pub(crate) use reader::READER;

/// Files in an archive: the configuration, and the weights.
const CONFIG: &str = "config.json";
const WEIGHTS: &str = "model.weights.h5";

/// Whether the bytes look like a model of Keras.
pub(crate) fn is_keras(bytes: &[u8]) -> bool {
    const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";
    if bytes.starts_with(HDF5) {
        return true;
    }
    let Some(archive) = Archive::open(bytes) else { return false };
    archive.ending(CONFIG).is_some() && archive.ending(WEIGHTS).is_some()
}
