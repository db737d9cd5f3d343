//! STRIDED_SLICE, SLICE, SPLIT, SPLIT_V and UNPACK.

use super::cx::{axis, OpCx};
use super::tensor::LARGEST_RANK;
use super::{Lowered, Operators, Refusal};
use crate::tflite::options::SliceMasks;
use kiln_ir::{Op, ValueId};

pub(super) const OPERATORS: Operators =
    &[(45, strided_slice), (49, split), (65, slice), (88, unpack), (102, split_v)];

/// What one axis of the operand becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    begin: usize,
    step: i64,
    count: usize,
}

/// The axes of a strided slice: those of the operand, and those of the result.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    ranges: Vec<Range>,
    result: Vec<usize>,
}

/// STRIDED_SLICE with all its masks.
fn strided_slice(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let masks = cx.options(32)?.strided_slice()?;
    let x = cx.input(0)?;
    let (begin, end, step) = (cx.ints(1, "begin")?, cx.ints(2, "end")?, cx.ints(3, "strides")?);
    let plan = plan(&cx.dims(x), &begin, &end, &step, masks)?;
    let sliced: Vec<usize> = plan.ranges.iter().map(|r| r.count).collect();
    let op = Op::Slice {
        begin: plan.ranges.iter().map(|r| r.begin).collect(),
        step: plan.ranges.iter().map(|r| r.step).collect(),
    };
    if sliced == plan.result {
        return cx.emit_moved(op, &[x], 0, &sliced);
    }
    let result = cx.declared(0)?;
    cx.same_quant(cx.ty(x), &result)?;
    let ty = cx.ty(x).with_shape(&sliced);
    let value = cx.node(op, &[x], 0, ty)?;
    cx.emit_reshaped(value, 0, &plan.result)
}

/// The meaning of begin, end, strides and masks for an operand of shape `dims`: NumPy's indexing.
fn plan(dims: &[usize], begin: &[i64], end: &[i64], step: &[i64], masks: SliceMasks) -> Lowered<Plan> {
    let entries = begin.len();
    if end.len() != entries || step.len() != entries || entries > 16 {
        let lengths = (entries, end.len(), step.len());
        return Err(malformed!("begin, end and strides have lengths {lengths:?}"));
    }
    let bit = |mask: i32, i: usize| mask >> i & 1 != 0;
    let ellipsis = (0..entries).find(|&i| bit(masks.ellipsis, i));
    let is_new = |i: usize| Some(i) != ellipsis && bit(masks.new_axis, i);
    let consumed = (0..entries).filter(|&i| Some(i) != ellipsis && !is_new(i)).count();
    let Some(rest) = dims.len().checked_sub(consumed) else {
        return Err(malformed!("it has {consumed} ranges for an operand of shape {dims:?}"));
    };
    let (mut ranges, mut result) = (Vec::new(), Vec::new());
    let keep = |ranges: &mut Vec<Range>, result: &mut Vec<usize>, axes: usize| {
        for &size in dims.iter().skip(ranges.len()).take(axes) {
            ranges.push(Range { begin: 0, step: 1, count: size });
            result.push(size);
        }
    };
    for i in 0..entries {
        if Some(i) == ellipsis {
            keep(&mut ranges, &mut result, rest);
        } else if is_new(i) {
            result.push(1);
        } else if let Some(&size) = dims.get(ranges.len()) {
            let shrink = bit(masks.shrink_axis, i);
            let end = if masks.offset { begin[i].saturating_add(end[i]) } else { end[i] };
            let bound = |value: i64, mask: i32| (!bit(mask, i)).then_some(value);
            let range = match shrink {
                true => single(size, begin[i]),
                false => range(size, bound(begin[i], masks.begin), bound(end, masks.end), step[i]),
            };
            let range = range.ok_or_else(|| {
                let (b, s) = (begin[i], step[i]);
                malformed!("range {b}..{end} with stride {s} of {size} elements is impossible")
            })?;
            ranges.push(range);
            if !shrink {
                result.push(range.count);
            }
        }
    }
    keep(&mut ranges, &mut result, usize::MAX);
    Ok(Plan { ranges, result })
}

/// One element, which may count from the end.
fn single(size: usize, index: i64) -> Option<Range> {
    let begin = axis(index, size).ok()?;
    Some(Range { begin, step: 1, count: 1 })
}

/// Elements from `begin` to before `end` (both may count from the end and are clamped; `None` is as far as possible).
fn range(size: usize, begin: Option<i64>, end: Option<i64>, step: i64) -> Option<Range> {
    let size = i64::try_from(size).ok()?;
    let wrap = |i: i64| if i < 0 { i.saturating_add(size) } else { i };
    let (begin, end) = match step {
        0 => return None,
        1.. => {
            let clamp = |i: i64| wrap(i).clamp(0, size);
            (begin.map_or(0, clamp), end.map_or(size, clamp))
        }
        _ => {
            let clamp = |i: i64| wrap(i).clamp(-1, size - 1);
            (begin.map_or(size - 1, clamp), end.map_or(-1, clamp))
        }
    };
    let span = if step > 0 { end - begin } else { begin - end };
    let count = if span > 0 { (span as u64).div_ceil(step.unsigned_abs()) } else { 0 };
    Some(Range { begin: usize::try_from(begin.max(0)).ok()?, step, count: usize::try_from(count).ok()? })
}

/// SLICE: begin and size per axis; size −1 is the rest.
fn slice(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let (begin, size) = (cx.ints(1, "begin")?, cx.ints(2, "size")?);
    let dims = cx.dims(x);
    let misfit = || malformed!("begin {begin:?} and size {size:?} do not fit shape {dims:?}");
    if begin.len() != dims.len() || size.len() != dims.len() {
        return Err(misfit());
    }
    let (mut first, mut counts) = (Vec::new(), Vec::new());
    for ((&b, &n), &d) in begin.iter().zip(&size).zip(&dims) {
        let b = usize::try_from(b).ok().filter(|&b| b <= d).ok_or_else(misfit)?;
        let n = if n == -1 { Some(d - b) } else { usize::try_from(n).ok() };
        first.push(b);
        counts.push(n.filter(|&n| n <= d - b).ok_or_else(misfit)?);
    }
    let step = vec![1; dims.len()];
    cx.emit_moved(Op::Slice { begin: first, step }, &[x], 0, &counts)
}

/// SPLIT into equal parts.
fn split(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(1)?;
    let axis = single_axis(cx, 0, x)?;
    let (size, parts) = (cx.dims(x)[axis], cx.output_count());
    if parts == 0 || size % parts != 0 {
        return Err(malformed!("{size} elements along axis {axis} do not split into {parts}"));
    }
    pieces(cx, x, axis, &vec![size / parts; parts])
}

/// SPLIT_V into parts of given sizes, one of which may be −1: the rest.
fn split_v(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let sizes = cx.ints(1, "sizes")?;
    let axis = single_axis(cx, 2, x)?;
    let total = cx.dims(x)[axis];
    let known = sizes
        .iter()
        .filter(|&&s| s != -1)
        .try_fold(0usize, |sum, &s| usize::try_from(s).ok().and_then(|s| sum.checked_add(s)));
    let rest = known.and_then(|known| total.checked_sub(known));
    let open = sizes.iter().filter(|&&s| s == -1).count();
    match rest {
        Some(rest) if sizes.len() == cx.output_count() && (open == 1 || (open == 0 && rest == 0)) => {
            let sizes: Vec<usize> = sizes.iter().map(|&s| usize::try_from(s).unwrap_or(rest)).collect();
            pieces(cx, x, axis, &sizes)
        }
        _ => Err(malformed!("sizes {sizes:?} do not add up to {total} elements along axis {axis}")),
    }
}

/// UNPACK: one result per index of an axis, without that axis.
fn unpack(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let mut dims = cx.dims(x);
    let axis = axis(i64::from(cx.options(64)?.pack_axis()?), dims.len())?;
    if dims[axis] != cx.output_count() {
        let what =
            format!("it cannot split {1} into {0} results along axis {axis}", cx.output_count(), cx.shown(x));
        return Err(Refusal::malformed(what));
    }
    dims[axis] = 1;
    let shrunk: Vec<usize> = dims.iter().enumerate().filter(|&(i, _)| i != axis).map(|(_, &d)| d).collect();
    for k in 0..cx.output_count() {
        let (op, ty) = (piece(dims.len(), axis, k), cx.ty(x).with_shape(&dims));
        let value = cx.node(op, &[x], k, ty)?;
        cx.emit_reshaped(value, k, &shrunk)?;
    }
    Ok(())
}

/// The axis named by operand `k`.
fn single_axis(cx: &mut OpCx<'_, '_, '_>, k: usize, x: ValueId) -> Lowered<usize> {
    match &*cx.ints(k, "axis")? {
        &[index] => axis(index, cx.dims(x).len()),
        other => Err(malformed!("its axis is {other:?}")),
    }
}

/// Consecutive parts of `x` along `axis`, one per result.
fn pieces(cx: &mut OpCx<'_, '_, '_>, x: ValueId, axis: usize, sizes: &[usize]) -> Lowered {
    let mut dims = cx.dims(x);
    let mut first = 0;
    for (k, &size) in sizes.iter().enumerate() {
        dims[axis] = size;
        cx.emit_moved(piece(dims.len(), axis, first), &[x], k, &dims)?;
        first += size;
    }
    Ok(())
}

/// A slice that begins at `first` along `axis`.
fn piece(rank: usize, axis: usize, first: usize) -> Op {
    debug_assert!(rank <= LARGEST_RANK);
    let begin = (0..rank).map(|i| if i == axis { first } else { 0 }).collect();
    Op::Slice { begin, step: vec![1; rank] }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NO_MASKS: SliceMasks =
        SliceMasks { begin: 0, end: 0, ellipsis: 0, new_axis: 0, shrink_axis: 0, offset: false };

    fn ranges(plan: &Plan) -> Vec<(usize, i64, usize)> {
        plan.ranges.iter().map(|r| (r.begin, r.step, r.count)).collect()
    }

    #[test]
    fn ranges_clamp_and_count_from_the_end() {
        let r = |size, begin, end, step| range(size, begin, end, step).map(|r| (r.begin, r.step, r.count));
        assert_eq!(r(5, Some(1), Some(4), 1), Some((1, 1, 3)));
        assert_eq!(r(5, Some(-2), None, 1), Some((3, 1, 2)));
        assert_eq!(r(5, Some(0), Some(99), 2), Some((0, 2, 3)));
        assert_eq!(r(5, None, None, -1), Some((4, -1, 5)));
        assert_eq!(r(5, Some(3), Some(0), -2), Some((3, -2, 2)));
        assert_eq!(r(5, Some(4), Some(2), 1), Some((4, 1, 0)));
        assert_eq!(r(5, Some(i64::MIN), Some(i64::MAX), i64::MIN), Some((0, i64::MIN, 0)));
        assert_eq!(r(5, None, None, 0), None);
    }

    #[test]
    fn masks() {
        // x[1, ..., newaxis, ::2] of [4, 5, 6]
        let masks = SliceMasks { begin: 8, end: 8, ellipsis: 2, new_axis: 4, shrink_axis: 1, ..NO_MASKS };
        let p = plan(&[4, 5, 6], &[1, 0, 0, 0], &[2, 0, 0, 0], &[1, 1, 1, 2], masks).unwrap();
        assert_eq!(ranges(&p), [(1, 1, 1), (0, 1, 5), (0, 2, 3)]);
        assert_eq!(p.result, [5, 1, 3]);
        // Fewer entries than axes: the rest stays whole.
        let p = plan(&[4, 5, 6], &[-1], &[9], &[1], NO_MASKS).unwrap();
        assert_eq!(p.result, [1, 5, 6]);
        let offset = SliceMasks { offset: true, ..NO_MASKS };
        assert_eq!(plan(&[9], &[2], &[3], &[1], offset).unwrap().result, [3]);
        assert!(plan(&[4], &[0, 0], &[1, 1], &[1, 1], NO_MASKS).is_err());
        let shrink = SliceMasks { shrink_axis: 1, ..NO_MASKS };
        assert!(plan(&[4], &[4], &[5], &[1], shrink).is_err());
    }
}
