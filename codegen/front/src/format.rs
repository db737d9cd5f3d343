//! The formats of model files: a row for each, and a folder with its reader.
//!
//! How a file is recognised is always compiled; its reader only with the Cargo feature of the format, so that firmware crates compile no readers that
//! they do not use.

use crate::external::Fetch;
use crate::{foreign, Read, Summary};
use kiln_ir::error::{Error, Problem};
use kiln_ir::options::Options;

/// A format of model files.
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// How names of its files end.
    pub ending: &'static str,
    /// The Cargo feature with its reader.
    pub feature: &'static str,
    /// Whether bytes look like such a file.
    pub is: fn(&[u8]) -> bool,
    /// Its reader; `None` without the feature.
    pub reader: Option<&'static Reader>,
}

/// What reads a format.
pub struct Reader {
    /// Reads a model as a graph of that name, with everything that cannot be compiled beside it.
    ///
    /// Fails with [`Error::Malformed`] for bytes that are no sound model, [`Error::Options`] for options that do not fit it, and [`Error::Unsupported`] where
    /// nothing of it can be read.
    pub read: fn(&[u8], &str, &Options) -> Result<Read, Error>,
    /// Lists what a file contains, whether or not it can be compiled. Fails with [`Error::Malformed`].
    pub inspect: fn(&[u8]) -> Result<Summary, Error>,
    /// Puts constants that lie in other files into the model.
    pub embed: Embed,
    /// Names of the operators that can be lowered, in some number format at least; those of other domains with the domain in front.
    pub operators: fn() -> Vec<String>,
}

/// The model as one file, where constants of it lie in others; `None` where they do not. Fails as the function that reads those files does, and with
/// [`Error::Malformed`].
pub type Embed = fn(&[u8], &mut Fetch<'_>) -> Result<Option<Vec<u8>>, Error>;

/// All formats, in the order in which files are compared with them.
pub const FORMATS: &[Format] = &[
    Format {
        name: "ONNX",
        ending: "onnx",
        feature: "onnx",
        is: crate::onnx::is_onnx,
        #[cfg(feature = "onnx")]
        reader: Some(&crate::onnx::READER),
        #[cfg(not(feature = "onnx"))]
        reader: None,
    },
    Format {
        name: "PyTorch",
        ending: "pt2",
        feature: "pt2",
        is: crate::torch::export::is_pt2,
        #[cfg(feature = "pt2")]
        reader: Some(&crate::torch::export::READER),
        #[cfg(not(feature = "pt2"))]
        reader: None,
    },
    Format {
        name: "TorchScript",
        ending: "pt",
        feature: "torchscript",
        is: crate::torch::script::is_torchscript,
        #[cfg(feature = "torchscript")]
        reader: Some(&crate::torch::script::READER),
        #[cfg(not(feature = "torchscript"))]
        reader: None,
    },
    Format {
        name: "ExecuTorch",
        ending: "pte",
        feature: "executorch",
        is: crate::torch::pte::is_executorch,
        #[cfg(feature = "executorch")]
        reader: Some(&crate::torch::pte::READER),
        #[cfg(not(feature = "executorch"))]
        reader: None,
    },
    Format {
        name: "Keras",
        ending: "keras",
        feature: "keras",
        is: crate::keras::is_keras,
        #[cfg(feature = "keras")]
        reader: Some(&crate::keras::READER),
        #[cfg(not(feature = "keras"))]
        reader: None,
    },
    Format {
        name: "StableHLO",
        ending: "mlir",
        feature: "stablehlo",
        is: crate::stablehlo::is_stablehlo,
        #[cfg(feature = "stablehlo")]
        reader: Some(&crate::stablehlo::READER),
        #[cfg(not(feature = "stablehlo"))]
        reader: None,
    },
    Format {
        name: "TensorFlow",
        ending: "pb",
        feature: "tensorflow",
        is: crate::tensorflow::is_tensorflow,
        #[cfg(feature = "tensorflow")]
        reader: Some(&crate::tensorflow::READER),
        #[cfg(not(feature = "tensorflow"))]
        reader: None,
    },
    Format {
        name: "TensorFlow Lite",
        ending: "tflite",
        feature: "tflite",
        is: crate::tflite::is_tflite,
        #[cfg(feature = "tflite")]
        reader: Some(&crate::tflite::READER),
        #[cfg(not(feature = "tflite"))]
        reader: None,
    },
    Format {
        name: "TOSA",
        ending: "tosa",
        feature: "tosa",
        is: crate::tosa::is_tosa,
        #[cfg(feature = "tosa")]
        reader: Some(&crate::tosa::READER),
        #[cfg(not(feature = "tosa"))]
        reader: None,
    },
];

/// The format of a file.
///
/// # Errors
/// [`Error::Malformed`] for bytes of no known format. It says what they look like.
pub fn format_of(bytes: &[u8]) -> Result<&'static Format, Error> {
    FORMATS.iter().find(|format| (format.is)(bytes)).ok_or_else(|| foreign::error(bytes))
}

impl Format {
    /// Its reader.
    ///
    /// # Errors
    /// [`Error::Unsupported`] without the format's feature. It names the feature.
    pub fn reader(&self) -> Result<&'static Reader, Error> {
        self.reader.ok_or_else(|| {
            Error::Unsupported(vec![Problem {
                place: String::new(),
                what: format!(
                    "this is a model in the format {}, but Kiln is built without its reader",
                    self.name
                ),
                help: format!(
                    "enable the feature `{0}` of the Kiln crate in Cargo.toml: features = [\"{0}\"]",
                    self.feature
                ),
            }])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_without_its_reader_names_its_feature() {
        for format in FORMATS {
            let without = Format { reader: None, ..*format };
            let Err(error) = without.reader() else { panic!("{} has a reader", format.name) };
            let message = error.to_string();
            assert!(message.contains(format.name), "{message}");
            assert!(message.contains(&format!("features = [\"{}\"]", format.feature)), "{message}");
        }
    }
}
