//! Tensors side by side, in parts, repeated, and in another order.

use super::{All, Cx, Lowered, One, Operators, Refusal};
use kiln_ir::{DType, Op, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("Concat", One(|cx| concat(cx, true))),
    ("ConcatV2", One(|cx| concat(cx, false))),
    ("ConjugateTranspose", One(transpose)),
    ("InvertPermutation", One(invert)),
    ("Pack", One(pack)),
    ("ParallelConcat", One(parallel)),
    ("Reverse", One(reverse)),
    ("ReverseV2", One(reverse_v2)),
    ("Roll", One(roll)),
    ("Split", All(split)),
    ("SplitV", All(split_v)),
    ("Tile", One(tile)),
    ("Transpose", One(transpose)),
    ("Unpack", All(unpack)),
];

/// Tensors side by side; those without elements are none.
pub(super) fn side_by_side(cx: &mut Cx<'_, '_, '_>, all: &[ValueId], axis: usize) -> Lowered<ValueId> {
    let some: Vec<ValueId> = all.iter().copied().filter(|&x| cx.ty(x).shape.numel() > 0).collect();
    match (some.is_empty(), all.first()) {
        (true, Some(&first)) => {
            let mut dims = cx.dims(first);
            if let Some(dim) = dims.get_mut(axis) {
                *dim = all.iter().filter_map(|&x| cx.dims(x).get(axis).copied()).sum();
            }
            let dtype = cx.ty(first).dtype;
            Ok(cx.empty(dtype, &dims))
        }
        _ => cx.joined(&some, axis),
    }
}

/// The axis is the first operand of the old form, and the last one of the newer.
fn concat(cx: &mut Cx<'_, '_, '_>, is_old: bool) -> Lowered<ValueId> {
    let last = cx.count().checked_sub(1).ok_or_else(|| malformed!("it has no operands"))?;
    let (all, axis) = match is_old {
        true => (cx.xs(1..last + 1)?, 0),
        false => (cx.xs(0..last)?, last),
    };
    let rank = all.first().map_or(0, |&first| cx.dims(first).len());
    malformed_if!(
        all.iter().any(|&x| cx.dims(x).len() != rank),
        "its operands have different numbers of axes"
    );
    let axis = cx.axis_in(axis, rank)?;
    side_by_side(cx, &all, axis)
}

fn pack(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let all = cx.xs(0..cx.count())?;
    let dims = all.first().map(|&first| cx.dims(first)).ok_or_else(|| malformed!("it has no operands"))?;
    let axis = cx.axis(cx.int_of("axis", 0)?, dims.len() + 1)?;
    let mut apart = dims.clone();
    apart.insert(axis, 1);
    let mut rows = Vec::new();
    for x in all {
        malformed_if!(cx.dims(x) != dims, "it packs {} with {dims:?}", cx.shown(x));
        rows.push(cx.reshaped(x, &apart)?);
    }
    side_by_side(cx, &rows, axis)
}

fn parallel(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let all = cx.xs(0..cx.count())?;
    side_by_side(cx, &all, 0)
}

fn unpack(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let x = cx.x(0)?;
    let mut dims = cx.dims(x);
    let axis = cx.axis(cx.int_of("axis", 0)?, dims.len())?;
    let count = dims.remove(axis);
    (0..count)
        .map(|k| {
            let part = cx.part(x, axis, k, 1, 1)?;
            cx.reshaped(part, &dims)
        })
        .collect()
}

fn parts(cx: &mut Cx<'_, '_, '_>, x: ValueId, axis: usize, sizes: &[usize]) -> Lowered<Vec<ValueId>> {
    let mut first = 0;
    let mut parts = Vec::new();
    for &size in sizes {
        parts.push(cx.part(x, axis, first, size, 1)?);
        first += size;
    }
    Ok(parts)
}

fn split(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let x = cx.x(1)?;
    let dims = cx.dims(x);
    let axis = cx.axis_in(0, dims.len())?;
    let count = usize::try_from(cx.int_of("num_split", 1)?).unwrap_or(0);
    malformed_if!(
        count == 0 || dims[axis] % count != 0,
        "{} cannot be split into {count} parts",
        cx.shown(x)
    );
    cx.importer.budget.charge(16 * count)?;
    parts(cx, x, axis, &vec![dims[axis] / count; count])
}

fn split_v(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let x = cx.x(0)?;
    let dims = cx.dims(x);
    let axis = cx.axis_in(2, dims.len())?;
    let mut list = cx.known_list(1, "sizes")?;
    let known: i64 = list.iter().filter(|&&size| size >= 0).fold(0, |sum, &size| sum.saturating_add(size));
    if let Some(open) = list.iter_mut().find(|size| **size == -1) {
        *open = dims[axis] as i64 - known;
    }
    let sizes = super::cx::sizes(&list, "sizes")?;
    malformed_if!(
        sizes.iter().sum::<usize>() != dims[axis],
        "{} cannot be split into {sizes:?}",
        cx.shown(x)
    );
    parts(cx, x, axis, &sizes)
}

fn tile(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let times = cx.known_sizes(1, "multiples")?;
    let dims = cx.dims(x);
    malformed_if!(times.len() != dims.len(), "{} cannot be repeated {times:?} times", cx.shown(x));
    if times.contains(&0) {
        let dims: Vec<usize> = dims.iter().zip(&times).map(|(dim, times)| dim * times).collect();
        let dtype = cx.ty(x).dtype;
        return Ok(cx.empty(dtype, &dims));
    }
    let list: Vec<i64> = times.iter().map(|&times| times as i64).collect();
    let times = cx.int_constant("multiples", DType::I64, &[list.len()], &list)?;
    cx.onnx("Tile", &[x, times])
}

fn transpose(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let perm = cx.known_list(1, "permutation")?;
    let rank = cx.dims(x).len();
    let perm = perm.iter().map(|&axis| cx.axis(axis, rank)).collect::<Lowered<Vec<usize>>>()?;
    let mut seen = perm.clone();
    seen.sort_unstable();
    malformed_if!(!seen.into_iter().eq(0..rank), "its permutation is {perm:?} for {rank} axes");
    cx.transposed(x, &perm)
}

fn invert(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let perm = cx.known_sizes(0, "permutation")?;
    let mut list = vec![0; perm.len()];
    for (k, &to) in perm.iter().enumerate() {
        *list.get_mut(to).ok_or_else(|| malformed!("its permutation is {perm:?}"))? = k as i64;
    }
    let dtype = cx.ty(cx.x(0)?).dtype;
    cx.int_constant("permutation", dtype, &[list.len()], &list)
}

/// The elements along these axes backwards.
fn backwards(cx: &mut Cx<'_, '_, '_>, x: ValueId, axes: &[usize]) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    let (mut begin, mut step) = (vec![0; dims.len()], vec![1; dims.len()]);
    for &axis in axes.iter().filter(|&&axis| dims[axis] > 1) {
        (begin[axis], step[axis]) = (dims[axis] - 1, -1);
    }
    match step.contains(&-1) {
        true => cx.add_like(Op::Slice { begin, step }, &[x], &dims),
        false => Ok(x),
    }
}

fn reverse_v2(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let rank = cx.dims(x).len();
    let axes = cx.known_list(1, "axes")?;
    let axes = axes.iter().map(|&axis| cx.axis(axis, rank)).collect::<Lowered<Vec<usize>>>()?;
    backwards(cx, x, &axes)
}

/// The old form has a truth value for each axis.
fn reverse(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let turned = cx.known_list(1, "axes")?;
    malformed_if!(turned.len() != cx.dims(x).len(), "its axes do not fit {}", cx.shown(x));
    let axes: Vec<usize> = (0..turned.len()).filter(|&axis| turned[axis] != 0).collect();
    backwards(cx, x, &axes)
}

/// Elements are moved along axes, and those that leave come in again.
fn roll(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let mut x = cx.x(0)?;
    let (shifts, axes) = (cx.known_list(1, "shift")?, cx.known_list(2, "axes")?);
    if shifts.len() != axes.len() {
        return Err(Refusal::malformed("it has another number of shifts than of axes"));
    }
    for (&shift, &axis) in shifts.iter().zip(&axes) {
        let dims = cx.dims(x);
        let axis = cx.axis(axis, dims.len())?;
        let size = dims[axis];
        let shift = shift.rem_euclid(size.max(1) as i64) as usize;
        if shift > 0 {
            let (end, begin) =
                (cx.part(x, axis, size - shift, shift, 1)?, cx.part(x, axis, 0, size - shift, 1)?);
            x = cx.joined(&[end, begin], axis)?;
        }
    }
    Ok(x)
}
