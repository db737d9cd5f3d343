//! Functions of each element: `unary` and `binary` of the op table. What each computes is what TFLite Micro's reference kernels compute, in `f32`.

use super::elementwise::{clamp_i64, of_pairs};
use super::fixed_point::{doubling_high_mul, multiply, reciprocal, rounding_shift_right_any};
use super::tensor::{centred, clamp_f32, clamp_i32, pack_i32};
use super::{Computed, Evaluated, InterpError, Tensor};
use kiln_ir::{Binary, Clamp, DType, Data, Multiplier, Op, Rescale, Type, Unary};

pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    let first = operands[0];
    Ok(Some(match op {
        Op::Unary { function } => unary(*function, first.1),
        Op::Binary { function, rescale, clamp } => binary(*function, rescale, clamp, operands, result)?,
        _ => return Ok(None),
    }))
}

/// See `unary` in the op table.
fn unary(function: Unary, data: &Data) -> Data {
    Data::from_f32(&data.to_f32().into_iter().map(|x| of_float(function, x)).collect::<Vec<_>>())
}

/// The function of one float: libm's.
fn of_float(function: Unary, x: f32) -> f32 {
    match function {
        Unary::Cos => libm::cosf(x),
        Unary::Elu if x < 0.0 => libm::expm1f(x),
        Unary::Exp => libm::expf(x),
        Unary::GeluTanh => {
            // √(2/π).
            let inner = 0.797_884_6 * (x + 0.044_715 * x * x * x);
            0.5 * x * (1.0 + libm::tanhf(inner))
        }
        Unary::Log => libm::logf(x),
        Unary::Sign if x == 0.0 => x,
        Unary::Sin => libm::sinf(x),
        Unary::Softplus => x.max(0.0) + libm::log1pf(libm::expf(-x.abs())),
        other => of_one(other, x),
    }
}

/// The function of one number, for tables of integers: the standard library's.
pub fn of_one(function: Unary, x: f32) -> f32 {
    match function {
        Unary::Abs => x.abs(),
        Unary::Ceil => x.ceil(),
        Unary::Cos => x.cos(),
        // Rounded in between, as TFLite has it.
        Unary::Elu if x < 0.0 => x.exp() - 1.0,
        Unary::Elu => x,
        Unary::Erf => libm::erff(x),
        Unary::Exp => x.exp(),
        Unary::Floor => x.floor(),
        Unary::Gelu => 0.5 * x * (1.0 + libm::erff(x * std::f32::consts::FRAC_1_SQRT_2)),
        Unary::GeluTanh => {
            let inner = (2.0 / std::f32::consts::PI).sqrt() * (x + 0.044_715 * x * x * x);
            0.5 * x * (1.0 + inner.tanh())
        }
        Unary::HardSwish => x * (x + 3.0).clamp(0.0, 6.0) / 6.0,
        Unary::Log => x.ln(),
        Unary::Neg => -x,
        Unary::Round => x.round_ties_even(),
        Unary::Rsqrt => 1.0 / x.sqrt(),
        Unary::Sign if x == 0.0 => 0.0,
        Unary::Sign => x.signum(),
        Unary::Sin => x.sin(),
        Unary::Softplus => x.max(0.0) + (-x.abs()).exp().ln_1p(),
        Unary::Sqrt => x.sqrt(),
        Unary::Square => x * x,
    }
}

/// See `binary` in the op table.
fn binary(
    function: Binary,
    rescale: &Rescale,
    clamp: &Clamp,
    operands: &[Tensor<'_>],
    result: &Type,
) -> Computed {
    let (x, y) = (operands[0], operands[1]);
    if let Rescale::FixedPoint(by) = rescale {
        let (xs, ys) = (centred(x.0, x.1), centred(y.0, y.1));
        let shift = function.left_shift(x.0.dtype);
        let z = of_pairs(x.0, y.0, result, |i, j| {
            let value = of_two_stored(function, shift, by, xs[i], ys[j])?;
            Some(clamp_i32(value.saturating_add(result.zero_point()), clamp.int_bounds()))
        });
        let wrong = || InterpError::new(format!("`{}` with {} multipliers", function.name(), by.len()));
        let z = z.into_iter().collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
        return Ok(pack_i32(result.dtype, z));
    }
    if result.dtype == DType::F32 {
        let (xs, ys) = (x.1.to_f32(), y.1.to_f32());
        let z = of_pairs(x.0, y.0, result, |i, j| {
            clamp_f32(of_two(function, xs[i], ys[j]), clamp.float_bounds())
        });
        return Ok(Data::from_f32(&z));
    }
    let (xs, ys) = (x.1.to_ints(x.0.dtype), y.1.to_ints(y.0.dtype));
    let z = of_pairs(x.0, y.0, result, |i, j| {
        clamp_i64(of_integers(function, xs[i], ys[j], result.dtype == DType::I32), clamp)
    });
    Ok(Data::from_ints(result.dtype, z))
}

/// Differences to the operands' zero points to one from the result's; `None` if the multipliers are not those of the function.
fn of_two_stored(function: Binary, shift: u32, by: &[Multiplier], a: i32, b: i32) -> Option<i32> {
    Some(match (function, by) {
        (Binary::Div, &[out]) => quotient(a, b, out),
        (Binary::Prelu, &[identity, _]) if a >= 0 => multiply(a, identity),
        (Binary::Prelu, &[_, product]) => multiply(a.wrapping_mul(b), product),
        (Binary::SquaredDifference, &[x, y, out]) => {
            let difference = multiply(a << shift, x).wrapping_sub(multiply(b << shift, y));
            multiply(difference.wrapping_mul(difference), out)
        }
        _ => return None,
    })
}

/// a / b times a factor, by the reciprocal of b; that of 0 is what the arithmetic gives. Quotients too large for the final shift, and those that are zero
/// or nearly so, are as [`rounding_shift_right_any`] gives them.
fn quotient(a: i32, b: i32, by: Multiplier) -> i32 {
    let (a, b) = if b < 0 { (a.wrapping_neg(), b.wrapping_neg()) } else { (a, b) };
    let (inverse, right) = reciprocal(b, 31);
    let headroom = (if a < 0 { !a } else { a }).leading_zeros() as i32 - 1;
    let unscaled = doubling_high_mul(a << headroom, inverse);
    rounding_shift_right_any(doubling_high_mul(unscaled, by.value), right + headroom - by.shift)
}

/// The reciprocals by which an integer `div` multiplies: of b in steps of 1 from 0 to 255, in Q0.31 between 1/2 and 1.
pub fn div_reciprocals() -> [i32; 256] {
    std::array::from_fn(|b| reciprocal(b as i32, 31).0)
}

/// On integers of 64 bits, or of 32 where `narrow`, which wrap. But powers beyond 32 bits are the least number, as the conversion of a `double` gives
/// it on x86-64.
fn of_integers(function: Binary, a: i64, b: i64, narrow: bool) -> i64 {
    let wrap = |x: i64| if narrow { i64::from(x as i32) } else { x };
    match function {
        Binary::Min => a.min(b),
        Binary::Div if b == 0 => 0,
        Binary::Div => wrap(a.wrapping_div(b)),
        Binary::FloorDiv if b == 0 => 0,
        Binary::FloorDiv => {
            let quotient = a.wrapping_div(b);
            wrap(quotient.wrapping_sub(i64::from(a.wrapping_rem(b) != 0 && (a < 0) != (b < 0))))
        }
        Binary::FloorMod if b == 0 => 0,
        Binary::FloorMod => {
            let rest = a.wrapping_rem(b);
            if rest != 0 && (rest < 0) != (b < 0) {
                rest + b
            } else {
                rest
            }
        }
        Binary::Pow if b < 0 => 0,
        Binary::Pow => {
            let product = if narrow { i64::saturating_mul } else { i64::wrapping_mul };
            let (mut power, mut square, mut left) = (1i64, a, b);
            while left > 0 {
                if left & 1 == 1 {
                    power = product(power, square);
                }
                square = product(square, square);
                left >>= 1;
            }
            match i32::try_from(power) {
                Err(_) if narrow => i32::MIN.into(),
                _ => power,
            }
        }
        Binary::SquaredDifference => {
            let difference = wrap(a.wrapping_sub(b));
            wrap(difference.wrapping_mul(difference))
        }
        // No other function takes integers.
        _ => a.max(b),
    }
}

fn of_two(function: Binary, a: f32, b: f32) -> f32 {
    match function {
        Binary::Atan2 => libm::atan2f(a, b),
        Binary::Div => a / b,
        Binary::FloorDiv => (a / b).floor(),
        Binary::FloorMod => {
            let rest = a % b;
            if rest != 0.0 && (b < 0.0) != (rest < 0.0) {
                rest + b
            } else {
                rest
            }
        }
        Binary::Max if a > b => a,
        Binary::Min if a < b => a,
        Binary::Max | Binary::Min => b,
        Binary::Pow => libm::powf(a, b),
        Binary::Prelu if a >= 0.0 => a,
        Binary::Prelu => a * b,
        Binary::SquaredDifference => (a - b) * (a - b),
    }
}
