//! Activations.

use super::cx::Cx;
use super::{Lowered, One, Operators, Refusal};
use crate::onnx::lower::Set;
use kiln_ir::{Binary, Comparison, DType, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("_log_softmax", One(|cx| along(cx, "LogSoftmax"))),
    ("_prelu_kernel", One(prelu)),
    ("_softmax", One(|cx| along(cx, "Softmax"))),
    ("celu", One(|cx| with_alpha(cx, "Celu", "alpha", 1.0))),
    ("elu", One(elu)),
    ("gelu", One(gelu)),
    ("glu", One(glu)),
    ("hardshrink", One(|cx| shrink(cx, false))),
    ("hardsigmoid", One(hardsigmoid)),
    ("hardswish", One(|cx| of_float(cx, "HardSwish"))),
    ("hardtanh", One(hardtanh)),
    ("leaky_relu", One(|cx| with_alpha(cx, "LeakyRelu", "negative_slope", 0.01))),
    ("log_sigmoid", One(log_sigmoid)),
    ("log_sigmoid_forward", One(log_sigmoid)),
    ("log_softmax", One(|cx| along(cx, "LogSoftmax"))),
    ("mish", One(|cx| of_float(cx, "Mish"))),
    ("prelu", One(prelu)),
    ("relu", One(relu)),
    ("relu6", One(|cx| clipped(cx, 0.0, 6.0))),
    ("rrelu", One(rrelu)),
    ("selu", One(|cx| of_float(cx, "Selu"))),
    ("sigmoid", One(|cx| of_float(cx, "Sigmoid"))),
    ("silu", One(|cx| of_float(cx, "Swish"))),
    ("softmax", One(|cx| along(cx, "Softmax"))),
    ("softplus", One(softplus)),
    ("softshrink", One(|cx| shrink(cx, true))),
    ("softsign", One(|cx| of_float(cx, "Softsign"))),
    ("tanh", One(|cx| of_float(cx, "Tanh"))),
    ("threshold", One(threshold)),
];

/// A function that ONNX has, too.
fn of_float(cx: &mut Cx<'_, '_, '_>, operator: &str) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    cx.call(operator, &[Some(x)], &[])
}

/// The same, with a number.
fn with_alpha(cx: &mut Cx<'_, '_, '_>, operator: &str, name: &str, otherwise: f64) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let alpha = cx.number_or(name, otherwise)? as f32;
    cx.call(operator, &[Some(x)], &[("alpha", Set::Float(alpha))])
}

fn relu(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    cx.call("Relu", &[Some(x)], &[])
}

fn clipped(cx: &mut Cx<'_, '_, '_>, lo: f32, hi: f32) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    cx.clipped(x, lo, hi)
}

fn hardtanh(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (lo, hi) = (cx.number_or("min_val", -1.0)?, cx.number_or("max_val", 1.0)?);
    clipped(cx, lo as f32, hi as f32)
}

/// elu(x, alpha, scale, input_scale).
fn elu(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let (alpha, scale, inner) =
        (cx.number_or("alpha", 1.0)?, cx.number_or("scale", 1.0)?, cx.number_or("input_scale", 1.0)?);
    match (scale, inner) {
        (1.0, 1.0) => cx.call("Elu", &[Some(x)], &[("alpha", Set::Float(alpha as f32))]),
        (_, 1.0) => {
            let attributes = [("alpha", Set::Float(alpha as f32)), ("gamma", Set::Float(scale as f32))];
            cx.call("Selu", &[Some(x)], &attributes)
        }
        _ => Err(Refusal::unsupported(format!("its input_scale is {inner}"), "use one of 1")),
    }
}

fn gelu(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let function = if cx.words("approximate") == "tanh" { Unary::GeluTanh } else { Unary::Gelu };
    cx.unary(function, x)
}

/// The first half along an axis, times the sigmoid of the second.
fn glu(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let axis = cx.dim("dim", -1, x)?;
    let size = cx.dims(x).get(axis).copied().unwrap_or(0);
    malformed_if!(size % 2 != 0, "{} has no halves along axis {axis}", cx.shown(x));
    let (front, back) = (cx.part(x, axis, 0, size / 2, 1)?, cx.part(x, axis, size / 2, size / 2, 1)?);
    let gate = cx.sigmoid(back)?;
    cx.product(front, gate)
}

fn shrink(cx: &mut Cx<'_, '_, '_>, moves: bool) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let lambda = cx.number_or("lambd", 0.5)? as f32;
    let bias = if moves { lambda } else { 0.0 };
    cx.call("Shrink", &[Some(x)], &[("lambd", Set::Float(lambda)), ("bias", Set::Float(bias))])
}

/// (x + 3) / 6 between 0 and 1.
fn hardsigmoid(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let attributes = [("alpha", Set::Float(1.0 / 6.0)), ("beta", Set::Float(0.5))];
    cx.call("HardSigmoid", &[Some(x)], &attributes)
}

/// −softplus(−x).
fn log_sigmoid(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let less = cx.unary(Unary::Neg, x)?;
    let soft = cx.unary(Unary::Softplus, less)?;
    cx.unary(Unary::Neg, soft)
}

/// Slopes are those of channels.
fn prelu(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, slope) = (cx.float_tensor("self")?, cx.tensor("weight")?);
    let (rank, slopes) = (cx.dims(x).len(), cx.ty(slope).shape.numel());
    let slope = match cx.dims(slope).len() {
        0 | 1 if slopes > 1 && rank > 2 => {
            let mut along = vec![1; rank - 1];
            along[0] = slopes;
            cx.reshaped(slope, &along)?
        }
        _ => slope,
    };
    cx.binary(Binary::Prelu, x, slope)
}

/// For inference: a slope in the middle.
fn rrelu(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    if cx.flag("training", false)? {
        return Err(Refusal::unsupported(
            "it is in training mode",
            "export the model for inference (model.eval())",
        ));
    }
    let x = cx.float_tensor("self")?;
    let alpha = (cx.number_or("lower", 0.125)? + cx.number_or("upper", 1.0 / 3.0)?) / 2.0;
    cx.call("LeakyRelu", &[Some(x)], &[("alpha", Set::Float(alpha as f32))])
}

/// log(1 + e^(βx)) / β, and x where βx is above the threshold.
fn softplus(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let (beta, threshold) = (cx.number_or("beta", 1.0)?, cx.number_or("threshold", 20.0)?);
    let scaled = if beta == 1.0 { x } else { cx.times(x, beta)? };
    let soft = cx.unary(Unary::Softplus, scaled)?;
    let soft = if beta == 1.0 { soft } else { cx.times(soft, 1.0 / beta)? };
    // Beyond 15, both are the same float.
    if threshold >= 15.0 {
        return Ok(soft);
    }
    let bound = cx.number(x, threshold)?;
    let beyond = cx.compared(Comparison::Greater, scaled, bound)?;
    cx.choice(beyond, x, soft)
}

fn threshold(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let (bound, otherwise) = (cx.number_or("threshold", 0.0)?, cx.number_or("value", 0.0)?);
    let (bound, otherwise) = (cx.number(x, bound)?, cx.number(x, otherwise)?);
    let above = cx.compared(Comparison::Greater, x, bound)?;
    cx.choice(above, x, otherwise)
}

/// Softmax and its logarithm along an axis.
fn along(cx: &mut Cx<'_, '_, '_>, operator: &str) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let dims = cx.dims(x);
    let axis = cx.dim("dim", -1, x)?;
    // A number alone is an axis of one.
    let x = if dims.is_empty() { cx.reshaped(x, &[1])? } else { x };
    let y = cx.call(operator, &[Some(x)], &[("axis", Set::Int(axis as i64))])?;
    let y = cx.cast(y, DType::F32)?;
    cx.reshaped(y, &dims)
}
