//! TRANSPOSE_CONV, as [`transposed`](crate::transposed) says.

use super::conv::{as_read, layer, per_channel, symmetric, wide_bias, Filtering};
use super::cx::{describe, Format, OpCx};
use super::quant::Activation;
use super::space::turn;
use super::{Layout, Lowered, Operators};
use crate::tflite::options::Padding;
use crate::transposed::{self, Axis};
use kiln_ir::{DType, Data, Op, Quant, Rescale, Type, ValueId};

pub(super) const OPERATORS: Operators = &[(67, transpose_conv)];

/// TRANSPOSE_CONV.
fn transpose_conv(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let options = cx.options(49)?.transpose_conv()?;
    // A shape that is computed at run time has to be the one that the file declares.
    let shape = cx.input(0)?;
    let target = match cx.is_const(shape) || !cx.has_static_shape(0)? {
        true => cx.ints(0, "result shape")?,
        false => cx.declared(0)?.shape.dims().iter().map(|&d| d as i64).collect(),
    };
    let (x, weights) = (cx.input(2)?, cx.filters(1, Layout::Rows)?);
    let weights = as_read(cx, x, weights)?;
    let is_wide = cx.ty(x).dtype == DType::I16 && cx.ty(weights).dtype == DType::I8;
    let format = if is_wide { cx.format(&[x])? } else { cx.format(&[x, weights])? };
    let (&[n, h, w, c], &[o, kh, kw, depth]) = (&*cx.dims(x), &*cx.dims(weights)) else {
        let (x, w) = (cx.shown(x), cx.shown(weights));
        return Err(malformed!("image {x} and weights {w} must have four axes"));
    };
    let misfit = || {
        let (x, w) = (cx.shown(x), cx.shown(weights));
        malformed!("image {x} and weights {w} do not give {target:?}")
    };
    let size = |k: usize| target.get(k).and_then(|&d| u32::try_from(d).ok()).map(|d| d as usize);
    let (Some(out_n), Some(out_h), Some(out_w), Some(out_c)) = (size(0), size(1), size(2), size(3)) else {
        return Err(misfit());
    };
    if target.len() != 4 || out_n != n || out_c != o || c != depth {
        return Err(misfit());
    }
    let same = options.padding == Padding::Same;
    let rows = axis(options.stride[0], kh, h, out_h, same).ok_or_else(misfit)?;
    let columns = axis(options.stride[1], kw, w, out_w, same).ok_or_else(misfit)?;

    let result = cx.declared(0)?;
    let clamp = Activation::fused(options.activation)?.clamp(&result);
    let copies = rows.stride * columns.stride;
    let rescale = match format {
        Format::Float => Rescale::Real,
        Format::Int8 | Format::Int16 => match per_channel(cx, x, weights, &result)? {
            Rescale::FixedPoint(list) if list.len() > 1 => Rescale::FixedPoint(list.repeat(copies)),
            one => one,
        },
    };
    let filters = filters(cx, weights, rows, columns)?;
    let bias = bias(cx, format, o, copies)?;
    let filters = if bias.is_none_or(|bias| cx.is_const(bias)) { symmetric(cx, filters) } else { filters };
    let bias = match (format, bias) {
        (Format::Int16, bias) => Some(wide_bias(cx, filters, bias)?),
        (_, bias) => bias,
    };
    let window = transposed::window([rows, columns]);
    let filtering = Filtering { window, groups: 1, rescale, clamp };
    let ty = result.with_shape(&[n, rows.blocks, columns.blocks, copies * o]);
    let blocks = layer(cx, [x, filters], bias, filtering, ty)?;

    let split = [n, rows.blocks, columns.blocks, rows.stride, columns.stride, o];
    let spread = turn(cx, blocks, &split, &[0, 1, 3, 2, 4, 5])?;
    let whole = [n, rows.blocks * rows.stride, columns.blocks * columns.stride, o];
    if whole == [n, out_h, out_w, o] {
        return cx.emit_reshaped(spread, 0, &whole);
    }
    let image = cx.node(Op::Reshape {}, &[spread], 0, result.with_shape(&whole))?;
    let op = Op::Slice { begin: vec![0, rows.lead, columns.lead, 0], step: vec![1; 4] };
    cx.emit(op, &[image], 0, &[n, out_h, out_w, o])
}

/// The geometry of one axis; `None` for sizes that do not fit together.
fn axis(stride: i32, taps: usize, size: usize, out: usize, same: bool) -> Option<Axis> {
    let stride = usize::try_from(stride).ok().filter(|&stride| stride > 0)?;
    if taps == 0 || size == 0 || out == 0 {
        return None;
    }
    // What as many pixels as belong to the result reach, of which it is the middle.
    let all = (out.div_ceil(stride) - 1).checked_mul(stride)?.checked_add(taps)?;
    let lead = if same { all.saturating_sub(out) / 2 } else { 0 };
    let fits = out.checked_add(lead)?.div_ceil(stride) >= size;
    Axis::new(stride, 1, taps, size, lead, out).filter(|_| fits)
}

/// The filters of all remainders, one block of filters after the other; missing taps are zero.
fn filters(cx: &mut OpCx<'_, '_, '_>, weights: ValueId, rows: Axis, columns: Axis) -> Lowered<ValueId> {
    let ty = cx.ty(weights).clone();
    let (o, depth) = (ty.shape.dims()[0], ty.shape.last());
    let copies = rows.stride * columns.stride;
    let quant = ty.quant.as_ref().map(|q| match q.axis {
        None => q.clone(),
        Some(_) => {
            let (scales, zero_points) = (q.scales.repeat(copies), q.zero_points.repeat(copies));
            Quant { scales, zero_points, axis: Some(0) }
        }
    });
    if ty.quant.as_ref().is_some_and(|q| q.axis.is_some_and(|axis| axis != 0)) {
        return Err(malformed!("its weights are not quantised along the first axis"));
    }
    let ty = Type { quant, ..ty.with_shape(&[copies * o, rows.reach, columns.reach, depth]) };
    super::tensor::check_size(ty.dtype, ty.shape.dims())?;
    let Some(data) = cx.data(weights) else { return computed_filters(cx, weights, rows, columns, ty) };
    cx.charge(ty.bytes())?;
    let run = depth * ty.dtype.size();
    // The zero point of weights is a byte, or there is none.
    let zero = vec![if ty.dtype == DType::F32 { 0 } else { ty.zero_point() as u8 }; run];
    let mut bytes = Vec::with_capacity(ty.bytes());
    for taps in transposed::taps([rows, columns]) {
        for (filter, tap) in (0..o).flat_map(|filter| taps.iter().map(move |tap| (filter, *tap))) {
            let at = tap.map(|tap| (filter * rows.taps * columns.taps + tap) * run);
            let tap = at.and_then(|at| data.bytes().get(at..at + run));
            bytes.extend_from_slice(tap.unwrap_or(&zero));
        }
    }
    Ok(cx.constant("transposed weights", ty, Data::new(bytes)))
}

/// The same of weights that are computed at run time, as a rearrangement.
fn computed_filters(
    cx: &mut OpCx<'_, '_, '_>,
    weights: ValueId,
    rows: Axis,
    columns: Axis,
    result: Type,
) -> Lowered<ValueId> {
    let ty = cx.ty(weights).clone();
    let (o, depth) = (ty.shape.dims()[0], ty.shape.last());
    let whole = [rows.reach * rows.stride, columns.reach * columns.stride];
    // Missing taps are zero.
    let after = vec![0, whole[0] - rows.taps, whole[1] - columns.taps, 0];
    let value = ty.zero_point().into();
    let pad = Op::Pad { before: vec![0; 4], after, value };
    let taps = cx.node(pad, &[weights], 0, ty.with_shape(&[o, whole[0], whole[1], depth]))?;
    let split = [o, rows.reach, rows.stride, columns.reach, columns.stride, depth];
    let taps = cx.node(Op::Reshape {}, &[taps], 0, ty.with_shape(&split))?;
    // Backwards.
    let begin = vec![0, rows.reach - 1, 0, columns.reach - 1, 0, 0];
    let back = Op::Slice { begin, step: vec![1, -1, 1, -1, 1, 1] };
    let taps = cx.node(back, &[taps], 0, ty.with_shape(&split))?;
    let perm = vec![2, 4, 0, 1, 3, 5];
    let dims: Vec<usize> = perm.iter().map(|&axis| split[axis]).collect();
    let quant = ty.quant.as_ref().map(|q| Quant { axis: q.axis.map(|_| 2), ..q.clone() });
    let turned = Type { quant, ..ty.with_shape(&dims) };
    let taps = cx.node(Op::Transpose { perm }, &[taps], 0, turned)?;
    cx.node(Op::Reshape {}, &[taps], 0, result)
}

/// The bias, once for each remainder.
fn bias(cx: &mut OpCx<'_, '_, '_>, format: Format, o: usize, copies: usize) -> Lowered<Option<ValueId>> {
    let Some(bias) = cx.optional_input(3)? else { return Ok(None) };
    let ty = cx.ty(bias).clone();
    let fits = match format {
        Format::Float => ty.dtype == DType::F32,
        Format::Int8 => ty.dtype == DType::I32,
        Format::Int16 => matches!(ty.dtype, DType::I32 | DType::I64),
    };
    malformed_if!(!fits || ty.shape.dims() != [o], "bias {} does not fit {o} channels", describe(&ty));
    let repeated = Type::plain(ty.dtype, &[o * copies]);
    let Some(data) = cx.data(bias) else {
        let row = cx.node(Op::Reshape {}, &[bias], 0, Type::plain(ty.dtype, &[1, o]))?;
        let each = cx.node(Op::Broadcast {}, &[row], 0, Type::plain(ty.dtype, &[copies, o]))?;
        return cx.node(Op::Reshape {}, &[each], 0, repeated).map(Some);
    };
    cx.charge(repeated.bytes())?;
    Ok(Some(cx.constant("repeated bias", repeated, Data::new(data.bytes().repeat(copies)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_the_result() {
        let a = axis(2, 3, 4, 8, true).unwrap();
        assert_eq!((a.reach, a.lead, a.blocks), (2, 0, 4));
        let a = axis(2, 4, 4, 8, true).unwrap();
        assert_eq!((a.reach, a.lead, a.blocks), (2, 1, 5));
        let a = axis(2, 3, 4, 9, false).unwrap();
        assert_eq!((a.reach, a.lead, a.blocks), (2, 0, 5));
        let a = axis(3, 2, 4, 11, false).unwrap();
        assert_eq!((a.reach, a.lead, a.blocks), (1, 0, 4));
        assert!(axis(2, 3, 4, 5, false).is_none() && axis(0, 1, 1, 1, true).is_none());
    }
}
