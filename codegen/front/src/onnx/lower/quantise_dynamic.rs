//! Tensors that are quantised as they come: DynamicQuantizeLinear, and products of integers, MatMulInteger and ConvInteger, whose results are integers of 32 bits.
//!
//! They are made of floats, which hold integers up to 2²⁴: sums of more products are made of parts.

use super::cx::NodeCx;
use super::image::{channel_first, channel_last, convolution, groups, under_windows, window, Axis};
use super::product::product_of;
use super::{All, Lowered, One, Operators, Refusal};
use kiln_ir::{Binary, Clamp, Comparison, DType, Op, Reduction, Rescale, Type, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("ConvInteger", All(conv)),
    ("DynamicQuantizeLinear", All(quantize_linear)),
    ("MatMulInteger", One(matmul)),
    ("com.microsoft.DynamicQuantizeMatMul", One(dynamic_matmul)),
    ("com.microsoft.MatMulIntegerToFloat", One(matmul_to_float)),
];

/// So many products of bytes have a sum below 2²⁴.
pub(super) const EXACT: usize = 256;

/// A tensor as stored values, with its scale and zero point.
pub(super) struct Dynamic {
    pub(super) stored: ValueId,
    pub(super) scale: ValueId,
    pub(super) zero: ValueId,
}

/// Numbers between the least and the largest, and 0, become 0 to 255; all three results are floats.
pub(super) fn quantised(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<Dynamic> {
    cx.want_float(x)?;
    let axes: Vec<usize> = (0..cx.dims(x).len()).collect();
    let nothing = cx.number(x, 0.0)?;
    let least = cx.reduced(Reduction::Min, x, &axes)?;
    let least = cx.binary(Binary::Min, least, nothing)?;
    let most = cx.reduced(Reduction::Max, x, &axes)?;
    let most = cx.binary(Binary::Max, most, nothing)?;
    let (range, steps) = (cx.difference(most, least)?, cx.number(x, 255.0)?);
    let scale = cx.quotient(range, steps)?;
    // All are 0: any scale will do.
    let (none, one) = (cx.compared(Comparison::Equal, most, least)?, cx.number(x, 1.0)?);
    let scale = cx.choice(none, one, scale)?;
    let below = cx.quotient(least, scale)?;
    let zero = cx.difference(nothing, below)?;
    // Of an infinite range it is no number, and 255 in ONNX Runtime.
    let (is_number, top) = (cx.compared(Comparison::Equal, zero, zero)?, cx.number(x, 255.0)?);
    let zero = cx.choice(is_number, zero, top)?;
    let zero = cx.clipped(zero, 0.0, 255.0)?;
    let zero = cx.unary(Unary::Round, zero)?;
    let stored = cx.quotient(x, scale)?;
    let stored = cx.unary(Unary::Round, stored)?;
    let stored = cx.sum(stored, zero)?;
    // Afterwards what is no number is 0.
    let stored = cx.binary(Binary::Max, stored, nothing)?;
    let stored = cx.clipped(stored, 0.0, 255.0)?;
    Ok(Dynamic { stored, scale, zero })
}

/// DynamicQuantizeLinear.
fn quantize_linear(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let Dynamic { stored, scale, zero } = quantised(cx, x)?;
    let (stored, zero) = (cx.cast(stored, DType::U8)?, cx.cast(zero, DType::U8)?);
    let (scale, zero) = (cx.reshaped(scale, &[])?, cx.reshaped(zero, &[])?);
    cx.bind(0, stored)?;
    cx.bind(1, scale)?;
    cx.bind(2, zero)
}

/// Stored values less their zero point, as floats. Zero points of rows are one for each of them.
fn centred(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, zero: Option<ValueId>, rows: bool) -> Lowered<ValueId> {
    if !matches!(cx.ty(x).dtype, DType::I8 | DType::U8 | DType::F32) {
        return Err(malformed!("{} cannot be multiplied", cx.shown(x)));
    }
    let x = cx.cast(x, DType::F32)?;
    let Some(zero) = zero else { return Ok(x) };
    let mut zero = cx.cast(zero, DType::F32)?;
    if let (&[count], true) = (&*cx.dims(zero), rows) {
        zero = cx.reshaped(zero, &[count, 1])?;
    }
    cx.difference(x, zero)
}

/// The product of centred floats, as integers.
pub(crate) fn product(cx: &mut NodeCx<'_, '_, '_>, a: ValueId, b: ValueId) -> Lowered<ValueId> {
    let (left, right) = (cx.dims(a), cx.dims(b));
    let depth = left.last().copied().unwrap_or(1);
    let along = right.len().saturating_sub(2);
    malformed_if!(right.get(along) != Some(&depth), "{left:?} and {right:?} cannot be multiplied");
    let mut all = None;
    for begin in (0..depth).step_by(EXACT) {
        let count = EXACT.min(depth - begin);
        let (x, y) = if depth <= EXACT {
            (a, b)
        } else {
            (cx.part(a, left.len() - 1, begin, count, 1)?, cx.part(b, along, begin, count, 1)?)
        };
        let op = Op::MatMul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
        let part = product_of(cx, x, y, |dims| Ok((op, Type::plain(DType::F32, dims))))?;
        let part = cx.cast(part, DType::I32)?;
        all = Some(match all {
            Some(all) => cx.sum(all, part)?,
            None => part,
        });
    }
    all.ok_or_else(|| malformed!("a product has no factors"))
}

/// MatMulInteger.
fn matmul(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (a, b, a_zero, b_zero) = (cx.input(0)?, cx.input(1)?, cx.optional(2)?, cx.optional(3)?);
    let (a, b) = (centred(cx, a, a_zero, true)?, centred(cx, b, b_zero, false)?);
    product(cx, a, b)
}

/// ConvInteger.
fn conv(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let (x, w, x_zero, w_zero) = (cx.input(0)?, cx.input(1)?, cx.optional(2)?, cx.optional(3)?);
    let (shape, groups) = (cx.dims(w), groups(cx)?);
    let rank = shape.len();
    let stored = cx.data(w).filter(|_| matches!(rank, 3 | 4));
    let Some(stored) = stored.map(|data| data.to_ints(cx.ty(w).dtype)) else {
        let help = "export the model with constant weights, for images or sequences";
        return Err(Refusal::unsupported(format!("weights {}", cx.shown(w)), help));
    };
    let zeros = match w_zero {
        None => vec![0],
        Some(zero) => match cx.data(zero) {
            Some(data) => data.to_ints(cx.ty(zero).dtype),
            None => {
                let help = "export the model with constant zero points of weights";
                return Err(Refusal::unsupported(
                    "the zero point of its weights is computed at run time",
                    help,
                ));
            }
        },
    };
    let (o, depth, kh, kw) = match shape[..] {
        [o, depth, kw] => (o, depth, 1, kw),
        [o, depth, kh, kw] => (o, depth, kh, kw),
        _ => return Err(malformed!("weights {shape:?}")),
    };
    let (taps, filter) = (kh * kw, depth * kh * kw);
    let dims = cx.dims(x);
    if dims.len() != rank
        || dims[1] != depth * groups
        || o % groups != 0
        || !matches!(zeros.len(), 1) && zeros.len() != o
    {
        return Err(malformed!("weights {shape:?} in {groups} groups do not fit {dims:?}"));
    }
    let zero = |o: usize| zeros[if zeros.len() == 1 { 0 } else { o }];
    let weight = |to: usize| {
        let (own, rest) = (to / filter, to % filter);
        (stored[(own * depth + rest % depth) * taps + rest / depth] - zero(own)) as f32
    };
    let ordered: Vec<f32> = (0..stored.len()).map(weight).collect();
    let reach =
        ordered.chunks(filter.max(1)).map(|filter| filter.iter().map(|w| w.abs()).sum::<f32>() * 255.0);
    if reach.fold(0.0, f32::max) > 16_777_216.0 {
        let help = "quantise it statically (QLinearConv, or QDQ format)";
        return Err(Refusal::unsupported("its accumulators have more than 24 bits", help));
    }
    let x = centred(cx, x, x_zero, false)?;
    let x = under_windows(cx, x, &shape[2..])?;
    let axes = window(cx, &shape[2..], &cx.dims(x)[2..])?;
    let image = channel_last(cx, x)?;
    let filters = cx.float_constant("weights", &[o, kh, kw, depth], &ordered)?;
    let y = convolution(cx, image, filters, None, Axis::window(&axes), groups)?;
    let y = cx.cast(y, DType::I32)?;
    let y = channel_first(cx, y, rank)?;
    cx.bind(0, y)
}

/// A product of integers as floats: times both scales, plus a bias.
fn real(
    cx: &mut NodeCx<'_, '_, '_>,
    sums: ValueId,
    [a, b]: [ValueId; 2],
    bias: Option<ValueId>,
) -> Lowered<ValueId> {
    let sums = cx.cast(sums, DType::F32)?;
    let scale = cx.product(a, b)?;
    let y = cx.product(sums, scale)?;
    let y = match bias {
        Some(bias) => cx.sum(y, bias)?,
        None => y,
    };
    Ok(y)
}

/// MatMulIntegerToFloat of ONNX Runtime.
fn matmul_to_float(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (a, b, scales) = (cx.input(0)?, cx.input(1)?, [cx.input(2)?, cx.input(3)?]);
    let (a_zero, b_zero, bias) = (cx.optional(4)?, cx.optional(5)?, cx.optional(6)?);
    let (a, b) = (centred(cx, a, a_zero, true)?, centred(cx, b, b_zero, false)?);
    let sums = product(cx, a, b)?;
    real(cx, sums, scales, bias)
}

/// DynamicQuantizeMatMul of ONNX Runtime.
fn dynamic_matmul(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (a, b, b_scale) = (cx.input(0)?, cx.input(1)?, cx.input(2)?);
    let (b_zero, bias) = (cx.optional(3)?, cx.optional(4)?);
    let Dynamic { stored, scale, zero } = quantised(cx, a)?;
    let (scale, zero) = (cx.reshaped(scale, &[1])?, cx.reshaped(zero, &[1])?);
    let a = cx.difference(stored, zero)?;
    let b = centred(cx, b, b_zero, false)?;
    let sums = product(cx, a, b)?;
    real(cx, sums, [scale, b_scale], bias)
}
