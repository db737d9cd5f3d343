//! MIRROR_PAD and REVERSE_V2: slices that go backwards. REVERSE_SEQUENCE: elements gathered from the end of each sequence.

use super::cx::{axis, OpCx};
use super::{Lowered, Operators, Refusal};
use kiln_ir::{AddRescale, CompareRescale, Comparison, DType, Data, Op, Type, ValueId};

pub(super) const OPERATORS: Operators = &[(100, mirror_pad), (105, reverse), (112, reverse_sequence)];

/// REVERSE_V2 along the listed axes.
fn reverse(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    let (mut begin, mut step) = (vec![0; dims.len()], vec![1; dims.len()]);
    for index in cx.ints(1, "axes")? {
        let axis = axis(index, dims.len())?;
        (begin[axis], step[axis]) = (dims[axis].saturating_sub(1), -1);
    }
    cx.emit_moved(Op::Slice { begin, step }, &[x], 0, &dims)
}

/// REVERSE_SEQUENCE: of each sequence of the batch, the first so many elements backwards; their number may be computed at run time.
fn reverse_sequence(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (along, batch) = cx.options(87)?.reverse_sequence()?;
    let (x, lengths) = (cx.input(0)?, cx.input(1)?);
    let dims = cx.dims(x);
    let (along, batch) = (axis(along.into(), dims.len())?, axis(batch.into(), dims.len())?);
    let plain = matches!(cx.ty(lengths).dtype, DType::I32 | DType::I64) && cx.ty(lengths).quant.is_none();
    if along == batch || !plain || cx.dims(lengths) != [dims[batch]] {
        let what = format!(
            "axis {along} of {} cannot be reversed for each index of axis {batch}, with lengths {}",
            cx.shown(x),
            cx.shown(lengths)
        );
        return Err(Refusal::malformed(what));
    }
    let (count, steps) = (dims[batch], dims[along]);
    let indices = match cx.data(lengths) {
        Some(data) => {
            let given = data.to_ints(cx.ty(lengths).dtype);
            let inside = |&len: &i64| usize::try_from(len).is_ok_and(|len| len <= steps);
            if let Some(len) = given.iter().find(|len| !inside(len)) {
                return Err(malformed!("{len} elements are reversed, but there are only {steps}"));
            }
            cx.charge(4 * count * steps)?;
            let at = |len: i64, i: i64| if i < len { len - 1 - i } else { i };
            let each = given.iter().flat_map(|&len| (0..steps as i64).map(move |i| at(len, i) as i32));
            let data = Data::from_i32(&each.collect::<Vec<_>>());
            cx.constant("backwards", Type::plain(DType::I32, &[count, steps, 1]), data)
        }
        None => computed_indices(cx, lengths, count, steps)?,
    };
    // The batch comes first, so that each sequence has indices of its own.
    let perm: Vec<usize> = std::iter::once(batch).chain((0..dims.len()).filter(|&a| a != batch)).collect();
    let back: Vec<usize> = (0..dims.len()).map(|a| perm.iter().position(|&p| p == a).unwrap_or(a)).collect();
    let x = cx.as_result(x, 0)?;
    let ordered: Vec<usize> = perm.iter().map(|&axis| dims[axis]).collect();
    let ty = cx.ty(x).with_shape(&ordered);
    let moved = batch != 0;
    let x = if moved { cx.node(Op::Transpose { perm }, &[x], 0, ty.clone())? } else { x };
    let op = Op::Gather { batch: 1, axis: back[along], depth: 1 };
    if !moved {
        return cx.emit(op, &[x, indices], 0, &dims);
    }
    let reversed = cx.node(op, &[x, indices], 0, ty)?;
    cx.emit(Op::Transpose { perm: back }, &[reversed], 0, &dims)
}

/// `len − 1 − i` for i below each length, and i from there on: \[count, steps, 1\].
fn computed_indices(
    cx: &mut OpCx<'_, '_, '_>,
    lengths: ValueId,
    count: usize,
    steps: usize,
) -> Lowered<ValueId> {
    let (short, all) = ([1, steps, 1], [count, steps, 1]);
    let wide = Type::plain(DType::I32, &[count, 1, 1]);
    let lengths = match cx.ty(lengths).dtype {
        DType::I32 => lengths,
        _ => cx.node(Op::Cast {}, &[lengths], 0, Type::plain(DType::I32, &[count]))?,
    };
    let lengths = cx.node(Op::Reshape {}, &[lengths], 0, wide)?;
    cx.charge(8 * steps)?;
    let mut number = |name: &str, of: fn(i32) -> i32| {
        let data = Data::from_i32(&(0..steps as i32).map(of).collect::<Vec<_>>());
        cx.constant(name, Type::plain(DType::I32, &short), data)
    };
    let (forwards, next) = (number("forwards", |i| i), number("next", |i| i + 1));
    let less = Op::Compare { function: Comparison::Less, rescale: CompareRescale::Stored };
    let inside = cx.node(less, &[forwards, lengths], 0, Type::plain(DType::Bool, &all))?;
    let clamp = DType::I32.whole_range();
    let sub = Op::Sub { rescale: AddRescale::Real, clamp };
    let backwards = cx.node(sub, &[lengths, next], 0, Type::plain(DType::I32, &all))?;
    cx.node(Op::Select {}, &[inside, backwards, forwards], 0, Type::plain(DType::I32, &all))
}

/// MIRROR_PAD: axis by axis, what lies at an edge is joined to it backwards, with the edge itself (symmetric) or without it (reflect).
fn mirror_pad(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let edge = match cx.options(77)?.mirror_mode()? {
        0 => 1,
        1 => 0,
        mode => return Err(malformed!("its mode is {mode}")),
    };
    let x = cx.input(0)?;
    let amounts = cx.ints(1, "padding")?;
    let shape = cx.dims(x);
    let misfit = || malformed!("padding {amounts:?} does not fit {shape:?}");
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
    malformed_if!(first >= dims[axis], "{} is too small to be mirrored", cx.shown(x));
    (begin[axis], step[axis], dims[axis]) = (first, -1, count);
    let ty = cx.ty(x).with_shape(&dims);
    cx.node(Op::Slice { begin, step }, &[x], 0, ty)
}
