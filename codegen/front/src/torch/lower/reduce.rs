//! Reductions, and sums from the first element on.

use super::cx::Cx;
use super::{elementwise, logic, All, Lowered, One, Operators, Refusal};
use crate::onnx::lower::Set;
use kiln_ir::{Binary, Comparison, DType, Op, Reduction, Type, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("all", One(|cx| of_truths(cx, Reduction::Min))),
    ("amax", One(|cx| reduced(cx, extreme(Reduction::Max)))),
    ("amin", One(|cx| reduced(cx, extreme(Reduction::Min)))),
    (
        "aminmax",
        All(|cx| Ok(vec![reduced(cx, extreme(Reduction::Min))?, reduced(cx, extreme(Reduction::Max))?])),
    ),
    ("any", One(|cx| of_truths(cx, Reduction::Max))),
    ("argmax", One(|cx| arg(cx, true))),
    ("argmin", One(|cx| arg(cx, false))),
    ("_cdist_forward", One(cdist)),
    ("cdist", One(cdist)),
    ("count_nonzero", One(count_nonzero)),
    ("cumprod", One(|cx| cumulative(cx, "CumProd"))),
    ("cummax", All(|cx| running(cx, Binary::Max))),
    ("cummin", All(|cx| running(cx, Binary::Min))),
    ("cumsum", One(|cx| cumulative(cx, "CumSum"))),
    ("dist", One(distance)),
    ("frobenius_norm", One(|cx| norm(cx, "p"))),
    ("linalg_norm", One(|cx| norm(cx, "ord"))),
    ("linalg_vector_norm", One(|cx| norm(cx, "ord"))),
    ("logsumexp", One(logsumexp)),
    ("max", All(|cx| best(cx, true))),
    ("mean", One(|cx| reduced(cx, |cx, x, axes| cx.mean(x, axes)))),
    ("min", All(|cx| best(cx, false))),
    ("nanmean", One(|cx| without_nan(cx, true))),
    ("nansum", One(|cx| without_nan(cx, false))),
    ("norm", One(|cx| norm(cx, "p"))),
    ("pairwise_distance", One(pairwise)),
    ("prod", One(|cx| reduced(cx, |cx, x, axes| cx.reduced(Reduction::Product, x, axes)))),
    ("std", One(|cx| Ok(spread(cx, true)?[0]))),
    ("std_mean", All(|cx| spread(cx, true).map(Vec::from))),
    ("sum", One(|cx| reduced(cx, |cx, x, axes| cx.reduced(Reduction::Sum, x, axes)))),
    ("var", One(|cx| Ok(spread(cx, false)?[0]))),
    ("var_mean", All(|cx| spread(cx, false).map(Vec::from))),
];

type Reduce = fn(&mut Cx<'_, '_, '_>, ValueId, &[usize]) -> Lowered<ValueId>;

fn extreme(function: Reduction) -> Reduce {
    match function {
        Reduction::Max => |cx, x, axes| cx.reduced(Reduction::Max, x, axes),
        _ => |cx, x, axes| cx.reduced(Reduction::Min, x, axes),
    }
}

/// A reduction in the type of the result.
fn reduced(cx: &mut Cx<'_, '_, '_>, reduce: Reduce) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let x = match cx.declared(0)? {
        Some(dtype) => cx.cast(x, dtype)?,
        None => x,
    };
    along(cx, x, reduce)
}

/// A reduction along the axes of the arguments.
fn along(cx: &mut Cx<'_, '_, '_>, x: ValueId, reduce: Reduce) -> Lowered<ValueId> {
    let axes = cx.axes("dim", x)?;
    let keeps = cx.flag("keepdim", false)?;
    over(cx, x, &axes, keeps, reduce)
}

fn over(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    axes: &[usize],
    keeps: bool,
    reduce: Reduce,
) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    // Of a number alone, it is that of one element.
    let (x, axes) = match dims.is_empty() {
        true => (cx.reshaped(x, &[1])?, vec![0]),
        false => (x, axes.to_vec()),
    };
    let (dtype, wide) = (cx.ty(x).dtype, cx.widened(x)?);
    let y = reduce(cx, wide, &axes)?;
    let y = cx.cast(y, dtype)?;
    let stays = |axis: &usize| keeps || !axes.contains(axis);
    let result: Vec<usize> =
        (0..dims.len()).filter(stays).map(|axis| if axes.contains(&axis) { 1 } else { dims[axis] }).collect();
    cx.reshaped(y, &result)
}

fn of_truths(cx: &mut Cx<'_, '_, '_>, function: Reduction) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let x = logic::truth(cx, x)?;
    along(cx, x, extreme(function))
}

fn count_nonzero(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let x = logic::truth(cx, x)?;
    let x = cx.cast(x, DType::I64)?;
    along(cx, x, |cx, x, axes| cx.reduced(Reduction::Sum, x, axes))
}

/// Without an axis, the index is that among all elements.
fn arg(cx: &mut Cx<'_, '_, '_>, largest: bool) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let dims = cx.dims(x);
    let all = cx.ty(x).shape.numel();
    if !cx.has("dim") || dims.is_empty() {
        let flat = cx.reshaped(x, &[all])?;
        let index = cx.add(Op::ArgReduce { axis: 0, largest }, &[flat], Type::plain(DType::I64, &[]))?;
        let kept = if cx.flag("keepdim", false)? { vec![1; dims.len()] } else { Vec::new() };
        return cx.reshaped(index, &kept);
    }
    let axis = cx.dim("dim", 0, x)?;
    index_of(cx, x, axis, largest)
}

fn index_of(cx: &mut Cx<'_, '_, '_>, x: ValueId, axis: usize, largest: bool) -> Lowered<ValueId> {
    let mut dims = cx.dims(x);
    dims.remove(axis);
    let index = cx.add(Op::ArgReduce { axis, largest }, &[x], Type::plain(DType::I64, &dims))?;
    if cx.flag("keepdim", false)? {
        dims.insert(axis, 1);
    }
    cx.reshaped(index, &dims)
}

/// The largest or smallest of two tensors, of all elements, or along an axis with its index.
fn best(cx: &mut Cx<'_, '_, '_>, largest: bool) -> Lowered<Vec<ValueId>> {
    let function = if largest { Reduction::Max } else { Reduction::Min };
    if cx.has("other") {
        let [x, y] = cx.promoted(["self", "other"])?;
        return Ok(vec![cx.binary(if largest { Binary::Max } else { Binary::Min }, x, y)?]);
    }
    let x = cx.tensor("self")?;
    if !cx.has("dim") {
        return Ok(vec![along(cx, x, extreme(function))?]);
    }
    let value = along(cx, x, extreme(function))?;
    let axis = cx.dim("dim", 0, x)?;
    let rows = if cx.dims(x).is_empty() { cx.reshaped(x, &[1])? } else { x };
    let index = index_of(cx, rows, axis, largest)?;
    Ok(vec![value, index])
}

/// log Σ eˣ, with the largest x in front of the logarithm.
fn logsumexp(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    along(cx, x, |cx, x, axes| {
        let list: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
        let list = cx.int_constant("axes", DType::I64, &[axes.len()], &list)?;
        cx.call("ReduceLogSumExp", &[Some(x), Some(list)], &[("keepdims", Set::Int(1))])
    })
}

/// The sum or mean of what is a number.
fn without_nan(cx: &mut Cx<'_, '_, '_>, is_mean: bool) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let (is_number, zero) = (cx.compared(Comparison::Equal, x, x)?, cx.number(x, 0.0)?);
    let kept = cx.choice(is_number, x, zero)?;
    let sum = along(cx, kept, |cx, x, axes| cx.reduced(Reduction::Sum, x, axes))?;
    if !is_mean {
        return Ok(sum);
    }
    let ones = cx.floating(is_number)?;
    let count = along(cx, ones, |cx, x, axes| cx.reduced(Reduction::Sum, x, axes))?;
    cx.quotient(sum, count)
}

/// The norm of the difference of each row with each row.
fn cdist(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, y) = (cx.float_tensor("x1")?, cx.float_tensor("x2")?);
    let (mut left, mut right) = (cx.dims(x), cx.dims(y));
    malformed_if!(left.len() < 2 || right.len() < 2, "{} has no rows", cx.shown(x));
    left.insert(left.len() - 1, 1);
    right.insert(right.len() - 2, 1);
    let (x, y) = (cx.reshaped(x, &left)?, cx.reshaped(y, &right)?);
    let gap = cx.difference(x, y)?;
    let last = cx.dims(gap).len() - 1;
    last_norm(cx, gap, last, false)
}

/// The norm of the difference, plus ε, along the last axis.
fn pairwise(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, y) = (cx.float_tensor("x1")?, cx.float_tensor("x2")?);
    let gap = cx.difference(x, y)?;
    let epsilon = cx.number_or("eps", 1e-6)?;
    let gap = cx.plus(gap, epsilon)?;
    let last = cx.dims(gap).len().saturating_sub(1);
    last_norm(cx, gap, last, cx.flag("keepdim", false)?)
}

fn last_norm(cx: &mut Cx<'_, '_, '_>, x: ValueId, axis: usize, keeps: bool) -> Lowered<ValueId> {
    let size = cx.unary(Unary::Abs, x)?;
    let p = cx.number_or("p", 2.0)?;
    if p.is_infinite() {
        return over(cx, size, &[axis], keeps, extreme(Reduction::Max));
    }
    let exponent = cx.number(size, p)?;
    let powers = elementwise::power(cx, size, exponent)?;
    let sum = over(cx, powers, &[axis], keeps, |cx, x, axes| cx.reduced(Reduction::Sum, x, axes))?;
    let exponent = cx.number(sum, 1.0 / p)?;
    elementwise::power(cx, sum, exponent)
}

/// The norm of a difference.
fn distance(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = cx.promoted(["self", "other"])?;
    let gap = cx.difference(x, y)?;
    norm_of(cx, gap, "p")
}

/// The norm of vectors: (Σ |x|ᵖ)^(1/p).
fn norm(cx: &mut Cx<'_, '_, '_>, order: &str) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    norm_of(cx, x, order)
}

fn norm_of(cx: &mut Cx<'_, '_, '_>, x: ValueId, order: &str) -> Lowered<ValueId> {
    let p = cx.number_or(order, 2.0)?;
    if p == 2.0 {
        let squares = cx.unary(Unary::Square, x)?;
        let sum = along(cx, squares, |cx, x, axes| cx.reduced(Reduction::Sum, x, axes))?;
        return cx.unary(Unary::Sqrt, sum);
    }
    if p == 0.0 {
        let x = logic::truth(cx, x)?;
        let x = cx.floating(x)?;
        return along(cx, x, |cx, x, axes| cx.reduced(Reduction::Sum, x, axes));
    }
    let size = cx.unary(Unary::Abs, x)?;
    if p.is_infinite() {
        return along(cx, size, extreme(if p > 0.0 { Reduction::Max } else { Reduction::Min }));
    }
    let exponent = cx.number(size, p)?;
    let powers = elementwise::power(cx, size, exponent)?;
    let sum = along(cx, powers, |cx, x, axes| cx.reduced(Reduction::Sum, x, axes))?;
    let exponent = cx.number(sum, 1.0 / p)?;
    elementwise::power(cx, sum, exponent)
}

/// The variance or its root, and the mean. What the sum is divided by is less by the correction.
fn spread(cx: &mut Cx<'_, '_, '_>, root: bool) -> Lowered<[ValueId; 2]> {
    let x = cx.float_tensor("self")?;
    let axes = cx.axes("dim", x)?;
    let correction = match cx.has("unbiased") {
        true => f64::from(u8::from(cx.flag("unbiased", true)?)),
        false => cx.number_or("correction", 1.0)?,
    };
    let count: usize = axes.iter().map(|&axis| cx.dims(x)[axis]).product();
    let keeps = cx.flag("keepdim", false)?;
    let wide = over(cx, x, &axes, true, |cx, x, axes| cx.mean(x, axes))?;
    let centred = cx.difference(x, wide)?;
    let squares = cx.unary(Unary::Square, centred)?;
    let mut variance = over(cx, squares, &axes, keeps, |cx, x, axes| cx.mean(x, axes))?;
    if correction != 0.0 {
        variance = cx.times(variance, count as f64 / (count as f64 - correction).max(0.0))?;
    }
    let dims = cx.dims(variance);
    let mean = cx.reshaped(wide, &dims)?;
    let first = if root { cx.unary(Unary::Sqrt, variance)? } else { variance };
    Ok([first, mean])
}

fn cumulative(cx: &mut Cx<'_, '_, '_>, operator: &str) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let dims = cx.dims(x);
    let x = match cx.declared(0)? {
        Some(dtype) => cx.cast(x, dtype)?,
        None => x,
    };
    let axis = cx.dim("dim", 0, x)?;
    let x = if dims.is_empty() { cx.reshaped(x, &[1])? } else { x };
    let axis = cx.int_constant("axis", DType::I64, &[], &[axis as i64])?;
    let y = cx.call(operator, &[Some(x), Some(axis)], &[])?;
    cx.reshaped(y, &dims)
}

/// Most elements that are compared one after the other.
const MOST_STEPS: usize = 64;

/// The largest or smallest so far, and where it is: the last one of several.
fn running(cx: &mut Cx<'_, '_, '_>, function: Binary) -> Lowered<Vec<ValueId>> {
    let x = cx.tensor("self")?;
    malformed_if!(cx.dims(x).is_empty(), "{} has no axes", cx.shown(x));
    let axis = cx.dim("dim", 0, x)?;
    let count = cx.dims(x)[axis];
    if count == 0 || count > MOST_STEPS {
        let what = format!("its axis has {count} elements; at most {MOST_STEPS} are possible");
        return Err(Refusal::unsupported(what, "use shorter sequences"));
    }
    cx.written_out(5 * count)?;
    let first = cx.part(x, axis, 0, 1, 1)?;
    let dims = cx.dims(first);
    let zero = cx.int_constant("index", DType::I64, &[], &[0])?;
    let (mut value, mut index) = (first, cx.repeated(zero, &dims)?);
    let (mut values, mut indices) = (vec![value], vec![index]);
    let comparison = if function == Binary::Max { Comparison::GreaterEqual } else { Comparison::LessEqual };
    for at in 1..count {
        let next = cx.part(x, axis, at, 1, 1)?;
        let is_better = cx.compared(comparison, next, value)?;
        let here = cx.int_constant("index", DType::I64, &[], &[at as i64])?;
        value = cx.choice(is_better, next, value)?;
        index = cx.choice(is_better, here, index)?;
        values.push(value);
        indices.push(index);
    }
    Ok(vec![cx.joined(&values, axis)?, cx.joined(&indices, axis)?])
}
