//! What repeats, joins, turns and interleaves elements.

use super::cx::Cx;
use super::{view, All, Lowered, One, Operators, Refusal};
use crate::onnx::lower::Set;
use kiln_ir::{Comparison, DType, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("as_strided", One(as_strided)),
    ("broadcast_tensors", All(broadcast)),
    ("broadcast_to", One(expand)),
    ("cat", One(cat)),
    ("channel_shuffle", One(channel_shuffle)),
    ("column_stack", One(|cx| stacked(cx, 2, 1))),
    ("concat", One(cat)),
    ("diff", One(diff)),
    ("dstack", One(|cx| stacked(cx, 3, 2))),
    ("expand", One(expand)),
    ("expand_as", One(expand_as)),
    ("flip", One(flip)),
    ("fliplr", One(|cx| mirrored(cx, 1))),
    ("flipud", One(|cx| mirrored(cx, 0))),
    ("hstack", One(|cx| stacked(cx, 1, 1))),
    ("pixel_shuffle", One(pixel_shuffle)),
    ("pixel_unshuffle", One(pixel_unshuffle)),
    ("repeat", One(repeat)),
    ("repeat_interleave", One(repeat_interleave)),
    ("roll", One(roll)),
    ("rot90", One(rot90)),
    ("stack", One(stack)),
    ("tile", One(repeat)),
    ("unfold", One(unfold)),
    ("vstack", One(|cx| stacked(cx, 2, 0))),
];

fn cat(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let all = joinable(cx)?;
    let Some(&first) = all.first() else { return Err(malformed!("it has no operands")) };
    let axis = cx.dim("dim", 0, first)?;
    joined(cx, &all, axis)
}

fn joined(cx: &mut Cx<'_, '_, '_>, all: &[ValueId], axis: usize) -> Lowered<ValueId> {
    let all: Vec<Option<ValueId>> = all.iter().copied().map(Some).collect();
    cx.call("Concat", &all, &[("axis", Set::Int(axis as i64))])
}

/// Tensors in the type of the result. Those without elements are left out.
fn joinable(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let dtype = cx.declared(0)?;
    let all = cx.tensors("tensors")?;
    let all: Vec<ValueId> = all.into_iter().filter(|&x| cx.dims(x) != [0]).collect();
    all.into_iter().map(|x| dtype.map_or(Ok(x), |dtype| cx.cast(x, dtype))).collect()
}

fn stack(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let all = joinable(cx)?;
    let Some(&first) = all.first() else { return Err(malformed!("it has no operands")) };
    let mut dims = cx.dims(first);
    let axis = cx.axis(cx.int("dim", 0)?, dims.len() + 1)?;
    malformed_if!(all.iter().any(|&x| cx.dims(x) != dims), "its operands have several shapes");
    dims.insert(axis, 1);
    let all = all.into_iter().map(|x| cx.reshaped(x, &dims)).collect::<Lowered<Vec<ValueId>>>()?;
    joined(cx, &all, axis)
}

/// Tensors of at least so many axes, side by side along one; those of one axis along that.
fn stacked(cx: &mut Cx<'_, '_, '_>, rank: usize, axis: usize) -> Lowered<ValueId> {
    let mut all = Vec::new();
    for x in joinable(cx)? {
        let dims = cx.dims(x);
        let dims = match (cx.target, dims.len()) {
            ("column_stack", 0 | 1) => vec![dims.iter().product(), 1],
            _ => view::with_axes(&dims, rank),
        };
        all.push(cx.reshaped(x, &dims)?);
    }
    let rank = all.first().map_or(0, |&x| cx.dims(x).len());
    joined(cx, &all, axis.min(rank.saturating_sub(1)))
}

fn broadcast(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let all = cx.tensors("tensors")?;
    let mut dims = Vec::new();
    for &x in &all {
        let common = kiln_ir::Shape::common(&dims, &cx.dims(x));
        dims = common.ok_or_else(|| malformed!("its operands cannot be broadcast"))?;
    }
    all.into_iter().map(|x| view::spread(cx, x, &dims)).collect()
}

/// Sizes of −1 are those of the tensor.
fn expand(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let given = cx.integers("size")?.unwrap_or_default();
    let own = cx.dims(x);
    let wrong = || malformed!("{} has no shape {given:?}", cx.shown(x));
    let front = given.len().checked_sub(own.len()).ok_or_else(wrong)?;
    let size = |(axis, &size): (usize, &i64)| match size {
        -1 => axis.checked_sub(front).and_then(|axis| own.get(axis).copied()),
        size => usize::try_from(size).ok(),
    };
    let dims = given.iter().enumerate().map(size).collect::<Option<Vec<usize>>>().ok_or_else(wrong)?;
    view::spread(cx, x, &dims)
}

fn expand_as(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, other) = (cx.tensor("self")?, cx.tensor("other")?);
    let dims = cx.dims(other);
    view::spread(cx, x, &dims)
}

fn flip(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let axes = cx.axes("dims", x)?;
    flipped(cx, x, &axes)
}

fn flipped(cx: &mut Cx<'_, '_, '_>, mut x: ValueId, axes: &[usize]) -> Lowered<ValueId> {
    for &axis in axes {
        let size = cx.dims(x)[axis];
        if size > 1 {
            x = cx.part(x, axis, size - 1, size, -1)?;
        }
    }
    Ok(x)
}

fn mirrored(cx: &mut Cx<'_, '_, '_>, axis: usize) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    malformed_if!(axis >= cx.dims(x).len(), "{} has no axis {axis}", cx.shown(x));
    flipped(cx, x, &[axis])
}

/// Elements move along axes, and those at the end come to the front. Without axes, along all elements.
fn roll(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let (dims, shifts) = (cx.dims(x), cx.integers("shifts")?.unwrap_or_default());
    let axes = cx.integers("dims")?.unwrap_or_default();
    let all = cx.ty(x).shape.numel();
    let mut y = if axes.is_empty() { cx.reshaped(x, &[all])? } else { x };
    let axes = if axes.is_empty() { vec![0] } else { axes };
    malformed_if!(axes.len() != shifts.len(), "it has {} axes and {} shifts", axes.len(), shifts.len());
    for (&axis, shift) in axes.iter().zip(shifts) {
        let axis = cx.axis(axis, cx.dims(y).len())?;
        let size = cx.dims(y)[axis];
        let shift = shift.rem_euclid(size.max(1) as i64) as usize;
        if shift > 0 {
            let (back, front) =
                (cx.part(y, axis, size - shift, shift, 1)?, cx.part(y, axis, 0, size - shift, 1)?);
            y = cx.joined(&[back, front], axis)?;
        }
    }
    cx.reshaped(y, &dims)
}

fn rot90(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let rank = cx.dims(x).len();
    let given = cx.integers("dims")?.unwrap_or_else(|| vec![0, 1]);
    let &[a, b] = &*given else { return Err(malformed!("its axes are {given:?}")) };
    let (a, b) = (cx.axis(a, rank)?, cx.axis(b, rank)?);
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(a, b);
    match cx.int("k", 1)?.rem_euclid(4) {
        0 => Ok(x),
        1 => {
            let y = flipped(cx, x, &[b])?;
            cx.transposed(y, &perm)
        }
        2 => flipped(cx, x, &[a, b]),
        _ => {
            let y = cx.transposed(x, &perm)?;
            flipped(cx, y, &[b])
        }
    }
}

fn repeat(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let name = if cx.has("repeats") { "repeats" } else { "dims" };
    let mut counts = cx.integers(name)?.unwrap_or_default();
    let mut dims = cx.dims(x);
    while counts.len() < dims.len() {
        counts.insert(0, 1);
    }
    while dims.len() < counts.len() {
        dims.insert(0, 1);
    }
    let x = cx.reshaped(x, &dims)?;
    let counts = cx.int_constant("repeats", DType::I64, &[counts.len()], &counts)?;
    cx.call("Tile", &[Some(x), Some(counts)], &[])
}

fn repeat_interleave(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let counts: Vec<i64> = match cx.overload {
        "self_Tensor" => {
            let repeats = cx.tensor("repeats")?;
            let dtype = cx.ty(repeats).dtype;
            let data = cx.data(repeats).filter(|_| dtype != DType::F32);
            let unknown =
                || Refusal::unsupported("its repeats are computed at run time", "give them as constants");
            data.map(|data| data.to_ints(dtype)).ok_or_else(unknown)?
        }
        _ => cx.integers("repeats")?.unwrap_or_default(),
    };
    let all = cx.ty(x).shape.numel();
    let (x, axis) = match cx.has("dim") {
        true => (x, cx.dim("dim", 0, x)?),
        false => (cx.reshaped(x, &[all])?, 0),
    };
    let size = cx.dims(x).get(axis).copied().unwrap_or(1);
    let count = |k: usize| if counts.len() == 1 { counts[0] } else { counts.get(k).copied().unwrap_or(0) };
    let total = (0..size).map(|k| usize::try_from(count(k)).unwrap_or(0)).fold(0, usize::saturating_add);
    cx.importer.budget.charge(total.saturating_mul(16))?;
    let places: Vec<usize> =
        (0..size).flat_map(|k| std::iter::repeat_n(k, count(k).max(0) as usize)).collect();
    malformed_if!(places.is_empty(), "its repeats are {counts:?}");
    cx.picked(x, axis, &places)
}

/// Blocks of channels become blocks of pixels.
fn pixel_shuffle(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let attributes = [("blocksize", Set::Int(cx.int("upscale_factor", 1)?)), ("mode", Set::Text("CRD"))];
    let dims = cx.dims(x);
    match dims.len() {
        3 => {
            let image = cx.reshaped(x, &[&[1], &dims[..]].concat())?;
            let y = cx.call("DepthToSpace", &[Some(image)], &attributes)?;
            let dims = cx.dims(y);
            cx.reshaped(y, &dims[1..])
        }
        _ => cx.call("DepthToSpace", &[Some(x)], &attributes),
    }
}

fn pixel_unshuffle(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, r) = (cx.tensor("self")?, cx.size("downscale_factor", 1)?);
    let &[n, c, h, w] = &*cx.dims(x) else {
        return Err(Refusal::unsupported(format!("{} is no image", cx.shown(x)), "use a batch of one"));
    };
    malformed_if!(r == 0 || h % r != 0 || w % r != 0, "{} has no blocks of {r}", cx.shown(x));
    let blocks = cx.reshaped(x, &[n, c, h / r, r, w / r, r])?;
    let turned = cx.transposed(blocks, &[0, 1, 3, 5, 2, 4])?;
    cx.reshaped(turned, &[n, c * r * r, h / r, w / r])
}

fn channel_shuffle(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, groups) = (cx.tensor("self")?, cx.size("groups", 1)?);
    let dims = cx.dims(x);
    let (&[n, c, ..], true) = (&*dims, groups > 0) else { return Err(malformed!("it has no channels")) };
    malformed_if!(c % groups != 0, "{c} channels do not divide into {groups} groups");
    let pixels = dims[2..].iter().product();
    let split = cx.reshaped(x, &[n, groups, c / groups, pixels])?;
    let turned = cx.transposed(split, &[0, 2, 1, 3])?;
    cx.reshaped(turned, &dims)
}

/// Each element less the one before, so often as is asked for.
fn diff(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let axis = cx.dim("dim", -1, x)?;
    let mut all = Vec::new();
    for name in ["prepend", "self", "append"] {
        all.extend(cx.optional_tensor(name)?);
    }
    let mut y = cx.joined(&all, axis)?;
    for _ in 0..cx.size("n", 1)? {
        let size = cx.dims(y).get(axis).copied().unwrap_or(0);
        malformed_if!(size < 2, "{} has no differences", cx.shown(y));
        let (front, back) = (cx.part(y, axis, 0, size - 1, 1)?, cx.part(y, axis, 1, size - 1, 1)?);
        y = match cx.ty(y).dtype {
            DType::Bool => cx.compared(Comparison::NotEqual, back, front)?,
            _ => cx.difference(back, front)?,
        };
    }
    Ok(y)
}

/// Windows along an axis, of which each is a new last axis.
fn unfold(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let axis = cx.dim("dimension", 0, x)?;
    let (size, step) = (cx.size("size", 1)?, cx.size("step", 1)?);
    let dims = cx.dims(x);
    let all = dims.get(axis).copied().unwrap_or(1);
    malformed_if!(size == 0 || step == 0 || size > all, "windows of {size} do not fit {}", cx.shown(x));
    let count = (all - size) / step + 1;
    cx.importer.budget.charge(16 * count * size)?;
    let places: Vec<usize> = (0..count).flat_map(|k| (0..size).map(move |at| k * step + at)).collect();
    let all = cx.picked(x, axis, &places)?;
    let windows = cx.reshaped(all, &[&dims[..axis], &[count, size], &dims[axis + 1..]].concat())?;
    let perm: Vec<usize> = (0..=axis).chain(axis + 2..=dims.len()).chain([axis + 1]).collect();
    cx.transposed(windows, &perm)
}

/// Elements so far apart, of a tensor that lies densely.
fn as_strided(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let numbers = |name: &str| -> Lowered<Vec<usize>> {
        let given = cx.integers(name)?.unwrap_or_default();
        let sizes = given.iter().map(|&size| u32::try_from(size).ok().map(|size| size as usize));
        sizes.collect::<Option<_>>().ok_or_else(|| malformed!("its {name} is {given:?}"))
    };
    let (sizes, strides, first) = (numbers("size")?, numbers("stride")?, cx.size("storage_offset", 0)?);
    let all = cx.ty(x).shape.numel();
    malformed_if!(sizes.len() != strides.len(), "it has {} strides", strides.len());
    crate::onnx::lower::check_size(cx.ty(x).dtype, &sizes)?;
    cx.importer.budget.charge(32 * sizes.iter().product::<usize>())?;
    let mut places = vec![first];
    for (&size, &stride) in sizes.iter().zip(&strides) {
        places = places
            .iter()
            .flat_map(|&at| (0..size).map(move |k| at.saturating_add(k.saturating_mul(stride))))
            .collect();
    }
    malformed_if!(
        places.iter().any(|&at| at >= all) || places.is_empty(),
        "it reaches beyond {}",
        cx.shown(x)
    );
    let flat = cx.reshaped(x, &[all])?;
    let y = cx.picked(flat, 0, &places)?;
    cx.reshaped(y, &sizes)
}
