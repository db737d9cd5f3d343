//! Long short-term memory.

use super::*;
use crate::ir::Clamp;
use crate::requant::folded_bias;

const GATES: usize = 4;

impl<'a> Selector<'a> {
    pub(super) fn lstm(
        &mut self,
        node: &'a Node,
        factors: [&Rescale; 3],
        tanh_shift: i64,
        clip: &Clamp,
    ) -> Selected {
        let [x, h, c, w, r, b] = node.operands[..] else { return Err(self.no_kernel(node)) };
        let &[sequences, _, inputs] = self.ty(x).shape.dims() else { return Err(self.no_kernel(node)) };
        let units = self.ty(h).shape.last();
        let weights = [self.data(node, w, "weights")?.clone(), self.data(node, r, "weights")?.clone()];
        let bias = self.data(node, b, "biases")?.clone();
        let float = self.ty(x).dtype == DType::F32;
        let (of_inputs, of_result) = (self.region(x)?, self.region(node.result)?);
        let [of_outputs, of_cells] = [h, c].map(|id| self.state(id, of_inputs));
        let regions = [of_inputs, of_outputs?, of_cells?, of_result];
        let (kernel, lead, constants, trail) = if float {
            let words = |data: &Data| by_units(&data.to_f32(), units).concat();
            let quads =
                weights.each_ref().map(|data| alternating(&words(data), data.bytes().len() / 16 / units));
            let [w, r] = quads.map(|data| Data::from_f32(&data));
            let bias = Data::from_f32(&words(&bias));
            let (lo, hi) = clip.float_bounds();
            let constants =
                [("WEIGHTS", w, Element::F32), ("RECURRENT", r, Element::F32), ("BIAS", bias, Element::F32)];
            let sizes = vec![Arg::Int(units as i64), Arg::Int(inputs as i64)];
            (KernelId::LstmF32, sizes, constants, vec![Arg::Float(lo), Arg::Float(hi)])
        } else {
            let kernel = self.best_of([KernelId::LstmI8Mve, KernelId::LstmI8Dsp, KernelId::LstmI8]);
            let gates = GATES * units;
            let zero = [x, h].map(|id| self.ty(id).zero_point());
            let [w, r] = weights.each_ref().map(Data::to_i8);
            let of_inputs = folded_bias(&w, &bias.to_i32(), zero[0], gates);
            let of_outputs = folded_bias(&r, &vec![0; gates], zero[1], gates);
            let both = by_units(&of_inputs, units).into_iter().zip(by_units(&of_outputs, units));
            let bias: Vec<i32> = both.flat_map(|(x, h)| [x, h].concat()).collect();
            let bias = if kernel == KernelId::LstmI8Mve {
                processors::mve::in_fours::<_, { 2 * GATES }>(&bias, 1)
            } else {
                bias
            };
            let pack = |weights: &[i8]| {
                let filter = weights.len() / gates;
                let units = by_units(weights, units).concat();
                let padded = |gate: &[i8]| {
                    let mut bytes: Vec<i8> = gate.to_vec();
                    bytes.resize(filter.next_multiple_of(4), 0);
                    bytes
                };
                match kernel.isa() {
                    Isa::Mve => processors::mve::gates(&units, filter),
                    Isa::Dsp => units.chunks(filter).flat_map(padded).collect(),
                    _ => alternating(&units, filter),
                }
            };
            let [w, r] = [pack(&w), pack(&r)].map(|data: Vec<i8>| Data::from_i8(&data));
            let element = if kernel == KernelId::LstmI8 { Element::I8 } else { Element::I32 };
            let constants = [
                ("WEIGHTS", w, element),
                ("RECURRENT", r, element),
                ("BIAS", Data::from_i32(&bias), Element::I32),
            ];
            let params = self.lstm_params(node, factors, [inputs, units], tanh_shift, clip)?;
            (kernel, vec![params], constants, Vec::new())
        };
        let constants = constants.map(|(what, data, element)| self.constant_arg(what, data, element));
        for sequence in 0..sequences {
            let [x, h, c, y] = regions.each_ref().map(|region| of_sequence(region, sequence, sequences));
            let mut args = lead.clone();
            args.extend([x, h, c]);
            args.extend(constants.iter().cloned());
            args.extend(trail.iter().cloned());
            args.push(y);
            self.call(kernel, args);
        }
        Ok(())
    }

    /// The memory of a float state; nothing in that of the inputs for zeros.
    pub(super) fn state(&self, id: ValueId, of_inputs: Region) -> Result<Region, Problem> {
        let zeros = self.ty(id).dtype == DType::F32
            && self.graph.const_data(id).is_some_and(|data| data.bytes().iter().all(|&byte| byte == 0));
        match zeros {
            true => Ok(Region { len: 0, ..of_inputs }),
            false => self.region(id),
        }
    }

    /// The kernels' `Lstm`.
    fn lstm_params(
        &mut self,
        node: &Node,
        factors: [&Rescale; 3],
        [inputs, units]: [usize; 2],
        tanh_shift: i64,
        clip: &Clamp,
    ) -> Result<Arg, Problem> {
        let mut all = Vec::new();
        for rescale in factors {
            let Rescale::FixedPoint(list) = rescale else { return Err(self.no_kernel(node)) };
            all.extend_from_slice(list);
        }
        let values: Vec<i32> = all.iter().map(|m| m.value).collect();
        // Shifts of verified graphs are within -31..=30.
        let shifts: Vec<i8> = all.iter().map(|m| m.shift as i8).collect();
        let values = self.step_constant("MULTIPLIERS", Data::from_i32(&values));
        let shifts = self.step_constant("SHIFTS", Data::from_i8(&shifts));
        let (lo, hi) = clip.int_bounds();
        let fields = vec![
            ("inputs", int(inputs)),
            ("units", int(units)),
            ("multipliers", Field::Constant(values, Element::I32)),
            ("shifts", Field::Constant(shifts, Element::I8)),
            ("zero_point", Field::Int(self.ty(node.result).zero_point().into())),
            ("tanh_shift", Field::Int(tanh_shift)),
            ("lo", Field::Int(lo.into())),
            ("hi", Field::Int(hi.into())),
        ];
        Ok(Arg::Struct(Struct { name: "Lstm", fields }))
    }
}

/// What a region has of one of so many sequences.
pub(super) fn of_sequence(region: &Region, sequence: usize, sequences: usize) -> Arg {
    let len = region.len / sequences.max(1);
    Arg::Cells(Cells::All(region.part(sequence * len, len)))
}

/// Of each unit what the four gates have, which is given gate by gate.
fn by_units<T: Copy>(gates: &[T], units: usize) -> Vec<Vec<T>> {
    let row = gates.len() / (GATES * units).max(1);
    let rows: Vec<&[T]> = gates.chunks(row.max(1)).collect();
    (0..units).map(|unit| (0..GATES).flat_map(|gate| rows[gate * units + unit].to_vec()).collect()).collect()
}

/// Filters of each unit's four gates, element by element.
fn alternating<T: Copy>(units: &[T], filter: usize) -> Vec<T> {
    let quads = units.chunks((GATES * filter).max(1));
    quads
        .flat_map(|quad| (0..filter).flat_map(move |i| (0..GATES).map(move |gate| quad[gate * filter + i])))
        .collect()
}
