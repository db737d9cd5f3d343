//! What moves elements: parts of tensors, and parts put together.

use super::cx::Cx;
use super::{view, All, Lowered, One, Operators, Refusal};
use crate::onnx::lower::Set;
use kiln_ir::{Comparison, DType, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("adjoint", One(permuted)),
    ("chunk", All(parts)),
    ("diagonal", One(diagonal)),
    ("dsplit", All(parts)),
    ("hsplit", All(parts)),
    ("mT", One(permuted)),
    ("matrix_H", One(permuted)),
    ("movedim", One(permuted)),
    ("moveaxis", One(permuted)),
    ("narrow", One(one_part)),
    ("numpy_T", One(permuted)),
    ("permute", One(permuted)),
    ("select", One(select)),
    ("slice", One(one_part)),
    ("split", All(parts)),
    ("split_with_sizes", All(parts)),
    ("swapaxes", One(permuted)),
    ("swapdims", One(permuted)),
    ("t", One(permuted)),
    ("tensor_split", All(parts)),
    ("transpose", One(permuted)),
    ("unbind", All(parts)),
    ("vsplit", All(parts)),
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
            back(cx, part, &perm)
        }
    }
}

/// Axes that `order` has moved, in their own order again.
pub(super) fn back(cx: &mut Cx<'_, '_, '_>, y: ValueId, order: &[usize]) -> Lowered<ValueId> {
    let mut perm = vec![0; order.len()];
    for (to, &from) in order.iter().enumerate() {
        perm[from] = to;
    }
    cx.transposed(y, &perm)
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
