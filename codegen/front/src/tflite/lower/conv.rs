//! CONV_2D and DEPTHWISE_CONV_2D. Their weights and biases may be computed at run time.

use super::cx::{describe, Format, OpCx};
use super::quant::{multiplier, Activation};
use super::{dynamic, Layout, Lowered, Operators, Refusal};
use crate::tflite::options::{Padding, WindowOptions};
use kiln_ir::{self, AddRescale, Clamp, DType, Data, Op, Rescale, Type, ValueId, Window};

pub(super) const OPERATORS: Operators = &[(3, conv_2d), (4, depthwise_conv_2d)];

/// CONV_2D, grouped where the weights have fewer channels than the image.
fn conv_2d(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let options = cx.options(1)?;
    let narrow = options.has_narrow_sums(6)?;
    convolution(cx, &options.conv()?, Layout::Rows, narrow)
}

/// DEPTHWISE_CONV_2D: a convolution with as many groups as input channels.
fn depthwise_conv_2d(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let options = cx.options(2)?.depthwise()?;
    convolution(cx, &options, Layout::Depthwise, false)
}

fn convolution(cx: &mut OpCx<'_, '_, '_>, options: &WindowOptions, layout: Layout, narrow: bool) -> Lowered {
    let x = cx.input(0)?;
    let weights = cx.filters(1, layout)?;
    let weights = as_read(cx, x, weights)?;
    let is_dynamic = dynamic::applies(cx, x, weights)?;
    let (weights, bias, format) = match is_dynamic {
        true => (weights, None, Format::Float),
        false => weights_and_bias(cx, x, weights)?,
    };
    // Sums of 16-bit products have 64 bits in depthwise convolutions.
    let bias = match (format, layout) {
        (Format::Int16, Layout::Depthwise) => Some(wide_bias(cx, weights, bias)?),
        (Format::Int16, _) => bias_of_sums(cx, weights, bias, narrow)?,
        _ => bias,
    };
    let (&[n, h, w, c], &[o, kh, kw, group_c]) = (&*cx.dims(x), &*cx.dims(weights)) else {
        let (x, w) = (cx.shown(x), cx.shown(weights));
        return Err(malformed!("image {x} and weights {w} must have four axes"));
    };
    let groups = c.checked_div(group_c).unwrap_or(0);
    if groups == 0 || c % group_c != 0 || o == 0 || o % groups != 0 {
        return Err(malformed!("{c} channels cannot be divided into groups of {group_c} for {o} filters"));
    }
    let window = window(&WindowOptions { size: [size(kh)?, size(kw)?], ..*options }, [h, w])?;
    let Some([out_h, out_w]) = window.output([h, w]) else {
        return Err(malformed!("a {kh}×{kw} window does not fit a {h}×{w} image"));
    };
    let result = cx.declared(0)?;
    let clamp = Activation::fused(options.activation)?.clamp(&result);
    let ty = result.with_shape(&[n, out_h, out_w, o]);
    let value = if is_dynamic {
        let (operands, late) = dynamic::operands(cx, x, weights, None)?;
        biased(cx, |clamp| Op::DynamicConv2d { window, groups, clamp }, &operands, late, clamp, ty)?
    } else {
        let rescale = match format {
            Format::Float => Rescale::Real,
            Format::Int8 | Format::Int16 => per_channel(cx, x, weights, &result)?,
        };
        layer(cx, [x, weights], bias, Filtering { window, groups, rescale, clamp }, ty)?
    };
    cx.bind(0, value)
}

/// Weights as kernels of int8 and int16 convolutions read them: around 0, whatever zero point the file states.
pub(super) fn as_read(cx: &mut OpCx<'_, '_, '_>, x: ValueId, weights: ValueId) -> Lowered<ValueId> {
    let ty = cx.ty(weights).clone();
    let knows_zero = cx.ty(x).dtype == DType::F32 || ty.dtype != DType::I8 || cx.as_stored(x).is_some();
    let Some(quant) = ty.quant.as_ref().filter(|q| !knows_zero && q.zero_points.iter().any(|&z| z != 0))
    else {
        return Ok(weights);
    };
    let quant = kiln_ir::Quant { zero_points: vec![0; quant.scales.len()], ..quant.clone() };
    let ty = Type { quant: Some(quant), ..ty };
    match cx.data(weights) {
        Some(data) => Ok(cx.constant("weights", ty, data)),
        None => cx.node(Op::Reshape {}, &[weights], 0, ty),
    }
}

/// What a convolution does with its operands.
pub(super) struct Filtering {
    pub(super) window: Window,
    pub(super) groups: usize,
    pub(super) rescale: Rescale,
    pub(super) clamp: Clamp,
}

/// A convolution of `x` with weights and a bias that may be computed at run time.
pub(super) fn layer(
    cx: &mut OpCx<'_, '_, '_>,
    [x, weights]: [ValueId; 2],
    bias: Option<ValueId>,
    Filtering { window, groups, rescale, clamp }: Filtering,
    ty: Type,
) -> Lowered<ValueId> {
    let late = bias.filter(|&bias| !cx.is_const(bias));
    let real = rescale == Rescale::Real;
    if cx.is_const(weights) && (late.is_none() || real) {
        let layout = kiln_ir::Layout::default();
        let op = |clamp| Op::Conv2d { window, groups, rescale: rescale.clone(), clamp, layout };
        let bias = bias.filter(|_| late.is_none());
        let operands: Vec<ValueId> = [x, weights].into_iter().chain(bias).collect();
        return biased(cx, op, &operands, late, clamp, ty);
    }
    let filters = cx.dims(weights).first().copied().unwrap_or(1);
    let bias = bias.unwrap_or_else(|| {
        let dtype = if real { DType::F32 } else { DType::I32 };
        let none = Data::new(vec![0u8; filters * dtype.size()]);
        cx.constant("no bias", Type::plain(dtype, &[filters]), none)
    });
    cx.node(Op::ComputedConv2d { window, groups, rescale, clamp }, &[x, weights, bias], 0, ty)
}

/// The result of an op of floats by its clamp, and of a sum with a bias that is computed at run time, where there is one.
pub(super) fn biased(
    cx: &mut OpCx<'_, '_, '_>,
    op: impl Fn(Clamp) -> Op,
    operands: &[ValueId],
    bias: Option<ValueId>,
    clamp: Clamp,
    ty: Type,
) -> Lowered<ValueId> {
    let Some(bias) = bias else { return cx.node(op(clamp), operands, 0, ty) };
    let products = cx.node(op(Clamp::NO_FLOAT), operands, 0, ty.clone())?;
    cx.node(Op::Add { rescale: AddRescale::Real, clamp }, &[products, bias], 0, ty)
}

/// Weights less their zero point where they are constants, the bias (operand 2) with one axis, and the format of their arithmetic with `x`.
pub(super) fn weights_and_bias(
    cx: &mut OpCx<'_, '_, '_>,
    x: ValueId,
    weights: ValueId,
) -> Lowered<(ValueId, Option<ValueId>, Format)> {
    let is_wide = cx.ty(x).dtype == DType::I16 && cx.ty(weights).dtype == DType::I8;
    let format = if is_wide { cx.format(&[x])? } else { cx.format(&[x, weights])? };
    if let Some(q) = &cx.ty(weights).quant {
        let channels = cx.ty(weights).shape.dims().first().copied().unwrap_or(0);
        if q.axis.is_some_and(|axis| axis != 0) {
            return Err(malformed!("{} scales for weights of {channels} output channels", q.scales.len()));
        }
        if q.axis.is_some() && q.zero_points.iter().any(|&z| z != 0) {
            return Err(Refusal::malformed(
                "weights that are quantised per channel have a zero point other than 0",
            ));
        }
    }
    let Some(bias) = cx.optional_input(2)? else { return Ok((symmetric(cx, weights), None, format)) };
    let (ty, channels) = (cx.ty(bias), cx.ty(weights).shape.dims().first().copied());
    let fits = match format {
        Format::Float => ty.dtype == DType::F32,
        Format::Int8 => ty.dtype == DType::I32,
        Format::Int16 => matches!(ty.dtype, DType::I32 | DType::I64),
    };
    if !fits {
        let what = format!("a bias of {} with weights of {}", describe(ty), cx.shown(weights));
        return Err(Refusal::unsupported(what, "convert the model to float32 or to full-integer int8"));
    }
    if ty.shape.rank() != 1 || ty.shape.dims().first().copied() != channels {
        return Err(malformed!("bias {} does not fit weights {}", describe(ty), cx.shown(weights)));
    }
    // Kernels of layers that are computed with know the zero point of weights.
    let weights = if cx.is_const(bias) { symmetric(cx, weights) } else { weights };
    Ok((weights, Some(bias), format))
}

/// Weights without a zero point: their differences to it, in 16 bits where they do not fit 8.
pub(super) fn symmetric(cx: &mut OpCx<'_, '_, '_>, weights: ValueId) -> ValueId {
    let ty = cx.ty(weights).clone();
    let (zero, scale) = (i64::from(ty.zero_point()), ty.scale());
    let (Some(scale), Some(data), true) = (scale, cx.data(weights), zero != 0) else { return weights };
    let centred: Vec<i16> = data.to_ints(ty.dtype).into_iter().map(|w| (w - zero) as i16).collect();
    let narrow: Option<Vec<i8>> = centred.iter().map(|&w| i8::try_from(w).ok()).collect();
    let (dtype, data) = match narrow {
        Some(narrow) => (DType::I8, Data::from_i8(&narrow)),
        None => (DType::I16, Data::from_i16(&centred)),
    };
    let ty = Type::quantized(dtype, ty.shape.dims(), scale, 0);
    cx.constant("weights", ty, data)
}

/// The bias of sums of 16-bit products, which are as wide as its elements: 64 bits where there is none, unless the operator says that it would be narrow.
pub(super) fn bias_of_sums(
    cx: &mut OpCx<'_, '_, '_>,
    weights: ValueId,
    bias: Option<ValueId>,
    narrow: bool,
) -> Lowered<Option<ValueId>> {
    match bias {
        None if !narrow => wide_bias(cx, weights, None).map(Some),
        bias => Ok(bias),
    }
}

/// The bias with elements of 64 bits, which is to say: with such sums.
pub(super) fn wide_bias(
    cx: &mut OpCx<'_, '_, '_>,
    weights: ValueId,
    bias: Option<ValueId>,
) -> Lowered<ValueId> {
    let filters = cx.ty(weights).shape.dims().first().copied().unwrap_or(1);
    let (name, wide) = match bias.map(|bias| (bias, cx.ty(bias).clone(), cx.data(bias))) {
        Some((_, ty, Some(data))) => ("bias", data.to_ints(ty.dtype)),
        Some((bias, ty, None)) if ty.dtype == DType::I64 => return Ok(bias),
        Some((bias, ty, None)) => {
            return cx.node(Op::Cast {}, &[bias], 0, Type::plain(DType::I64, ty.shape.dims()))
        }
        None => ("no bias", vec![0; filters]),
    };
    Ok(cx.constant(name, Type::plain(DType::I64, &[wide.len()]), Data::from_ints(DType::I64, wide)))
}

/// One factor per channel, or one for all: input scale · weight scale / output scale, the products in `f64`, but for uint8, where they are in `f32`.
pub(super) fn per_channel(
    cx: &mut OpCx<'_, '_, '_>,
    x: ValueId,
    weights: ValueId,
    result: &Type,
) -> Lowered<Rescale> {
    let is_single = cx.as_stored(x).is_some();
    factors(cx, [x, weights], result, is_single)
}

/// The same, with the products in `f32` or in `f64`.
pub(super) fn factors(
    cx: &mut OpCx<'_, '_, '_>,
    [x, weights]: [ValueId; 2],
    result: &Type,
    is_single: bool,
) -> Lowered<Rescale> {
    let x_scale = f64::from(cx.scale(cx.ty(x), "operand")?);
    let y_scale = f64::from(cx.scale(result, "result")?);
    let Some(q) = &cx.ty(weights).quant else {
        return Err(malformed!("its weights have no quantisation"));
    };
    let factor = |scale: &kiln_ir::Real| match is_single {
        true => multiplier(f64::from(x_scale as f32 * scale.0) / y_scale),
        false => multiplier(x_scale * f64::from(scale.0) / y_scale),
    };
    Ok(Rescale::FixedPoint(q.scales.iter().map(factor).collect::<Lowered<_>>()?))
}

/// The window over an image of `image` rows and columns.
pub(super) fn window(options: &WindowOptions, image: [usize; 2]) -> Lowered<Window> {
    let positive = |v: [i32; 2], what: &str| match v.map(|x| usize::try_from(x).unwrap_or(0)) {
        [a, b] if a > 0 && b > 0 => Ok([a, b]),
        _ => Err(malformed!("its {what} is {}×{}", v[0], v[1])),
    };
    let size = positive(options.size, "window")?;
    let stride = positive(options.stride, "stride")?;
    let dilation = positive(options.dilation, "dilation")?;
    let mut pad = [(0, 0); 2];
    if options.padding == Padding::Same {
        for axis in 0..2 {
            pad[axis] = same_padding(image[axis], size[axis], stride[axis], dilation[axis]);
        }
    }
    let [(top, bottom), (left, right)] = pad;
    Ok(Window { size, stride, dilation, pad: kiln_ir::Padding { top, bottom, left, right } })
}

/// Padding before and after, so that there are `ceil(size / stride)` windows; the odd one goes after.
fn same_padding(size: usize, taps: usize, stride: usize, dilation: usize) -> (usize, usize) {
    // All factors come from 31-bit fields, so nothing overflows 64 bits.
    let wide = |x: usize| x as u64;
    let steps = wide(size).div_ceil(wide(stride)).saturating_sub(1) * wide(stride);
    let reach = (wide(taps) - 1) * wide(dilation) + 1;
    let total = (steps + reach).saturating_sub(wide(size)) as usize;
    (total / 2, total - total / 2)
}

fn size(taps: usize) -> Lowered<i32> {
    i32::try_from(taps).map_err(|_| malformed!("a window of {taps} taps"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_padding_is_tflites() {
        assert_eq!(same_padding(96, 3, 2, 1), (0, 1));
        assert_eq!(same_padding(97, 3, 2, 1), (1, 1));
        assert_eq!(same_padding(49, 10, 2, 1), (4, 5));
        assert_eq!(same_padding(10, 3, 1, 2), (2, 2));
        assert_eq!(same_padding(5, 1, 3, 1), (0, 0));
    }
}
