//! What takes elements from given places, and what finds them.

use super::cx::Cx;
use super::{All, Lowered, One, Operators, Refusal};
use crate::onnx::lower::Set;
use kiln_ir::{Comparison, DType, Reduction, Shape, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("argsort", One(|cx| Ok(sorted(cx)?.swap_remove(1)))),
    ("bucketize", One(|cx| bucketize(cx, ["boundaries", "self"]))),
    ("embedding", One(embedding)),
    ("embedding_bag", All(|cx| embedding_bag(cx).map(|y| vec![y]))),
    ("gather", One(gather)),
    ("im2col", One(im2col)),
    ("index", One(index)),
    ("index_select", One(index_select)),
    ("kthvalue", All(kth)),
    ("median", All(median)),
    ("one_hot", One(one_hot)),
    ("searchsorted", One(|cx| bucketize(cx, ["sorted_sequence", "self"]))),
    ("sort", All(sorted)),
    ("take", One(take)),
    ("take_along_dim", One(take_along)),
    ("topk", All(topk)),
];

/// Indices of 64 bits.
pub(super) fn indices(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    match cx.ty(x).dtype {
        DType::I32 | DType::I64 => Ok(x),
        DType::F32 | DType::Bool => Err(malformed!("its indices are {}", cx.shown(x))),
        _ => cx.cast(x, DType::I64),
    }
}

fn embedding(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (weight, at) = (cx.tensor("weight")?, cx.tensor("indices")?);
    let at = indices(cx, at)?;
    cx.call("Gather", &[Some(weight), Some(at)], &[("axis", Set::Int(0))])
}

/// Sums, means or largest of rows, of bags that begin at known places.
fn embedding_bag(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (weight, at, offsets) = (cx.tensor("weight")?, cx.tensor("indices")?, cx.tensor("offsets")?);
    let at = indices(cx, at)?;
    let dtype = cx.ty(offsets).dtype;
    let offsets = cx.data(offsets).map(|data| data.to_ints(dtype));
    let Some(offsets) =
        offsets.filter(|_| !cx.has("per_sample_weights") && cx.int("padding_idx", -1).unwrap_or(0) < 0)
    else {
        let what = "its bags are known only at run time, or have weights or an index that counts for nothing";
        return Err(Refusal::unsupported(what, "use embedding with a sum or mean behind it"));
    };
    let all = cx.ty(at).shape.numel();
    let rows = cx.call("Gather", &[Some(weight), Some(at)], &[("axis", Set::Int(0))])?;
    let mut ends: Vec<usize> = offsets.iter().map(|&at| usize::try_from(at).unwrap_or(usize::MAX)).collect();
    if !cx.flag("include_last_offset", false)? {
        ends.push(all);
    }
    let mode = cx.int("mode", 0)?;
    let mut bags = Vec::new();
    for pair in ends.windows(2) {
        malformed_if!(pair[1] <= pair[0] || pair[1] > all, "its bags begin at {offsets:?}");
        let bag = cx.part(rows, 0, pair[0], pair[1] - pair[0], 1)?;
        bags.push(match mode {
            1 => cx.mean(bag, &[0])?,
            2 => cx.reduced(Reduction::Max, bag, &[0])?,
            _ => cx.reduced(Reduction::Sum, bag, &[0])?,
        });
    }
    cx.joined(&bags, 0)
}

fn index_select(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, at) = (cx.tensor("self")?, cx.tensor("index")?);
    let at = indices(cx, at)?;
    let axis = cx.dim("dim", 0, x)?;
    let count = cx.ty(at).shape.numel();
    let at = cx.reshaped(at, &[count])?;
    cx.call("Gather", &[Some(x), Some(at)], &[("axis", Set::Int(axis as i64))])
}

fn gather(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, at) = (cx.tensor("self")?, cx.tensor("index")?);
    let at = indices(cx, at)?;
    let axis = cx.dim("dim", 0, x)?;
    cx.call("GatherElements", &[Some(x), Some(at)], &[("axis", Set::Int(axis as i64))])
}

/// Elements at places among all.
fn take(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, at) = (cx.tensor("self")?, cx.tensor("index")?);
    let at = indices(cx, at)?;
    let count = cx.ty(x).shape.numel();
    let flat = cx.reshaped(x, &[count])?;
    cx.call("Gather", &[Some(flat), Some(at)], &[("axis", Set::Int(0))])
}

/// As gather, where other axes are broadcast, or of all elements.
fn take_along(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (mut x, at) = (cx.tensor("self")?, cx.tensor("indices")?);
    let mut at = indices(cx, at)?;
    let axis = match cx.has("dim") {
        true => cx.dim("dim", 0, x)?,
        false => {
            let counts = [cx.ty(x).shape.numel(), cx.ty(at).shape.numel()];
            (x, at) = (cx.reshaped(x, &[counts[0]])?, cx.reshaped(at, &[counts[1]])?);
            0
        }
    };
    let (own, named) = (cx.dims(x), cx.dims(at));
    malformed_if!(own.len() != named.len(), "{} does not fit {}", cx.shown(at), cx.shown(x));
    let wide = |own: &[usize], other: &[usize]| -> Vec<usize> {
        (0..own.len()).map(|k| if k == axis { own[k] } else { own[k].max(other[k]) }).collect()
    };
    let x = super::view::spread(cx, x, &wide(&own, &named))?;
    let at = super::view::spread(cx, at, &wide(&named, &own))?;
    cx.call("GatherElements", &[Some(x), Some(at)], &[("axis", Set::Int(axis as i64))])
}

/// Lists of indices brought together: those axes in front, one list of coordinates, and the order that brings the result's axes to their places.
pub(super) struct Places {
    /// The axes with indices, then the others.
    pub(super) order: Vec<usize>,
    /// \[…, axes with indices\].
    pub(super) coordinates: ValueId,
    /// Sizes of what is taken.
    pub(super) dims: Vec<usize>,
    /// Where the first index stood, if all stood together.
    pub(super) first: Option<usize>,
}

pub(super) fn places(cx: &mut Cx<'_, '_, '_>, x: ValueId, given: &[Option<ValueId>]) -> Lowered<Places> {
    let rank = cx.dims(x).len();
    malformed_if!(given.len() > rank, "{} indices do not fit {}", given.len(), cx.shown(x));
    let (mut axes, mut lists) = (Vec::new(), Vec::new());
    for (axis, list) in given.iter().enumerate() {
        let Some(list) = *list else { continue };
        if cx.ty(list).dtype == DType::Bool {
            // A known mask is a list of places along its axes.
            let found = cx.call("NonZero", &[Some(list)], &[])?;
            let &[count, each] = &*cx.dims(found) else { return Err(malformed!("no mask")) };
            malformed_if!(count != cx.dims(list).len() || axis + count > rank, "its mask does not fit");
            for k in 0..count {
                let row = cx.part(found, 0, k, 1, 1)?;
                lists.push(cx.reshaped(row, &[each])?);
                axes.push(axis + k);
            }
            continue;
        }
        let list = indices(cx, list)?;
        lists.push(cx.cast(list, DType::I64)?);
        axes.push(axis);
    }
    let mut dims = Vec::new();
    for &list in &lists {
        let common = Shape::common(&dims, &cx.dims(list));
        dims = common.ok_or_else(|| malformed!("its lists of indices cannot be broadcast"))?;
    }
    let column = [&dims[..], &[1]].concat();
    let mut columns = Vec::new();
    for list in lists {
        let list = super::view::spread(cx, list, &dims)?;
        columns.push(cx.reshaped(list, &column)?);
    }
    malformed_if!(columns.is_empty(), "it has no indices");
    let coordinates = cx.joined(&columns, dims.len())?;
    let is_together = axes.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let order = axes.iter().copied().chain((0..rank).filter(|axis| !axes.contains(axis))).collect();
    Ok(Places { order, coordinates, dims, first: axes.first().copied().filter(|_| is_together) })
}

fn index(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, given) = (cx.tensor("self")?, cx.optional_tensors("indices")?);
    // One list is a gathering along its axis.
    let mut lists = given.iter().enumerate().filter_map(|(axis, list)| Some((axis, (*list)?)));
    if let (Some((axis, list)), None) = (lists.next(), lists.next()) {
        if cx.ty(list).dtype != DType::Bool {
            let list = indices(cx, list)?;
            return cx.call("Gather", &[Some(x), Some(list)], &[("axis", Set::Int(axis as i64))]);
        }
    }
    let Places { order, coordinates, dims, first } = places(cx, x, &given)?;
    let turned = cx.transposed(x, &order)?;
    let y = cx.call("GatherND", &[Some(turned), Some(coordinates)], &[])?;
    // What is taken stands where the indices stood, if they stood together.
    let (rank, front) = (cx.dims(y).len(), first.unwrap_or(0));
    let perm: Vec<usize> =
        (dims.len()..dims.len() + front).chain(0..dims.len()).chain(dims.len() + front..rank).collect();
    cx.transposed(y, &perm)
}

fn one_hot(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, count) = (cx.tensor("self")?, cx.size("num_classes", 0)?);
    malformed_if!(count == 0, "it has no classes");
    let mut dims = cx.dims(x);
    dims.push(1);
    let x = cx.cast(x, DType::I64)?;
    let x = cx.reshaped(x, &dims)?;
    let classes = cx.counted(DType::I64, count)?;
    let is_it = cx.compared(Comparison::Equal, x, classes)?;
    cx.cast(is_it, DType::I64)
}

/// So many of the largest or smallest along an axis, and where they are.
fn ordered(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    axis: usize,
    count: i64,
    largest: bool,
) -> Lowered<Vec<ValueId>> {
    let count = cx.int_constant("count", DType::I64, &[1], &[count])?;
    let attributes = [("axis", Set::Int(axis as i64)), ("largest", Set::Int(largest.into()))];
    Ok(cx.call_all::<2>("TopK", &[Some(x), Some(count)], &attributes)?.to_vec())
}

fn topk(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let x = cx.tensor("self")?;
    let (axis, count, largest) = (cx.dim("dim", -1, x)?, cx.int("k", 1)?, cx.flag("largest", true)?);
    ordered(cx, x, axis, count, largest)
}

fn sorted(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let x = cx.tensor("self")?;
    let axis = cx.dim("dim", -1, x)?;
    let count = cx.dims(x).get(axis).copied().unwrap_or(1) as i64;
    let descending = cx.flag("descending", false)?;
    ordered(cx, x, axis, count, descending)
}

/// The k-th smallest element along an axis, and where it is.
fn kth(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let x = cx.tensor("self")?;
    let (axis, k) = (cx.dim("dim", -1, x)?, cx.size("k", 1)?);
    at_rank(cx, x, axis, k)
}

fn at_rank(cx: &mut Cx<'_, '_, '_>, x: ValueId, axis: usize, k: usize) -> Lowered<Vec<ValueId>> {
    malformed_if!(k == 0, "its k is 0");
    let keeps = cx.flag("keepdim", false)?;
    let mut all = ordered(cx, x, axis, k as i64, false)?;
    for value in &mut all {
        let last = cx.part(*value, axis, k - 1, 1, 1)?;
        let mut dims = cx.dims(last);
        if !keeps {
            dims.remove(axis);
        }
        *value = cx.reshaped(last, &dims)?;
    }
    Ok(all)
}

/// The lower one of two in the middle.
fn median(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let x = cx.tensor("self")?;
    let all = cx.ty(x).shape.numel();
    if !cx.has("dim") {
        let flat = cx.reshaped(x, &[all])?;
        let found = at_rank(cx, flat, 0, all.div_ceil(2))?;
        let number = cx.reshaped(found[0], &[])?;
        return Ok(vec![number]);
    }
    let axis = cx.dim("dim", -1, x)?;
    let size = cx.dims(x).get(axis).copied().unwrap_or(1);
    at_rank(cx, x, axis, size.div_ceil(2))
}

/// How many bounds lie below each element; with `right` also those that are equal.
fn bucketize(cx: &mut Cx<'_, '_, '_>, [bounds, x]: [&str; 2]) -> Lowered<ValueId> {
    let (bounds, x) = (cx.tensor(bounds)?, cx.operand(x)?);
    let (dtype, mut dims) = (cx.ty(bounds).dtype, cx.dims(x));
    let x = cx.cast(x, dtype)?;
    let right = cx.flag("right", false)? || cx.words("side") == "right";
    let own = cx.dims(bounds);
    // Each row of elements has its row of bounds, or all have one.
    let (front, count) = match own.split_last() {
        Some((&count, front)) => (front.to_vec(), count),
        None => return Err(malformed!("its bounds are {}", cx.shown(bounds))),
    };
    let aligned = if front.is_empty() { vec![count] } else { [&front[..], &[1, count]].concat() };
    let bounds = cx.reshaped(bounds, &aligned)?;
    dims.push(1);
    let x = cx.reshaped(x, &dims)?;
    let comparison = if right { Comparison::LessEqual } else { Comparison::Less };
    let below = cx.compared(comparison, bounds, x)?;
    let below = cx.cast(below, DType::I32)?;
    let axis = cx.dims(below).len() - 1;
    let count = cx.reduced(Reduction::Sum, below, &[axis])?;
    let dims = cx.dims(count);
    cx.reshaped(count, &dims[..axis])
}

/// The windows of an image as columns.
fn im2col(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let (size, dilation) = (cx.sizes("kernel_size", 1, 2)?, cx.sizes("dilation", 1, 2)?);
    let (padding, stride) = (cx.sizes("padding", 0, 2)?, cx.sizes("stride", 1, 2)?);
    let all = windows(cx, x, [&size, &dilation, &padding, &stride], 0)?;
    let &[n, c, _, rows, _, columns] = &*cx.dims(all) else { return Err(malformed!("no windows")) };
    let turned = cx.transposed(all, &[0, 1, 2, 4, 3, 5])?;
    cx.reshaped(turned, &[n, c * size[0] * size[1], rows * columns])
}

/// The windows of an image of such sizes, dilations, paddings and strides: \[n, c, rows of a window, rows, columns of a window, columns\].
pub(super) fn windows(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    [size, dilation, padding, stride]: [&[usize]; 4],
    outside: i64,
) -> Lowered<ValueId> {
    let &[n, c, h, w] = &*cx.dims(x) else {
        return Err(Refusal::unsupported(format!("{} is no image", cx.shown(x)), "use a batch of one"));
    };
    let pads = [0, 0, padding[0], padding[1]];
    let x = cx.padded(x, &pads, &pads, outside)?;
    let blocks = |k: usize, size_of: usize| {
        let reach = size[k].checked_sub(1)?.checked_mul(dilation[k])?.checked_add(1)?;
        Some((size_of + 2 * padding[k]).checked_sub(reach)? / stride[k].max(1) + 1)
    };
    let (Some(rows), Some(columns)) = (blocks(0, h), blocks(1, w)) else {
        return Err(malformed!("windows of {size:?} do not fit {}", cx.shown(x)));
    };
    let count = |a: usize, b: usize| a.saturating_mul(b);
    let all = count(size[0], rows).saturating_add(count(size[1], columns));
    cx.importer.budget.charge(all.saturating_mul(16))?;
    let places = |k: usize, count: usize| -> Vec<usize> {
        let (step, gap) = (stride[k], dilation[k]);
        (0..size[k]).flat_map(|tap| (0..count).map(move |at| at * step + tap * gap)).collect()
    };
    let wide = w + 2 * padding[1];
    let all = cx.picked(x, 2, &places(0, rows))?;
    let all = cx.reshaped(all, &[n, c, size[0], rows, wide])?;
    let all = cx.picked(all, 4, &places(1, columns))?;
    cx.reshaped(all, &[n, c, size[0], rows, size[1], columns])
}
