//! An input, and what Kiln's interpreter makes of it: whether this firmware, on this processor, computes what the model means.
//!
//! It can go as soon as there is input of your own.

use kiln::Model;

/// All inputs, one behind the other, as the model stores them.
static INPUTS: &[u8] = include_bytes!("../models/sample.in");
/// The outputs that belong to them.
static OUTPUTS: &[u8] = include_bytes!("../models/sample.out");

/// Writes the sample into the model's inputs.
pub fn write<M: Model>(model: &mut M) {
    let mut inputs = INPUTS.iter();
    for index in 0..M::INFO.inputs.len() {
        for (to, from) in model.input_bytes_mut(index).iter_mut().zip(&mut inputs) {
            *to = *from;
        }
    }
}

/// Whether the model's outputs are those of the sample, bit for bit.
pub fn is_answered<M: Model>(model: &M) -> bool {
    let outputs = (0..M::INFO.outputs.len()).flat_map(|index| model.output_bytes(index));
    outputs.eq(OUTPUTS)
}
