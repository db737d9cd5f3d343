//! Normalisations.

use super::arguments::Given;
use super::cx::{Cx, Weights};
use super::{Layers, Lowered, One, Refusal, Slot};
use crate::keras::model::Layer;
use crate::keras::value::Value;
use crate::onnx::lower::{inverse_root, normal};
use kiln_ir::{Binary, Reduction, Unary, ValueId};

pub(super) const LAYERS: Layers = &[
    ("BatchNormalization", One(batch)),
    ("GroupNormalization", One(group)),
    ("LayerNormalization", One(layer)),
    ("Normalization", One(fixed)),
    ("RMSNormalization", One(root_mean_square)),
    ("SpectralNormalization", One(spectral)),
    ("SyncBatchNormalization", One(batch)),
    ("UnitNormalization", One(unit)),
];

/// A variable along some axes of `x`, with sizes of 1 for the others.
fn along(cx: &mut Cx<'_, '_, '_>, name: &str, number: usize, x: ValueId, axes: &[usize]) -> Lowered<ValueId> {
    let weights = cx.weights("", number)?;
    let dims = cx.dims(x);
    let size = |axis: usize| if axes.contains(&axis) { dims[axis] } else { 1 };
    let shape: Vec<usize> = (0..dims.len()).map(size).collect();
    // Axes in front of the first one that counts are none.
    let first = axes.first().copied().unwrap_or(0).min(shape.len());
    let order: Vec<usize> = (0..weights.dims().len()).collect();
    cx.constant(name, &weights, &order, &shape[first..])
}

/// `x` times gamma and plus beta, as far as the layer has them.
fn scaled(cx: &mut Cx<'_, '_, '_>, mut x: ValueId, axes: &[usize]) -> Lowered<ValueId> {
    let mut number = 0;
    if cx.flag("scale", true) {
        let gamma = along(cx, "gamma", number, x, axes)?;
        x = cx.product(x, gamma)?;
        number += 1;
    }
    if cx.flag("center", true) {
        let beta = along(cx, "beta", number, x, axes)?;
        x = cx.sum(x, beta)?;
    }
    Ok(x)
}

fn batch(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x()?;

    let dims = cx.dims(x);
    let axes = cx.axes_of("axis", -1, dims.len())?;
    let &[axis] = &*axes else {
        return Err(Refusal::unsupported("it normalises along several axes", "use one axis"));
    };
    let c = dims[axis];
    let (scale, center) = (cx.flag("scale", true), cx.flag("center", true));
    let first = usize::from(scale) + usize::from(center);
    let gamma = if scale { cx.floats_of("", 0, c)? } else { vec![1.0; c] };
    let beta = if center { cx.floats_of("", usize::from(scale), c)? } else { vec![0.0; c] };
    let (mean, variance) = (cx.floats_of("", first, c)?, cx.floats_of("", first + 1, c)?);
    let epsilon = cx.number_of("epsilon", 1e-3);
    let factor = |k: usize| f64::from(gamma[k]) / (f64::from(variance[k]) + epsilon).sqrt();
    let factors: Vec<f32> = (0..c).map(|k| factor(k) as f32).collect();
    let offset = |k: usize| (f64::from(beta[k]) - f64::from(mean[k]) * factor(k)) as f32;
    let offsets: Vec<f32> = (0..c).map(offset).collect();
    let mut shape = vec![1; dims.len() - axis];
    shape[0] = c;
    let (factors, offsets) =
        (cx.float_constant("scale", &shape, &factors)?, cx.float_constant("offset", &shape, &offsets)?);
    let y = cx.product(x, factors)?;
    cx.sum(y, offsets)
}

fn layer(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x()?;
    let axes = cx.axes_of("axis", -1, cx.dims(x).len())?;
    let epsilon = cx.number_of("epsilon", 1e-3) as f32;
    if cx.flag("rms_scaling", false) {
        // Of the variance, and not of the mean square.
        let mean = cx.mean(x, &axes)?;
        let centred = cx.difference(x, mean)?;
        let factor = inverse_root(cx, centred, &axes, epsilon)?;
        let y = cx.product(x, factor)?;
        let gamma = along(cx, "gamma", 0, x, &axes)?;
        return cx.product(y, gamma);
    }
    let [y, ..] = normal(cx, x, &axes, epsilon)?;
    scaled(cx, y, &axes)
}

fn root_mean_square(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x()?;
    let axes = cx.axes_of("axis", -1, cx.dims(x).len())?;
    let epsilon = cx.number_of("epsilon", 1e-6) as f32;
    let factor = inverse_root(cx, x, &axes, epsilon)?;
    let y = cx.product(x, factor)?;
    let scale = along(cx, "scale", 0, x, &axes)?;
    cx.product(y, scale)
}

/// Each group of channels by itself, with all pixels.
fn group(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x()?;
    let dims = cx.dims(x);
    let axis = cx.axis(cx.integer("axis").unwrap_or(-1), dims.len())?;
    let c = dims[axis];
    let groups = match cx.integer("groups").unwrap_or(32) {
        -1 => c,
        groups => usize::try_from(groups).unwrap_or(0),
    };
    malformed_if!(groups == 0 || c % groups != 0 || axis == 0, "{c} channels do not divide into {groups}");
    let split = [&dims[..axis], &[groups, c / groups], &dims[axis + 1..]].concat();
    let parts = cx.reshaped(x, &split)?;
    let own: Vec<usize> = (1..split.len()).filter(|&at| at != axis).collect();
    let epsilon = cx.number_of("epsilon", 1e-3) as f32;
    let [y, ..] = normal(cx, parts, &own, epsilon)?;
    let y = cx.reshaped(y, &dims)?;
    scaled(cx, y, &[axis])
}

/// x / √Σ x², where the root is not less than 10⁻¹².
fn unit(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x()?;
    let axes = cx.axes_of("axis", -1, cx.dims(x).len())?;
    let squares = cx.unary(Unary::Square, x)?;
    let sum = cx.reduced(Reduction::Sum, squares, &axes)?;
    let least = cx.number(sum, 1e-24)?;
    let sum = cx.binary(Binary::Max, sum, least)?;
    let factor = cx.unary(Unary::Rsqrt, sum)?;
    cx.product(x, factor)
}

/// With statistics of the training data: (x − mean) / max(√variance, ε).
fn fixed(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x()?;
    let dims = cx.dims(x);
    let axes = match cx.config().get("axis") {
        Value::Null => Vec::new(),
        _ => cx.axes_of("axis", -1, dims.len())?,
    };
    let count: usize = axes.iter().map(|&axis| dims[axis]).product();
    let (mean, variance) = match (cx.config().get("mean"), cx.config().get("variance")) {
        (Value::Null, _) | (_, Value::Null) => (cx.floats_of("", 0, count)?, cx.floats_of("", 1, count)?),
        (mean, variance) => (numbers(mean, count)?, numbers(variance, count)?),
    };
    let size = |axis: usize| if axes.contains(&axis) { dims[axis] } else { 1 };
    let shape: Vec<usize> = (0..dims.len()).map(size).collect();
    // That is Keras's ε.
    let deviation: Vec<f32> = variance.iter().map(|v| v.sqrt().max(1e-7)).collect();
    let (mean, deviation) =
        (cx.float_constant("mean", &shape, &mean)?, cx.float_constant("deviation", &shape, &deviation)?);
    if cx.flag("invert", false) {
        let y = cx.product(x, deviation)?;
        return cx.sum(y, mean);
    }
    let y = cx.difference(x, mean)?;
    cx.quotient(y, deviation)
}

/// Numbers of a configuration, however nested; one stands for all.
fn numbers(value: &Value, count: usize) -> Lowered<Vec<f32>> {
    let mut all = Vec::new();
    flatten(value, &mut all);
    match all.len() {
        1 => Ok(vec![all[0]; count]),
        len if len == count => Ok(all),
        len => Err(malformed!("it has {len} numbers for {count}")),
    }
}

fn flatten(value: &Value, all: &mut Vec<f32>) {
    match value {
        Value::List(list) => list.iter().for_each(|value| flatten(value, all)),
        value => all.extend(value.float().map(|number| number as f32)),
    }
}

/// A layer whose kernel is divided by its norm in training: the file has the divided one.
fn spectral(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let slot = cx.slot()?;
    let layer = Layer::read(cx.config().get("layer"))?;
    let results = cx.inner(layer, "layer", Given::of(slot))?;
    match results.first() {
        Some(Slot { value, .. }) => Ok(*value),
        None => Err(malformed!("its layer has no result")),
    }
}

/// Numbers of variables that others read.
pub(super) fn scalar(weights: &Weights) -> Lowered<f64> {
    let numbers = weights.data.to_f32();
    match numbers[..] {
        [number] => Ok(number.into()),
        _ => Err(malformed!("its weights are {:?}", weights.dims())),
    }
}
