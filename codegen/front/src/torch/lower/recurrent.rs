//! Recurrent layers and their cells.

use super::cx::Cx;
use super::product::layer as layer_of;
use super::{All, Lowered, One, Operators, Refusal};
use crate::onnx::lower::Set;
use kiln_ir::ValueId;

pub(super) const OPERATORS: Operators = &[
    ("gru", All(|cx| layers(cx, Kind::Gru))),
    ("gru_cell", One(|cx| Ok(cell(cx, Kind::Gru)?[0]))),
    ("lstm", All(|cx| layers(cx, Kind::Lstm))),
    ("lstm_cell", All(|cx| cell(cx, Kind::Lstm))),
    ("rnn_relu", All(|cx| layers(cx, Kind::Relu))),
    ("rnn_relu_cell", One(|cx| Ok(cell(cx, Kind::Relu)?[0]))),
    ("rnn_tanh", All(|cx| layers(cx, Kind::Tanh))),
    ("rnn_tanh_cell", One(|cx| Ok(cell(cx, Kind::Tanh)?[0]))),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lstm,
    Gru,
    Relu,
    Tanh,
}

impl Kind {
    /// PyTorch's number of the gate that ONNX has at each place.
    fn gates(self) -> &'static [usize] {
        match self {
            // Input, forget, cell, output; ONNX: input, output, forget, cell.
            Kind::Lstm => &[0, 3, 1, 2],
            // Reset, update, new; ONNX: update, reset, new.
            Kind::Gru => &[1, 0, 2],
            Kind::Relu | Kind::Tanh => &[0],
        }
    }

    fn operator(self) -> &'static str {
        match self {
            Kind::Lstm => "LSTM",
            Kind::Gru => "GRU",
            Kind::Relu | Kind::Tanh => "RNN",
        }
    }
}

/// The weights of one direction.
struct Weights {
    input: ValueId,
    hidden: ValueId,
    biases: Option<[ValueId; 2]>,
    /// Of an LSTM whose hidden states have another size than its cells: \[outputs, units\].
    projection: Option<ValueId>,
}

/// A layer on \[steps, sequences, inputs\] with initial states \[directions, sequences, units\]: its outputs \[steps, sequences, directions · units\] and last states.
fn layer(
    cx: &mut Cx<'_, '_, '_>,
    kind: Kind,
    x: ValueId,
    directions: &[Weights],
    states: &[ValueId],
) -> Lowered<Vec<ValueId>> {
    let count = directions.len();
    let Some(first) = directions.first() else { return Err(malformed!("it has no weights")) };
    let (&[rows, inputs], &[_, units]) = (&*cx.dims(first.input), &*cx.dims(first.hidden)) else {
        return Err(malformed!("its weights are {}", cx.shown(first.input)));
    };
    malformed_if!(rows != kind.gates().len() * units, "its weights are {}", cx.shown(first.hidden));
    let (mut weights, mut recurrent, mut biases) = (Vec::new(), Vec::new(), Vec::new());
    for direction in directions {
        weights.extend(reordered(cx, kind, direction.input, rows * inputs)?);
        recurrent.extend(reordered(cx, kind, direction.hidden, rows * units)?);
        for bias in direction.biases.into_iter().flatten() {
            biases.extend(reordered(cx, kind, bias, rows)?);
        }
    }
    let weights = cx.float_constant("weights", &[count, rows, inputs], &weights)?;
    let recurrent = cx.float_constant("recurrent weights", &[count, rows, units], &recurrent)?;
    let biases = match biases.is_empty() {
        true => None,
        false => Some(cx.float_constant("biases", &[count, 2 * rows], &biases)?),
    };
    let mut operands = vec![Some(x), Some(weights), Some(recurrent), biases, None];
    for &state in states {
        // Zeros are what there is without a state.
        let is_zero = cx.data(state).is_some_and(|data| data.bytes().iter().all(|&byte| byte == 0));
        operands.push(Some(state).filter(|_| !is_zero));
    }
    let direction = if count == 2 { "bidirectional" } else { "forward" };
    let mut attributes = vec![("hidden_size", Set::Int(units as i64)), ("direction", Set::Text(direction))];
    if kind == Kind::Gru {
        attributes.push(("linear_before_reset", Set::Int(1)));
    }
    let activations = vec!["Relu"; count];
    if kind == Kind::Relu {
        attributes.push(("activations", Set::Texts(&activations)));
    }
    let operator = kind.operator();
    let results = match kind {
        Kind::Lstm => cx.call_all::<3>(operator, &operands, &attributes)?.to_vec(),
        _ => cx.call_all::<2>(operator, &operands, &attributes)?.to_vec(),
    };
    let &[steps, _, sequences, _] = &*cx.dims(results[0]) else { return Err(malformed!("no outputs")) };
    let turned = cx.transposed(results[0], &[0, 2, 1, 3])?;
    let outputs = cx.reshaped(turned, &[steps, sequences, count * units])?;
    Ok([&[outputs], &results[1..]].concat())
}

/// Constant weights with the gates in ONNX's order.
fn reordered(cx: &mut Cx<'_, '_, '_>, kind: Kind, weights: ValueId, count: usize) -> Lowered<Vec<f32>> {
    cx.want_float(weights)?;
    let unknown = || Refusal::unsupported("its weights are computed at run time", "store them in the model");
    let numbers = cx.known(weights).ok_or_else(unknown)?.to_f32();
    malformed_if!(numbers.len() != count, "its weights are {}", cx.shown(weights));
    let gates = kind.gates();
    let each = count / gates.len();
    Ok(gates.iter().flat_map(|&gate| numbers[gate * each..][..each].iter().copied()).collect())
}

fn layers(cx: &mut Cx<'_, '_, '_>, kind: Kind) -> Lowered<Vec<ValueId>> {
    if cx.has("batch_sizes") {
        return Err(Refusal::unsupported("its sequences are packed", "use padded sequences of one length"));
    }
    if cx.flag("train", false)? && cx.number_or("dropout", 0.0)? != 0.0 {
        return Err(Refusal::unsupported(
            "it is in training mode",
            "export the model for inference (model.eval())",
        ));
    }
    let mut x = cx.float_tensor("input")?;
    malformed_if!(cx.dims(x).len() != 3, "its operand is {}", cx.shown(x));
    let batch_first = cx.flag("batch_first", false)?;
    if batch_first {
        x = cx.transposed(x, &[1, 0, 2])?;
    }
    let (states, params) = (cx.tensors("hx")?, cx.tensors("params")?);
    let has_biases = cx.flag("has_biases", true)?;
    let (count, directions) = (cx.size("num_layers", 1)?, 1 + usize::from(cx.flag("bidirectional", false)?));
    let plain = if has_biases { 4 } else { 2 };
    let is_projected = count > 0 && params.len() == count.saturating_mul(directions * (plain + 1));
    let each = plain + usize::from(is_projected);
    let fits = params.len() == count.saturating_mul(directions * each) && count > 0;
    malformed_if!(!fits, "it has {} weights for {count} layers", params.len());
    let mut last: Vec<Vec<ValueId>> = vec![Vec::new(); states.len()];
    for (k, params) in params.chunks(directions * each).enumerate() {
        let weights: Vec<Weights> = (params.chunks(each))
            .map(|params| Weights {
                input: params[0],
                hidden: params[1],
                biases: has_biases.then(|| [params[2], params[3]]),
                projection: is_projected.then(|| params[plain]),
            })
            .collect();
        let mut own = Vec::new();
        for &state in &states {
            let all = cx.dims(state).first().copied().unwrap_or(0);
            malformed_if!(all != count * directions, "its state is {}", cx.shown(state));
            own.push(cx.part(state, 0, k * directions, directions, 1)?);
        }
        let results = match is_projected {
            true => projected(cx, x, &weights, &own)?,
            false => layer(cx, kind, x, &weights, &own)?,
        };
        x = results[0];
        for (last, &state) in last.iter_mut().zip(&results[1..]) {
            last.push(state);
        }
    }
    if batch_first {
        x = cx.transposed(x, &[1, 0, 2])?;
    }
    let mut results = vec![x];
    for states in last {
        results.push(cx.joined(&states, 0)?);
    }
    Ok(results)
}

/// Most steps that are written out.
const MOST_STEPS: usize = 1024;

/// A layer of LSTMs with projections, written out step by step.
fn projected(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    directions: &[Weights],
    states: &[ValueId],
) -> Lowered<Vec<ValueId>> {
    let (&[steps, sequences, inputs], &[hidden, cell]) = (&*cx.dims(x), states) else {
        return Err(malformed!("its operand is {}", cx.shown(x)));
    };
    if steps > MOST_STEPS {
        let what = format!("it has {steps} steps; at most {MOST_STEPS} can be compiled");
        return Err(Refusal::unsupported(what, "export the model with shorter sequences"));
    }
    cx.written_out(30 * steps * directions.len())?;
    let (mut outputs, mut last_hidden, mut last_cell) = (Vec::new(), Vec::new(), Vec::new());
    for (k, weights) in directions.iter().enumerate() {
        let Some(projection) = weights.projection else { return Err(malformed!("it has no projection")) };
        let &[size, units] = &*cx.dims(projection) else { return Err(malformed!("no projection")) };
        let row = |cx: &mut Cx<'_, '_, '_>, state: ValueId, size: usize| {
            let own = cx.part(state, 0, k, 1, 1)?;
            cx.reshaped(own, &[sequences, size])
        };
        let (mut h, mut c) = (row(cx, hidden, size)?, row(cx, cell, units)?);
        let mut all = vec![h; steps];
        let order: Vec<usize> = if k == 0 { (0..steps).collect() } else { (0..steps).rev().collect() };
        for step in order {
            let now = cx.part(x, 0, step, 1, 1)?;
            let now = cx.reshaped(now, &[sequences, inputs])?;
            let biases = weights.biases.map_or([None; 2], |biases| biases.map(Some));
            let given = layer_of(cx, now, weights.input, biases[0])?;
            let kept = layer_of(cx, h, weights.hidden, biases[1])?;
            let gates = cx.sum(given, kept)?;
            let gate = |cx: &mut Cx<'_, '_, '_>, k: usize| cx.part(gates, 1, k * units, units, 1);
            let (i, f, g, o) = (gate(cx, 0)?, gate(cx, 1)?, gate(cx, 2)?, gate(cx, 3)?);
            let (i, f, o) = (cx.sigmoid(i)?, cx.sigmoid(f)?, cx.sigmoid(o)?);
            let g = cx.tanh(g)?;
            let (kept, new) = (cx.product(f, c)?, cx.product(i, g)?);
            c = cx.sum(kept, new)?;
            let shown = cx.tanh(c)?;
            let shown = cx.product(o, shown)?;
            h = layer_of(cx, shown, projection, None)?;
            all[step] = cx.reshaped(h, &[1, sequences, size])?;
        }
        outputs.push(cx.joined(&all, 0)?);
        last_hidden.push(cx.reshaped(h, &[1, sequences, size])?);
        last_cell.push(cx.reshaped(c, &[1, sequences, units])?);
    }
    Ok(vec![cx.joined(&outputs, 2)?, cx.joined(&last_hidden, 0)?, cx.joined(&last_cell, 0)?])
}

/// One step, as a layer of one step.
fn cell(cx: &mut Cx<'_, '_, '_>, kind: Kind) -> Lowered<Vec<ValueId>> {
    let x = cx.float_tensor("input")?;
    let &[sequences, inputs] = &*cx.dims(x) else { return Err(malformed!("its operand is {}", cx.shown(x))) };
    let x = cx.reshaped(x, &[1, sequences, inputs])?;
    let mut states = Vec::new();
    for state in cx.tensors("hx")? {
        let dims = cx.dims(state);
        states.push(cx.reshaped(state, &[&[1], &dims[..]].concat())?);
    }
    let biases = match (cx.optional_tensor("b_ih")?, cx.optional_tensor("b_hh")?) {
        (Some(a), Some(b)) => Some([a, b]),
        _ => None,
    };
    let weights = Weights { input: cx.tensor("w_ih")?, hidden: cx.tensor("w_hh")?, biases, projection: None };
    let results = layer(cx, kind, x, &[weights], &states)?;
    let mut last = Vec::new();
    for &state in &results[1..] {
        let dims = cx.dims(state);
        last.push(cx.reshaped(state, &dims[1..])?);
    }
    Ok(last)
}
