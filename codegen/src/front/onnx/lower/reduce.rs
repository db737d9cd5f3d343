//! Reductions, and Softmax.

use super::cx::NodeCx;
use super::{describe, Lowered, Refusal};
use crate::ir::{Clamp, DType, Op, Real, Reduction, Rescale, SoftmaxScale, Type};

/// ReduceMean.
pub(super) fn mean(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    reduced(cx, 18, |axes| Op::Mean { axes, rescale: Rescale::Real, clamp: Clamp::NO_FLOAT })
}

/// ReduceSum.
pub(super) fn sum(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    reduced(cx, 13, |axes| Op::Reduce { function: Reduction::Sum, axes, rescale: Rescale::Real })
}

/// ReduceMax.
pub(super) fn max(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    reduced(cx, 18, |axes| Op::Reduce { function: Reduction::Max, axes, rescale: Rescale::Real })
}

/// ReduceMin.
pub(super) fn min(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    reduced(cx, 18, |axes| Op::Reduce { function: Reduction::Min, axes, rescale: Rescale::Real })
}

/// A reduction whose axes are an operand from that operator set on, and an attribute before.
fn reduced(cx: &mut NodeCx<'_, '_, '_>, operand_since: i64, op: impl Fn(Vec<usize>) -> Op) -> Lowered {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let dims = cx.dims(x);
    let given = match cx.opset() >= operand_since {
        true => cx.ints(1, "axes")?,
        false => cx.list("axes").map(<[i64]>::to_vec),
    };
    let given = given.unwrap_or_default();
    if given.is_empty() && cx.int("noop_with_empty_axes", 0) != 0 {
        return cx.bind(0, x);
    }
    let mut axes = given.iter().map(|&axis| cx.axis(axis, dims.len())).collect::<Lowered<Vec<usize>>>()?;
    if axes.is_empty() {
        axes = (0..dims.len()).collect();
    }
    axes.sort_unstable();
    axes.dedup();
    let keep = cx.int("keepdims", 1) != 0;
    let kept = dims.iter().enumerate().filter(|(axis, _)| keep || !axes.contains(axis));
    let result: Vec<usize> = kept.map(|(axis, &dim)| if axes.contains(&axis) { 1 } else { dim }).collect();
    if axes.is_empty() {
        return cx.bind(0, x);
    }
    cx.emit(op(axes), &[x], &result)
}

/// ArgMax.
pub(super) fn arg_max(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    arg(cx, true)
}

/// ArgMin.
pub(super) fn arg_min(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    arg(cx, false)
}

fn arg(cx: &mut NodeCx<'_, '_, '_>, largest: bool) -> Lowered {
    let x = cx.input(0)?;
    let mut dims = cx.dims(x);
    if cx.int("select_last_index", 0) != 0 {
        let help = "let it name the first one";
        return Err(Refusal::unsupported("the last one of several equal elements cannot be named", help));
    }
    let axis = cx.axis(cx.int("axis", 0), dims.len())?;
    let mut kept = dims.clone();
    kept.remove(axis);
    let value = cx.add(Op::ArgReduce { axis, largest }, &[x], Type::plain(DType::I64, &kept))?;
    dims[axis] = 1;
    let value = if cx.int("keepdims", 1) != 0 { cx.reshaped(value, &dims)? } else { value };
    cx.bind(0, value)
}

/// Softmax: along an axis since operator set 13, over all axes from one on before.
pub(super) fn softmax(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let dims = cx.dims(x);
    if dims.is_empty() {
        return Err(Refusal::malformed(format!("{} has no axis", describe(cx.ty(x)))));
    }
    let op = Op::Softmax { beta: Real(1.0), scale: SoftmaxScale::Real };
    if cx.opset() < 13 {
        let axis = cx.axis_or_end(cx.int("axis", 1), dims.len())?;
        let flat = [dims[..axis].iter().product(), dims[axis..].iter().product()];
        let rows = cx.reshaped(x, &flat)?;
        let y = cx.add_like(op, &[rows], &flat)?;
        let y = cx.reshaped(y, &dims)?;
        return cx.bind(0, y);
    }
    let axis = cx.axis(cx.int("axis", -1), dims.len())?;
    // The axis and the last one change places, and again.
    let mut perm: Vec<usize> = (0..dims.len()).collect();
    perm.swap(axis, dims.len() - 1);
    let turned = cx.transposed(x, &perm)?;
    let all = cx.dims(turned);
    let y = cx.add_like(op, &[turned], &all)?;
    let y = cx.transposed(y, &perm)?;
    cx.bind(0, y)
}
