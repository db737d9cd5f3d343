//! PAD, PADV2, TRANSPOSE, CONCATENATION and PACK: stored values are moved, not computed with.

use super::cx::{axis, describe, OpCx, SAME_SCALE};
use super::quant::Activation;
use super::{Lowered, Operators, Refusal};
use kiln_ir::{DType, Op, ValueId};

pub(super) const OPERATORS: Operators =
    &[(2, concatenation), (34, pad), (39, transpose), (60, pad_v2), (83, pack)];

/// Most operands of a concatenation.
const LARGEST_CONCAT: usize = 64;

/// PAD with zeros, which are the zero point of a quantised tensor; of int16, whose zero point is to be 0, stored zeros.
fn pad(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let value = match cx.ty(x).dtype {
        DType::I16 => 0,
        _ => cx.ty(x).zero_point().into(),
    };
    padded(cx, x, value)
}

/// PADV2 with a constant.
fn pad_v2(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (x, value) = (cx.input(0)?, cx.input(2)?);
    let (x_ty, ty) = (cx.ty(x), cx.ty(value));
    if ty.dtype != x_ty.dtype || ty.shape.numel() != 1 || ty.quant != x_ty.quant {
        let what =
            format!("{} is padded with {}, which has another quantisation", describe(x_ty), describe(ty));
        return Err(Refusal::unsupported(what, "pad with a constant of the operand's type"));
    }
    let Some(data) = cx.data(value) else {
        return Err(Refusal::unsupported("its padding value is computed at run time", "use a constant"));
    };
    let value = match ty.dtype {
        DType::F32 => data.to_f32().first().map(|x| i64::from(x.to_bits())),
        dtype => data.to_ints(dtype).first().copied(),
    };
    padded(cx, x, value.unwrap_or_default())
}

fn padded(cx: &mut OpCx<'_, '_, '_>, x: ValueId, value: i64) -> Lowered {
    let dims = cx.dims(x);
    let amounts = cx.ints(1, "padding")?;
    let misfit = || malformed!("padding {amounts:?} does not fit shape {dims:?}");
    if amounts.len() != 2 * dims.len() {
        return Err(misfit());
    }
    let amount = |i: usize| amounts.get(i).and_then(|&a| u32::try_from(a).ok()).map(|a| a as usize);
    let (mut before, mut after, mut padded) = (Vec::new(), Vec::new(), Vec::new());
    for (i, &d) in dims.iter().enumerate() {
        let (b, a) = (amount(2 * i).ok_or_else(misfit)?, amount(2 * i + 1).ok_or_else(misfit)?);
        padded.push(d.checked_add(b).and_then(|n| n.checked_add(a)).ok_or_else(misfit)?);
        before.push(b);
        after.push(a);
    }
    cx.emit_moved(Op::Pad { before, after, value }, &[x], 0, &padded)
}

/// TRANSPOSE by a constant permutation.
fn transpose(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    let mut perm = Vec::new();
    for index in cx.ints(1, "permutation")? {
        perm.push(axis(index, dims.len())?);
    }
    let mut sorted = perm.clone();
    sorted.sort_unstable();
    if sorted != (0..dims.len()).collect::<Vec<_>>() {
        return Err(malformed!("{perm:?} is not a permutation of {} axes", dims.len()));
    }
    let dims: Vec<usize> = perm.iter().map(|&i| dims[i]).collect();
    cx.emit_moved(Op::Transpose { perm }, &[x], 0, &dims)
}

/// CONCATENATION.
fn concatenation(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (index, activation) = cx.options(10)?.concatenation()?;
    if Activation::fused(activation)? != Activation::None {
        let help = "make the activation a separate operator";
        return Err(Refusal::unsupported("a fused activation cannot be compiled here", help));
    }
    let operands = operands(cx)?;
    // LiteRT's kernel of uint8 rescales operands. Where scales are all but equal, that changes nothing.
    let tolerance = match operands.first().and_then(|&x| cx.as_stored(x)) {
        Some(_) => (cx.declared(0)?.scale().unwrap_or(0.0) / 1024.0).min(SAME_SCALE),
        None => SAME_SCALE,
    };
    let rank = operands.first().map_or(0, |&x| cx.dims(x).len());
    let axis = axis(i64::from(index), rank)?;
    joined(cx, &operands, axis, tolerance)
}

/// PACK: operands become the indices of a new axis.
fn pack(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let index = cx.options(59)?.pack_axis()?;
    let operands = operands(cx)?;
    let rank = operands.first().map_or(0, |&x| cx.dims(x).len());
    let axis = axis(i64::from(index), rank + 1)?;
    let mut raised = Vec::new();
    for x in operands {
        let mut dims = cx.dims(x);
        malformed_if!(dims.len() != rank, "operand {} does not have {rank} axes", cx.shown(x));
        dims.insert(axis, 1);
        raised.push(cx.node(Op::Reshape {}, &[x], 0, cx.ty(x).with_shape(&dims))?);
    }
    joined(cx, &raised, axis, SAME_SCALE)
}

fn operands(cx: &mut OpCx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let count = cx.input_count();
    malformed_if!(count == 0, "it has no operands");
    if count > LARGEST_CONCAT {
        let what = format!("{count} operands; at most {LARGEST_CONCAT} can be compiled");
        return Err(Refusal::unsupported(what, "concatenate them in several steps"));
    }
    (0..count).map(|k| cx.input(k)).collect()
}

fn joined(cx: &mut OpCx<'_, '_, '_>, operands: &[ValueId], axis: usize, tolerance: f32) -> Lowered {
    let Some(&first) = operands.first() else { return Err(malformed!("it has no operands")) };
    let mut dims = cx.dims(first);
    let mut length = 0usize;
    for &x in operands {
        let mut own = cx.dims(x);
        let size = own.get(axis).copied().unwrap_or(0);
        length = length.checked_add(size).ok_or_else(|| malformed!("its result is too large"))?;
        if let (Some(own), Some(first)) = (own.get_mut(axis), dims.get(axis)) {
            *own = *first;
        }
        if own != dims {
            let (x, first) = (cx.shown(x), cx.shown(first));
            return Err(malformed!("{first} and {x} cannot be concatenated along axis {axis}"));
        }
    }
    dims[axis] = length;
    cx.emit_within(tolerance, Op::Concat { axis }, operands, 0, &dims)
}
