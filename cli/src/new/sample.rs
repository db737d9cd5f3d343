//! An input, and the interpreter's answer to it.

use crate::noise::Noise;
use crate::place::interpret;
use anyhow::{Context, Result};
use kiln_codegen::ir::{Data, Graph};

/// An input and its answer: the tensors one behind the other, in the model's types.
pub(super) struct Sample {
    pub(super) inputs: Vec<u8>,
    pub(super) outputs: Vec<u8>,
}

/// Noise, and what the interpreter makes of it in a model that was just reset.
///
/// # Errors
/// Where the interpreter fails.
pub(super) fn answered(graph: &Graph) -> Result<Sample> {
    let inputs = Noise::default().inputs(graph);
    let joined = |data: &[Data]| data.iter().flat_map(|tensor| tensor.bytes().to_vec()).collect();
    let given = joined(&inputs);
    let outputs = interpret(graph, &[inputs])?;
    let outputs = outputs.first().context("no answer")?;
    Ok(Sample { inputs: given, outputs: joined(outputs) })
}
