//! MIRROR_PAD and REVERSE_V2: slices that go backwards.

use super::cx::{axis, describe, OpCx};
use super::{Lowered, Refusal};
use crate::ir::{Op, ValueId};

/// REVERSE_V2 along the listed axes.
pub(super) fn reverse(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    let (mut begin, mut step) = (vec![0; dims.len()], vec![1; dims.len()]);
    for index in cx.ints(1, "axes")? {
        let axis = axis(index, dims.len())?;
        (begin[axis], step[axis]) = (dims[axis].saturating_sub(1), -1);
    }
    cx.emit_moved(Op::Slice { begin, step }, &[x], 0, &dims)
}

/// MIRROR_PAD: axis by axis, what lies at an edge is joined to it backwards, with the edge itself (symmetric) or without it (reflect).
pub(super) fn mirror_pad(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let edge = match cx.options(77)?.mirror_mode()? {
        0 => 1,
        1 => 0,
        mode => return Err(Refusal::malformed(format!("its mode is {mode}"))),
    };
    let x = cx.input(0)?;
    let amounts = cx.ints(1, "padding")?;
    let shape = cx.dims(x);
    let misfit = || Refusal::malformed(format!("padding {amounts:?} does not fit {shape:?}"));
    if amounts.len() != 2 * shape.len() {
        return Err(misfit());
    }
    let mut padded = x;
    for (axis, pair) in amounts.chunks_exact(2).enumerate() {
        let most = shape[axis].saturating_sub(edge);
        let amount = |a: i64| usize::try_from(a).ok().filter(|&a| a <= most).ok_or_else(misfit);
        let (before, after) = (amount(pair[0])?, amount(pair[1])?);
        let mut parts = Vec::new();
        if before > 0 {
            parts.push(backwards(cx, padded, axis, before - 1 + edge, before)?);
        }
        parts.push(padded);
        if after > 0 {
            parts.push(backwards(cx, padded, axis, shape[axis] - 1 - edge, after)?);
        }
        if parts.len() > 1 {
            let mut dims = cx.dims(padded);
            dims[axis] += before + after;
            let ty = cx.ty(x).with_shape(&dims);
            padded = cx.node(Op::Concat { axis }, &parts, 0, ty)?;
        }
    }
    let declared = cx.declared(0)?;
    cx.same_quant(cx.ty(x), &declared)?;
    let dims = cx.dims(padded);
    cx.emit_reshaped(padded, 0, &dims)
}

/// `count` indices of an axis, from `first` on backwards.
fn backwards(
    cx: &mut OpCx<'_, '_, '_>,
    x: ValueId,
    axis: usize,
    first: usize,
    count: usize,
) -> Lowered<ValueId> {
    let mut dims = cx.dims(x);
    let (mut begin, mut step) = (vec![0; dims.len()], vec![1; dims.len()]);
    if first >= dims[axis] {
        return Err(Refusal::malformed(format!("{} is too small to be mirrored", describe(cx.ty(x)))));
    }
    (begin[axis], step[axis], dims[axis]) = (first, -1, count);
    let ty = cx.ty(x).with_shape(&dims);
    cx.node(Op::Slice { begin, step }, &[x], 0, ty)
}
