//! GATHER, GATHER_ND, EMBEDDING_LOOKUP and RESIZE_NEAREST_NEIGHBOR: parts of an operand that indices name. And RESIZE_BILINEAR.

use super::cx::{axis, describe, OpCx};
use super::{Lowered, Operators, Refusal};
use kiln_ir::{DType, Data, Op, Type, ValueId};

pub(super) const OPERATORS: Operators = &[
    (7, embedding_lookup),
    (23, resize_bilinear),
    (36, gather),
    (97, resize_nearest_neighbor),
    (107, gather_nd),
];

/// GATHER along one axis, of which the leading ones may be shared.
fn gather(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (index, shared) = cx.options(23)?.gather()?;
    let (x, indices) = (cx.input(0)?, cx.input(1)?);
    let rank = cx.dims(x).len();
    let along = axis(i64::from(index), rank)?;
    // One may count from the end.
    let all = cx.dims(indices).len();
    let batch = if shared == 0 { 0 } else { axis(i64::from(shared), all + 1)? };
    one_axis(cx, x, indices, along, batch)
}

/// EMBEDDING_LOOKUP: rows of the second operand.
fn embedding_lookup(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (indices, table) = (cx.input(0)?, cx.input(1)?);
    one_axis(cx, table, indices, 0, 0)
}

/// GATHER_ND: the last axis of the indices has coordinates along the first axes of the operand.
fn gather_nd(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (x, indices) = (cx.input(0)?, cx.input(1)?);
    let depth = cx.ty(indices).shape.last();
    let (dims, named) = (cx.dims(x), cx.dims(indices));
    let Some((_, named)) = named.split_last() else {
        return Err(malformed!("its indices are a single number"));
    };
    if depth == 0 || depth > dims.len() {
        return Err(malformed!("indices {} do not fit {}", cx.shown(indices), cx.shown(x)));
    }
    let result = [named, &dims[depth..]].concat();
    let indices = plain(cx, indices, &cx.dims(indices))?;
    inside(cx, indices, &dims[..depth])?;
    let x = cx.as_result(x, 0)?;
    cx.emit(Op::Gather { batch: 0, axis: 0, depth }, &[x, indices], 0, &result)
}

fn one_axis(cx: &mut OpCx<'_, '_, '_>, x: ValueId, indices: ValueId, axis: usize, batch: usize) -> Lowered {
    let (dims, named) = (cx.dims(x), cx.dims(indices));
    let fits = dims.len() > axis && batch <= axis && batch <= named.len() && dims[..batch] == named[..batch];
    if !fits {
        let what = format!(
            "indices {} do not fit axis {axis} of {}, with {batch} batch axes",
            cx.shown(indices),
            cx.shown(x)
        );
        return Err(Refusal::malformed(what));
    }
    let indices = plain(cx, indices, &[&named[..], &[1]].concat())?;
    inside(cx, indices, &dims[axis..=axis])?;
    let x = cx.as_result(x, 0)?;
    let result = [&dims[..axis], &named[batch..], &dims[axis + 1..]].concat();
    cx.emit(Op::Gather { batch, axis, depth: 1 }, &[x, indices], 0, &result)
}

/// Indices as numbers without a scale, of another shape.
fn plain(cx: &mut OpCx<'_, '_, '_>, indices: ValueId, dims: &[usize]) -> Lowered<ValueId> {
    let ty = cx.ty(indices).clone();
    if !matches!(ty.dtype, DType::I32 | DType::I64) {
        let what = format!("its indices are {}", describe(&ty));
        return Err(Refusal::unsupported(what, "use indices of int32 or int64"));
    }
    let plain = Type::plain(ty.dtype, dims);
    if let Some(data) = cx.data(indices) {
        return Ok(cx.constant("indices", plain, data));
    }
    match ty == plain {
        true => Ok(indices),
        false => cx.node(Op::Reshape {}, &[indices], 0, plain),
    }
}

/// Refuses constant coordinates outside of axes of these sizes.
fn inside(cx: &OpCx<'_, '_, '_>, indices: ValueId, sizes: &[usize]) -> Lowered {
    let Some(data) = cx.data(indices) else { return Ok(()) };
    let given = data.to_ints(cx.ty(indices).dtype);
    let outside = |(&index, &size): &(&i64, &usize)| usize::try_from(index).map_or(true, |i| i >= size);
    match given.iter().zip(sizes.iter().cycle()).find(outside) {
        Some((index, size)) => Err(malformed!("there is no index {index}: the axis has size {size}")),
        None => Ok(()),
    }
}

/// RESIZE_NEAREST_NEIGHBOR: rows and columns are repeated or left out.
fn resize_nearest_neighbor(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (corners, centres) = cx.options(74)?.resize_nearest()?;
    let x = cx.input(0)?;
    let size = cx.ints(1, "size")?;
    let ([_, h, w, _], [out_h, out_w]) = resized(cx, x, &size)?;
    let mut resized = cx.as_result(x, 0)?;
    for (axis, from, to) in [(1, h, out_h), (2, w, out_w)] {
        let nearest = |i| nearest(i, from, to, corners, centres);
        if (0..to).map(nearest).eq(0..from) {
            continue;
        }
        let mut dims = cx.dims(resized);
        dims[axis] = to;
        cx.charge(to.saturating_mul(4))?;
        let indices = Data::from_i32(&(0..to).map(|i| nearest(i) as i32).collect::<Vec<_>>());
        let indices = cx.constant("nearest", Type::plain(DType::I32, &[to, 1]), indices);
        let ty = cx.ty(resized).with_shape(&dims);
        resized = cx.node(Op::Gather { batch: 0, axis, depth: 1 }, &[resized, indices], 0, ty)?;
    }
    let dims = cx.dims(resized);
    cx.emit_reshaped(resized, 0, &dims)
}

/// RESIZE_BILINEAR.
fn resize_bilinear(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (align_corners, half_pixel) = cx.options(15)?.resize_bilinear()?;
    let x = cx.input(0)?;
    let size = cx.ints(1, "size")?;
    cx.format(&[x])?;
    let ([n, _, _, c], [out_h, out_w]) = resized(cx, x, &size)?;
    malformed_if!(align_corners && half_pixel, "it has both align_corners and half_pixel_centers");
    let x = cx.as_result(x, 0)?;
    let (op, dims) = (Op::ResizeBilinear { align_corners, half_pixel }, [n, out_h, out_w, c]);
    match cx.as_stored(x) {
        // TFLite computes with bytes as floats.
        Some(stored) => {
            let unsigned = cx.same_number(x, stored.clone());
            let resized = cx.node(op, &[unsigned], 0, stored.with_shape(&dims))?;
            let signed = cx.same_number(resized, cx.ty(x).with_shape(&dims));
            cx.bind(0, signed)
        }
        None => cx.emit(op, &[x], 0, &dims),
    }
}

/// The image's dimensions, and the height and width it gets.
pub(super) fn resized(cx: &OpCx<'_, '_, '_>, x: ValueId, size: &[i64]) -> Lowered<([usize; 4], [usize; 2])> {
    let misfit = || malformed!("{} cannot be resized to {size:?}", cx.shown(x));
    let image: [usize; 4] = cx.dims(x).try_into().map_err(|_| misfit())?;
    if image.contains(&0) {
        let what = format!("its operand {} has no elements", cx.shown(x));
        return Err(Refusal::unsupported(what, "remove the operator, or use a larger input shape"));
    }
    let side =
        |k: usize| size.get(k).and_then(|&d| u16::try_from(d).ok()).map(usize::from).filter(|&d| d > 0);
    match (size.len(), side(0), side(1)) {
        (2, Some(h), Some(w)) => Ok((image, [h, w])),
        _ => Err(misfit()),
    }
}

/// The pixel that pixel `i` of `to` is a copy of, as TFLite computes it in `f32`.
fn nearest(i: usize, from: usize, to: usize, corners: bool, centres: bool) -> usize {
    let scale = match corners && to > 1 {
        true => (from - 1) as f32 / (to - 1) as f32,
        false => from as f32 / to as f32,
    };
    let at = (i as f32 + if centres { 0.5 } else { 0.0 }) * scale;
    let at = if corners { at.round() } else { at.floor() };
    (at as usize).min(from - 1)
}
