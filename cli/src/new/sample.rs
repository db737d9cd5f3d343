//! An input, and the interpreter's answer to it.

use crate::place::interpret;
use anyhow::{Context, Result};
use kiln_codegen::ir::{DType, Data, Graph, Type};

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
    let mut noise = Noise(0x9e37_79b9);
    let inputs: Vec<Data> = graph.inputs.iter().map(|&id| noise.tensor(graph.ty(id))).collect();
    let joined = |data: &[Data]| data.iter().flat_map(|tensor| tensor.bytes().to_vec()).collect();
    let given = joined(&inputs);
    let outputs = interpret(graph, &[inputs])?;
    let outputs = outputs.first().context("no answer")?;
    Ok(Sample { inputs: given, outputs: joined(outputs) })
}

/// Marsaglia's xorshift32.
struct Noise(u32);

impl Noise {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    /// Any integers; numbers in [-1, 1) for floats; 0 or 1 for truth values.
    fn tensor(&mut self, ty: &Type) -> Data {
        let bytes = ty.bytes();
        Data::new(match ty.dtype {
            DType::F32 => (0..bytes / 4)
                .flat_map(|_| ((self.next() as i32 >> 8) as f32 / (1 << 23) as f32).to_le_bytes())
                .collect::<Vec<u8>>(),
            DType::Bool => (0..bytes).map(|_| (self.next() >> 31) as u8).collect(),
            _ => (0..bytes).map(|_| (self.next() >> 24) as u8).collect(),
        })
    }
}
