//! What takes elements from given places, and what puts them there.

use super::cx::NodeCx;
use super::{All, Lowered, One, Operators, Refusal};
use kiln_ir::{Comparison, DType, Op, Type, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("Compress", One(compress)),
    ("Gather", One(gather)),
    ("GatherElements", One(elements)),
    ("GatherND", One(nd)),
    ("OneHot", One(one_hot)),
    ("ReverseSequence", One(reverse_sequence)),
    ("TopK", All(top)),
];

/// Refuses what is no index.
fn want_index(cx: &NodeCx<'_, '_, '_>, indices: ValueId) -> Lowered {
    match cx.ty(indices).dtype {
        DType::I32 | DType::I64 => Ok(()),
        _ => Err(malformed!("its indices are {}", cx.shown(indices))),
    }
}

/// Indices that count from 0, where those below 0 count from the end. The last axis has one for each of the sizes, or there is one size for all.
fn counted(cx: &mut NodeCx<'_, '_, '_>, indices: ValueId, sizes: &[usize]) -> Lowered<ValueId> {
    want_index(cx, indices)?;
    let dtype = cx.ty(indices).dtype;
    if let Some(data) = cx.data(indices) {
        let size = |k: usize| sizes[k % sizes.len()] as i64;
        let given = data.to_ints(dtype);
        let list = given.iter().enumerate();
        let list: Vec<i64> = list.map(|(k, &i)| if i < 0 { i.saturating_add(size(k)) } else { i }).collect();
        if let Some(k) = (0..list.len()).find(|&k| !(0..size(k)).contains(&list[k])) {
            return Err(malformed!("there is no index {}: the axis has size {}", given[k], size(k)));
        }
        let dims = cx.dims(indices);
        return cx.int_constant("indices", dtype, &dims, &list);
    }
    let list: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
    let shape: &[usize] = if sizes.len() == 1 { &[] } else { &[sizes.len()] };
    let sizes = cx.int_constant("sizes", dtype, shape, &list)?;
    let (zero, wrapped) = (cx.number(indices, 0.0)?, cx.sum(indices, sizes)?);
    let is_negative = cx.compared(Comparison::Less, indices, zero)?;
    cx.choice(is_negative, wrapped, indices)
}

/// Gather along an axis.
fn gather(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, indices) = (cx.input(0)?, cx.input(1)?);
    let (dims, named) = (cx.dims(x), cx.dims(indices));
    let axis = cx.axis(cx.int("axis", 0), dims.len())?;
    let result = [&dims[..axis], &named[..], &dims[axis + 1..]].concat();
    let indices = counted(cx, indices, &dims[axis..=axis])?;
    let each = [&named[..], &[1]].concat();
    let indices = cx.reshaped(indices, &each)?;
    cx.add_like(Op::Gather { batch: 0, axis, depth: 1 }, &[x, indices], &result)
}

/// GatherElements: along an axis, an index for each element of the result.
fn elements(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (mut x, indices) = (cx.input(0)?, cx.input(1)?);
    let (dims, named) = (cx.dims(x), cx.dims(indices));
    let axis = cx.axis(cx.int("axis", 0), dims.len())?;
    let fits = |(k, (&own, &dim)): (usize, (&usize, &usize))| k == axis || own <= dim;
    if named.len() != dims.len() || !named.iter().zip(&dims).enumerate().all(fits) {
        return Err(malformed!("indices {} do not fit {}", cx.shown(indices), cx.shown(x)));
    }
    let indices = counted(cx, indices, &dims[axis..=axis])?;
    for other in (0..dims.len()).filter(|&other| other != axis) {
        x = cx.part(x, other, 0, named[other], 1)?;
    }
    // With the axis as the last one, each row takes from the row in its place.
    let (rows, indices) = (cx.swapped(x, axis)?, cx.swapped(indices, axis)?);
    let result = cx.dims(indices);
    let each = [&result[..], &[1]].concat();
    let indices = cx.reshaped(indices, &each)?;
    let last = dims.len() - 1;
    let y = cx.add_like(Op::Gather { batch: last, axis: last, depth: 1 }, &[rows, indices], &result)?;
    cx.swapped(y, axis)
}

/// GatherND: parts of `x` at coordinates, which are the last axis of the indices.
fn nd(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, indices) = (cx.input(0)?, cx.input(1)?);
    let (dims, named) = (cx.dims(x), cx.dims(indices));
    let batch = usize::try_from(cx.int("batch_dims", 0)).unwrap_or(usize::MAX);
    let depth = named.last().copied().unwrap_or(0);
    let fits = batch < named.len() && batch < dims.len() && depth > 0 && depth <= dims.len() - batch;
    if !fits || named[..batch] != dims[..batch] {
        return Err(malformed!("indices {} do not fit {}", cx.shown(indices), cx.shown(x)));
    }
    let indices = counted(cx, indices, &dims[batch..batch + depth])?;
    let result = [&named[..named.len() - 1], &dims[batch + depth..]].concat();
    cx.add_like(Op::Gather { batch, axis: batch, depth }, &[x, indices], &result)
}

/// Compress: what a known list of conditions lets through, along an axis or of all elements.
fn compress(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (mut x, condition) = (cx.input(0)?, cx.input(1)?);
    let axis = match cx.attribute("axis") {
        Some(axis) => cx.axis(axis.int, cx.dims(x).len())?,
        None => {
            let all = cx.ty(x).shape.numel();
            x = cx.reshaped(x, &[all])?;
            0
        }
    };
    let Some(data) = cx.data(condition) else {
        let help = "multiply by the condition, or select with it (Where), so that all shapes are known";
        return Err(Refusal::unsupported(
            "the number of elements that remain is known only at run time",
            help,
        ));
    };
    let places = data.bytes().iter().enumerate().filter(|(_, &holds)| holds != 0).map(|(at, _)| at);
    let places: Vec<usize> = places.collect();
    if data.bytes().len() > cx.dims(x)[axis] {
        return Err(malformed!("{} conditions do not fit {}", data.bytes().len(), cx.shown(x)));
    }
    cx.picked(x, axis, &places)
}

/// OneHot: one of two values wherever an index is that of the place along a new axis, the other one elsewhere.
fn one_hot(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (indices, depth, values) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    let known = cx.data(depth).map(|data| match cx.ty(depth).dtype {
        DType::F32 => data.to_f32().first().map(|&depth| depth as i64),
        dtype => data.to_ints(dtype).first().copied(),
    });
    let Some(depth) = known else {
        let help = "export the model with fixed shapes, so that it can be computed from constants";
        return Err(Refusal::unsupported("its depth (operand 1) is computed at run time", help));
    };
    let depth = depth.and_then(|depth| u32::try_from(depth).ok()).filter(|&depth| depth > 0);
    let Some(depth) = depth.map(|depth| depth as usize).filter(|_| cx.dims(values) == [2]) else {
        return Err(malformed!("its depth has to be above 0, and it needs two values"));
    };
    let dims = cx.dims(indices);
    let axis = cx.axis(cx.int("axis", -1), dims.len() + 1)?;
    let indices = cx.cast(indices, DType::I32)?;
    let (size, zero) = (cx.number(indices, depth as f64)?, cx.number(indices, 0.0)?);
    let (wrapped, is_negative) = (cx.sum(indices, size)?, cx.compared(Comparison::Less, indices, zero)?);
    let indices = cx.choice(is_negative, wrapped, indices)?;
    let mut spread = dims;
    spread.insert(axis, 1);
    let indices = cx.reshaped(indices, &spread)?;
    let mut along = vec![1; spread.len()];
    along[axis] = depth;
    let places = cx.counted(DType::I32, depth)?;
    let places = cx.reshaped(places, &along)?;
    let is_place = cx.compared(Comparison::Equal, indices, places)?;
    let [off, on] = [cx.part(values, 0, 0, 1, 1)?, cx.part(values, 0, 1, 1, 1)?];
    let (off, on) = (cx.reshaped(off, &[])?, cx.reshaped(on, &[])?);
    cx.choice(is_place, on, off)
}

/// ReverseSequence: the first elements along the axis of time backwards, as many as each sequence is long.
fn reverse_sequence(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, lengths) = (cx.input(0)?, cx.input(1)?);
    let (batch, time) = (cx.int("batch_axis", 1), cx.int("time_axis", 0));
    want_index(cx, lengths)?;
    let dims = cx.dims(x);
    if !matches!((batch, time), (0, 1) | (1, 0))
        || dims.len() < 2
        || cx.dims(lengths) != [dims[batch as usize]]
    {
        return Err(malformed!("its axes {batch} and {time} do not fit lengths {}", cx.shown(lengths)));
    }
    let mut perm: Vec<usize> = (0..dims.len()).collect();
    perm.swap(0, batch as usize);
    let rows = cx.transposed(x, &perm)?;
    let turned = cx.dims(rows);
    let (b, t) = (turned[0], turned[1]);
    let dtype = cx.ty(lengths).dtype;
    let lengths = cx.reshaped(lengths, &[b, 1])?;
    let at = cx.counted(dtype, t)?;
    let inside = cx.compared(Comparison::Less, at, lengths)?;
    let last = cx.plus(lengths, -1.0)?;
    let backwards = cx.difference(last, at)?;
    let from = cx.choice(inside, backwards, at)?;
    let from = cx.reshaped(from, &[b, t, 1])?;
    let y = cx.add_like(Op::Gather { batch: 1, axis: 1, depth: 1 }, &[rows, from], &turned)?;
    cx.transposed(y, &perm)
}

/// TopK: the largest elements along an axis, or the smallest, in order, and where they are.
fn top(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    let axis = cx.axis(cx.int("axis", -1), dims.len())?;
    let k = match cx.opset() >= 10 {
        true => cx.ints(1, "number of elements")?.and_then(|list| list.first().copied()),
        false => Some(cx.int("k", 0)),
    };
    let count = k.and_then(|k| usize::try_from(k).ok()).filter(|k| (1..=dims[axis]).contains(k));
    let Some(count) = count else {
        return Err(malformed!(
            "it cannot find the {:?} largest elements of {}",
            k.unwrap_or(0),
            cx.shown(x)
        ));
    };
    let rows = cx.swapped(x, axis)?;
    // The smallest ones are the largest ones of the negated elements.
    let ordered = match (cx.int("largest", 1) != 0, cx.ty(x).dtype) {
        (true, _) => rows,
        (false, DType::F32) => cx.unary(kiln_ir::Unary::Neg, rows)?,
        (false, _) => {
            let mirror = cx.number(rows, -1.0)?;
            cx.difference(mirror, rows)?
        }
    };
    let mut result = cx.dims(rows);
    let last = result.len() - 1;
    result[last] = count;
    let found = cx.add(Op::TopK {}, &[ordered], Type::plain(DType::I32, &result))?;
    let each = [&result[..], &[1]].concat();
    let named = cx.reshaped(found, &each)?;
    let y = cx.add_like(Op::Gather { batch: last, axis: last, depth: 1 }, &[rows, named], &result)?;
    let y = cx.swapped(y, axis)?;
    cx.bind(0, y)?;
    if cx.wants(1) {
        let found = cx.cast(found, DType::I64)?;
        let found = cx.swapped(found, axis)?;
        cx.bind(1, found)?;
    }
    Ok(())
}
