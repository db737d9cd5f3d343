//! Reductions, and sums up to each element.

use super::{Cx, Lowered, One, Operators};
use crate::onnx::lower::Set;
use kiln_ir::{Clamp, DType, Op, Reduction, Rescale, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("All", One(|cx| of_truth(cx, Reduction::Min))),
    ("Any", One(|cx| of_truth(cx, Reduction::Max))),
    ("ArgMax", One(|cx| arg(cx, "ArgMax"))),
    ("ArgMin", One(|cx| arg(cx, "ArgMin"))),
    ("Cumprod", One(|cx| cumulative(cx, "CumProd"))),
    ("Cumsum", One(|cx| cumulative(cx, "CumSum"))),
    ("EuclideanNorm", One(euclidean)),
    ("L2Loss", One(l2_loss)),
    ("Max", One(|cx| reduced(cx, Reduction::Max))),
    ("Mean", One(mean)),
    ("Min", One(|cx| reduced(cx, Reduction::Min))),
    ("Prod", One(|cx| reduced(cx, Reduction::Product))),
    ("Sum", One(|cx| reduced(cx, Reduction::Sum))),
];

/// The axes in operand 1, in order.
fn axes(cx: &Cx<'_, '_, '_>, rank: usize) -> Lowered<Vec<usize>> {
    let list = cx.known_list(1, "axes")?;
    let mut axes = list.iter().map(|&axis| cx.axis(axis, rank)).collect::<Lowered<Vec<usize>>>()?;
    axes.sort_unstable();
    axes.dedup();
    Ok(axes)
}

/// A reduction of operand 0, whose axes stay only if that is asked for.
fn along(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    function: impl FnOnce(&mut Cx<'_, '_, '_>, &[usize]) -> Lowered<ValueId>,
) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    let axes = axes(cx, dims.len())?;
    let y = if axes.is_empty() { x } else { function(cx, &axes)? };
    if cx.flag("keep_dims")? {
        return Ok(y);
    }
    let left: Vec<usize> =
        (0..dims.len()).filter(|axis| !axes.contains(axis)).map(|axis| dims[axis]).collect();
    cx.reshaped(y, &left)
}

fn reduced(cx: &mut Cx<'_, '_, '_>, function: Reduction) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let dtype = cx.ty(x).dtype;
    let y = along(cx, x, |cx, axes| {
        let wide = cx.widened(x)?;
        cx.reduced(function, wide, axes)
    })?;
    cx.cast(y, dtype)
}

fn mean(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_x(0)?;
    let dims = cx.dims(x);
    let axes = axes(cx, dims.len())?;
    if axes.is_empty() {
        return Ok(x);
    }
    let keeps = cx.flag("keep_dims")?;
    let size = |axis: usize| match axes.contains(&axis) {
        true => keeps.then_some(1),
        false => Some(dims[axis]),
    };
    let left: Vec<usize> = (0..dims.len()).filter_map(size).collect();
    let op = Op::Mean { axes: axes.clone(), rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
    cx.add_like(op, &[x], &left)
}

fn of_truth(cx: &mut Cx<'_, '_, '_>, function: Reduction) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let y = along(cx, x, |cx, axes| {
        let wide = cx.cast(x, DType::I32)?;
        cx.reduced(function, wide, axes)
    })?;
    cx.cast(y, DType::Bool)
}

fn euclidean(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_x(0)?;
    along(cx, x, |cx, axes| {
        let squares = cx.unary(Unary::Square, x)?;
        let sum = cx.reduced(Reduction::Sum, squares, axes)?;
        cx.unary(Unary::Sqrt, sum)
    })
}

fn l2_loss(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_x(0)?;
    let all: Vec<usize> = (0..cx.dims(x).len()).collect();
    let squares = cx.unary(Unary::Square, x)?;
    let sum = cx.reduced(Reduction::Sum, squares, &all)?;
    let sum = cx.reshaped(sum, &[])?;
    cx.times(sum, 0.5)
}

fn arg(cx: &mut Cx<'_, '_, '_>, operator: &str) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let axis = match cx.count() {
        1 => 0,
        _ => cx.axis_in(1, cx.dims(x).len())?,
    };
    let x = cx.widened(x)?;
    let attributes = [("axis", Set::Int(axis as i64)), ("keepdims", Set::Int(0))];
    let y = cx.call(operator, &[Some(x)], &attributes)?;
    let dtype = cx.dtype_of("output_type")?.unwrap_or(DType::I64);
    cx.cast(y, dtype)
}

fn cumulative(cx: &mut Cx<'_, '_, '_>, operator: &str) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let axis = cx.axis_in(1, cx.dims(x).len())?;
    let axis = cx.int_constant("axis", DType::I64, &[], &[axis as i64])?;
    let attributes = [
        ("exclusive", Set::Int(i64::from(cx.flag("exclusive")?))),
        ("reverse", Set::Int(i64::from(cx.flag("reverse")?))),
    ];
    cx.call(operator, &[Some(x), Some(axis)], &attributes)
}
