//! Tables and factors that kernels read, by the definitions that TFLite has of them.
//!
//! The interpreter, which judges what is emitted, has its own: no function here is its function. Tests hold the two together.

use crate::ir::{DType, Data, Multiplier, SoftmaxScale};
use std::f64::consts::PI;

/// gemmlowp's `SaturatingRoundingDoublingHighMul`: 2ab / 2³², rounded half away from zero.
fn high_product(a: i32, b: i32) -> i32 {
    if a == i32::MIN && b == i32::MIN {
        return i32::MAX;
    }
    let product = i64::from(a) * i64::from(b);
    let nudge = if product >= 0 { 1 << 30 } else { 1 - (1 << 30) };
    ((product + nudge) / (1 << 31)) as i32
}

/// gemmlowp's `RoundingDivideByPOT`: a / 2ⁿ, rounded half away from zero.
fn rounded_quotient(a: i32, n: u32) -> i32 {
    let (a, divisor) = (i64::from(a), 1i64 << n);
    let half = divisor / 2;
    ((a + if a < 0 { -half } else { half }) / divisor) as i32
}

/// `x` ≤ 0 times a factor of at least 1, as TFLite's `MultiplyByQuantizedMultiplierGreaterThanOne`; smaller ones are rounded a second time.
fn scaled(x: i32, by: Multiplier) -> i32 {
    let left = x.wrapping_shl(by.shift.max(0) as u32);
    rounded_quotient(high_product(left, by.value), by.shift.min(0).unsigned_abs())
}

/// gemmlowp's `exp_on_negative_values` of a number in Q5.26, in Q0.31.
fn exponential(a: i32) -> i32 {
    const FRACTION: u32 = 26;
    if a == 0 {
        return i32::MAX;
    }
    let quarter = 1 << (FRACTION - 2);
    let last = a.rem_euclid(quarter) - quarter;
    let remainder = last - a;
    // Around −1/8: e^(−1/8) · (1 + x + x² / 2 + x³ / 6 + x⁴ / 24).
    let eighth = 1_895_147_668;
    let x = (last << 5) + (1 << 28);
    let square = high_product(x, x);
    let (cube, fourth) = (high_product(square, x), high_product(square, square));
    let sixth = high_product(rounded_quotient(fourth, 2) + cube, 715_827_883);
    let sum = x + rounded_quotient(sixth + square, 1);
    let mut result = eighth + high_product(eighth, sum);
    // e^(−1/4), e^(−1/2), … e^(−16), for each bit.
    let powers = [1_672_461_947, 1_302_514_674, 790_015_084, 290_630_308, 39_332_535, 720_401, 242];
    for (bit, power) in (FRACTION - 2..).zip(powers) {
        // Beyond 2⁵ there is no bit.
        if bit < 31 && remainder >> bit & 1 == 1 {
            result = high_product(result, power);
        }
    }
    result
}

/// exp of every difference to the largest of a row of 8-bit values, in Q0.31: entry `d` is that of −d, and 0 where that is below `diff_min`.
pub(super) fn exponentials(scale: &SoftmaxScale) -> [i32; 256] {
    let SoftmaxScale::FixedPoint { multiplier, diff_min } = *scale else { return [0; 256] };
    let entry =
        |d: usize| (d as i32 <= -diff_min).then(|| exponential(scaled(-(d as i32), multiplier).min(0)));
    std::array::from_fn(|d| entry(d).unwrap_or(0))
}

/// The reciprocals by which an integer division multiplies: of `b` from 0 to 255 with its highest bit moved to the front, in Q0.31 between 1/2 and 1: gemmlowp's
/// `one_over_one_plus_x_for_x_in_0_1` of what is behind that bit.
pub(super) fn reciprocals() -> [i32; 256] {
    std::array::from_fn(|b| {
        let front = (b as u32).wrapping_shl((b as u32).leading_zeros());
        let half = i64::from(front.wrapping_sub(1 << 31) as i32);
        // (x + 1) / 2 in Q0.31, rounded half away from zero.
        let sum = half + i64::from(i32::MAX);
        let denominator = ((sum + if sum < 0 { -1 } else { 1 }) / 2) as i32;
        // Newton's steps in Q2.29 from 48/17 − 32/17 · d.
        // Of 0, whose reciprocal is never used, it wraps.
        let mut x = 1_515_870_810i32.wrapping_add(high_product(denominator, -1_010_580_540));
        for _ in 0..3 {
            let error = (1i32 << 29).wrapping_sub(high_product(denominator, x));
            let more = (i64::from(high_product(x, error)) * 4).clamp(i32::MIN.into(), i32::MAX.into());
            x = x.wrapping_add(more as i32);
        }
        // Q2.29 to Q0.31, halved: the result is 1 / (1 + x).
        (i64::from(x) * 2).clamp(i32::MIN.into(), i32::MAX.into()) as i32
    })
}

/// TFLite's `LUTPopulate` of 513 entries for a function on the numbers from `low` to `high`, with results between −1 and 1 in Q0.15.
fn sampled(low: f32, high: f32, function: impl Fn(f32) -> f32) -> Vec<i16> {
    let step = (high - low) / 512.0;
    let unit = 65536.0 / (2.0 / 65535.0 * 32767.0 - 2.0 / 65535.0 * -32768.0);
    let saturated = |x: f32| x.clamp(-32768.0, 32767.0) as i16;
    let entry = |i: u16| {
        let at = low + f32::from(i) * step;
        let here = (function(at) * unit).round();
        let next = function(low + (f32::from(i) + 1.0) * step) * unit;
        let middle = (function(at + step / 2.0) * unit).round();
        let off = ((next + here) / 2.0).round() - middle;
        saturated(here - (off / 2.0).round())
    };
    (0..512).map(entry).chain([saturated((function(high) * unit).round())]).collect()
}

/// The tables of a softmax of 16 bits: exp(x) for x from −10 to 0, and 1 / (1 + x) for x from 0 to 1, both with 15 fraction bits.
pub(super) fn softmax_of_16_bits() -> [Vec<i16>; 2] {
    let (tenth, unit) = (10.0 / 65535.0, 1.0 / 65535.0);
    [
        sampled(tenth * -65535.0, tenth * 0.0, f32::exp),
        sampled(unit * 0.0, unit * 65535.0, |x| 1.0 / (1.0 + x)),
    ]
}

/// How stored values of 16 bits become steps of 1 / (3 · 2¹²) of a sigmoid's table: times the first, and shifted right by the second, rounded half up.
/// Scales that are powers of two around 2⁻¹² need no rounding: up to `2^most` times that.
pub(super) fn sigmoid_steps(scale: f32, most: i32) -> (i32, u32) {
    let exponent = scale.ln() * (1.0 / 2f32.ln());
    let nearest = exponent.round();
    let left = nearest as i32 + 12;
    if (exponent - nearest).abs() < 1e-3 && left >= 0 && left <= most {
        return (3 << left, 0);
    }
    // As many bits as 15 hold.
    let factor = f64::from(scale) * 12_288.0;
    let right = (0..31).find(|&right| factor * f64::from(1u32 << right) > 16_383.5).unwrap_or(31);
    ((factor * f64::from(right).exp2()) as i32, right)
}

/// Points of the unit circle, real and imaginary part of each: in Q0.15 or Q0.31 (times the largest number, rounded), or as floats.
fn circle(dtype: DType, phases: impl Iterator<Item = f64>) -> Data {
    let parts = |phase: f64| [libm::cos(phase), libm::sin(phase)];
    let fixed = |largest: i32, x: f64| (0.5 + f64::from(largest) * x).floor();
    let bytes = |x: f64| match dtype {
        DType::F32 => (x as f32).to_le_bytes().to_vec(),
        DType::I16 => (fixed(i16::MAX.into(), x) as i16).to_le_bytes().to_vec(),
        _ => (fixed(i32::MAX, x) as i32).to_le_bytes().to_vec(),
    };
    Data::new(phases.flat_map(parts).flat_map(bytes).collect::<Vec<u8>>())
}

/// What butterflies of a transform of `length` real numbers multiply by: three quarters of length / 2, four fifths where there are butterflies of radix 5.
pub(super) fn twiddles(dtype: DType, length: usize, inverse: bool) -> Data {
    let (n, sign) = (length / 2, if inverse { 2.0 } else { -2.0 });
    circle(dtype, (0..n - n / if n % 5 == 0 { 5 } else { 4 }).map(|i| sign * PI * i as f64 / n as f64))
}

/// What makes the spectrum of real numbers of one of half as many complex ones, from the one of index 1 on.
pub(super) fn half_twiddles(dtype: DType, length: usize, inverse: bool) -> Data {
    let (n, sign) = (length / 2, if inverse { 1.0 } else { -1.0 });
    circle(dtype, (1..=n / 2).map(|k| sign * PI * (k as f64 / n as f64 + 0.5)))
}

/// Pixels of the operand for one of the result.
pub(super) fn pixels(from: usize, to: usize, align_corners: bool) -> f32 {
    let less = usize::from(align_corners && to > 1);
    (from - less) as f32 / (to - less) as f32
}

/// The same in units of 1/1024, rounded.
pub(super) fn pixels_of_1024(from: usize, to: usize, align_corners: bool) -> i64 {
    let less = i64::from(align_corners && to > 1);
    let (from, to) = (from as i64 - less, to as i64 - less);
    (from * 1024 + to / 2) / to
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp;

    #[test]
    fn softmax_has_the_interpreters_tables() {
        for beta in [0.01, 0.3, 1.0, 2.5] {
            for exponent in -60..20 {
                let Some(scale) = SoftmaxScale::of_8_bits([beta, 1.37 * f64::from(exponent).exp2()]) else {
                    continue;
                };
                assert_eq!(exponentials(&scale), interp::softmax_exp_table(&scale), "{scale:?}");
            }
        }
        assert_eq!(softmax_of_16_bits(), interp::softmax_tables_16());
    }

    #[test]
    fn divisions_have_the_interpreters_reciprocals() {
        assert_eq!(reciprocals(), interp::div_reciprocals());
    }

    #[test]
    fn sigmoids_have_the_interpreters_steps() {
        for bits in (0..f32::INFINITY.to_bits()).step_by(104_729) {
            for most in [0, 1] {
                let (scale, steps) = (f32::from_bits(bits), interp::Steps::of(f32::from_bits(bits), most));
                if scale > 1e-12 && scale < 1.0 {
                    assert_eq!(sigmoid_steps(scale, most), (steps.multiplier, steps.right), "{scale}");
                }
            }
        }
        for power in -20..0 {
            let scale = 2f32.powi(power);
            let steps = interp::Steps::of(scale, 1);
            assert_eq!(sigmoid_steps(scale, 1), (steps.multiplier, steps.right), "{scale}");
        }
    }

    #[test]
    fn transforms_have_the_interpreters_points() {
        for dtype in [DType::I16, DType::I32, DType::F32] {
            for (length, inverse) in
                [(16, false), (16, true), (64, false), (512, true), (480, false), (1000, false)]
            {
                assert_eq!(twiddles(dtype, length, inverse), interp::twiddles(dtype, length, inverse));
                assert_eq!(
                    half_twiddles(dtype, length, inverse),
                    interp::half_twiddles(dtype, length, inverse)
                );
            }
        }
    }

    #[test]
    fn resizing_has_the_interpreters_factors() {
        for (from, to) in [(1, 1), (1, 7), (5, 1), (7, 3), (3, 7), (224, 96)] {
            for corners in [false, true] {
                assert_eq!(pixels(from, to, corners), interp::real_scale(from, to, corners));
                assert_eq!(pixels_of_1024(from, to, corners), interp::integer_scale(from, to, corners));
            }
        }
    }
}
