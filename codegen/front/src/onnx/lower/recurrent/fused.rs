//! Plain layers as one op.

use super::{Activation, Direction, Kind, Layer, Lowered, NodeCx, Run};
use kiln_ir::{Clamp, Data, Op, ValueId};

/// Most steps of a GRU or an RNN that are written out: more would be refused.
const MOST_WRITTEN_OUT: usize = 256;

impl Layer {
    /// Whether a direction becomes one op.
    pub(super) fn is_fused(&self, direction: &Direction) -> bool {
        let plain = direction.peepholes.is_none()
            && self.clip.is_none()
            && direction.scales.is_none()
            && !self.input_forget;
        let usual = direction.activations == self.kind.activations();
        plain
            && match self.kind {
                Kind::Lstm => usual,
                Kind::Gru => usual && self.steps > MOST_WRITTEN_OUT,
                Kind::Rnn => {
                    let relu = direction.activations == [Activation::Relu];
                    (usual || relu) && self.steps > MOST_WRITTEN_OUT
                }
            }
    }

    /// A plain layer over all steps of `x`, as one op. The op begins with states in memory, or with zeros. Where states are other constants, the first step is written out:
    /// its products with constants are known.
    pub(super) fn fused(
        &self,
        cx: &mut NodeCx<'_, '_, '_>,
        direction: &Direction,
        x: ValueId,
        start: [ValueId; 2],
    ) -> Lowered<Run> {
        let Layer { sequences, units, .. } = *self;
        let steps = cx.dims(x)[0];
        let is_other = |data: Data| data.bytes().iter().any(|&byte| byte != 0);
        let states = if self.kind == Kind::Lstm { &start[..] } else { &start[..1] };
        if states.iter().any(|&state| cx.data(state).is_some_and(is_other)) {
            let first = self.steps(cx, x, 0..1)?;
            let begun = self.written_out(cx, direction, first, start)?;
            if steps == 1 {
                return Ok(begun);
            }
            let rest = self.steps(cx, x, 1..steps)?;
            let states = [begun.hidden, begun.cell.unwrap_or(begun.hidden)];
            let run = self.fused(cx, direction, rest, states)?;
            let dims = [steps, sequences, units];
            let outputs = cx.add_like(Op::Concat { axis: 0 }, &[begun.outputs, run.outputs], &dims)?;
            return Ok(Run { outputs, ..run });
        }
        let x = cx.transposed(x, &[1, 0, 2])?;
        let (op, operands) = self.op(cx, direction, x, start)?;
        let kept = op.before_outputs(units);
        let all = cx.add_like(op, &operands, &[sequences, kept + steps * units])?;
        let mut part = |begin: usize, len: usize| {
            cx.add_like(Op::Slice { begin: vec![0, begin], step: vec![1, 1] }, &[all], &[sequences, len])
        };
        let cell = if self.kind == Kind::Lstm { Some(part(0, units)?) } else { None };
        let (outputs, hidden) = (part(kept, steps * units)?, part(kept + (steps - 1) * units, units)?);
        let outputs = cx.reshaped(outputs, &[sequences, steps, units])?;
        let outputs = cx.transposed(outputs, &[1, 0, 2])?;
        Ok(Run { outputs, hidden, cell })
    }

    fn op(
        &self,
        cx: &mut NodeCx<'_, '_, '_>,
        direction: &Direction,
        x: ValueId,
        [hidden, cell]: [ValueId; 2],
    ) -> Lowered<(Op, Vec<ValueId>)> {
        let Layer { inputs, units, .. } = *self;
        // An LSTM's from input, output, forget, cell to input, forget, cell, output.
        let order: &[usize] = match self.kind {
            Kind::Lstm => &[0, 2, 3, 1],
            Kind::Gru => &[0, 1, 2],
            Kind::Rnn => &[0],
        };
        let rows = order.len() * units;
        let gates = |numbers: &[f32], each: usize| -> Vec<f32> {
            order.iter().flat_map(|gate| numbers[gate * each..(gate + 1) * each].to_vec()).collect()
        };
        let w = cx.float_constant("weights", &[rows, inputs], &gates(&direction.weights, units * inputs))?;
        let r = gates(&direction.recurrent, units * units);
        let r = cx.float_constant("recurrent weights", &[rows, units], &r)?;
        let biases = direction.bias.each_ref().map(|bias| gates(bias, units));
        if self.kind == Kind::Gru {
            let [of_inputs, of_outputs] = biases;
            let of_inputs = cx.float_constant("bias", &[rows], &of_inputs)?;
            let of_outputs = cx.float_constant("bias", &[rows], &of_outputs)?;
            let op = Op::Gru { linear_before_reset: self.linear_before_reset };
            return Ok((op, vec![x, hidden, w, r, of_inputs, of_outputs]));
        }
        let bias: Vec<f32> = biases[0].iter().zip(&biases[1]).map(|(w, r)| w + r).collect();
        let b = cx.float_constant("bias", &[rows], &bias)?;
        if self.kind == Kind::Rnn {
            let relu = direction.activations == [Activation::Relu];
            return Ok((Op::Rnn { relu }, vec![x, hidden, w, r, b]));
        }
        Ok((Op::float_lstm(Clamp::NO_FLOAT), vec![x, hidden, cell, w, r, b]))
    }
}
