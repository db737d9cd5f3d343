//! Recurrent layers: a cell over the steps of a sequence.
//!
//! Plain ones are ONNX's operators. All others are written out step by step.

use super::cells::{Cell, Gates};
use super::cx::Cx;
use super::wrap::backwards;
use super::{mask, Layers, Lowered, Refusal, Slot, Slots};
use crate::keras::model::Layer;
use crate::keras::value::Value;
use crate::keras::variables::cell_of;
use crate::onnx::lower::Set;
use kiln_ir::{DType, Data, Type, ValueId};

pub(super) const LAYERS: Layers = &[
    ("ConvLSTM1D", Slots(layer)),
    ("ConvLSTM2D", Slots(layer)),
    ("ConvLSTM3D", Slots(layer)),
    ("CuDNNGRU", Slots(cudnn)),
    ("CuDNNLSTM", Slots(cudnn)),
    ("GRU", Slots(layer)),
    ("LSTM", Slots(layer)),
    ("RNN", Slots(layer)),
    ("SimpleRNN", Slots(layer)),
];

/// Most steps that are written out.
const MOST_STEPS: usize = 1024;

fn cudnn(_: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let help = "load the model with Keras, and save it with a layer of the class LSTM or GRU";
    Err(Refusal::unsupported("its weights are in the order of cuDNN", help))
}

/// The sequence of a call, and the states that it begins with.
pub(super) fn operands(cx: &mut Cx<'_, '_, '_>) -> Lowered<(Slot, Vec<Slot>)> {
    let all = cx.given.first();
    let (&first, rest) = all.split_first().ok_or_else(|| malformed!("it is called without a tensor"))?;
    let mut states = rest.to_vec();
    if let Some(arg) = cx.given.get(1, "initial_state") {
        states.extend(super::arguments::Given { args: vec![arg.clone()], kwargs: Vec::new() }.tensors());
    }
    let mask = mask::of_call(cx, usize::MAX, "mask")?;
    Ok((Slot { value: first.value, mask }, states))
}

/// What a layer computes over a sequence.
struct Run {
    /// \[batch, steps, …\] in the order in which steps were computed.
    outputs: ValueId,
    last: ValueId,
    states: Vec<ValueId>,
}

fn layer(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let (slot, states) = operands(cx)?;
    let mut x = cx.floating(slot.value)?;
    let rank = cx.dims(x).len();
    let is_turned = cx.channels_first() && rank > 3;
    if is_turned {
        x = turned(cx, x, true)?;
    }
    let &[batch, steps, ref input @ ..] = &*cx.dims(x) else {
        return Err(malformed!("{} has no steps", cx.shown(x)));
    };
    malformed_if!(input.is_empty() || steps == 0, "{} has no steps", cx.shown(x));
    if steps > MOST_STEPS {
        let what = format!("it has {steps} steps; at most {MOST_STEPS} can be compiled");
        return Err(Refusal::unsupported(what, "build the model for shorter sequences"));
    }
    let mut mask = slot.mask;
    if cx.flag("go_backwards", false) {
        x = backwards(cx, x)?;
        mask = mask.map(|mask| backwards(cx, mask)).transpose()?;
    }
    let owned;
    let own = match cx.layer.class {
        "RNN" => {
            owned = stacked(cx.config().get("cell"));
            Layer::read(owned.as_ref().unwrap_or(cx.config().get("cell")))?
        }
        _ => cell_of(&cx.layer),
    };
    if own.class != "StackedRNNCells" && !own.is_own() {
        return Err(super::unknown(&own));
    }
    let mut cell = Cell::read(cx, own, "cell")?;
    let sizes = cell.sizes(input)?;
    let start = begun(cx, batch, &sizes, &states, is_turned)?;
    let run = match (&cell, mask) {
        (Cell::Simple(gates) | Cell::Lstm(gates) | Cell::Gru(gates), None) if gates.plain().is_some() => {
            by_operator(cx, &cell, gates, x, &start)?
        }
        _ => written_out(cx, &mut cell, x, mask, &start)?,
    };
    kept(cx, &run.states)?;
    let sequences = cx.flag("return_sequences", false);
    let value = if sequences { run.outputs } else { run.last };
    let value = if is_turned { turned(cx, value, false)? } else { value };
    let mut results = vec![Slot { value, mask: if sequences { slot.mask } else { None } }];
    if cx.flag("return_state", false) {
        for state in run.states {
            let state = if is_turned { turned(cx, state, false)? } else { state };
            results.push(Slot::plain(state));
        }
    }
    Ok(results)
}

/// A list of cells as a stack of them.
fn stacked(cell: &Value) -> Option<Value> {
    let Value::List(_) = cell else { return None };
    let config = Value::Object(vec![("cells".into(), cell.clone())]);
    Some(Value::Object(vec![
        ("class_name".into(), Value::Text("StackedRNNCells".into())),
        ("config".into(), config),
    ]))
}

/// Images of each step from channel-first to channel-last, or back; a single image has no steps.
fn turned(cx: &mut Cx<'_, '_, '_>, x: ValueId, last: bool) -> Lowered<ValueId> {
    let rank = cx.dims(x).len();
    let axes = rank
        - if cx.layer.class.ends_with("1D") {
            2
        } else if cx.layer.class.ends_with("2D") {
            3
        } else {
            4
        };
    let (front, image) = ((0..axes).collect::<Vec<usize>>(), axes);
    let spatial: Vec<usize> = match last {
        true => (image + 1..rank).chain([image]).collect(),
        false => [rank - 1].into_iter().chain(image..rank - 1).collect(),
    };
    let perm = [&front[..], &spatial[..]].concat();
    cx.transposed(x, &perm)
}

/// The states that a call begins with: those it is given, those that the call before has left, or zeros.
fn begun(
    cx: &mut Cx<'_, '_, '_>,
    batch: usize,
    sizes: &[Vec<usize>],
    given: &[Slot],
    is_turned: bool,
) -> Lowered<Vec<ValueId>> {
    if !given.is_empty() {
        malformed_if!(given.len() != sizes.len(), "it is called with {} states", given.len());
        let mut states = Vec::new();
        for (slot, size) in given.iter().zip(sizes) {
            let state = cx.floating(slot.value)?;
            let state = if is_turned { turned(cx, state, true)? } else { state };
            let fits = cx.dims(state) == [&[batch], &size[..]].concat();
            malformed_if!(!fits, "it is called with a state {}", cx.shown(state));
            states.push(state);
        }
        return Ok(states);
    }
    let path = cx.path.clone();
    if let Some(states) = cx.shared.states.get(&path) {
        return Ok(states.clone());
    }
    let stateful = cx.flag("stateful", false);
    let mut states = Vec::new();
    for (k, size) in sizes.iter().enumerate() {
        let dims = [&[batch], &size[..]].concat();
        crate::onnx::lower::check_size(DType::F32, &dims)?;
        let ty = Type::plain(DType::F32, &dims);
        cx.importer.budget.make(ty.bytes());
        cx.importer.budget.charge(ty.bytes())?;
        let init = Data::zeros(&ty);
        let name = format!("{}/state_{k}", cx.means.name);
        states.push(match stateful {
            true => cx.importer.graph.add_state(name, ty, init),
            false => cx.importer.graph.add_const(name, ty, init),
        });
    }
    if stateful {
        cx.shared.variables.insert(path, states.clone());
    }
    Ok(states)
}

/// Keeps the states that a call leaves, for the next one.
fn kept(cx: &mut Cx<'_, '_, '_>, states: &[ValueId]) -> Lowered {
    let path = cx.path.clone();
    let Some(variables) = cx.shared.variables.get(&path).cloned() else { return Ok(()) };
    for (variable, &next) in variables.iter().zip(states) {
        let state = cx.importer.graph.states.iter_mut().find(|state| state.current == *variable);
        if let Some(state) = state {
            state.next = next;
        }
    }
    cx.shared.states.insert(path, states.to_vec());
    Ok(())
}

/// The gate of Keras at each place that ONNX has one.
fn reordered(numbers: &[f32], order: &[usize]) -> Vec<f32> {
    let each = numbers.len() / order.len().max(1);
    order.iter().flat_map(|&gate| numbers[gate * each..][..each].iter().copied()).collect()
}

fn by_operator(
    cx: &mut Cx<'_, '_, '_>,
    cell: &Cell<'_>,
    gates: &Gates<'_>,
    x: ValueId,
    start: &[ValueId],
) -> Lowered<Run> {
    let (operator, order): (&str, &[usize]) = match cell {
        // Input, forget, cell, output; ONNX: input, output, forget, cell.
        Cell::Lstm(_) => ("LSTM", &[0, 3, 1, 2]),
        // Both: update, reset, hidden.
        Cell::Gru(_) => ("GRU", &[0, 1, 2]),
        _ => ("RNN", &[0]),
    };
    let (rows, units, inputs) = (gates.bias[0].len(), gates.units, gates.inputs);
    let &[batch, steps, last] = &*cx.dims(x) else { return Err(malformed!("{} has no steps", cx.shown(x))) };
    malformed_if!(last != inputs, "its kernel does not fit {}", cx.shown(x));
    let w = cx.float_constant("kernel", &[1, rows, inputs], &reordered(&gates.kernel, order))?;
    let r = cx.float_constant("recurrent_kernel", &[1, rows, units], &reordered(&gates.recurrent, order))?;
    let bias = [reordered(&gates.bias[0], order), reordered(&gates.bias[1], order)].concat();
    let b = match gates.has_bias {
        true => Some(cx.float_constant("bias", &[1, 2 * rows], &bias)?),
        false => None,
    };
    let turned = cx.transposed(x, &[1, 0, 2])?;
    let mut operands = vec![Some(turned), Some(w), Some(r), b, None];
    for &state in start {
        // Zeros are what there is without a state.
        let is_zero = cx.data(state).is_some_and(|data| data.bytes().iter().all(|&byte| byte == 0));
        let state = cx.reshaped(state, &[1, batch, units])?;
        operands.push(Some(state).filter(|_| !is_zero));
    }
    let [of_gates, of_states] = gates.plain().unwrap_or(["Sigmoid", "Tanh"]);
    let names: &[&str] = match cell {
        Cell::Lstm(_) => &[of_gates, of_states, of_states],
        Cell::Gru(_) => &[of_gates, of_states],
        _ => &[of_states],
    };
    let mut attributes = vec![("hidden_size", Set::Int(units as i64)), ("activations", Set::Texts(names))];
    if matches!(cell, Cell::Gru(_)) {
        attributes.push(("linear_before_reset", Set::Int(gates.reset_after.into())));
    }
    let results = match cell {
        Cell::Lstm(_) => cx.call_all::<3>(operator, &operands, &attributes)?.to_vec(),
        _ => cx.call_all::<2>(operator, &operands, &attributes)?.to_vec(),
    };
    let outputs = cx.reshaped(results[0], &[steps, batch, units])?;
    let outputs = cx.transposed(outputs, &[1, 0, 2])?;
    let mut states = Vec::new();
    for &state in &results[1..] {
        states.push(cx.reshaped(state, &[batch, units])?);
    }
    Ok(Run { outputs, last: states[0], states })
}

/// Step by step. States and outputs of steps that do not count stay as they were.
fn written_out(
    cx: &mut Cx<'_, '_, '_>,
    cell: &mut Cell<'_>,
    x: ValueId,
    mask: Option<ValueId>,
    start: &[ValueId],
) -> Lowered<Run> {
    let steps = cx.dims(x)[1];
    cx.written_out(steps.saturating_mul(cell.work() + if mask.is_some() { 8 } else { 0 }))?;
    let zeros = cx.flag("zero_output_for_mask", false);
    let all = cell.projected(cx, x)?;
    let (mut states, mut before, mut outputs) = (start.to_vec(), None, Vec::new());
    for time in 0..steps {
        let own = step_of(cx, all, time)?;
        let (mut y, mut after) = cell.step(cx, own, &states)?;
        if let Some(mask) = mask {
            let counts = step_of(cx, mask, time)?;
            let zero = cx.number(y, 0.0)?;
            let otherwise = if zeros { zero } else { before.unwrap_or(zero) };
            let wide = mask::widened(cx, counts, cx.dims(y).len())?;
            y = cx.choice(wide, y, otherwise)?;
            for (new, &old) in after.iter_mut().zip(&states) {
                let wide = mask::widened(cx, counts, cx.dims(*new).len())?;
                *new = cx.choice(wide, *new, old)?;
            }
        }
        states = after;
        before = Some(y);
        let mut dims = cx.dims(y);
        dims.insert(1, 1);
        outputs.push(cx.reshaped(y, &dims)?);
    }
    let last = before.ok_or_else(|| malformed!("it has no steps"))?;
    Ok(Run { outputs: cx.joined(&outputs, 1)?, last, states })
}

/// One step of \[batch, steps, …\].
fn step_of(cx: &mut Cx<'_, '_, '_>, x: ValueId, time: usize) -> Lowered<ValueId> {
    let own = cx.part(x, 1, time, 1, 1)?;
    let mut dims = cx.dims(own);
    dims.remove(1);
    cx.reshaped(own, &dims)
}
