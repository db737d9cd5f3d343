//! Readers: bytes of a model file to a [`Graph`].
//!
//! [`FORMATS`] lists the formats, of which each has a folder here and a Cargo feature. What formats share is beside the folders: `refusal` and
//! `report` (what cannot be compiled), `archive` (zip files), `json`, `transposed` (transposed convolutions), `half` (half precision), `budget` (memory in proportion to the file), `interface` (inputs, outputs, states), and
//! [`Summary`] (what a file contains).

// Without some formats, not all that they share is used.
#![cfg_attr(not(feature = "all-formats"), allow(dead_code, unused_imports, unused_macros))]

#[macro_use]
mod refusal;

mod archive;
pub(crate) mod budget;
mod external;
mod flatbuffer;
mod foreign;
mod format;
mod half;
mod interface;
#[cfg(feature = "vocabulary")]
mod json;
mod keras;
pub mod onnx;
mod protobuf;
pub(crate) mod report;
mod stablehlo;
mod summary;
mod tensorflow;
#[cfg(test)]
mod testing;
pub mod tflite;
mod torch;
mod tosa;
mod transposed;

pub use external::{External, Fetch};
pub use format::{format_of, Embed, Format, Reader, FORMATS};
use kiln_ir::error::{Error, Problem};
use kiln_ir::options::Options;
use kiln_ir::{Graph, Value, ValueDef, ValueId};
pub(crate) use refusal::{Lowered, Refusal};
use report::Report;
pub use summary::{OperatorSummary, QuantizationSummary, Summary, TensorSummary};

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
pub fn read_all(bytes: &[u8], name: &str, options: &Options) -> Result<Read, Error> {
    (format_of(bytes)?.reader()?.read)(bytes, name, options)
}

/// Refuses values without elements that a reader has left in the graph: nothing computes them.
///
/// # Errors
/// [`Error::Unsupported`] with each of them.
pub fn check_elements(graph: &Graph) -> Result<(), Error> {
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
            help: "export the model without it, or with sizes of at least 1".into(),
        }
    };
    match empty.is_empty() {
        true => Ok(()),
        false => Err(Error::Unsupported(empty.into_iter().map(problem).collect())),
    }
}

/// What was read of a model.
pub struct Read {
    /// The model; where there are problems, what is left of it: results of refused operators are inputs, and what only they read are outputs. It serves to
    /// find what later stages refuse.
    pub graph: Graph,
    /// What cannot be compiled.
    pub problems: Vec<Problem>,
}

impl Read {
    /// What was lowered: the model, whose outputs have these names in the file, or what is left of it.
    fn of(mut graph: Graph, report: Report, options: &Options, outputs: &[String]) -> Result<Self, Error> {
        if !report.is_empty() {
            return Ok(Read::partial(graph, report.into_problems()));
        }
        interface::check_custom_ops(&graph, options)?;
        interface::keep_states(&mut graph, &options.states, outputs)?;
        Ok(Read { graph, problems: Vec::new() })
    }

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
    (format_of(bytes)?.reader()?.inspect)(bytes)
}

/// The model as one file, where constants of it lie in others; `None` where they do not.
///
/// # Errors
/// Those of `fetch`, and [`Error::Malformed`] for constants whose data can be in no file.
pub fn embed(bytes: &[u8], fetch: &mut Fetch<'_>) -> Result<Option<Vec<u8>>, Error> {
    match format_of(bytes).ok().and_then(|format| format.reader) {
        Some(reader) => (reader.embed)(bytes, fetch),
        None => Ok(None),
    }
}
