//! Readers: bytes of a model file to a [`Graph`].

pub(crate) mod budget;
mod input_shapes;
mod interface;
mod onnx;
pub(crate) mod report;
mod summary;
pub mod tflite;

use crate::error::{Error, Problem};
use crate::ir::{Graph, Value, ValueDef, ValueId};
use crate::options::Options;
pub(crate) use onnx::{missing, External, Fetch};
pub use summary::{OperatorSummary, QuantizationSummary, Summary, TensorSummary};

/// Names of the operators of ONNX that can be lowered, in some number format at least; those of other domains with the domain in front.
pub fn onnx_operators() -> impl Iterator<Item = &'static str> {
    onnx::operators()
}

/// Reads a model of any known format. `name` becomes the graph's name.
///
/// # Errors
///
/// [`Error::Malformed`] for bytes of no known format and for damaged models, [`Error::Unsupported`] for models that
/// use something Kiln cannot compile.
pub fn read(bytes: &[u8], name: &str) -> Result<Graph, Error> {
    read_with(bytes, name, &Options::default())
}

/// As [`read`], with what the options say about the model: sizes that it leaves open, its custom operators.
///
/// # Errors
///
/// Those of [`read`], and [`Error::Options`] for options that do not fit the model.
pub fn read_with(bytes: &[u8], name: &str, options: &Options) -> Result<Graph, Error> {
    read_all(bytes, name, options)?.complete()
}

/// As [`read_with`], with what cannot be compiled beside what can.
///
/// # Errors
///
/// [`Error::Malformed`], [`Error::Options`], and [`Error::Unsupported`] where nothing of the model can be read.
pub(crate) fn read_all(bytes: &[u8], name: &str, options: &Options) -> Result<Read, Error> {
    match onnx::is_onnx(bytes) {
        true => onnx::read(bytes, name, options),
        false => tflite::read_all(bytes, name, options),
    }
}

/// Refuses values without elements that a reader has left in the graph: nothing computes them.
///
/// # Errors
/// [`Error::Unsupported`] with each of them.
pub(crate) fn check_elements(graph: &Graph) -> Result<(), Error> {
    let of_nodes = graph.nodes().flat_map(|(_, node)| node.operands.iter().copied().chain([node.result]));
    let all = of_nodes.chain(graph.inputs.iter().copied()).chain(graph.outputs.iter().copied());
    let mut empty: Vec<ValueId> = all.filter(|&id| graph.ty(id).shape.numel() == 0).collect();
    empty.sort_unstable();
    empty.dedup();
    let problem = |id| {
        let value = graph.value(id);
        Problem {
            place: format!("tensor \"{}\"", value.label()),
            what: format!("its shape {:?} has no elements", value.ty.shape.dims()),
            help: "export the model without it, or with sizes from 1 on".into(),
        }
    };
    match empty.is_empty() {
        true => Ok(()),
        false => Err(Error::Unsupported(empty.into_iter().map(problem).collect())),
    }
}

/// What was read of a model.
pub(crate) struct Read {
    /// The model; where there are problems, what is left of it: results of refused operators are inputs, and what only they read are outputs. It serves to
    /// find what later stages refuse.
    pub(crate) graph: Graph,
    /// What cannot be compiled.
    pub(crate) problems: Vec<Problem>,
}

impl Read {
    /// What is left of a model. Results of refused operators are values without a definition.
    fn partial(mut graph: Graph, problems: Vec<Problem>) -> Self {
        let is_open = |&(_, value): &(ValueId, &Value)| value.def == ValueDef::Input;
        graph.inputs = graph.values().filter(is_open).map(|(id, _)| id).collect();
        let uses = graph.use_counts();
        let is_unused = |id: &ValueId| uses[id.0 as usize] == 0;
        let results: Vec<ValueId> = graph.nodes().map(|(_, node)| node.result).filter(is_unused).collect();
        graph.outputs.extend(results);
        Read { graph, problems }
    }

    /// The model, if all of it can be compiled.
    ///
    /// # Errors
    /// [`Error::Unsupported`].
    fn complete(self) -> Result<Graph, Error> {
        match self.problems.is_empty() {
            true => Ok(self.graph),
            false => Err(Error::Unsupported(self.problems)),
        }
    }
}

/// Lists what a file contains, whether or not it can be compiled.
///
/// # Errors
///
/// [`Error::Malformed`] for bytes that are no sound model.
pub fn inspect(bytes: &[u8]) -> Result<Summary, Error> {
    match onnx::is_onnx(bytes) {
        true => onnx::inspect(bytes),
        false => tflite::inspect(bytes),
    }
}

/// The model as one file, where constants of it lie in others; `None` where they do not.
///
/// # Errors
/// Those of `fetch`, and [`Error::Malformed`] for constants whose data can be in no file.
pub(crate) fn embed(bytes: &[u8], fetch: &mut Fetch<'_>) -> Result<Option<Vec<u8>>, Error> {
    match onnx::is_onnx(bytes) {
        true => onnx::embed(bytes, fetch),
        false => Ok(None),
    }
}

/// The error for bytes that are no TFLite model.
fn other_format(bytes: &[u8]) -> Error {
    let (what, help) = unknown(bytes);
    Error::Malformed(Problem { place: String::new(), what: what.into(), help: help.into() })
}

/// What bytes look like that are no TFLite model, and what to do about it.
fn unknown(bytes: &[u8]) -> (&'static str, &'static str) {
    let begins = |magic: &[u8]| bytes.starts_with(magic);
    let contains = |text: &[u8]| bytes.get(..4096).unwrap_or(bytes).windows(text.len()).any(|w| w == text);
    match () {
        () if bytes.is_empty() => ("the file is empty", "give a .tflite or an .onnx file"),
        () if begins(b"version https://git-lfs") => {
            ("not a TFLite model but a Git LFS pointer", "run `git lfs pull` to fetch the model itself")
        }
        // A protobuf whose first field is a version number, 1 so far, and whose second is the graph.
        () if begins(&[0x08, 0x01, 0x12]) => (
            "not a TFLite model but probably the graph of a SavedModel",
            "convert its folder with tf.lite.TFLiteConverter.from_saved_model",
        ),
        // The same, of larger version numbers, and with a string as second field.
        () if begins(&[0x08]) && (contains(b"onnx") || contains(b"pytorch") || contains(&[0x12])) => {
            ("probably an ONNX model, but a damaged one", "copy or export it again")
        }
        () if begins(b"\x89HDF") => {
            (
                "not a TFLite model but an HDF5 file (Keras)",
                "load it with tf.keras.models.load_model and convert it with tf.lite.TFLiteConverter.from_keras_model",
            )
        }
        () if begins(b"PK\x03\x04") && contains(b"data.pkl") => (
            "not a TFLite model but a PyTorch one",
            "convert it with litert-torch",
        ),
        () if begins(b"PK\x03\x04") => (
            "not a TFLite model but a zip archive, perhaps of Keras",
            "load it with tf.keras.models.load_model and convert it with tf.lite.TFLiteConverter.from_keras_model",
        ),
        () if bytes.get(4..6) == Some(b"ET") => {
            ("not a TFLite model but an ExecuTorch program", "convert the PyTorch model with litert-torch")
        }
        () => (
            "neither a TFLite model (the identifier `TFL3` is missing) nor an ONNX one",
            "give a .tflite or an .onnx file",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_the_bytes_are() {
        let message = |bytes: &[u8]| read(bytes, "m").unwrap_err().to_string();
        assert!(message(b"").contains("empty"));
        assert!(message(b"\x08\x07\x12\x07pytorch").contains("ONNX"));
        assert!(message(b"\x08\x01\x12\x07").contains("SavedModel"));
        assert!(message(b"\x89HDF\r\n").contains("from_keras_model"));
        assert!(message(b"PK\x03\x04 config.json").contains("Keras"));
        assert!(message(b"PK\x03\x04 archive/data.pkl").contains("PyTorch"));
        assert!(message(b"\x1c\0\0\0ET12").contains("ExecuTorch"));
        assert!(message(b"version https://git-lfs.github.com/spec/v1").contains("git lfs pull"));
        assert!(message(b"hello world, this is text").contains("TFL3"));
        assert!(message(b"\x1c\0\0\0TFL3").contains("not a readable model"));
    }
}
