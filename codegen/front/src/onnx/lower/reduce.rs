//! Reductions, and where the largest and smallest elements are.

use super::cx::NodeCx;
use super::elementwise::magnitude;
use super::{All, Lowered, One, Operators};
use kiln_ir::{DType, Op, Reduction, Type, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("ArgMax", One(|cx| arg(cx, true))),
    ("ArgMin", One(|cx| arg(cx, false))),
    ("ReduceL1", All(l1)),
    ("ReduceL2", All(l2)),
    ("ReduceLogSum", All(log_sum)),
    ("ReduceLogSumExp", All(log_sum_exp)),
    ("ReduceMax", All(|cx| reduced(cx, 18, |cx, x, axes| cx.reduced(Reduction::Max, x, axes)))),
    ("ReduceMean", All(|cx| reduced(cx, 18, |cx, x, axes| cx.mean(x, axes)))),
    ("ReduceMin", All(|cx| reduced(cx, 18, |cx, x, axes| cx.reduced(Reduction::Min, x, axes)))),
    ("ReduceProd", All(|cx| reduced(cx, 18, |cx, x, axes| cx.reduced(Reduction::Product, x, axes)))),
    ("ReduceSum", All(|cx| reduced(cx, 13, |cx, x, axes| cx.reduced(Reduction::Sum, x, axes)))),
    ("ReduceSumSquare", All(sum_square)),
];

/// ReduceL1: Σ |x|.
fn l1(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    reduced(cx, 18, |cx, x, axes| {
        let sizes = magnitude(cx, x)?;
        cx.reduced(Reduction::Sum, sizes, axes)
    })
}

/// ReduceL2: √Σ x².
fn l2(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    reduced(cx, 18, |cx, x, axes| {
        let dtype = cx.ty(x).dtype;
        let squares = cx.product(x, x)?;
        let sum = cx.reduced(Reduction::Sum, squares, axes)?;
        let sum = cx.cast(sum, DType::F32)?;
        let root = cx.unary(Unary::Sqrt, sum)?;
        cx.cast(root, dtype)
    })
}

/// ReduceSumSquare: Σ x².
fn sum_square(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    reduced(cx, 18, |cx, x, axes| {
        let squares = cx.product(x, x)?;
        cx.reduced(Reduction::Sum, squares, axes)
    })
}

/// ReduceLogSum: log Σ x.
fn log_sum(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    reduced(cx, 18, |cx, x, axes| {
        let sum = cx.reduced(Reduction::Sum, x, axes)?;
        cx.unary(Unary::Log, sum)
    })
}

/// ReduceLogSumExp: log Σ eˣ, with the largest x in front of the logarithm.
fn log_sum_exp(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    reduced(cx, 18, |cx, x, axes| {
        let largest = cx.reduced(Reduction::Max, x, axes)?;
        // ∞ − ∞ is no number.
        let largest = cx.clipped(largest, f32::MIN, f32::MAX)?;
        let less = cx.difference(x, largest)?;
        let powers = cx.unary(Unary::Exp, less)?;
        let sum = cx.reduced(Reduction::Sum, powers, axes)?;
        let log = cx.unary(Unary::Log, sum)?;
        cx.sum(largest, log)
    })
}

type Reduce<'m, 'a> = fn(&mut NodeCx<'_, 'm, 'a>, ValueId, &[usize]) -> Lowered<ValueId>;

/// A reduction whose axes are an operand from that operator set on, and an attribute before.
fn reduced<'m, 'a>(cx: &mut NodeCx<'_, 'm, 'a>, operand_since: i64, reduce: Reduce<'m, 'a>) -> Lowered {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    let given = match cx.opset() >= operand_since {
        true => cx.ints(1, "axes")?,
        false => cx.list("axes").map(<[i64]>::to_vec),
    };
    let given = given.unwrap_or_default();
    let mut axes = given.iter().map(|&axis| cx.axis(axis, dims.len())).collect::<Lowered<Vec<usize>>>()?;
    if axes.is_empty() && cx.int("noop_with_empty_axes", 0) == 0 {
        axes = (0..dims.len()).collect();
    }
    axes.sort_unstable();
    axes.dedup();
    // A reduction along no axis is that of single numbers.
    let (mut x, mut dims) = (x, dims);
    let single = axes.is_empty();
    if single {
        axes.push(dims.len());
        dims.push(1);
        x = cx.reshaped(x, &dims)?;
    }
    let (dtype, wide) = (cx.ty(x).dtype, cx.widened(x)?);
    let y = reduce(cx, wide, &axes)?;
    let y = cx.cast(y, dtype)?;
    let keep = cx.int("keepdims", 1) != 0 && !single;
    let kept = dims.iter().enumerate().filter(|(axis, _)| keep || !axes.contains(axis));
    let result: Vec<usize> = kept.map(|(axis, &dim)| if axes.contains(&axis) { 1 } else { dim }).collect();
    let y = cx.reshaped(y, &result)?;
    cx.bind(0, y)
}

fn arg(cx: &mut NodeCx<'_, '_, '_>, largest: bool) -> Lowered<ValueId> {
    let mut x = cx.input(0)?;
    let mut dims = cx.dims(x);
    let axis = cx.axis(cx.int("axis", 0), dims.len())?;
    malformed_if!(dims[axis] == 0, "{} has no largest element", cx.shown(x));
    // The last one of several equal elements is the first one from the end.
    let last = dims[axis] - 1;
    let from_end = cx.int("select_last_index", 0) != 0;
    if from_end {
        x = cx.part(x, axis, last, dims[axis], -1)?;
    }
    let op = Op::ArgReduce { axis, largest };
    dims.remove(axis);
    let mut index = cx.add(op, &[x], Type::plain(DType::I64, &dims))?;
    if from_end {
        let last = cx.number(index, last as f64)?;
        index = cx.difference(last, index)?;
    }
    if cx.int("keepdims", 1) != 0 {
        dims.insert(axis, 1);
    }
    cx.reshaped(index, &dims)
}
