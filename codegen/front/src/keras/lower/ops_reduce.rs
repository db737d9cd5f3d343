//! Operations of `keras.ops` along axes: sums, means and the like.

use super::cx::{integers, Cx};
use super::ops::{float_operand, operand};
use super::{Lowered, Refusal};
use crate::keras::value::Value;
use crate::onnx::lower::Set;
use kiln_ir::{Binary, DType, Reduction, Unary, ValueId};

/// The axes of a call, or of the configuration; all if there are none.
pub(super) fn axes(
    cx: &Cx<'_, '_, '_>,
    x: ValueId,
    place: usize,
    otherwise: Option<i64>,
) -> Lowered<Vec<usize>> {
    let rank = cx.dims(x).len();
    let list = match cx.setting(place, "axis") {
        Value::Null => match otherwise {
            Some(axis) => vec![axis],
            None => return Ok((0..rank).collect()),
        },
        value @ Value::List(_) => integers(&value).ok_or_else(|| malformed!("its axis is no number"))?,
        value => vec![value.int().ok_or_else(|| malformed!("its axis is no number"))?],
    };
    let mut axes = list.into_iter().map(|axis| cx.axis(axis, rank)).collect::<Lowered<Vec<usize>>>()?;
    axes.sort_unstable();
    axes.dedup();
    Ok(axes)
}

/// The result without axes of size 1, unless those are kept.
pub(super) fn squeezed(cx: &mut Cx<'_, '_, '_>, y: ValueId, axes: &[usize]) -> Lowered<ValueId> {
    if cx.setting(usize::MAX, "keepdims").flag(false) {
        return Ok(y);
    }
    let dims = cx.dims(y).into_iter().enumerate();
    let dims: Vec<usize> = dims.filter(|(axis, _)| !axes.contains(axis)).map(|(_, dim)| dim).collect();
    cx.reshaped(y, &dims)
}

pub(super) fn reduced(cx: &mut Cx<'_, '_, '_>, function: Reduction) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let x = cx.widened(x)?;
    let axes = axes(cx, x, 1, None)?;
    let y = cx.reduced(function, x, &axes)?;
    let y = squeezed(cx, y, &axes)?;
    let initial = cx.setting(usize::MAX, "initial").float();
    match (initial, function) {
        (None, _) => Ok(y),
        (Some(initial), Reduction::Max | Reduction::Min) => {
            let initial = cx.number(y, initial)?;
            cx.binary(if function == Reduction::Max { Binary::Max } else { Binary::Min }, y, initial)
        }
        _ => Err(Refusal::unsupported("it has an initial value", "do without it")),
    }
}

pub(super) fn product(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let x = cx.widened(x)?;
    let axes = axes(cx, x, 1, None)?;
    let list: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
    let list = cx.int_constant("axes", DType::I64, &[list.len()], &list)?;
    let y = cx.call("ReduceProd", &[Some(x), Some(list)], &[("keepdims", Set::Int(1))])?;
    squeezed(cx, y, &axes)
}

pub(super) fn truths(cx: &mut Cx<'_, '_, '_>, function: Reduction) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let x = super::mask::truth(cx, x)?;
    let x = cx.cast(x, DType::I32)?;
    let axes = axes(cx, x, 1, None)?;
    let y = cx.reduced(function, x, &axes)?;
    let y = squeezed(cx, y, &axes)?;
    super::mask::truth(cx, y)
}

pub(super) fn mean(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    let axes = axes(cx, x, 1, None)?;
    let y = cx.mean(x, &axes)?;
    squeezed(cx, y, &axes)
}

pub(super) fn average(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    if cx.given.get(2, "weights").is_some() {
        return Err(Refusal::unsupported("its mean has weights", "multiply, sum and divide"));
    }
    mean(cx)
}

pub(super) fn variance(cx: &mut Cx<'_, '_, '_>, root: bool) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    let axes = axes(cx, x, 1, None)?;
    let mean = cx.mean(x, &axes)?;
    let centred = cx.difference(x, mean)?;
    let squares = cx.unary(Unary::Square, centred)?;
    let mut y = cx.mean(squares, &axes)?;
    if root {
        y = cx.unary(Unary::Sqrt, y)?;
    }
    squeezed(cx, y, &axes)
}

pub(super) fn log_sum_exp(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    let axes = axes(cx, x, 1, None)?;
    let most = cx.reduced(Reduction::Max, x, &axes)?;
    let less = cx.difference(x, most)?;
    let power = cx.unary(Unary::Exp, less)?;
    let sum = cx.reduced(Reduction::Sum, power, &axes)?;
    let log = cx.unary(Unary::Log, sum)?;
    let y = cx.sum(log, most)?;
    squeezed(cx, y, &axes)
}

pub(super) fn norm(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let order = cx.setting(1, "ord");
    let is_plain = order.is_null() || order.float() == Some(2.0) || order.text() == "fro";
    if !is_plain {
        return Err(Refusal::unsupported(
            "its norm is not the Euclidean one",
            "compute it of sums and powers",
        ));
    }
    let x = float_operand(cx)?;
    let axes = axes(cx, x, 2, None)?;
    let squares = cx.unary(Unary::Square, x)?;
    let sum = cx.reduced(Reduction::Sum, squares, &axes)?;
    let y = cx.unary(Unary::Sqrt, sum)?;
    squeezed(cx, y, &axes)
}

pub(super) fn normalize(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    if cx.setting(2, "order").int().unwrap_or(2) != 2 {
        return Err(Refusal::unsupported(
            "its norm is not the Euclidean one",
            "compute it of sums and powers",
        ));
    }
    let x = float_operand(cx)?;
    let axes = axes(cx, x, 1, Some(-1))?;
    let epsilon = cx.setting(3, "epsilon").float().unwrap_or(1e-7);
    let squares = cx.unary(Unary::Square, x)?;
    let sum = cx.reduced(Reduction::Sum, squares, &axes)?;
    let factor = cx.unary(Unary::Rsqrt, sum)?;
    let most = cx.number(factor, 1.0 / epsilon)?;
    let factor = cx.binary(Binary::Min, factor, most)?;
    cx.product(x, factor)
}

pub(super) fn root_mean_square(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    let axes = axes(cx, x, 2, Some(-1))?;
    let epsilon = cx.setting(3, "epsilon").float().unwrap_or(1e-7) as f32;
    let factor = crate::onnx::lower::inverse_root(cx, x, &axes, epsilon)?;
    let y = cx.product(x, factor)?;
    match cx.tensor_at(1, "scale")? {
        Some(scale) => cx.product(y, scale.value),
        None => Ok(y),
    }
}

pub(super) fn batch_normalised(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = float_operand(cx)?;
    let rank = cx.dims(x).len();
    let axis = cx.axis(cx.setting(3, "axis").int().unwrap_or(-1), rank)?;
    let epsilon = cx.setting(6, "epsilon").float().unwrap_or(1e-3);
    let along = |cx: &mut Cx<'_, '_, '_>, place: usize, name: &str| -> Lowered<Option<ValueId>> {
        let Some(slot) = cx.tensor_at(place, name)? else { return Ok(None) };
        let mut dims = vec![1; rank - axis];
        dims[0] = cx.ty(slot.value).shape.numel();
        cx.reshaped(slot.value, &dims).map(Some)
    };
    let missing = || malformed!("it has no mean or variance");
    let mean = along(cx, 1, "mean")?.ok_or_else(missing)?;
    let variance = along(cx, 2, "variance")?.ok_or_else(missing)?;
    let (offset, scale) = (along(cx, 4, "offset")?, along(cx, 5, "scale")?);
    let more = cx.plus(variance, epsilon)?;
    let factor = cx.unary(Unary::Rsqrt, more)?;
    let centred = cx.difference(x, mean)?;
    let y = cx.product(centred, factor)?;
    let y = scale.map_or(Ok(y), |scale| cx.product(y, scale))?;
    offset.map_or(Ok(y), |offset| cx.sum(y, offset))
}

pub(super) fn index(cx: &mut Cx<'_, '_, '_>, operator: &str) -> Lowered<ValueId> {
    let x = operand(cx, 0, "x")?;
    let is_flat = cx.setting(1, "axis").is_null();
    let x = super::ops_arrange::flat(cx, x, is_flat)?;
    let axis = if is_flat { 0 } else { axes(cx, x, 1, Some(0))?[0] };
    let keeps = cx.setting(usize::MAX, "keepdims").flag(false);
    let attributes = [("axis", Set::Int(axis as i64)), ("keepdims", Set::Int(keeps.into()))];
    let y = cx.call(operator, &[Some(x)], &attributes)?;
    // Keras counts in 32 bits.
    cx.cast(y, DType::I32)
}
