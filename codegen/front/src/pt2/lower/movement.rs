//! What moves elements: parts of tensors, and parts put together.

use super::cx::Cx;
use super::{view, All, Lowered, One, Operators, Refusal};
use crate::onnx::lower::Set;
use kiln_ir::{Comparison, DType, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("adjoint", One(permuted)),
    ("as_strided", One(as_strided)),
    ("broadcast_tensors", All(broadcast)),
    ("broadcast_to", One(expand)),
    ("cat", One(cat)),
    ("channel_shuffle", One(channel_shuffle)),
    ("chunk", All(parts)),
    ("column_stack", One(|cx| stacked(cx, 2, 1))),
    ("concat", One(cat)),
    ("diagonal", One(diagonal)),
    ("diff", One(diff)),
    ("dsplit", All(parts)),
    ("dstack", One(|cx| stacked(cx, 3, 2))),
    ("expand", One(expand)),
    ("expand_as", One(expand_as)),
    ("flip", One(flip)),
    ("fliplr", One(|cx| mirrored(cx, 1))),
    ("flipud", One(|cx| mirrored(cx, 0))),
    ("hsplit", All(parts)),
    ("hstack", One(|cx| stacked(cx, 1, 1))),
    ("mT", One(permuted)),
    ("matrix_H", One(permuted)),
    ("movedim", One(permuted)),
    ("moveaxis", One(permuted)),
    ("narrow", One(one_part)),
    ("numpy_T", One(permuted)),
    ("permute", One(permuted)),
    ("pixel_shuffle", One(pixel_shuffle)),
    ("pixel_unshuffle", One(pixel_unshuffle)),
    ("repeat", One(repeat)),
    ("repeat_interleave", One(repeat_interleave)),
    ("roll", One(roll)),
    ("rot90", One(rot90)),
    ("select", One(select)),
    ("slice", One(one_part)),
    ("split", All(parts)),
    ("split_with_sizes", All(parts)),
    ("stack", One(stack)),
    ("swapaxes", One(permuted)),
    ("swapdims", One(permuted)),
    ("t", One(permuted)),
    ("tensor_split", All(parts)),
    ("tile", One(repeat)),
    ("transpose", One(permuted)),
    ("unbind", All(parts)),
    ("unfold", One(unfold)),
    ("vsplit", All(parts)),
    ("vstack", One(|cx| stacked(cx, 2, 0))),
];

/// Operators whose results are views of parts, or with axes in another order.
pub(super) const PARTS: &[&str] = &[
    "chunk",
    "moveaxis",
    "movedim",
    "narrow",
    "permute",
    "select",
    "slice",
    "split",
    "split_with_sizes",
    "swapaxes",
    "swapdims",
    "t",
    "transpose",
    "unbind",
];

/// The whole of which a part, result number `result` of the operator, was written.
pub(super) fn written(
    cx: &mut Cx<'_, '_, '_>,
    whole: ValueId,
    part: ValueId,
    result: usize,
) -> Lowered<ValueId> {
    let dims = cx.dims(whole);
    match cx.target {
        "select" => {
            let axis = cx.dim("dim", 0, whole)?;
            let mut row = dims.clone();
            row[axis] = 1;
            let part = cx.reshaped(part, &row)?;
            match cx.integer("index") {
                Ok(_) => {
                    let at = index(cx, axis, &dims)?;
                    replaced(cx, whole, part, axis, at)
                }
                Err(_) => {
                    let index = cx.operand("index")?;
                    let is_it = places(cx, index, axis, &dims)?;
                    cx.choice(is_it, part, whole)
                }
            }
        }
        "narrow" | "slice" => {
            let Range { axis, first, step, .. } = range(cx, whole)?;
            if step != 1 {
                let what = format!("it writes into every element that is {step} further");
                return Err(Refusal::unsupported(what, "write neighbouring elements"));
            }
            replaced(cx, whole, part, axis, first)
        }
        "chunk" | "split" | "split_with_sizes" | "unbind" => {
            let (axis, sizes) = sizes(cx, whole)?;
            let first = sizes.iter().take(result).sum();
            let mut own = dims.clone();
            own[axis] = sizes.get(result).copied().unwrap_or(0);
            let part = cx.reshaped(part, &own)?;
            replaced(cx, whole, part, axis, first)
        }
        name if view::SHAPES.contains(&name) => cx.reshaped(part, &dims),
        _ => {
            let perm = permutation(cx, whole)?;
            let mut back = vec![0; perm.len()];
            for (to, &from) in perm.iter().enumerate() {
                back[from] = to;
            }
            cx.transposed(part, &back)
        }
    }
}

/// `whole` with a part in place of elements from one on along an axis.
pub(super) fn replaced(
    cx: &mut Cx<'_, '_, '_>,
    whole: ValueId,
    part: ValueId,
    axis: usize,
    first: usize,
) -> Lowered<ValueId> {
    let (size, count) = (cx.dims(whole)[axis], cx.dims(part)[axis]);
    let end = first + count;
    malformed_if!(end > size, "{} does not fit into {}", cx.shown(part), cx.shown(whole));
    let mut all = Vec::new();
    if first > 0 {
        all.push(cx.part(whole, axis, 0, first, 1)?);
    }
    all.push(part);
    if end < size {
        all.push(cx.part(whole, axis, end, size - end, 1)?);
    }
    cx.joined(&all, axis)
}

/// Where an index that is computed at run time lies along an axis, as truth values: one index, or one for each of the other axes' elements.
pub(super) fn places(
    cx: &mut Cx<'_, '_, '_>,
    index: ValueId,
    axis: usize,
    dims: &[usize],
) -> Lowered<ValueId> {
    let index = cx.cast(index, DType::I32)?;
    let index = if cx.ty(index).shape.numel() == 1 { cx.reshaped(index, &[])? } else { index };
    let (zero, wrapped) = (cx.number(index, 0.0)?, cx.plus(index, dims[axis] as f64)?);
    let is_negative = cx.compared(Comparison::Less, index, zero)?;
    let index = cx.choice(is_negative, wrapped, index)?;
    let counted = cx.counted(DType::I32, dims[axis])?;
    let mut along = vec![1; dims.len() - axis];
    along[0] = dims[axis];
    let counted = cx.reshaped(counted, &along)?;
    cx.compared(Comparison::Equal, counted, index)
}

/// The order of axes.
fn permutation(cx: &Cx<'_, '_, '_>, x: ValueId) -> Lowered<Vec<usize>> {
    let rank = cx.dims(x).len();
    let mut perm: Vec<usize> = (0..rank).collect();
    let two =
        |names: [&str; 2]| -> Lowered<[usize; 2]> { Ok([cx.dim(names[0], 0, x)?, cx.dim(names[1], 1, x)?]) };
    match cx.target {
        _ if rank == 0 => {}
        "t" if rank == 2 => perm.swap(0, 1),
        "numpy_T" => perm.reverse(),
        "adjoint" | "mT" | "matrix_H" if rank > 1 => perm.swap(rank - 2, rank - 1),
        "t" => {}
        "transpose" | "swapaxes" | "swapdims" => {
            let names = if cx.has("axis0") { ["axis0", "axis1"] } else { ["dim0", "dim1"] };
            let [a, b] = two(names)?;
            perm.swap(a, b);
        }
        "movedim" | "moveaxis" => {
            let list = |name: &str| -> Lowered<Vec<usize>> {
                let given = cx.integers(name)?.unwrap_or_default();
                given.iter().map(|&axis| cx.axis(axis, rank)).collect()
            };
            let (from, to) = (list("source")?, list("destination")?);
            let mut others = (0..rank).filter(|axis| !from.contains(axis));
            let place = |at| match to.iter().position(|&to| to == at) {
                Some(k) => from.get(k).copied(),
                None => others.next(),
            };
            perm = (0..rank).filter_map(place).collect();
        }
        _ => {
            let given = cx.integers("dims")?.unwrap_or_default();
            perm = given.iter().map(|&axis| cx.axis(axis, rank)).collect::<Lowered<_>>()?;
        }
    }
    let mut sorted = perm.clone();
    sorted.sort_unstable();
    malformed_if!(!sorted.into_iter().eq(0..rank), "{perm:?} is no order of {rank} axes");
    Ok(perm)
}

fn permuted(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let perm = permutation(cx, x)?;
    cx.transposed(x, &perm)
}

/// A part of an axis.
struct Range {
    axis: usize,
    first: usize,
    count: usize,
    step: usize,
}

fn range(cx: &Cx<'_, '_, '_>, x: ValueId) -> Lowered<Range> {
    let axis = cx.dim("dim", 0, x)?;
    let size = cx.dims(x).get(axis).copied().unwrap_or(1) as i64;
    let inside = |at: i64| (if at < 0 { at.saturating_add(size) } else { at }).clamp(0, size);
    let first = inside(cx.int("start", 0)?);
    if cx.target == "narrow" {
        let count = cx.size("length", 0)? as i64;
        malformed_if!(first + count > size, "its part ends beyond {}", cx.shown(x));
        return Ok(Range { axis, first: first as usize, count: count as usize, step: 1 });
    }
    let (end, step) = (inside(cx.int("end", i64::MAX)?), cx.int("step", 1)?);
    malformed_if!(step < 1, "its step is {step}");
    let count = ((end - first).max(0) as u64).div_ceil(step as u64) as usize;
    // A step beyond the axis is of one element.
    Ok(Range { axis, first: first as usize, count, step: step.min(size.max(1)) as usize })
}

fn one_part(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let Range { axis, first, count, step } = range(cx, x)?;
    if count == 0 {
        let mut dims = cx.dims(x);
        dims[axis] = 0;
        let dtype = cx.ty(x).dtype;
        return Ok(cx.empty(dtype, &dims));
    }
    cx.part(x, axis, first, count, step as i64)
}

/// The index of `select`, counted from the front.
fn index(cx: &Cx<'_, '_, '_>, axis: usize, dims: &[usize]) -> Lowered<usize> {
    let at = cx.int("index", 0)?;
    cx.axis(at, dims[axis])
        .map_err(|_| malformed!("there is no index {at}: the axis has size {}", dims[axis]))
}

fn select(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let dims = cx.dims(x);
    malformed_if!(dims.is_empty(), "{} has no axes", cx.shown(x));
    let axis = cx.dim("dim", 0, x)?;
    let mut rest = dims.clone();
    rest.remove(axis);
    if cx.integer("index").is_err() {
        let index = cx.operand("index")?;
        return cx.call("Gather", &[Some(x), Some(index)], &[("axis", Set::Int(axis as i64))]);
    }
    let at = index(cx, axis, &dims)?;
    let row = cx.part(x, axis, at, 1, 1)?;
    cx.reshaped(row, &rest)
}

/// The axis along which an operator splits, and the sizes of the parts.
fn sizes(cx: &Cx<'_, '_, '_>, x: ValueId) -> Lowered<(usize, Vec<usize>)> {
    let axis = match (cx.target, cx.dims(x).len()) {
        ("hsplit", 1) | ("vsplit", _) => 0,
        ("hsplit", _) => 1,
        ("dsplit", _) => 2,
        _ => cx.dim("dim", 0, x)?,
    };
    malformed_if!(axis >= cx.dims(x).len().max(1), "there is no axis {axis}");
    let size = cx.dims(x).get(axis).copied().unwrap_or(1);
    let even =
        |each: usize| -> Vec<usize> { (0..size.div_ceil(each)).map(|k| each.min(size - k * each)).collect() };
    let sizes = match cx.target {
        "unbind" => vec![1; size],
        // As many parts, of which the first ones are one larger; or parts between places.
        "dsplit" | "hsplit" | "tensor_split" | "vsplit" if !cx.has("indices") => {
            let count = cx.size("sections", 1)?.max(1);
            malformed_if!(count > size.max(1), "it has {count} parts of {size} elements");
            (0..count).map(|k| size / count + usize::from(k < size % count)).collect()
        }
        "dsplit" | "hsplit" | "tensor_split" | "vsplit" => {
            let places = cx.integers("indices")?.unwrap_or_default();
            let inside =
                |&at: &i64| (if at < 0 { at + size as i64 } else { at }).clamp(0, size as i64) as usize;
            let ends: Vec<usize> = places.iter().map(inside).chain([size]).collect();
            let begins = [0].into_iter().chain(ends.iter().copied());
            begins.zip(&ends).map(|(begin, &end)| end.saturating_sub(begin)).collect()
        }
        "chunk" => even(size.div_ceil(cx.size("chunks", 1)?.max(1)).max(1)),
        _ => {
            let name = ["split_sizes", "split_size", "sizes"].into_iter().find(|name| cx.has(name));
            let given = cx.integers(name.unwrap_or("split_size"))?.unwrap_or_default();
            let listed = given.iter().map(|&size| usize::try_from(size).ok()).collect::<Option<Vec<usize>>>();
            match listed.as_deref() {
                Some(&[each]) if cx.target == "split" && cx.overload != "sizes" => even(each.max(1)),
                Some(list) => list.to_vec(),
                None => return Err(malformed!("its sizes are {given:?}")),
            }
        }
    };
    malformed_if!(
        sizes.iter().sum::<usize>() != size,
        "parts of {sizes:?} are not axis {axis} of {}",
        cx.shown(x)
    );
    Ok((axis, sizes))
}

fn parts(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let x = cx.tensor("self")?;
    let (axis, sizes) = sizes(cx, x)?;
    malformed_if!(sizes.len() != cx.results(), "it has {} parts and {} results", sizes.len(), cx.results());
    let (mut first, mut all) = (0, Vec::new());
    for size in sizes {
        let part = cx.part(x, axis, first, size, 1)?;
        let mut dims = cx.dims(part);
        if cx.target == "unbind" {
            dims.remove(axis);
        }
        all.push(cx.reshaped(part, &dims)?);
        first += size;
    }
    Ok(all)
}

/// Tensors in the type of the result. Those without elements are left out.
fn joinable(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let dtype = cx.declared(0)?;
    let all = cx.tensors("tensors")?;
    let all: Vec<ValueId> = all.into_iter().filter(|&x| cx.dims(x) != [0]).collect();
    all.into_iter().map(|x| dtype.map_or(Ok(x), |dtype| cx.cast(x, dtype))).collect()
}

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

fn mirrored(cx: &mut Cx<'_, '_, '_>, axis: usize) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    malformed_if!(axis >= cx.dims(x).len(), "{} has no axis {axis}", cx.shown(x));
    flipped(cx, x, &[axis])
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

fn diagonal(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let (a, b, offset) = (cx.dim("dim1", 0, x)?, cx.dim("dim2", 1, x)?, cx.int("offset", 0)?);
    diagonal_of(cx, x, [a, b], offset)
}

/// The diagonal along two axes, as the last axis.
pub(super) fn diagonal_of(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    [a, b]: [usize; 2],
    offset: i64,
) -> Lowered<ValueId> {
    let rank = cx.dims(x).len();
    malformed_if!(a == b || rank < 2, "{} has no diagonal", cx.shown(x));
    let order: Vec<usize> = (0..rank).filter(|axis| ![a, b].contains(axis)).chain([a, b]).collect();
    let turned = cx.transposed(x, &order)?;
    let dims = cx.dims(turned);
    let (front, rows, columns) = (&dims[..rank - 2], dims[rank - 2], dims[rank - 1]);
    let flat = cx.reshaped(turned, &[front, &[rows * columns]].concat())?;
    let inside = |row: usize| {
        let column = (row as i64).checked_add(offset).and_then(|column| usize::try_from(column).ok());
        column.filter(|&column| column < columns).map(|column| row * columns + column)
    };
    cx.importer.budget.charge(16 * rows)?;
    let places: Vec<usize> = (0..rows).filter_map(inside).collect();
    malformed_if!(places.is_empty(), "{} has no diagonal {offset}", cx.shown(x));
    cx.picked(flat, rank - 2, &places)
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
