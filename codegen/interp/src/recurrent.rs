//! Gated recurrent units, and recurrent layers without gates.

use super::activation::logistic_f32;
use super::lstm::last;
use super::tensor::clamp_f32;
use super::{Evaluated, InterpError, Tensor};
use kiln_ir::{Data, Op, Type};

/// Of one sequence: `x` \[t, k\], `h` \[n\].
struct Layer<'a> {
    inputs: usize,
    units: usize,
    x: &'a [f32],
    h: &'a [f32],
    w: &'a [f32],
    r: &'a [f32],
}

/// See `gru` and `rnn` in the op table.
pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    if !matches!(op, Op::Gru { .. } | Op::Rnn { .. }) {
        return Ok(None);
    }
    let [(x, _), (h, _), ..] = operands else {
        return Err(InterpError::new("a recurrent layer wants an operand and a state"));
    };
    let (&[sequences, steps, inputs], &[_, units]) = (x.shape.dims(), h.shape.dims()) else {
        return Err(InterpError::new("a recurrent layer wants sequences"));
    };
    let data: Vec<Vec<f32>> = operands.iter().map(|(_, data)| data.to_f32()).collect();
    let [x, h, w, r] = [0, 1, 2, 3].map(|k| &data[k][..]);
    let mut y = Vec::new();
    for sequence in 0..sequences {
        let x = &x[sequence * steps * inputs..][..steps * inputs];
        let h = &h[sequence * units..][..units];
        let layer = Layer { inputs, units, x, h, w, r };
        let (kept, outputs) = match op {
            Op::Gru { linear_before_reset } => layer.gru(*linear_before_reset, &data[4], &data[5]),
            Op::Rnn { relu } => (Vec::new(), layer.rnn(*relu, &data[4])),
            _ => Default::default(),
        };
        y.extend_from_slice(&kept);
        y.extend_from_slice(last(&outputs, result.shape.last().saturating_sub(kept.len())));
    }
    Ok(Some(Data::from_f32(&y)))
}

fn product(weights: &[f32], row: usize, x: &[f32]) -> f32 {
    weights[row * x.len()..].iter().zip(x).fold(0f32, |sum, (w, x)| sum + x * w)
}

impl Layer<'_> {
    fn steps(&self) -> std::slice::Chunks<'_, f32> {
        self.x.chunks(self.inputs.max(1))
    }

    /// What is in front of the outputs, and these.
    fn gru(&self, linear_before_reset: bool, of_inputs: &[f32], of_outputs: &[f32]) -> (Vec<f32>, Vec<f32>) {
        let (mut before, mut outputs) = (self.h.to_vec(), Vec::new());
        let mut kept = vec![0.0; self.units];
        for x in self.steps() {
            let input = |row: usize| product(self.w, row, x) + of_inputs[row];
            let output = |row: usize, h: &[f32]| product(self.r, row, h) + of_outputs[row];
            let gate = |k: usize, unit: usize| {
                let row = k * self.units + unit;
                logistic_f32(input(row) + output(row, &before))
            };
            kept = (0..self.units).map(|unit| gate(1, unit) * before[unit]).collect();
            let mut after = Vec::new();
            for unit in 0..self.units {
                let row = 2 * self.units + unit;
                let z = gate(0, unit);
                let from_state = match linear_before_reset {
                    true => gate(1, unit) * output(row, &before),
                    false => output(row, &kept),
                };
                after.push((1.0 - z) * libm::tanhf(input(row) + from_state) + z * before[unit]);
            }
            outputs.extend_from_slice(&after);
            before = after;
        }
        if linear_before_reset {
            kept.clear();
        }
        (kept, outputs)
    }

    fn rnn(&self, relu: bool, bias: &[f32]) -> Vec<f32> {
        let (mut before, mut outputs) = (self.h.to_vec(), Vec::new());
        for x in self.steps() {
            let sum = |unit: usize| product(self.w, unit, x) + bias[unit] + product(self.r, unit, &before);
            let active = |x: f32| if relu { clamp_f32(x, (0.0, f32::INFINITY)) } else { libm::tanhf(x) };
            let after: Vec<f32> = (0..self.units).map(|unit| active(sum(unit))).collect();
            outputs.extend_from_slice(&after);
            before = after;
        }
        outputs
    }
}
