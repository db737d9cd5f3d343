//! LSTM, GRU and RNN, forwards, backwards and both.
//!
//! A plain LSTM becomes one op for each direction, and so do plain GRUs and RNNs that are long ([`fused`]). Everything else is written out step by step: the products with all inputs are one
//! dense layer, and each step adds the product with the state before and applies the gates. The compiler makes one op of it where that is possible; quantising makes integers of the steps' layers.

mod fused;

use super::cx::NodeCx;
use super::recurrent_dynamic::{self, Matrix};
use super::{All, Lowered, Operators, Refusal};
use kiln_ir::{AddRescale, Clamp, Op, Real, Rescale, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("GRU", All(gru)),
    ("LSTM", All(lstm)),
    ("RNN", All(|cx| Layer::read(cx, Kind::Rnn, false)?.lower(cx))),
    ("com.microsoft.DynamicQuantizeLSTM", All(|cx| Layer::read(cx, Kind::Lstm, true)?.lower(cx))),
];

const PRODUCT: Op = Op::Mul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
const SUM: Op = Op::Add { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT };
const DIFFERENCE: Op = Op::Sub { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT };
const DENSE: Op = Op::Dense { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };

/// Most steps that are written out.
const MOST_STEPS: usize = 1024;

/// What a step that is written out takes, in the units that loops are counted in: 2 KB for an operator with its constants.
const ALLOWED: usize = 5;

/// The kind of layer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lstm,
    Gru,
    Rnn,
}

impl Kind {
    /// Gates, in the order of the weights: input, output, forget, cell; update, reset, hidden; hidden.
    fn gates(self) -> usize {
        match self {
            Kind::Lstm => 4,
            Kind::Gru => 3,
            Kind::Rnn => 1,
        }
    }

    /// The activations of one direction, unless others are given.
    fn activations(self) -> &'static [Activation] {
        match self {
            Kind::Lstm => &[Activation::Sigmoid, Activation::Tanh, Activation::Tanh],
            Kind::Gru => &[Activation::Sigmoid, Activation::Tanh],
            Kind::Rnn => &[Activation::Tanh],
        }
    }
}

/// A function of gates and states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Activation {
    Sigmoid,
    Tanh,
    Relu,
}

impl Activation {
    fn op(self) -> Op {
        match self {
            Activation::Sigmoid => Op::Logistic {},
            Activation::Tanh => Op::Tanh {},
            Activation::Relu => Op::Clip { clamp: Clamp::Float { lo: Real(0.0), hi: Real(f32::INFINITY) } },
        }
    }
}

/// LSTM.
fn lstm(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    Layer::read(cx, Kind::Lstm, false)?.lower(cx)
}

/// GRU.
fn gru(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    Layer::read(cx, Kind::Gru, false)?.lower(cx)
}

/// A layer with its operands.
struct Layer {
    kind: Kind,
    /// \[steps, sequences, inputs\].
    x: ValueId,
    steps: usize,
    /// Steps behind them, whose outputs are zeros.
    padding: usize,
    sequences: usize,
    inputs: usize,
    units: usize,
    /// Whether the sequences, and not the steps, are the first axis of operands and results.
    sequences_first: bool,
    directions: Vec<Direction>,
    /// Whether states of which nothing is said are zeros: the initial hidden states, and cell states.
    initial: [Option<ValueId>; 2],
    linear_before_reset: bool,
    input_forget: bool,
    /// Bound of what activations are given.
    clip: Option<f32>,
}

/// The numbers of one direction.
struct Direction {
    backwards: bool,
    /// \[gates · units, inputs\].
    weights: Vec<f32>,
    /// \[gates · units, units\].
    recurrent: Vec<f32>,
    /// Of the products with inputs, and with states: \[gates · units\] each.
    bias: [Vec<f32>; 2],
    /// Of the input, output and forget gates: \[3 · units\].
    peepholes: Option<Vec<f32>>,
    activations: Vec<Activation>,
    /// Of weights and recurrent weights, where those are integers and operands are quantised as they come.
    scales: Option<[Vec<f32>; 2]>,
}

/// What a direction computes: all outputs, in the order of steps, and the last states.
struct Run {
    /// \[steps, sequences, units\].
    outputs: ValueId,
    /// \[sequences, units\].
    hidden: ValueId,
    cell: Option<ValueId>,
}

impl Layer {
    fn read(cx: &mut NodeCx<'_, '_, '_>, kind: Kind, dynamic: bool) -> Lowered<Layer> {
        let (x, gates) = (cx.input(0)?, kind.gates());
        cx.want_float(x)?;
        let sequences_first = cx.int("layout", 0) != 0;
        let x = if sequences_first && cx.dims(x).len() == 3 { cx.transposed(x, &[1, 0, 2])? } else { x };
        let &[steps, sequences, inputs] = &*cx.dims(x) else {
            return Err(malformed!("its operand is {}", cx.shown(x)));
        };
        let weights = cx.input(1)?;
        let &[count, rows, columns] = &*cx.dims(weights) else {
            return Err(malformed!("its weights are {}", cx.shown(weights)));
        };
        let (rows, columns) = if dynamic { (columns, rows) } else { (rows, columns) };
        let units = rows / gates;
        let backwards = match (cx.text("direction"), count) {
            (b"" | b"forward", 1) => vec![false],
            (b"reverse", 1) => vec![true],
            (b"bidirectional", 2) => vec![false, true],
            (direction, _) => {
                let direction = String::from_utf8_lossy(direction).into_owned();
                return Err(malformed!("direction {direction:?} does not fit weights of {count} directions"));
            }
        };
        if rows != gates * units || units == 0 || columns != inputs {
            return Err(malformed!("weights {} do not fit {}", cx.shown(weights), cx.shown(x)));
        }
        if steps > MOST_STEPS {
            let what = format!("it has {steps} steps; at most {MOST_STEPS} can be compiled");
            return Err(Refusal::unsupported(what, "export the model with shorter sequences"));
        }
        let lengths = cx.ints(4, "sequence lengths")?.unwrap_or_default();
        let length = lengths.first().map_or(steps, |&length| usize::try_from(length).unwrap_or(0));
        if length == 0 || length > steps || lengths.iter().any(|&other| other != length as i64) {
            let what = format!("sequences of lengths {lengths:?} in {steps} steps cannot be compiled");
            return Err(Refusal::unsupported(what, "export the model with sequences of one length"));
        }
        let (x, padding) = match steps - length {
            0 => (x, 0),
            padding => {
                let op = Op::Slice { begin: vec![0; 3], step: vec![1; 3] };
                (cx.add_like(op, &[x], &[length, sequences, inputs])?, padding)
            }
        };
        let steps = length;
        let mut initial = [None; 2];
        for (state, k) in initial.iter_mut().zip([5, 6]).take(if kind == Kind::Lstm { 2 } else { 1 }) {
            *state = match cx.optional(k)? {
                Some(value) if sequences_first && cx.dims(value).len() == 3 => {
                    Some(cx.transposed(value, &[1, 0, 2])?)
                }
                other => other,
            };
            if let Some(value) = *state {
                cx.want_float(value)?;
                if cx.dims(value) != [count, sequences, units] {
                    return Err(malformed!("its initial state (operand {k}) is {}", cx.shown(value)));
                }
            }
        }
        let clip = cx.attribute("clip").map(|attribute| attribute.float).filter(|&clip| clip > 0.0);
        let mut layer = Layer {
            kind,
            x,
            steps,
            padding,
            sequences,
            inputs,
            units,
            sequences_first,
            directions: Vec::new(),
            initial,
            linear_before_reset: cx.int("linear_before_reset", 0) != 0,
            input_forget: cx.int("input_forget", 0) != 0,
            clip,
        };
        let all = |cx: &mut NodeCx<'_, '_, '_>, k, what: &str, each: usize| -> Lowered<Vec<f32>> {
            let numbers = cx.floats(k, what)?;
            match numbers.len() == count * each {
                true => Ok(numbers),
                false => Err(malformed!(
                    "its {what} (operand {k}) have {} elements, which does not fit",
                    numbers.len()
                )),
            }
        };
        let (weights, recurrent, scales) = if dynamic {
            let [w, r] = [recurrent_dynamic::weights(cx, 1, 8)?, recurrent_dynamic::weights(cx, 2, 10)?];
            if [w.numbers.len(), r.numbers.len()] != [count * rows * inputs, count * rows * units] {
                return Err(malformed!("its weights and recurrent weights do not fit together"));
            }
            (w.numbers, r.numbers, Some([w.scales, r.scales]))
        } else {
            (all(cx, 1, "weights", rows * inputs)?, all(cx, 2, "recurrent weights", rows * units)?, None)
        };
        let bias = match cx.optional(3)? {
            Some(_) => all(cx, 3, "biases", 2 * rows)?,
            None => vec![0.0; count * 2 * rows],
        };
        let peepholes = match cx.optional(7)? {
            Some(_) if kind == Kind::Lstm => Some(all(cx, 7, "peepholes", 3 * units)?),
            _ => None,
        };
        let activations = layer.activations(cx, count)?;
        for (k, (backwards, activations)) in backwards.into_iter().zip(activations).enumerate() {
            let part = |numbers: &[f32], len: usize| numbers[k * len..(k + 1) * len].to_vec();
            let both = part(&bias, 2 * rows);
            layer.directions.push(Direction {
                backwards,
                weights: part(&weights, rows * inputs),
                recurrent: part(&recurrent, rows * units),
                bias: [both[..rows].to_vec(), both[rows..].to_vec()],
                peepholes: peepholes.as_deref().map(|numbers| part(numbers, 3 * units)),
                activations,
                scales: scales.as_ref().map(|both| [0, 1].map(|of| part(&both[of], both[of].len() / count))),
            });
        }
        Ok(layer)
    }

    /// The activations of each direction.
    fn activations(&self, cx: &NodeCx<'_, '_, '_>, count: usize) -> Lowered<Vec<Vec<Activation>>> {
        let usual = self.kind.activations();
        let Some(given) = cx.attribute("activations").filter(|given| !given.strings.is_empty()) else {
            return Ok(vec![usual.to_vec(); count]);
        };
        let known = |name: &crate::onnx::proto::Name<'_>| match name.0.to_ascii_lowercase().as_slice() {
            b"sigmoid" => Ok(Activation::Sigmoid),
            b"tanh" => Ok(Activation::Tanh),
            b"relu" => Ok(Activation::Relu),
            _ => {
                let what = format!("a recurrent layer with activation {name} cannot be compiled");
                Err(Refusal::unsupported(what, "use Sigmoid, Tanh or Relu"))
            }
        };
        let all = given.strings.iter().map(known).collect::<Lowered<Vec<_>>>()?;
        match all.len() == count * usual.len() {
            true => Ok(all.chunks(usual.len()).map(<[Activation]>::to_vec).collect()),
            false => Err(malformed!("it has {} activations", all.len())),
        }
    }

    fn lower(self, cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
        let mut runs = Vec::new();
        for k in 0..self.directions.len() {
            let [hidden, cell] = [self.initial(cx, 0, k)?, self.initial(cx, 1, k)?];
            let direction = &self.directions[k];
            let plain = self.is_fused(direction);
            let x = self.in_time(cx, self.x, direction.backwards)?;
            let start = [hidden, cell];
            let run = match plain {
                true => self.fused(cx, direction, x, start)?,
                false => self.written_out(cx, direction, x, start)?,
            };
            runs.push(Run { outputs: self.in_time(cx, run.outputs, direction.backwards)?, ..run });
        }
        self.bind(cx, &runs)
    }

    /// The initial state of a direction: \[sequences, units\].
    fn initial(&self, cx: &mut NodeCx<'_, '_, '_>, which: usize, direction: usize) -> Lowered<ValueId> {
        let dims = [self.sequences, self.units];
        match self.initial[which] {
            Some(all) => {
                let op = Op::Slice { begin: vec![direction, 0, 0], step: vec![1; 3] };
                let own = cx.add_like(op, &[all], &[1, self.sequences, self.units])?;
                cx.reshaped(own, &dims)
            }
            None => cx.float_constant("zeros", &dims, &vec![0.0; self.sequences * self.units]),
        }
    }

    /// The inputs, or outputs, of all steps in the order of time, or from that.
    fn in_time(&self, cx: &mut NodeCx<'_, '_, '_>, x: ValueId, backwards: bool) -> Lowered<ValueId> {
        if !backwards || self.steps == 1 {
            return Ok(x);
        }
        let dims = cx.dims(x);
        cx.add_like(Op::Slice { begin: vec![self.steps - 1, 0, 0], step: vec![-1, 1, 1] }, &[x], &dims)
    }

    /// Some of the steps of \[steps, sequences, …\].
    fn steps(
        &self,
        cx: &mut NodeCx<'_, '_, '_>,
        x: ValueId,
        steps: std::ops::Range<usize>,
    ) -> Lowered<ValueId> {
        let mut dims = cx.dims(x);
        dims[0] = steps.len();
        cx.add_like(Op::Slice { begin: vec![steps.start, 0, 0], step: vec![1; 3] }, &[x], &dims)
    }

    /// Any layer over all steps of `x`, step by step.
    fn written_out(
        &self,
        cx: &mut NodeCx<'_, '_, '_>,
        direction: &Direction,
        x: ValueId,
        [mut hidden, mut cell]: [ValueId; 2],
    ) -> Lowered<Run> {
        let Layer { sequences, inputs, units, .. } = *self;
        let steps = cx.dims(x)[0];
        let rows = self.kind.gates() * units;
        let x = cx.reshaped(x, &[steps * sequences, inputs])?;
        let mut quantised = None;
        let products = match &direction.scales {
            Some([of_w, of_r]) => {
                let w = Matrix::of(cx, &direction.weights, [rows, inputs], of_w)?;
                let r = Matrix::of(cx, &direction.recurrent, [rows, units], of_r)?;
                let bias: Vec<f32> =
                    direction.bias[0].iter().zip(&direction.bias[1]).map(|(w, r)| w + r).collect();
                quantised = Some((r, cx.float_constant("bias", &[1, rows], &bias)?));
                recurrent_dynamic::product(cx, x, &w)?
            }
            None => {
                let w = cx.float_constant("weights", &[rows, inputs], &direction.weights)?;
                let b = cx.float_constant("bias", &[rows], &direction.bias[0])?;
                cx.add_like(DENSE, &[x, w, b], &[steps * sequences, rows])?
            }
        };
        let recurrent = {
            // The hidden gate of a GRU is apart.
            let gates = if self.kind == Kind::Gru { 2 } else { self.kind.gates() };
            let mut matrix = |name: &str, from: usize, to: usize| -> Lowered<[ValueId; 2]> {
                let numbers = &direction.recurrent[from * units * units..to * units * units];
                let w = cx.float_constant(name, &[(to - from) * units, units], numbers)?;
                let bias = &direction.bias[1][from * units..to * units];
                Ok([w, cx.float_constant("bias", &[(to - from) * units], bias)?])
            };
            let last = self.kind.gates();
            (
                matrix("recurrent weights", 0, gates)?,
                if gates < last { Some(matrix("hidden weights", gates, last)?) } else { None },
            )
        };
        let mut outputs = Vec::new();
        for time in 0..steps {
            // A small file may have many steps: as with loops, what they come to is on top of its allowance.
            cx.importer.budget.inline(if quantised.is_some() { 4 * ALLOWED } else { ALLOWED });
            let op = Op::Slice { begin: vec![time * sequences, 0], step: vec![1, 1] };
            let x = cx.add_like(op, &[products], &[sequences, rows])?;
            let mut step = Step { cx, layer: self, direction, quantised: quantised.as_ref() };
            hidden = match (self.kind, recurrent.1) {
                (Kind::Gru, Some(of_hidden)) => step.gru(x, hidden, recurrent.0, of_hidden)?,
                (Kind::Lstm, _) => {
                    let (after, state) = step.lstm(x, hidden, cell, recurrent.0)?;
                    cell = state;
                    after
                }
                _ => {
                    let sum = step.with_state(x, hidden, recurrent.0)?;
                    step.activate(0, sum)?
                }
            };
            outputs.push(hidden);
        }
        let outputs = self.joined(cx, &outputs)?;
        let outputs = cx.reshaped(outputs, &[steps, sequences, units])?;
        Ok(Run { outputs, hidden, cell: (self.kind == Kind::Lstm).then_some(cell) })
    }

    /// Matrices below each other, few at a time.
    fn joined(&self, cx: &mut NodeCx<'_, '_, '_>, parts: &[ValueId]) -> Lowered<ValueId> {
        let mut parts = parts.to_vec();
        while parts.len() > 1 {
            let mut fewer = Vec::new();
            for group in parts.chunks(MOST_JOINED) {
                let rows = group.iter().map(|&part| cx.dims(part)[0]).sum();
                fewer.push(match group {
                    &[alone] => alone,
                    _ => cx.add_like(Op::Concat { axis: 0 }, group, &[rows, self.units])?,
                });
            }
            parts = fewer;
        }
        parts.first().copied().ok_or_else(|| malformed!("it has no steps"))
    }

    /// Lets the results be what the directions computed.
    fn bind(&self, cx: &mut NodeCx<'_, '_, '_>, runs: &[Run]) -> Lowered {
        let Layer { steps, sequences, units, .. } = *self;
        let count = runs.len();
        // Results that are not read cost nothing: no pass leaves them.
        let mut outputs = Vec::new();
        for run in runs {
            outputs.push(cx.reshaped(run.outputs, &[steps, 1, sequences, units])?);
        }
        let mut y = match outputs[..] {
            [alone] => alone,
            _ => cx.add_like(Op::Concat { axis: 1 }, &outputs, &[steps, count, sequences, units])?,
        };
        if self.padding > 0 {
            let dims = [self.padding, count, sequences, units];
            let zeros = cx.float_constant("zeros", &dims, &vec![0.0; dims.iter().product()])?;
            let dims = [steps + self.padding, count, sequences, units];
            y = cx.add_like(Op::Concat { axis: 0 }, &[y, zeros], &dims)?;
        }
        if self.sequences_first {
            y = cx.transposed(y, &[2, 0, 1, 3])?;
        }
        cx.bind(0, y)?;
        let mut state = |k: usize, states: Vec<ValueId>| -> Lowered {
            let mut parts = Vec::new();
            for state in states {
                parts.push(cx.reshaped(state, &[1, sequences, units])?);
            }
            let mut all = match parts[..] {
                [alone] => alone,
                _ => cx.add_like(Op::Concat { axis: 0 }, &parts, &[count, sequences, units])?,
            };
            if self.sequences_first {
                all = cx.transposed(all, &[1, 0, 2])?;
            }
            cx.bind(k, all)
        };
        state(1, runs.iter().map(|run| run.hidden).collect())?;
        let cells: Vec<ValueId> = runs.iter().filter_map(|run| run.cell).collect();
        if cells.is_empty() {
            return Ok(());
        }
        state(2, cells)
    }
}

/// Most operands of one concatenation.
const MOST_JOINED: usize = 64;

/// One step of one direction.
struct Step<'s, 'c, 'm, 'a> {
    cx: &'s mut NodeCx<'c, 'm, 'a>,
    layer: &'s Layer,
    direction: &'s Direction,
    /// The recurrent weights, and the biases, where the state is quantised.
    quantised: Option<&'s (Matrix, ValueId)>,
}

impl Step<'_, '_, '_, '_> {
    fn two(&mut self, op: Op, a: ValueId, b: ValueId) -> Lowered<ValueId> {
        let dims = self.cx.dims(a);
        self.cx.add_like(op, &[a, b], &dims)
    }

    /// Activation `k`, within the clip.
    fn activate(&mut self, k: usize, x: ValueId) -> Lowered<ValueId> {
        let dims = self.cx.dims(x);
        let x = match self.layer.clip {
            Some(clip) => {
                let clamp = Clamp::Float { lo: Real(-clip), hi: Real(clip) };
                self.cx.add_like(Op::Clip { clamp }, &[x], &dims)?
            }
            None => x,
        };
        let op = self.direction.activations.get(k).copied().unwrap_or(Activation::Tanh).op();
        self.cx.add_like(op, &[x], &dims)
    }

    /// Gate `k` of several.
    fn gate(&mut self, gates: ValueId, k: usize) -> Lowered<ValueId> {
        let units = self.layer.units;
        let op = Op::Slice { begin: vec![0, k * units], step: vec![1, 1] };
        self.cx.add_like(op, &[gates], &[self.layer.sequences, units])
    }

    fn product_with_state(&mut self, hidden: ValueId, [w, b]: [ValueId; 2]) -> Lowered<ValueId> {
        let dims = [self.layer.sequences, self.cx.dims(w)[0]];
        self.cx.add_like(DENSE, &[hidden, w, b], &dims)
    }

    fn with_state(&mut self, x: ValueId, hidden: ValueId, matrix: [ValueId; 2]) -> Lowered<ValueId> {
        if let Some((recurrent, bias)) = self.quantised {
            let product = recurrent_dynamic::product(self.cx, hidden, recurrent)?;
            let sum = self.two(SUM, x, product)?;
            return self.two(SUM, sum, *bias);
        }
        let product = self.product_with_state(hidden, matrix)?;
        self.two(SUM, x, product)
    }

    fn gru(
        &mut self,
        x: ValueId,
        hidden: ValueId,
        gates: [ValueId; 2],
        of_hidden: [ValueId; 2],
    ) -> Lowered<ValueId> {
        let units = self.layer.units;
        let op = Op::Slice { begin: vec![0, 0], step: vec![1, 1] };
        let both = self.cx.add_like(op, &[x], &[self.layer.sequences, 2 * units])?;
        let sum = self.with_state(both, hidden, gates)?;
        let both = self.activate(0, sum)?;
        let (update, reset) = (self.gate(both, 0)?, self.gate(both, 1)?);
        let x = self.gate(x, 2)?;
        let from_state = match self.layer.linear_before_reset {
            true => {
                let product = self.product_with_state(hidden, of_hidden)?;
                self.two(PRODUCT, reset, product)?
            }
            false => {
                let kept = self.two(PRODUCT, reset, hidden)?;
                self.product_with_state(kept, of_hidden)?
            }
        };
        let sum = self.two(SUM, x, from_state)?;
        let new = self.activate(1, sum)?;
        // (1 − z) · new + z · old.
        let one = self.cx.float_constant("one", &[1, 1], &[1.0])?;
        let dims = self.cx.dims(update);
        let rest = self.cx.add_like(DIFFERENCE, &[one, update], &dims)?;
        let (new, old) = (self.two(PRODUCT, rest, new)?, self.two(PRODUCT, update, hidden)?);
        self.two(SUM, new, old)
    }

    /// The next hidden state and cell state.
    fn lstm(
        &mut self,
        x: ValueId,
        hidden: ValueId,
        cell: ValueId,
        matrix: [ValueId; 2],
    ) -> Lowered<(ValueId, ValueId)> {
        let sums = self.with_state(x, hidden, matrix)?;
        let input = self.gate(sums, 0)?;
        let input = self.peep(input, cell, 0)?;
        let input = self.activate(0, input)?;
        // What comes in instead of what is forgotten, as in ONNX Runtime: the forget gate's own numbers do not count.
        let forget = match self.layer.input_forget {
            true => {
                let one = self.cx.float_constant("one", &[1, 1], &[1.0])?;
                let dims = self.cx.dims(input);
                self.cx.add_like(DIFFERENCE, &[one, input], &dims)?
            }
            false => {
                let forget = self.gate(sums, 2)?;
                let forget = self.peep(forget, cell, 2)?;
                self.activate(0, forget)?
            }
        };
        let new = self.gate(sums, 3)?;
        let new = self.activate(1, new)?;
        let (kept, added) = (self.two(PRODUCT, forget, cell)?, self.two(PRODUCT, input, new)?);
        let cell = self.two(SUM, kept, added)?;
        let output = self.gate(sums, 1)?;
        let output = self.peep(output, cell, 1)?;
        let output = self.activate(0, output)?;
        let shown = self.cx.dims(cell);
        let op = self.direction.activations.get(2).copied().unwrap_or(Activation::Tanh).op();
        let shown = self.cx.add_like(op, &[cell], &shown)?;
        Ok((self.two(PRODUCT, output, shown)?, cell))
    }

    /// What a gate sees of the cell state, through its peephole.
    fn peep(&mut self, sums: ValueId, cell: ValueId, gate: usize) -> Lowered<ValueId> {
        let units = self.layer.units;
        let Some(all) = &self.direction.peepholes else { return Ok(sums) };
        let own = &all[gate * units..(gate + 1) * units];
        let own = self.cx.float_constant("peepholes", &[1, units], own)?;
        let seen = self.two(PRODUCT, cell, own)?;
        self.two(SUM, sums, seen)
    }
}
