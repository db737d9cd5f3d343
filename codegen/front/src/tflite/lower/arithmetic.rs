//! ADD, SUB and MUL, with broadcasting.

use super::cx::{Format, OpCx};
use super::quant::{multiplier, Activation};
use super::{Lowered, Operators};
use kiln_ir::{AddRescale, Clamp, DType, Op, Rescale, Shape, Type, ValueId};

pub(super) const OPERATORS: Operators = &[(0, add), (18, mul), (41, sub)];

/// Headroom of sums.
fn left_shift(ty: &Type) -> u32 {
    if ty.dtype == DType::I16 {
        15
    } else {
        20
    }
}

/// ADD.
fn add(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let sum = |cx: &mut OpCx<'_, '_, '_>, x: &Type, y: &Type, result: &Type, clamp| {
        Ok(Op::Add { rescale: add_rescale(left_shift(x), scales(cx, x, y, result)?)?, clamp })
    };
    binary(cx, 11, sum, |clamp| Op::Add { rescale: AddRescale::Real, clamp })
}

/// SUB. Ratios of scales are divided in `f64`, as for ADD: those are the bits of TFLite Micro's published builds, although older
/// sources divide in `f32`.
fn sub(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let difference = |cx: &mut OpCx<'_, '_, '_>, x: &Type, y: &Type, result: &Type, clamp| {
        Ok(Op::Sub { rescale: add_rescale(left_shift(x), scales(cx, x, y, result)?)?, clamp })
    };
    binary(cx, 28, difference, |clamp| Op::Sub { rescale: AddRescale::Real, clamp })
}

/// MUL.
fn mul(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let product = |cx: &mut OpCx<'_, '_, '_>, x: &Type, y: &Type, result: &Type, clamp| {
        let [x, y, out] = scales(cx, x, y, result)?.map(f64::from);
        Ok(Op::Mul { rescale: Rescale::FixedPoint(vec![multiplier(x * y / out)?]), clamp })
    };
    binary(cx, 21, product, |clamp| Op::Mul { rescale: Rescale::Real, clamp })
}

fn binary(
    cx: &mut OpCx<'_, '_, '_>,
    options_type: u8,
    int8: impl FnOnce(&mut OpCx<'_, '_, '_>, &Type, &Type, &Type, Clamp) -> Lowered<Op>,
    real: impl FnOnce(Clamp) -> Op,
) -> Lowered {
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    let activation = Activation::fused(cx.options(options_type)?.activation()?)?;
    let dims = broadcast(cx, x, y)?;
    let result = cx.declared(0)?;
    let clamp = activation.clamp(&result);
    if cx.is_plain(&[x, y])? {
        let op = real(clamp);
        return cx.emit(op, &[x, y], 0, &dims);
    }
    let op = match cx.format(&[x, y])? {
        Format::Float => real(clamp),
        Format::Int8 | Format::Int16 => {
            let (x, y) = (cx.ty(x).clone(), cx.ty(y).clone());
            int8(cx, &x, &y, &result, clamp)?
        }
    };
    cx.emit(op, &[x, y], 0, &dims)
}

/// The common shape of two operands.
pub(super) fn broadcast(cx: &OpCx<'_, '_, '_>, x: ValueId, y: ValueId) -> Lowered<Vec<usize>> {
    Shape::common(&cx.dims(x), &cx.dims(y)).ok_or_else(|| {
        let (x, y) = (cx.shown(x), cx.shown(y));
        malformed!("{x} and {y} cannot be broadcast")
    })
}

/// Scales of both operands and the result.
fn scales(cx: &OpCx<'_, '_, '_>, x: &Type, y: &Type, result: &Type) -> Lowered<[f32; 3]> {
    Ok([cx.scale(x, "first operand")?, cx.scale(y, "second operand")?, cx.scale(result, "result")?])
}

/// Operands to half the larger one's scale, and from there to the result's.
fn add_rescale(left_shift: u32, scales: [f32; 3]) -> Lowered<AddRescale> {
    let [x, y, out] = scales.map(f64::from);
    let twice_max = 2.0 * x.max(y);
    let out = twice_max / (f64::from(1 << left_shift) * out);
    malformed_if!(out >= 1.0, "the scale of its result is too small for its operands (ratio {out:e})");
    Ok(AddRescale::FixedPoint {
        left_shift,
        x: multiplier(x / twice_max)?,
        y: multiplier(y / twice_max)?,
        out: multiplier(out)?,
    })
}
