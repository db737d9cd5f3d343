//! SUM, REDUCE_MAX, REDUCE_MIN, REDUCE_PROD, REDUCE_ANY, REDUCE_ALL, ARG_MAX, ARG_MIN and CUMSUM.

use super::cx::{axis, describe, Format, OpCx};
use super::quant::multiplier;
use super::{Lowered, Operators, Refusal};
use kiln_ir::{DType, Op, Reduction, Rescale, ValueId};

pub(super) const OPERATORS: Operators = &[
    (56, |cx| arg(cx, true)), // ARG_MAX
    (74, sum),
    (79, |cx| arg(cx, false)), // ARG_MIN
    (81, product),
    (82, max),
    (89, min),
    (91, |cx| truth(cx, Reduction::Max)), // REDUCE_ANY: the largest of false and true.
    (128, cumsum),
    (140, |cx| truth(cx, Reduction::Min)), // REDUCE_ALL: the smallest of false and true.
];

/// SUM.
fn sum(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let rescale = match cx.is_plain(&[x])? || cx.format(&[x])? == Format::Float {
        true => Rescale::Real,
        false => {
            let result = cx.declared(0)?;
            Rescale::FixedPoint(vec![cx.ratio(cx.ty(x), &result)?])
        }
    };
    reduced(cx, x, Reduction::Sum, rescale)
}

/// REDUCE_PROD. Integers as LiteRT computes them (TFLite Micro does not have it): each of the n factors is rescaled by the operand's scale over the n-th root of
/// the result's.
fn product(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    if cx.is_plain(&[x])? || cx.format(&[x])? == Format::Float {
        return reduced(cx, x, Reduction::Product, Rescale::Real);
    }
    let result = cx.declared(0)?;
    let scales = [cx.scale(cx.ty(x), "operand")?, cx.scale(&result, "result")?].map(f64::from);
    let dims = cx.dims(x);
    let mut factors = 1usize;
    let mut axes = Vec::new();
    for index in cx.ints(1, "axes")? {
        let axis = axis(index, dims.len())?;
        if !axes.contains(&axis) {
            axes.push(axis);
            factors = factors.saturating_mul(dims[axis]);
        }
    }
    let by = multiplier(scales[0] / scales[1].powf(1.0 / factors as f64))?;
    if by.shift > 7 {
        let what = "the scale of its result is too small for its operand".to_string();
        return Err(Refusal::unsupported(what, "check the quantisation of the model"));
    }
    reduced(cx, x, Reduction::Product, Rescale::FixedPoint(vec![by]))
}

/// REDUCE_MAX.
fn max(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let x = cx.as_result(x, 0)?;
    reduced(cx, x, Reduction::Max, Rescale::Real)
}

/// REDUCE_MIN.
fn min(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let x = cx.as_result(x, 0)?;
    reduced(cx, x, Reduction::Min, Rescale::Real)
}

fn truth(cx: &mut OpCx<'_, '_, '_>, function: Reduction) -> Lowered {
    let x = cx.input(0)?;
    malformed_if!(cx.ty(x).dtype != DType::Bool, "its operand is {}", cx.shown(x));
    let x = cx.as_result(x, 0)?;
    reduced(cx, x, function, Rescale::Real)
}

fn reduced(cx: &mut OpCx<'_, '_, '_>, x: ValueId, function: Reduction, rescale: Rescale) -> Lowered {
    let keep = cx.options(27)?.keep_dims()?;
    let dims = cx.dims(x);
    let mut axes = Vec::new();
    for index in cx.ints(1, "axes")? {
        axes.push(axis(index, dims.len())?);
    }
    axes.sort_unstable();
    axes.dedup();
    let reduced = |i: &usize| axes.contains(i);
    let result: Vec<usize> = match keep {
        true => (0..dims.len()).map(|i| if reduced(&i) { 1 } else { dims[i] }).collect(),
        false => (0..dims.len()).filter(|i| !reduced(i)).map(|i| dims[i]).collect(),
    };
    cx.emit(Op::Reduce { function, axes, rescale }, &[x], 0, &result)
}

fn arg(cx: &mut OpCx<'_, '_, '_>, largest: bool) -> Lowered {
    let x = cx.input(0)?;
    let axis = single_axis(cx, x)?;
    let result = cx.declared(0)?;
    if !matches!(result.dtype, DType::I32 | DType::I64) || result.quant.is_some() {
        let what = format!("its result is {}", describe(&result));
        return Err(Refusal::unsupported(what, "make the result int32 or int64"));
    }
    let mut dims = cx.dims(x);
    dims.remove(axis);
    cx.emit(Op::ArgReduce { axis, largest }, &[x], 0, &dims)
}

/// CUMSUM.
fn cumsum(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (exclusive, reverse) = cx.options(102)?.cumsum()?;
    let x = cx.input(0)?;
    if !cx.is_plain(&[x])? && cx.format(&[x])? != Format::Float {
        return Err(Refusal::unsupported(
            "sums of quantised integers along an axis cannot be compiled",
            "leave this operator out of the quantisation of the model",
        ));
    }
    let axis = single_axis(cx, x)?;
    let dims = cx.dims(x);
    cx.emit(Op::CumSum { axis, exclusive, reverse }, &[x], 0, &dims)
}

/// The axis that the second operand names.
fn single_axis(cx: &mut OpCx<'_, '_, '_>, x: ValueId) -> Lowered<usize> {
    match cx.ints(1, "axis")?[..] {
        [index] => axis(index, cx.dims(x).len()),
        ref several => Err(malformed!("its axis is {several:?}")),
    }
}
