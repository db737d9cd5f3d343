//! Gated recurrent units, and recurrent layers without gates. All that units have lies in fours: of four units, the elements of a filter alternate.

use super::lstm::of_sequence;
use super::*;

/// Units whose filters alternate.
const FOUR: usize = 4;

impl<'a> Selector<'a> {
    pub(super) fn gru(&mut self, node: &'a Node, linear_before_reset: bool) -> Selected {
        let [_, _, _, _, of_inputs, of_outputs] = node.operands[..] else { return Err(self.no_kernel(node)) };
        let both = [of_inputs, of_outputs].map(|id| self.data(node, id, "biases").map(Data::to_f32));
        let [of_inputs, of_outputs] = both;
        let (of_inputs, of_outputs) = (of_inputs?, of_outputs?);
        let units = of_inputs.len() / 3;
        // Update and reset gate have one bias. That of what is new has two, as the reset gate may be between them.
        let mut bias: Vec<f32> = of_inputs.iter().zip(&of_outputs).map(|(x, h)| x + h).collect();
        bias.truncate(2 * units);
        bias.extend(of_inputs.iter().skip(2 * units));
        bias.extend(of_outputs.iter().skip(2 * units));
        let generics = vec![Generic::Flag(linear_before_reset)];
        self.recurrent(node, KernelId::GruF32, generics, 3, &bias)
    }

    pub(super) fn rnn(&mut self, node: &'a Node, relu: bool) -> Selected {
        let Some(&bias) = node.operands.get(4) else { return Err(self.no_kernel(node)) };
        let bias = self.data(node, bias, "biases")?.to_f32();
        self.recurrent(node, KernelId::RnnF32, vec![Generic::Flag(relu)], 1, &bias)
    }

    /// One call for each sequence.
    fn recurrent(
        &mut self,
        node: &'a Node,
        kernel: KernelId,
        generics: Vec<Generic>,
        gates: usize,
        bias: &[f32],
    ) -> Selected {
        let [x, h, w, r, ..] = node.operands[..] else { return Err(self.no_kernel(node)) };
        let &[sequences, _, inputs] = self.ty(x).shape.dims() else { return Err(self.no_kernel(node)) };
        let units = self.ty(h).shape.last();
        let [w, r] = [w, r].map(|id| self.data(node, id, "weights").map(Data::to_f32));
        let (w, r) = (in_fours(&w?, gates, units), in_fours(&r?, gates, units));
        let biases = bias.len() / units.max(1);
        let constants = [("WEIGHTS", w), ("RECURRENT", r), ("BIAS", in_fours(bias, biases, units))];
        let (of_inputs, of_result) = (self.region(x)?, self.region(node.result)?);
        let regions = [of_inputs, self.state(h, of_inputs)?];
        let constants =
            constants.map(|(what, data)| self.constant_arg(what, Data::from_f32(&data), Element::F32));
        for sequence in 0..sequences {
            let part = |region: &Region| of_sequence(region, sequence, sequences);
            let mut args = vec![Arg::Int(units as i64), Arg::Int(inputs as i64)];
            args.extend(regions.iter().map(part));
            args.extend(constants.iter().cloned());
            args.push(part(&of_result));
            self.call_generic(kernel, generics.clone(), args);
        }
        Ok(())
    }
}

/// Of each four units, and of each of their gates, the filters element by element. Zeros stand for units that are not there.
fn in_fours(data: &[f32], gates: usize, units: usize) -> Vec<f32> {
    let filter = data.len() / (gates * units).max(1);
    let element = |gate: usize, unit: usize, at: usize| {
        let own = data.get((gate * units + unit) * filter + at).filter(|_| unit < units);
        own.copied().unwrap_or(0.0)
    };
    let mut packed = Vec::with_capacity(gates * units.next_multiple_of(FOUR) * filter);
    for first in (0..units).step_by(FOUR) {
        for gate in 0..gates {
            for at in 0..filter {
                packed.extend((first..first + FOUR).map(|unit| element(gate, unit, at)));
            }
        }
    }
    packed
}
