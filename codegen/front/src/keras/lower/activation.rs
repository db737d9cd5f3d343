//! Activations, as layers, and by name in other layers.

use super::arguments::Given;
use super::cx::Cx;
use super::{mask, Layers, Lowered, One, Refusal, Slot};
use crate::keras::model::Layer;
use crate::keras::value::Value;
use crate::onnx::lower::Set;
use kiln_ir::{Binary, Comparison, DType, Reduction, Unary, ValueId};

pub(super) const LAYERS: Layers = &[
    ("Activation", One(layer)),
    ("ELU", One(elu_layer)),
    ("LeakyReLU", One(leaky_layer)),
    ("PReLU", One(prelu)),
    ("ReLU", One(relu_layer)),
    ("Softmax", One(softmax_layer)),
    ("ThresholdedReLU", One(thresholded)),
];

fn layer(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x()?;
    fused(cx, x)
}

/// The result of the activation that a layer has.
pub(super) fn fused(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    activation(cx, cx.config().get("activation"), x)
}

/// An activation, by name or as an object.
pub(super) fn activation(cx: &mut Cx<'_, '_, '_>, value: &Value, x: ValueId) -> Lowered<ValueId> {
    match value {
        Value::Null => Ok(x),
        Value::Text(name) => by_name(cx, name, x),
        object => {
            let class = object.get("class_name").text();
            if class == "function" {
                return by_name(cx, object.get("config").text(), x);
            }
            // A layer.
            let layer = Layer::read(object)?;
            let results = cx.inner(layer, "activation", Given::of(Slot::plain(x)))?;
            let first = results.first().ok_or_else(|| malformed!("its activation has no result"))?;
            Ok(first.value)
        }
    }
}

/// The name of an activation that is given as one, for layers that have ops with it.
pub(super) fn name_of(value: &Value) -> &str {
    match value {
        Value::Null => "linear",
        Value::Text(name) => name,
        object if object.get("class_name").text() == "function" => object.get("config").text(),
        _ => "",
    }
}

pub(super) fn by_name(cx: &mut Cx<'_, '_, '_>, name: &str, x: ValueId) -> Lowered<ValueId> {
    let call = |cx: &mut Cx<'_, '_, '_>, operator: &str, attributes: &[(&str, Set<'_>)]| {
        cx.call(operator, &[Some(x)], attributes)
    };
    let infinity = f32::INFINITY;
    match name {
        "" | "linear" | "identity" => Ok(x),
        "relu" => cx.clipped(x, 0.0, infinity),
        "relu6" => cx.clipped(x, 0.0, 6.0),
        "sigmoid" => cx.sigmoid(x),
        "tanh" => cx.tanh(x),
        "softmax" => softmax(cx, x, &[cx.dims(x).len().saturating_sub(1)]),
        "log_softmax" => call(cx, "LogSoftmax", &[("axis", Set::Int(-1))]),
        "softplus" => cx.unary(Unary::Softplus, x),
        "softsign" => call(cx, "Softsign", &[]),
        "elu" => cx.unary(Unary::Elu, x),
        "selu" => call(cx, "Selu", &[]),
        "celu" => call(cx, "Celu", &[]),
        "gelu" => cx.unary(Unary::Gelu, x),
        "exponential" => cx.unary(Unary::Exp, x),
        "silu" | "swish" => {
            let share = cx.sigmoid(x)?;
            cx.product(x, share)
        }
        "mish" => call(cx, "Mish", &[]),
        // Keras 2 has another slope.
        "hard_sigmoid" if cx.shared.is_old => hard_sigmoid(cx, x, 0.2),
        "hard_sigmoid" => hard_sigmoid(cx, x, 1.0 / 6.0),
        "hard_silu" | "hard_swish" => cx.unary(Unary::HardSwish, x),
        "hard_tanh" => cx.clipped(x, -1.0, 1.0),
        "leaky_relu" => leaky(cx, x, 0.2),
        "log_sigmoid" | "logsigmoid" => {
            let less = cx.unary(Unary::Neg, x)?;
            let log = cx.unary(Unary::Softplus, less)?;
            cx.unary(Unary::Neg, log)
        }
        "glu" => glu(cx, x),
        "hard_shrink" => shrink(cx, x, 0.5, false),
        "soft_shrink" => shrink(cx, x, 0.5, true),
        "tanh_shrink" => {
            let bent = cx.tanh(x)?;
            cx.difference(x, bent)
        }
        "squareplus" => squareplus(cx, x, 4.0),
        "sparse_plus" => sparse_plus(cx, x),
        "sparse_sigmoid" => {
            let moved = cx.plus(x, 1.0)?;
            let half = cx.times(moved, 0.5)?;
            cx.clipped(half, 0.0, 1.0)
        }
        "sparsemax" => sparsemax(cx, x),
        other => {
            let what = format!("the activation {:?} cannot be compiled", super::short(other));
            Err(Refusal::unsupported(what, "use another activation, such as relu, tanh or sigmoid"))
        }
    }
}

/// Between 0 and 1, with that slope around 0.
fn hard_sigmoid(cx: &mut Cx<'_, '_, '_>, x: ValueId, slope: f64) -> Lowered<ValueId> {
    let bent = cx.times(x, slope)?;
    let moved = cx.plus(bent, 0.5)?;
    cx.clipped(moved, 0.0, 1.0)
}

/// x, and `slope` · x below zero.
pub(super) fn leaky(cx: &mut Cx<'_, '_, '_>, x: ValueId, slope: f64) -> Lowered<ValueId> {
    cx.call("LeakyRelu", &[Some(x)], &[("alpha", Set::Float(slope as f32))])
}

/// Half of the last axis, times the sigmoid of the other half.
fn glu(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    let axis = dims.len().saturating_sub(1);
    let size = dims.last().copied().unwrap_or(1);
    malformed_if!(size % 2 != 0, "{size} channels do not divide into halves");
    let (first, second) = (cx.part(x, axis, 0, size / 2, 1)?, cx.part(x, axis, size / 2, size / 2, 1)?);
    let share = cx.sigmoid(second)?;
    cx.product(first, share)
}

/// 0 within a bound of 0; beyond, x, or how much it is beyond.
pub(super) fn shrink(cx: &mut Cx<'_, '_, '_>, x: ValueId, bound: f32, soft: bool) -> Lowered<ValueId> {
    let bias = if soft { bound } else { 0.0 };
    cx.call("Shrink", &[Some(x)], &[("lambd", Set::Float(bound)), ("bias", Set::Float(bias))])
}

/// (x + √(x² + b)) / 2.
pub(super) fn squareplus(cx: &mut Cx<'_, '_, '_>, x: ValueId, b: f64) -> Lowered<ValueId> {
    let square = cx.unary(Unary::Square, x)?;
    let more = cx.plus(square, b)?;
    let root = cx.unary(Unary::Sqrt, more)?;
    let sum = cx.sum(x, root)?;
    cx.times(sum, 0.5)
}

/// 0 below −1, x above 1, and (x + 1)² / 4 between.
fn sparse_plus(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let near = cx.clipped(x, -1.0, 1.0)?;
    let moved = cx.plus(near, 1.0)?;
    let square = cx.unary(Unary::Square, moved)?;
    let between = cx.times(square, 0.25)?;
    let one = cx.number(x, 1.0)?;
    let is_above = cx.compared(Comparison::GreaterEqual, x, one)?;
    cx.choice(is_above, x, between)
}

/// The nearest point of the simplex along the last axis: max(x − t, 0), where t makes the sum 1. Of the elements in order, the first k are above t: those for which
/// 1 + k · x is more than the sum of the first k.
fn sparsemax(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    let Some((&size, axis)) = dims.last().zip(dims.len().checked_sub(1)) else {
        return Err(malformed!("its operand has no axis"));
    };
    let count = cx.int_constant("count", DType::I64, &[1], &[size as i64])?;
    let order = [("axis", Set::Int(-1)), ("largest", Set::Int(1)), ("sorted", Set::Int(1))];
    let [ordered, _] = cx.call_all::<2>("TopK", &[Some(x), Some(count)], &order)?;
    let along = cx.int_constant("axis", DType::I64, &[], &[axis as i64])?;
    let sums = cx.call("CumSum", &[Some(ordered), Some(along)], &[])?;
    let ranks: Vec<f32> = (1..=size).map(|rank| rank as f32).collect();
    let ranks = cx.float_constant("ranks", &[size], &ranks)?;
    let scaled = cx.product(ordered, ranks)?;
    let more = cx.plus(scaled, 1.0)?;
    let is_above = cx.compared(Comparison::Greater, more, sums)?;
    let is_above = cx.cast(is_above, DType::F32)?;
    let above = cx.product(ordered, is_above)?;
    let (sum, number) =
        (cx.reduced(Reduction::Sum, above, &[axis])?, cx.reduced(Reduction::Sum, is_above, &[axis])?);
    let excess = cx.plus(sum, -1.0)?;
    let threshold = cx.binary(Binary::Div, excess, number)?;
    let less = cx.difference(x, threshold)?;
    cx.clipped(less, 0.0, f32::INFINITY)
}

/// Softmax over some axes together.
pub(super) fn softmax(cx: &mut Cx<'_, '_, '_>, x: ValueId, axes: &[usize]) -> Lowered<ValueId> {
    let rank = cx.dims(x).len();
    match *axes {
        [axis] if axis + 1 == rank => cx.softmax(x),
        [axis] => cx.call("Softmax", &[Some(x)], &[("axis", Set::Int(axis as i64))]),
        _ => {
            let most = cx.reduced(Reduction::Max, x, axes)?;
            let less = cx.difference(x, most)?;
            let power = cx.unary(Unary::Exp, less)?;
            let sum = cx.reduced(Reduction::Sum, power, axes)?;
            cx.quotient(power, sum)
        }
    }
}

fn softmax_layer(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let mut x = cx.x()?;
    let rank = cx.dims(x).len();
    if let Some(mask) = mask::of_call(cx, 1, "mask")? {
        // NumPy's rules: axes of a mask are the last ones.
        let least = cx.number(x, -1e9)?;
        x = cx.choice(mask, x, least)?;
    }
    let axes = cx.axes_of("axis", -1, rank)?;
    softmax(cx, x, &axes)
}

fn elu_layer(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x()?;
    let alpha = cx.number_of("alpha", 1.0) as f32;
    cx.call("Elu", &[Some(x)], &[("alpha", Set::Float(alpha))])
}

fn leaky_layer(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x()?;
    let old = cx.number_of("alpha", 0.3);
    let slope = cx.number_of("negative_slope", old);
    leaky(cx, x, slope)
}

/// x, with a slope of its own below zero for each element.
fn prelu(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x()?;
    let alpha = cx.weights("", 0)?;
    let order: Vec<usize> = (0..alpha.dims().len()).collect();
    let alpha = cx.constant("alpha", &alpha, &order, alpha.dims())?;
    cx.call("PRelu", &[Some(x), Some(alpha)], &[])
}

fn relu_layer(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x()?;
    let most = cx.config().get("max_value").float();
    relu(cx, x, cx.number_of("negative_slope", 0.0), most, cx.number_of("threshold", 0.0))
}

/// x from a threshold on, at most `most`; below, how much it is below, times a slope.
pub(super) fn relu(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    slope: f64,
    most: Option<f64>,
    threshold: f64,
) -> Lowered<ValueId> {
    let upper = most.map_or(f32::INFINITY, |most| most as f32);
    if threshold == 0.0 {
        if slope == 0.0 {
            return cx.clipped(x, 0.0, upper);
        }
        let y = leaky(cx, x, slope)?;
        return if most.is_some() { cx.clipped(y, f32::NEG_INFINITY, upper) } else { Ok(y) };
    }
    let bound = cx.number(x, threshold)?;
    let is_above = cx.compared(Comparison::Greater, x, bound)?;
    let above = cx.clipped(x, f32::NEG_INFINITY, upper)?;
    let beyond = cx.plus(x, -threshold)?;
    let below = cx.times(beyond, slope)?;
    cx.choice(is_above, above, below)
}

/// x above a bound, else 0.
fn thresholded(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x()?;
    let bound = cx.number_of("theta", 1.0) as f32;
    cx.call("ThresholdedRelu", &[Some(x)], &[("alpha", Set::Float(bound))])
}
