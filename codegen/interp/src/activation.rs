//! Logistic, tanh and tables.

use super::fixed_point::{self, multiply, rounding_shift_right};
use super::interpolate::interpolate;
use super::tensor::{centred, pack_i32};
use super::{eval, sigmoid, Computed, Evaluated, InterpError, Tensor};
use kiln_ir::{DType, Data, Multiplier, Op, Type};

pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    let first = operands[0];
    Ok(Some(match op {
        Op::Logistic {} => logistic(first, result)?,
        Op::Tanh {} => tanh(first, result)?,
        Op::Lookup {} => lookup(operands)?,
        Op::Interpolate {} => interpolate(first.1, operands[1].1)?,
        _ => return Ok(None),
    }))
}

/// Integer bits of the argument of the fixed-point functions.
const INTEGER_BITS: u32 = 4;

/// How stored values become Q4.27 arguments. Derived from the operand's scale as TFLite Micro's kernels do when they are
/// prepared; the result's scale is fixed (1/256 for logistic, 1/128 for tanh), so that no attribute could say otherwise.
struct Argument {
    multiplier: Multiplier,
    /// Distance from the zero point at which the result saturates.
    radius: i32,
}

impl Argument {
    fn of(ty: &Type) -> Result<Self, InterpError> {
        let scale = ty.scale().ok_or_else(|| InterpError::new("an integer activation wants a scale"))?;
        let (mantissa, shift) = frexp(f64::from(scale) * f64::from(1 << (31 - INTEGER_BITS)));
        let largest = f64::from((1 << INTEGER_BITS) - 1) * 2f64.powi((31 - INTEGER_BITS) as i32);
        Ok(Argument {
            multiplier: Multiplier { value: (mantissa * 2f64.powi(31)).round() as i32, shift },
            // Shifted as x86-64 does where the shift is negative: then the sign alone decides.
            radius: (largest / 1i64.wrapping_shl(shift as u32) as f64).floor() as i32,
        })
    }
}

/// `(m, e)` with x = m · 2^e and 1/2 ≤ m < 1; `(0, 0)` for 0 and numbers that are not finite.
fn frexp(x: f64) -> (f64, i32) {
    if x == 0.0 || !x.is_finite() {
        return (0.0, 0);
    }
    let mut exponent = 0;
    let mut mantissa = x;
    while mantissa.abs() >= 1.0 {
        mantissa /= 2.0;
        exponent += 1;
    }
    while mantissa.abs() < 0.5 {
        mantissa *= 2.0;
        exponent -= 1;
    }
    (mantissa, exponent)
}

/// See `logistic` in the op table. Integers: `reference/integer_ops/logistic.h` of TFLite Micro.
fn logistic((ty, data): Tensor<'_>, result: &Type) -> Computed {
    if ty.dtype == DType::F32 {
        return Ok(Data::from_f32(&data.to_f32().into_iter().map(logistic_f32).collect::<Vec<_>>()));
    }
    if ty.dtype == DType::I16 {
        return sigmoid::of_tensor(false, (ty, data), result);
    }
    integer(ty, data, result, |argument| {
        rounding_shift_right(fixed_point::logistic(argument, INTEGER_BITS), 31 - 8) - 128
    })
}

/// See `tanh` in the op table. Integers: `reference/integer_ops/tanh.h` of TFLite Micro.
fn tanh((ty, data): Tensor<'_>, result: &Type) -> Computed {
    if ty.dtype == DType::F32 {
        return Ok(Data::from_f32(&data.to_f32().into_iter().map(libm::tanhf).collect::<Vec<_>>()));
    }
    if ty.dtype == DType::I16 {
        return sigmoid::of_tensor(true, (ty, data), result);
    }
    integer(ty, data, result, |argument| {
        rounding_shift_right(fixed_point::tanh(argument, INTEGER_BITS), 31 - 7)
    })
}

/// Applies a function of Q4.27 arguments, which saturates outside its radius.
fn integer(ty: &Type, data: &Data, result: &Type, function: impl Fn(i32) -> i32) -> Computed {
    let argument = Argument::of(ty)?;
    let of = |x: i32| {
        if x <= -argument.radius {
            -128
        } else if x >= argument.radius {
            127
        } else {
            function(multiply(x, argument.multiplier)).clamp(-128, 127)
        }
    };
    Ok(pack_i32(result.dtype, centred(ty, data).into_iter().map(of)))
}

/// The reference's three pieces: saturated above, plain exp far below.
pub(super) fn logistic_f32(x: f32) -> f32 {
    if x > 16.619_047 {
        1.0
    } else if x < -9.0 {
        libm::expf(x)
    } else {
        1.0 / (1.0 + libm::expf(-x))
    }
}

/// See `lookup` in the op table.
fn lookup(operands: &[Tensor<'_>]) -> Computed {
    let (x, table) = (operands[0].1.bytes(), operands[1].1.bytes());
    let table: &[u8; 256] =
        table.try_into().map_err(|_| InterpError::new("lookup wants a table of 256 bytes"))?;
    Ok(Data::new(x.iter().map(|&b| table[usize::from(b)]).collect::<Vec<u8>>()))
}

/// The table of a unary op from an 8-bit operand to an 8-bit result: entry `b` is the stored result, as unsigned byte, for
/// the stored operand whose unsigned byte is `b`. The shapes of both types do not matter.
pub fn unary_table(op: &Op, operand: &Type, result: &Type) -> Result<[u8; 256], InterpError> {
    let every_byte = Data::new((0..=255).collect::<Vec<u8>>());
    let y = eval(op, &[(&operand.with_shape(&[256]), &every_byte)], &result.with_shape(&[256]))?;
    y.bytes().try_into().map_err(|_| InterpError::new("a table wants 8-bit operands and results"))
}
