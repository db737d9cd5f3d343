//! Fixed-point arithmetic of TFLite's reference kernels.
//!
//! A number in Qm.n format is an `i32` with m integer bits and n = 31 − m fraction bits. The definitions are those of gemmlowp
//! (`fixedpoint/fixedpoint.h`), on which the reference kernels stand; where C++ leaves an overflow undefined, these
//! functions wrap. Every function is total.

use kiln_ir::Multiplier;

/// Q0.31 for one, as near as it gets.
pub const ONE_Q0: i32 = i32::MAX;

/// `a · b` of two Q0.31 numbers, rounded half away from zero except that negative ties round up; −1 · −1 saturates.
///
/// The product's doubled high word: nudged by half a unit and divided by truncation (gemmlowp's
/// `SaturatingRoundingDoublingHighMul`, the scalar form).
pub fn doubling_high_mul(a: i32, b: i32) -> i32 {
    if a == i32::MIN && b == i32::MIN {
        return i32::MAX;
    }
    let product = i64::from(a) * i64::from(b);
    let nudge = if product >= 0 { 1 << 30 } else { 1 - (1 << 30) };
    ((product + nudge) / (1 << 31)) as i32
}

/// `x / 2^exponent`, rounded half away from zero (gemmlowp's `RoundingDivideByPOT`). 0 for exponents above 31.
pub fn rounding_shift_right(x: i32, exponent: u32) -> i32 {
    if exponent > 31 {
        return 0;
    }
    let mask = (1i64 << exponent) - 1;
    let remainder = i64::from(x) & mask;
    let threshold = (mask >> 1) + i64::from(x < 0);
    (x >> exponent) + i32::from(remainder > threshold)
}

/// As [`rounding_shift_right`] for any exponent. Where it is negative or above 31, C++ does not define what gemmlowp's function gives; this is what builds for
/// x86-64 give, whose shifts look at the lowest five bits of the exponent alone.
pub fn rounding_shift_right_any(x: i32, exponent: i32) -> i32 {
    match exponent {
        0..=31 => rounding_shift_right(x, exponent.unsigned_abs()),
        _ => x.wrapping_shr(exponent as u32).wrapping_add(i32::from(x >= 0)),
    }
}

/// Applies a [`Multiplier`] as TFLite's `MultiplyByQuantizedMultiplierSmallerThanOneExp`: without a shift to the left, so that factors of 1 and more
/// become what [`rounding_shift_right_any`] says.
pub fn multiply_below_one(x: i32, by: Multiplier) -> i32 {
    rounding_shift_right_any(doubling_high_mul(x, by.value), -by.shift)
}

/// `x · 2^exponent`, saturated (gemmlowp's `SaturatingRoundingMultiplyByPOT` for positive exponents).
pub fn saturating_shift_left(x: i32, exponent: u32) -> i32 {
    let wide = i64::from(x) << exponent.min(31);
    wide.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

/// Applies a [`Multiplier`]: TFLite's `MultiplyByQuantizedMultiplier` with double rounding.
pub fn multiply(x: i32, by: Multiplier) -> i32 {
    let left = by.shift.max(0) as u32;
    let right = by.shift.min(0).unsigned_abs();
    rounding_shift_right(doubling_high_mul(x.wrapping_shl(left), by.value), right)
}

/// The same, rounded once, half away from zero, as LiteRT rounds products in double precision.
pub fn multiply_once(x: i32, by: Multiplier) -> i32 {
    let shift = (31 - by.shift).clamp(1, 62);
    let product = i64::from(x) * i64::from(by.value);
    let magnitude = (product.abs() + (1 << (shift - 1))) >> shift;
    (magnitude * product.signum()) as i32
}

/// The same for a wide `x`, by 16 bits of the mantissa, rounded half up once (TFLite's `MultiplyByQuantizedMultiplier` of 64-bit numbers). Shifts are at
/// most 7.
pub fn multiply_wide(x: i64, by: Multiplier) -> i32 {
    let mantissa = if by.value < 0x7fff_0000 { (by.value + (1 << 15)) >> 16 } else { 0x7fff };
    let shift = (15 - by.shift).clamp(1, 62);
    (x.wrapping_mul(i64::from(mantissa)).wrapping_add(1 << (shift - 1)) >> shift) as i32
}

/// (a + b) / 2, rounded half away from zero.
fn half_sum(a: i32, b: i32) -> i32 {
    let sum = i64::from(a) + i64::from(b);
    ((sum + if sum >= 0 { 1 } else { -1 }) / 2) as i32
}

/// exp(a) in Q0.31 for a negative or zero `a` with `integer_bits` (at most 5) integer bits.
///
/// The fractional quarter comes from a Taylor polynomial around −1/8, the rest from one factor exp(−2^k) per set bit.
pub fn exp_on_negative(a: i32, integer_bits: u32) -> i32 {
    if a == 0 {
        return ONE_Q0;
    }
    let fraction_bits = 31 - integer_bits;
    let quarter = 1i32 << (fraction_bits - 2);
    // −1/4 ≤ rest < 0, and a = rest − whole with `whole` a multiple of a quarter.
    let rest = (a & (quarter - 1)) - quarter;
    let whole = rest.wrapping_sub(a);
    let mut result = exp_on_last_quarter(saturating_shift_left(rest, integer_bits));

    /// exp(−2^k) in Q0.31, for k from −2.
    const FACTORS: [i32; 7] = [1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242];
    for (step, factor) in FACTORS.into_iter().enumerate() {
        let bit = fraction_bits - 2 + step as u32;
        if bit < 31 && whole & (1 << bit) != 0 {
            result = doubling_high_mul(result, factor);
        }
    }
    result
}

/// exp(a) for −1/4 ≤ a < 0, all in Q0.31: exp(−1/8) · (1 + x + x²/2 + x³/6 + x⁴/24) with x = a + 1/8.
fn exp_on_last_quarter(a: i32) -> i32 {
    const EXP_MINUS_EIGHTH: i32 = 1895147668;
    const THIRD: i32 = 715827883;
    let x = a.wrapping_add(1 << 28);
    let x2 = doubling_high_mul(x, x);
    let x3 = doubling_high_mul(x2, x);
    let x4 = doubling_high_mul(x2, x2);
    let x4_over_4 = rounding_shift_right(x4, 2);
    let third = doubling_high_mul(x4_over_4.wrapping_add(x3), THIRD);
    let tail = rounding_shift_right(third.wrapping_add(x2), 1);
    EXP_MINUS_EIGHTH.wrapping_add(doubling_high_mul(EXP_MINUS_EIGHTH, x.wrapping_add(tail)))
}

/// 2 / (1 + a) in Q2.29 for 0 ≤ a ≤ 1 in Q0.31, by three steps of Newton and Raphson.
fn two_over_one_plus(a: i32) -> i32 {
    const FORTY_EIGHT_OVER_17: i32 = 1515870810;
    const MINUS_32_OVER_17: i32 = -1010580540;
    const ONE_Q2: i32 = 1 << 29;
    let half_denominator = half_sum(a, ONE_Q0);
    let mut x = FORTY_EIGHT_OVER_17.wrapping_add(doubling_high_mul(half_denominator, MINUS_32_OVER_17));
    for _ in 0..3 {
        let error = ONE_Q2.wrapping_sub(doubling_high_mul(half_denominator, x));
        // The product of two Q2.29 numbers is Q4.27.
        x = x.wrapping_add(saturating_shift_left(doubling_high_mul(x, error), 2));
    }
    x
}

/// 1 / (1 + a) in Q0.31 for 0 ≤ a ≤ 1 in Q0.31.
pub fn one_over_one_plus(a: i32) -> i32 {
    // Half of a Q2.29 number is the same word read as Q1.30.
    saturating_shift_left(two_over_one_plus(a), 1)
}

/// (1 − a) / (1 + a) in Q0.31 for 0 ≤ a ≤ 1 in Q0.31.
fn one_minus_over_one_plus(a: i32) -> i32 {
    saturating_shift_left(two_over_one_plus(a).wrapping_sub(1 << 29), 2)
}

/// 1 / (1 + exp(−a)) in Q0.31 for `a` with `integer_bits` integer bits.
pub fn logistic(a: i32, integer_bits: u32) -> i32 {
    if a == 0 {
        return 1 << 30;
    }
    let of_magnitude = one_over_one_plus(exp_on_negative(a.wrapping_abs().wrapping_neg(), integer_bits));
    if a > 0 {
        of_magnitude
    } else {
        ONE_Q0 - of_magnitude
    }
}

/// tanh(a) in Q0.31 for `a` with `integer_bits` (at most 4) integer bits.
pub fn tanh(a: i32, integer_bits: u32) -> i32 {
    if a == 0 {
        return 0;
    }
    // 2a is the same word with one integer bit more.
    let of_magnitude =
        one_minus_over_one_plus(exp_on_negative(a.wrapping_abs().wrapping_neg(), integer_bits + 1));
    if a > 0 {
        of_magnitude
    } else {
        -of_magnitude
    }
}

/// The natural logarithm, in Q5.26, of `x` in Q12.19, which is at least 1. (TFLite's `log_x_for_x_greater_than_or_equal_to_1`.)
///
/// x = r · 2^e with r near ⁴√½, of two candidates; log r is a rational function of r around there.
pub fn log_from_one(x: i32) -> i32 {
    const LOG_2: i32 = 1_488_522_236;
    const FOURTH_ROOT_OF_HALF: i32 = 1_805_811_301;
    const ROOT_OF_HALF: i32 = 1_518_500_250;
    // 1/4 in Q6.25.
    const QUARTER: i32 = 1 << 23;
    const ALPHA_N: i32 = 117_049_297;
    const ALPHA_D: i32 = 127_690_142;
    const ALPHA_I: i32 = 1_057_819_769;
    const ALPHA_F: i32 = 638_450_708;
    const INTEGER_BITS: i32 = 12;
    let mul = doubling_high_mul;
    let whole = |bits: i32| {
        let wide = i64::from(bits) << 25;
        wide.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
    };
    let zeros = x.leading_zeros();
    let near = saturating_shift_left(mul(saturating_shift_left(x, zeros.saturating_sub(1)), ROOT_OF_HALF), 1);
    let power = whole(INTEGER_BITS - zeros as i32).saturating_add(QUARTER);

    let other_zeros = mul(x, ROOT_OF_HALF).leading_zeros().saturating_sub(1);
    let other = saturating_shift_left(x, other_zeros);
    let other_power = whole(INTEGER_BITS - other_zeros as i32).saturating_sub(QUARTER);

    let (r, power) = (near.min(other), power.max(other_power));
    let p = half_sum(r, FOURTH_ROOT_OF_HALF);
    let q = r.wrapping_sub(FOURTH_ROOT_OF_HALF);
    let q = q.wrapping_add(q);
    let square = mul(q, q);
    let numerator = mul(q, r).wrapping_add(mul(mul(q, square), ALPHA_N));
    let sum = ALPHA_I.wrapping_add(q).wrapping_add(mul(ALPHA_D, square));
    let denominator = mul(p, sum).wrapping_add(mul(ALPHA_F, q));
    let quotient = mul(rounding_shift_right(numerator, 6), one_over_one_plus(denominator));
    saturating_shift_left(mul(power, LOG_2).wrapping_add(quotient), 1)
}

/// The reciprocal of `x` ≥ 0 (that of 0 is as the arithmetic gives it), which has `integer_bits` integer bits: `(r, e)` with 1 / x = r · 2^−e, r in Q0.31
/// between 1/2 and 1. (TFLite's `GetReciprocal`.)
pub fn reciprocal(x: i32, integer_bits: u32) -> (i32, i32) {
    let headroom = x.leading_zeros();
    let minus_one = (x as u32).wrapping_shl(headroom).wrapping_sub(1 << 31) as i32;
    (one_over_one_plus(minus_one), integer_bits as i32 - headroom as i32)
}

/// Bits after the point of a reciprocal root before it is rescaled.
pub const ROOT_BITS: i32 = 20;

/// 1 / √x for `x` > 0: `(r, e)` with 1 / √x = r · 2^(−31 − e), by five steps of Newton and Raphson from 1. (TFLite's
/// `GetInvSqrtQuantizedMultiplierExp`.)
pub fn inverse_sqrt(x: i32) -> (i32, i32) {
    const HALF_SQRT_2: i32 = 1518500250;
    /// 1 and 3/2 in Q3.28.
    const ONE: i32 = 1 << 28;
    const THREE_HALVES: i32 = ONE + ONE / 2;
    if x <= 1 {
        return (i32::MAX, 0);
    }
    let (mut x, mut right) = (x, 11);
    while x >= 1 << 29 {
        x /= 4;
        right += 1;
    }
    // To between 2²⁷ and 2²⁹, by pairs of bits.
    let pairs = (x.leading_zeros() - 1) / 2 - 1;
    right -= pairs as i32;
    x <<= 2 * pairs;
    let argument = x >> 1;
    let half = rounding_shift_right(argument, 1);
    let mut root = ONE;
    for _ in 0..5 {
        let cube = doubling_high_mul(doubling_high_mul(root, root), root);
        let cube = saturating_shift_left(cube, 6);
        let next = doubling_high_mul(THREE_HALVES, root).wrapping_sub(doubling_high_mul(half, cube));
        root = saturating_shift_left(next, 3);
    }
    root = doubling_high_mul(root, HALF_SQRT_2);
    if right < 0 {
        return (root.wrapping_shl(right.unsigned_abs()), 0);
    }
    (root, right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn high_mul_truncates_the_nudged_product() {
        // ±0.5 of a unit: the positive tie rounds up, the negative one towards zero.
        assert_eq!(doubling_high_mul(1, 1 << 30), 1);
        assert_eq!(doubling_high_mul(-1, 1 << 30), 0);
        assert_eq!(doubling_high_mul(-3, 1 << 30), -1);
        assert_eq!(doubling_high_mul(3, 1 << 30), 2);
        assert_eq!(doubling_high_mul(i32::MIN, i32::MIN), i32::MAX);
        assert_eq!(doubling_high_mul(i32::MIN, i32::MAX), -i32::MAX);
    }

    #[test]
    fn shift_right_rounds_half_away_from_zero() {
        let halves = [(5, 3), (-5, -3), (4, 2), (3, 2), (-3, -2), (1, 1), (-1, -1)];
        for (x, half) in halves {
            assert_eq!(rounding_shift_right(x, 1), half, "{x} / 2");
        }
        assert_eq!(rounding_shift_right(i32::MIN, 31), -1);
        assert_eq!(rounding_shift_right(i32::MAX, 31), 1);
        assert_eq!(rounding_shift_right(i32::MAX, 32), 0);
        assert_eq!(rounding_shift_right(-7, 0), -7);
    }

    #[test]
    fn shifts_beyond_all_bits_are_those_of_x86() {
        assert_eq!([-3, 0, 3].map(|x| rounding_shift_right_any(x, 1)), [-2, 0, 2]);
        assert_eq!([-3, 0, 3].map(|x| rounding_shift_right_any(x, 32)), [-3, 1, 4]);
        assert_eq!([-3, 0, 3].map(|x| rounding_shift_right_any(x, -1)), [-1, 1, 1]);
        // 1.0 is 1/2 · 2^1.
        let one = Multiplier { value: 1 << 30, shift: 1 };
        assert_eq!([-5, 0, 7].map(|x| multiply_below_one(x, one)), [-1, 1, 1]);
    }

    #[test]
    fn multiply_once_rounds_half_away_from_zero() {
        let quarter = Multiplier { value: 1 << 30, shift: -1 };
        assert_eq!([-6, -3, -2, 1, 2, 6].map(|x| multiply_once(x, quarter)), [-2, -1, -1, 0, 1, 2]);
        // Twice: 1.4995 becomes 1.5, and that 2.
        let by = Multiplier { value: 0x7fff_ffff, shift: -1 };
        assert_eq!((multiply(3, by), multiply_once(3, by)), (2, 1));
        assert_eq!(multiply_once(5, Multiplier { value: 1 << 30, shift: 3 }), 20);
    }

    #[test]
    fn multiply_rounds_twice() {
        // 0.75 · 2^−1: 3 → 2.25 → 2 → 1.
        let by = Multiplier { value: 3 << 29, shift: -1 };
        assert_eq!(multiply(3, by), 1);
        // 1.5 = 0.75 · 2.
        assert_eq!(multiply(3, Multiplier { value: 3 << 29, shift: 1 }), 5);
        assert_eq!(multiply(-3, Multiplier { value: 3 << 29, shift: 1 }), -4);
        assert_eq!(multiply(1000, Multiplier { value: 0, shift: 0 }), 0);
    }

    fn close(actual: i32, expected: f64, what: &str) {
        let error = (f64::from(actual) / 2f64.powi(31) - expected).abs();
        assert!(error < 2e-7, "{what}: {actual} is {error:e} off");
    }

    #[test]
    fn transcendentals_are_close_to_the_real_ones() {
        for step in 1..400 {
            let x = f64::from(step) * 0.0391;
            let q4 = (x * f64::from(1 << 27)) as i32;
            let x = f64::from(q4) / f64::from(1 << 27);
            close(exp_on_negative(-q4, 4), (-x).exp(), "exp");
            close(logistic(q4, 4), 1.0 / (1.0 + (-x).exp()), "logistic");
            close(logistic(-q4, 4), 1.0 / (1.0 + x.exp()), "logistic");
            close(tanh(q4, 4), x.tanh(), "tanh");
            close(tanh(-q4, 4), -x.tanh(), "tanh");
        }
    }

    #[test]
    fn ends_of_the_range() {
        assert_eq!(exp_on_negative(0, 5), i32::MAX);
        assert_eq!(logistic(0, 4), 1 << 30);
        assert_eq!(tanh(0, 4), 0);
        for a in [i32::MIN, i32::MIN + 1, i32::MAX, -1, 1] {
            let (l, t) = (logistic(a, 4), tanh(a, 4));
            assert!(l >= 0 && (t >= 0) == (a > 0) || t == 0, "{a}: {l} {t}");
        }
    }

    #[test]
    fn inverse_roots_are_close_to_the_real_ones() {
        for x in [2, 3, 4, 100, 255, 65_025, 1 << 20, 999_999_937, i32::MAX] {
            let (r, right) = inverse_sqrt(x);
            let actual = f64::from(r) * 2f64.powi(-31 - right);
            let expected = 1.0 / f64::from(x).sqrt();
            assert!((actual / expected - 1.0).abs() < 2e-6, "{x}: {actual:e}, {expected:e}");
        }
        assert_eq!(inverse_sqrt(1), (i32::MAX, 0));
    }

    #[test]
    fn reciprocal_has_its_exponent() {
        // 1.25 and 100 in Q12.19.
        let (r, e) = reciprocal(5 << 17, 12);
        assert_eq!(e, 0);
        close(r, 0.8, "1 / 1.25");
        let (r, e) = reciprocal(100 << 19, 12);
        assert_eq!(e, 6);
        close(r, 0.64, "64 / 100");
    }
}
