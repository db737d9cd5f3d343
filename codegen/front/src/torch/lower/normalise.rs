//! Normalisations.

use super::cx::Cx;
use super::{All, Lowered, One, Operators, Refusal};
use crate::onnx::lower::{inverse_root, normal, scaled, Set};
use kiln_ir::{Binary, Reduction, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("_fused_rms_norm", All(rms)),
    ("_native_batch_norm_legit", All(|cx| batch(cx, "training").map(|y| vec![y]))),
    ("_native_batch_norm_legit_no_training", All(|cx| batch(cx, "").map(|y| vec![y]))),
    ("_weight_norm", One(weight_norm)),
    ("_weight_norm_interface", All(|cx| weight_norm(cx).map(|w| vec![w]))),
    ("batch_norm", One(|cx| batch(cx, "training"))),
    ("cosine_similarity", One(cosine_similarity)),
    ("group_norm", One(|cx| group(cx, "num_groups"))),
    ("instance_norm", One(instance)),
    ("layer_norm", One(|cx| Ok(layer(cx)?[0]))),
    ("native_batch_norm", All(|cx| batch(cx, "training").map(|y| vec![y]))),
    ("native_group_norm", All(|cx| group(cx, "group").map(|y| vec![y]))),
    ("native_layer_norm", All(layer)),
    ("rms_norm", One(|cx| Ok(rms(cx)?[0]))),
];

/// A weight, or as many of one number.
fn or_all(cx: &mut Cx<'_, '_, '_>, name: &str, number: f32, count: usize) -> Lowered<ValueId> {
    match cx.optional_tensor(name)? {
        Some(value) => cx.floating(value),
        None => {
            cx.importer.budget.make(4 * count);
            cx.float_constant(name, &[count], &vec![number; count])
        }
    }
}

fn channels(cx: &Cx<'_, '_, '_>, x: ValueId) -> Lowered<usize> {
    cx.dims(x).get(1).copied().ok_or_else(|| malformed!("{} has no channels", cx.shown(x)))
}

fn batch(cx: &mut Cx<'_, '_, '_>, training: &str) -> Lowered<ValueId> {
    // Without stored statistics, it has those of its operand.
    if cx.flag(training, false)? && !cx.has("running_mean") {
        let x = cx.float_tensor("input")?;
        let (c, rank) = (channels(cx, x)?, cx.dims(x).len());
        let axes: Vec<usize> = (0..rank).filter(|&axis| axis != 1).collect();
        let epsilon = cx.number_or("eps", 1e-5)? as f32;
        let [value, ..] = normal(cx, x, &axes, epsilon)?;
        let along: Vec<usize> = (1..rank).map(|axis| if axis == 1 { c } else { 1 }).collect();
        let (weight, bias) = (cx.optional_tensor("weight")?, cx.optional_tensor("bias")?);
        let weight = weight.map(|weight| cx.reshaped(weight, &along)).transpose()?;
        let bias = bias.map(|bias| cx.reshaped(bias, &along)).transpose()?;
        return scaled(cx, value, weight, bias);
    }
    if cx.flag(training, false)? {
        return Err(Refusal::unsupported(
            "it is in training mode",
            "export the model for inference (model.eval())",
        ));
    }
    let x = cx.float_tensor("input")?;
    let c = channels(cx, x)?;
    let operands = [
        Some(x),
        Some(or_all(cx, "weight", 1.0, c)?),
        Some(or_all(cx, "bias", 0.0, c)?),
        Some(cx.float_tensor("running_mean")?),
        Some(cx.float_tensor("running_var")?),
    ];
    let epsilon = cx.number_or("eps", 1e-5)? as f32;
    cx.call("BatchNormalization", &operands, &[("epsilon", Set::Float(epsilon))])
}

/// The last axes, as many as the argument `normalized_shape` has.
fn last_axes(cx: &Cx<'_, '_, '_>, x: ValueId) -> Lowered<Vec<usize>> {
    let (rank, count) = (cx.dims(x).len(), cx.integers("normalized_shape")?.unwrap_or_default().len());
    malformed_if!(count == 0 || count > rank, "{count} axes of {} are normalised", cx.shown(x));
    Ok((rank - count..rank).collect())
}

fn layer(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let x = cx.float_tensor("input")?;
    let axes = last_axes(cx, x)?;
    let (weight, bias) = (cx.optional_tensor("weight")?, cx.optional_tensor("bias")?);
    let epsilon = cx.number_or("eps", 1e-5)? as f32;
    let [value, mean, factor] = normal(cx, x, &axes, epsilon)?;
    Ok(vec![scaled(cx, value, weight, bias)?, mean, factor])
}

fn rms(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let x = cx.float_tensor("input")?;
    let axes = last_axes(cx, x)?;
    let weight = cx.optional_tensor("weight")?;
    let epsilon = cx.number_or("eps", f32::EPSILON.into())? as f32;
    let factor = inverse_root(cx, x, &axes, epsilon)?;
    let value = cx.product(x, factor)?;
    Ok(vec![scaled(cx, value, weight, None)?, factor])
}

fn group(cx: &mut Cx<'_, '_, '_>, name: &str) -> Lowered<ValueId> {
    let x = cx.float_tensor("input")?;
    let (c, dims) = (channels(cx, x)?, cx.dims(x));
    let operands = [Some(x), Some(or_all(cx, "weight", 1.0, c)?), Some(or_all(cx, "bias", 0.0, c)?)];
    let attributes = [
        ("num_groups", Set::Int(cx.int(name, 1)?)),
        ("epsilon", Set::Float(cx.number_or("eps", 1e-5)? as f32)),
    ];
    // Channels alone are those of one pixel.
    if dims.len() == 2 {
        let pixel = cx.reshaped(x, &[dims[0], dims[1], 1])?;
        let y = cx.call("GroupNormalization", &[Some(pixel), operands[1], operands[2]], &attributes)?;
        return cx.reshaped(y, &dims);
    }
    cx.call("GroupNormalization", &operands, &attributes)
}

fn instance(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    if !cx.flag("use_input_stats", true)? {
        return batch(cx, "");
    }
    let x = cx.float_tensor("input")?;
    let c = channels(cx, x)?;
    let operands = [Some(x), Some(or_all(cx, "weight", 1.0, c)?), Some(or_all(cx, "bias", 0.0, c)?)];
    let epsilon = cx.number_or("eps", 1e-5)? as f32;
    cx.call("InstanceNormalization", &operands, &[("epsilon", Set::Float(epsilon))])
}

/// v · g / ‖v‖, with a norm for each index of an axis.
fn weight_norm(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (v, g) = (cx.float_tensor("v")?, cx.float_tensor("g")?);
    let (rank, axis) = (cx.dims(v).len(), cx.int("dim", 0)?);
    let axes: Vec<usize> = match axis {
        -1 => (0..rank).collect(),
        axis => {
            let own = cx.axis(axis, rank)?;
            (0..rank).filter(|&axis| axis != own).collect()
        }
    };
    let squares = cx.unary(Unary::Square, v)?;
    let sum = cx.reduced(Reduction::Sum, squares, &axes)?;
    let norm = cx.unary(Unary::Sqrt, sum)?;
    let factor = cx.quotient(g, norm)?;
    cx.product(v, factor)
}

/// Σ x·y / √(max(Σ x², ε²) · max(Σ y², ε²)).
fn cosine_similarity(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, y) = (cx.float_tensor("x1")?, cx.float_tensor("x2")?);
    let epsilon = cx.number_or("eps", 1e-8)?;
    let both = cx.product(x, y)?;
    let axis = cx.dim("dim", 1, both)?;
    let sum = cx.reduced(Reduction::Sum, both, &[axis])?;
    let mut norm = None;
    for x in [x, y] {
        let squares = cx.unary(Unary::Square, x)?;
        let squares = cx.reduced(Reduction::Sum, squares, &[axis])?;
        let root = cx.unary(Unary::Sqrt, squares)?;
        let least = cx.number(root, epsilon)?;
        let own = cx.binary(Binary::Max, root, least)?;
        norm = Some(norm.map_or(Ok(own), |norm| cx.product(norm, own))?);
    }
    let y = cx.quotient(sum, norm.unwrap_or(sum))?;
    let mut dims = cx.dims(y);
    dims.remove(axis);
    cx.reshaped(y, &dims)
}
