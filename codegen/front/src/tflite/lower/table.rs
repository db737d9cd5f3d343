//! Functions of one int8 value, as tables of 256 results. Each is computed as TFLite's kernel for the operator does: some from the real
//! function, some in fixed point.

use super::cx::OpCx;
use super::quant::multiplier;
use super::{Lowered, Refusal};
use kiln_interp::fixed_point::{inverse_sqrt, multiply, rounding_shift_right, ROOT_BITS};
use kiln_interp::{function_of, interpolation_table};
use kiln_ir::{DType, Data, LeakyRescale, Multiplier, Op, Real, Rescale, Type, Unary};

/// Lets result 0 be a function of operand 0, both int8 and quantised per tensor.
pub(super) fn int8(cx: &mut OpCx<'_, '_, '_>, function: Unary) -> Lowered {
    let x = cx.input(0)?;
    let (operand, result) = (cx.ty(x).clone(), cx.declared(0)?);
    let scales = [cx.scale(&operand, "operand")?, cx.scale(&result, "result")?];
    let stored = match function {
        Unary::Abs => absolute(scales)?,
        Unary::HardSwish => hard_swish(scales)?,
        Unary::Sqrt => root(scales),
        Unary::Rsqrt => reciprocal_root(scales)?,
        Unary::Elu | Unary::Exp | Unary::Gelu | Unary::GeluTanh | Unary::Log => {
            real(function, scales, result.zero_point())
        }
        _ => {
            return Err(Refusal::unsupported(
                format!("`{}` has no int8 arithmetic in TFLite", function.name()),
                "leave this operator out of the quantisation of the model",
            ))
        }
    };
    let zero = operand.zero_point();
    let entry = |byte: u8| {
        (stored(i32::from(byte as i8) - zero).saturating_add(result.zero_point())).clamp(-128, 127) as i8
    };
    let table = Data::from_i8(&(0..=255).map(entry).collect::<Vec<i8>>());
    let ty = Type { dtype: DType::I8, shape: [256].as_slice().into(), quant: result.quant.clone() };
    let table = cx.constant(function.name(), ty, table);
    let dims = cx.dims(x);
    cx.emit(Op::Lookup {}, &[x, table], 0, &dims)
}

/// As [`int8`] on int16: by a table that is interpolated.
pub(super) fn int16(cx: &mut OpCx<'_, '_, '_>, function: Unary) -> Lowered {
    let x = cx.input(0)?;
    let (operand, result) = (cx.ty(x).clone(), cx.declared(0)?);
    let (from, to) = (cx.scale(&operand, "operand")?, cx.scale(&result, "result")?);
    if function == Unary::Abs {
        // A leaky ReLU whose slope below zero is that above, downwards.
        // In `f64`, as builds of TFLite Micro divide.
        let by = multiplier(f64::from(from) / f64::from(to))?;
        let alpha = Multiplier { value: -by.value, ..by };
        let op =
            Op::LeakyRelu { alpha: Real(-1.0), rescale: LeakyRescale::FixedPoint { identity: by, alpha } };
        let dims = cx.dims(x);
        return cx.emit(op, &[x], 0, &dims);
    }
    if function == Unary::Rsqrt {
        let by = of_roots(multiplier(1.0 / (f64::from(from).sqrt() * f64::from(to)))?);
        let dims = cx.dims(x);
        return cx.emit(Op::InverseRoot { rescale: Rescale::FixedPoint(vec![by]) }, &[x], 0, &dims);
    }
    let Unary::Exp = function else { return Err(no_int16()) };
    let of = |x: f32| function_of(function, x);
    let table = Data::from_i16(&interpolation_table((from, 0), (to, 0), of));
    let ty = Type { dtype: DType::I16, shape: [513].as_slice().into(), quant: result.quant.clone() };
    let table = cx.constant(function.name(), ty, table);
    let dims = cx.dims(x);
    cx.emit(Op::Interpolate {}, &[x, table], 0, &dims)
}

pub(super) fn no_int16() -> Refusal {
    Refusal::unsupported("its int16 arithmetic cannot be compiled yet", "quantise this operator to int8")
}

/// LOGISTIC or TANH of uint8, as LiteRT fills its table: the function in `f32`, times the reciprocal of the result's scale, rounded half away from zero.
pub(super) fn of_uint8(cx: &mut OpCx<'_, '_, '_>, of: fn(f32) -> f32) -> Lowered {
    let x = cx.input(0)?;
    let (operand, result) = (cx.ty(x).clone(), cx.declared(0)?);
    let (from, to) = (cx.scale(&operand, "operand")?, cx.scale(&result, "result")?);
    let entry = |byte: u8| {
        let x = from * (i32::from(byte as i8) - operand.zero_point()) as f32;
        let steps = (of(x) / to).round() as i32;
        steps.saturating_add(result.zero_point()).clamp(-128, 127) as i8
    };
    let table = Data::from_i8(&(0..=255).map(entry).collect::<Vec<i8>>());
    let ty = Type { dtype: DType::I8, shape: [256].as_slice().into(), quant: result.quant.clone() };
    let table = cx.constant("table", ty, table);
    let dims = cx.dims(x);
    cx.emit(Op::Lookup {}, &[x, table], 0, &dims)
}

/// A result in steps of its scale, without its zero point, for a difference to the operand's zero point.
type Stored = Box<dyn Fn(i32) -> i32>;

/// `LUTPopulate`: the real function, in `f32`. What is no number counts as the smallest.
fn real(function: Unary, [x, y]: [f32; 2], zero: i32) -> Stored {
    let per_step = 1.0 / y;
    Box::new(move |difference| {
        let result = function_of(function, x * difference as f32);
        let rounded = (result * per_step).round() + zero as f32;
        if rounded.is_nan() {
            i32::MIN / 2
        } else {
            (rounded as i32).clamp(-128, 127) - zero
        }
    })
}

/// ABS: rescaled only where the scales differ.
fn absolute([x, y]: [f32; 2]) -> Lowered<Stored> {
    let by = (x != y).then(|| multiplier(f64::from(x) / f64::from(y))).transpose()?;
    Ok(Box::new(move |difference| by.map_or(difference.abs(), |by| multiply(difference.abs(), by))))
}

/// SQRT: the real function, rounded down. It has no value for negative numbers, for which that of zero is taken.
fn root([x, y]: [f32; 2]) -> Stored {
    Box::new(move |difference| ((x * difference.max(0) as f32).sqrt() / y) as i32)
}

/// The factor of reciprocal roots; 0 where all results round to 0, because it would shift a number of 32 bits by more.
fn of_roots(by: Multiplier) -> Multiplier {
    if by.shift < ROOT_BITS - 31 {
        return Multiplier { value: 0, shift: 0 };
    }
    by
}

/// RSQRT: Newton and Raphson in fixed point. Zero gives the largest result, as if it were a little more; the function has no value for
/// negative numbers, for which the same is taken.
fn reciprocal_root([x, y]: [f32; 2]) -> Lowered<Stored> {
    let out = of_roots(multiplier(1.0 / f64::from(x.sqrt() * y))?);
    let out = Multiplier { shift: out.shift - ROOT_BITS, ..out };
    Ok(Box::new(move |difference| {
        if difference <= 0 {
            return i32::from(u8::MAX);
        }
        let (value, right) = inverse_sqrt(difference);
        multiply(multiply(1, Multiplier { value, shift: ROOT_BITS - right }), out)
    }))
}

/// HARD_SWISH: in 16-bit fixed point, seven bits finer than the operand.
fn hard_swish([x, y]: [f32; 2]) -> Lowered<Stored> {
    let fine = x / 128.0;
    let out = multiplier(f64::from(fine / y))?;
    let gate = multiplier(f64::from(fine / (3.0 / 32768.0)))?;
    Ok(Box::new(move |difference| {
        let fine = (difference << 7) as i16;
        let value = high_mul(fine, half_word(out), true);
        // 1 + x/3 clamped to 0..=2, as a fraction of 2.
        let mut ratio = fine;
        if gate.shift > 0 {
            ratio = shift_left(ratio, gate.shift - 1);
        }
        ratio = high_mul(ratio, half_word(gate), true);
        if gate.shift > 0 {
            ratio = shift_left(ratio, 1);
        }
        if gate.shift < 0 {
            ratio = rounding_shift_right_16(ratio, gate.shift.unsigned_abs()) as i16;
        }
        let ratio = ((i32::from(ratio) + (1 << 15)) >> 1) as i16;
        let product = high_mul(ratio, value, false);
        match out.shift > 0 {
            true => i32::from(product) << out.shift.min(15),
            false => rounding_shift_right_16(product, out.shift.unsigned_abs()),
        }
    }))
}

/// gemmlowp's `RoundingDivideByPOT` of 16 bits, whose mask is all ones where the exponent is above 15: one step up or down.
fn rounding_shift_right_16(x: i16, exponent: u32) -> i32 {
    match exponent {
        0..=15 => rounding_shift_right(x.into(), exponent),
        _ if x < 0 => -1,
        _ => 1,
    }
}

/// A mantissa in 16 bits.
fn half_word(by: Multiplier) -> i16 {
    (by.value.saturating_add(1 << 15) >> 16).min(i32::from(i16::MAX)) as i16
}

/// The doubled high half of a product of fractions, saturated: rounded (half away from zero, but towards zero for negative ties) or truncated.
fn high_mul(a: i16, b: i16, round: bool) -> i16 {
    if a == i16::MIN && b == i16::MIN {
        return i16::MAX;
    }
    let product = i32::from(a) * i32::from(b);
    let nudge = match (round, product >= 0) {
        (false, _) => 0,
        (true, true) => 1 << 14,
        (true, false) => 1 - (1 << 14),
    };
    ((product + nudge) / (1 << 15)) as i16
}

fn shift_left(x: i16, by: i32) -> i16 {
    (i64::from(x) << by.clamp(0, 31)).clamp(i16::MIN.into(), i16::MAX.into()) as i16
}
