//! Poolings.

use super::cx::NodeCx;
use super::elementwise::magnitude;
use super::image::{channel_first, channel_last, pool_window, Axis};
use super::{quantise, All, Lowered, One, Operators, Refusal};
use kiln_ir::{Binary, Clamp, DType, Op, Reduction, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("AveragePool", One(average)),
    ("GlobalAveragePool", All(|cx| global(cx, |cx, x, axes| cx.mean(x, axes)))),
    ("GlobalLpPool", All(global_lp)),
    ("GlobalMaxPool", All(|cx| global(cx, |cx, x, axes| cx.reduced(Reduction::Max, x, axes)))),
    ("LpPool", One(lp)),
    ("MaxPool", All(max)),
];

/// What becomes of the elements of a window.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Max,
    Sum,
    /// Their mean; with zeros of the padding, or without.
    Average {
        padding_counts: bool,
    },
}

/// AveragePool.
fn average(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    average_of(cx, x)
}

/// The means of the windows of an image of floats, as the attributes describe them.
pub(super) fn average_of(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    cx.want_float(x)?;
    let padding_counts = cx.int("count_include_pad", 0) != 0;
    pool(cx, x, Of::Average { padding_counts })
}

/// MaxPool, without indices.
fn max(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    if cx.wants(1) {
        let help = "remove the output with the indices";
        return Err(Refusal::unsupported(
            "the output with the indices of the largest elements cannot be compiled",
            help,
        ));
    }
    let x = cx.input(0)?;
    let ty = cx.ty(x).clone();
    match ty.dtype {
        DType::I8 | DType::I16 => {}
        DType::U8 => {
            // The largest of unsigned numbers is that of the signed ones.
            let (scale, zero) = (ty.scale().unwrap_or(1.0), ty.zero_point());
            let x = quantise::signed(cx, x, scale, zero.into())?;
            let y = pool(cx, x, Of::Max)?;
            return quantise::bind_stored(cx, y, DType::U8);
        }
        _ => cx.want_float(x)?,
    }
    let y = pool(cx, x, Of::Max)?;
    cx.bind(0, y)
}

/// LpPool: the p-th root of Σ |x|^p.
fn lp(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let p = if cx.opset() < 2 { f64::from(cx.float("p", 2.0)) } else { cx.int("p", 2) as f64 };
    let sizes = magnitude(cx, x)?;
    let powers = power(cx, sizes, p)?;
    let sums = pool(cx, powers, Of::Sum)?;
    power(cx, sums, 1.0 / p)
}

/// GlobalLpPool.
fn global_lp(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    global(cx, |cx, x, axes| {
        let p = cx.int("p", 2) as f64;
        let sizes = magnitude(cx, x)?;
        let powers = power(cx, sizes, p)?;
        let sum = cx.reduced(Reduction::Sum, powers, axes)?;
        power(cx, sum, 1.0 / p)
    })
}

/// xᵖ of what is not negative.
fn power(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, p: f64) -> Lowered<ValueId> {
    match p {
        1.0 => Ok(x),
        2.0 => cx.unary(Unary::Square, x),
        0.5 => cx.unary(Unary::Sqrt, x),
        _ => {
            let exponent = cx.number(x, p)?;
            cx.binary(Binary::Pow, x, exponent)
        }
    }
}

fn pool(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, of: Of) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    let Some(size) = cx.sizes("kernel_shape")?.filter(|size| size.len() + 2 == dims.len()) else {
        return Err(malformed!("its kernel_shape does not fit {}", cx.shown(x)));
    };
    let mut axes = pool_window(cx, &size, &dims[2..])?;
    let x = cropped(cx, x, &mut axes)?;
    // Zeros that count are those of the padding. ONNX Runtime has two kernels: the one for sets before 19 without `ceil_mode` also
    // counts those of a window that ends beyond it.
    let ceil = cx.int("ceil_mode", 0) != 0;
    let given: Vec<(usize, usize)> = axes.iter().map(|axis| axis.pad).collect();
    axes.iter_mut().for_each(Axis::hold);
    let padded = match ceil || cx.opset() >= 19 {
        true => given,
        false => axes.iter().map(|axis| axis.pad).collect(),
    };
    if ceil {
        axes.iter_mut().for_each(Axis::reach_out);
    }
    if axes.iter().any(|axis| axis.windows().is_none_or(|windows| windows == 0)) {
        return Err(malformed!("a window of {size:?} does not fit {}", cx.shown(x)));
    }
    let is_inside = axes.iter().all(|axis| axis.pad == (0, 0));
    let direct = match of {
        Of::Max => true,
        Of::Average { padding_counts } => !padding_counts || is_inside,
        Of::Sum => false,
    };
    let touches = axes.iter().all(Axis::always_inside);
    if direct && touches && axes.len() <= 2 && axes.iter().all(|axis| axis.dilation == 1) {
        return flat(cx, x, &axes, of);
    }
    // Integers are compared as floats, which they are exactly.
    let ty = cx.ty(x).clone();
    let wide = cx.cast(x, DType::F32)?;
    let y = separate(cx, wide, &axes, of, &padded)?;
    let y = cx.cast(y, ty.dtype)?;
    match ty.quant {
        Some(quant) => quantise::scaled(cx, y, quant),
        None => Ok(y),
    }
}

/// With `auto_pad`, windows further apart than their size leave elements over: ONNX Runtime takes half of them away in front, the others behind.
fn cropped(cx: &mut NodeCx<'_, '_, '_>, mut x: ValueId, axes: &mut [Axis]) -> Lowered<ValueId> {
    let odd = match cx.text("auto_pad") {
        b"SAME_UPPER" => 0,
        b"SAME_LOWER" => 1,
        _ => return Ok(x),
    };
    for (k, axis) in axes.iter_mut().enumerate() {
        // As for the padding, no dilation counts.
        let covered = axis.image.div_ceil(axis.stride).saturating_sub(1).checked_mul(axis.stride);
        let Some(covered) = covered.and_then(|all| all.checked_add(axis.size)) else { continue };
        let over = axis.image.saturating_sub(covered);
        if over > 0 {
            axis.image -= over;
            x = cx.part(x, k + 2, over.saturating_sub(odd) / 2, axis.image, 1)?;
        }
    }
    Ok(x)
}

/// By the ops for images.
fn flat(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, axes: &[Axis], of: Of) -> Lowered<ValueId> {
    let rank = cx.dims(x).len();
    let image = channel_last(cx, x)?;
    let &[n, h, w, c] = &*cx.dims(image) else { return Err(malformed!("no image")) };
    let window = Axis::window(axes);
    let Some([out_h, out_w]) = window.output([h, w]) else { return Err(malformed!("no window")) };
    let clamp = match cx.ty(image).dtype {
        DType::I8 => Clamp::I8,
        DType::I16 => Clamp::Int { lo: i16::MIN.into(), hi: i16::MAX.into() },
        _ => Clamp::NO_FLOAT,
    };
    let op = if of == Of::Max { Op::MaxPool2d { window, clamp } } else { Op::AvgPool2d { window, clamp } };
    let y = cx.add_like(op, &[image], &[n, out_h, out_w, c])?;
    channel_first(cx, y, rank)
}

/// One axis after the other, tap by tap: for windows with gaps, in volumes, and where zeros of the padding count.
fn separate(
    cx: &mut NodeCx<'_, '_, '_>,
    x: ValueId,
    axes: &[Axis],
    of: Of,
    padded: &[(usize, usize)],
) -> Lowered<ValueId> {
    let rank = axes.len() + 2;
    let (mut before, mut after) = (vec![0; rank], vec![0; rank]);
    for (k, axis) in axes.iter().enumerate() {
        (before[k + 2], after[k + 2]) = axis.pad;
    }
    let outside = if of == Of::Max { f32::NEG_INFINITY } else { 0.0 };
    let mut y = cx.padded(x, &before, &after, i64::from(outside.to_bits()))?;
    for (k, axis) in axes.iter().enumerate() {
        let (count, step) = (axis.windows().unwrap_or(0), axis.stride);
        let mut all = None;
        for tap in 0..axis.size {
            let part = cx.part(y, k + 2, tap * axis.dilation, count, step as i64)?;
            all = Some(match (all, of) {
                (None, _) => part,
                (Some(all), Of::Max) => cx.binary(Binary::Max, all, part)?,
                (Some(all), _) => cx.sum(all, part)?,
            });
        }
        y = all.unwrap_or(y);
    }
    let Of::Average { padding_counts } = of else { return Ok(y) };
    // How many elements count is a product over the axes.
    for (k, (axis, padded)) in axes.iter().zip(padded).enumerate() {
        let (lead, size) = (axis.pad.0, axis.image);
        let inside = if padding_counts { lead - padded.0..lead + size + padded.1 } else { lead..lead + size };
        let counts = |i: usize| {
            let taps = (0..axis.size).map(|tap| i * axis.stride + tap * axis.dilation);
            1.0 / taps.filter(|at| inside.contains(at)).count().max(1) as f32
        };
        cx.importer.budget.charge(8 * axis.windows().unwrap_or(0))?;
        let factors: Vec<f32> = (0..axis.windows().unwrap_or(0)).map(counts).collect();
        let mut along = vec![1; rank - k - 2];
        along[0] = factors.len();
        let factors = cx.float_constant("1 / count", &along, &factors)?;
        y = cx.product(y, factors)?;
    }
    Ok(y)
}

type Reduce<'m, 'a> = fn(&mut NodeCx<'_, 'm, 'a>, ValueId, &[usize]) -> Lowered<ValueId>;

fn global<'m, 'a>(cx: &mut NodeCx<'_, 'm, 'a>, reduce: Reduce<'m, 'a>) -> Lowered {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let rank = cx.dims(x).len();
    malformed_if!(rank < 3, "{} is not an image", cx.shown(x));
    let axes: Vec<usize> = (2..rank).collect();
    let y = reduce(cx, x, &axes)?;
    cx.bind(0, y)
}
