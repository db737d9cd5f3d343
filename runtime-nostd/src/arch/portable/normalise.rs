//! Logarithms of a softmax, and vectors of length 1, along rows of `depth` elements.

use super::math;
use super::softmax::reciprocal;
use crate::fixed::{high_mul, round_shift};
use crate::params::{LogSoftmax, Scale};
use core::cell::Cell;

/// x − log Σ exp(x), as TFLite computes it.
#[inline(never)]
pub fn log_softmax_f32(depth: usize, x: &[Cell<f32>], y: &[Cell<f32>]) {
    let depth = depth.max(1);
    for (x, y) in x.chunks_exact(depth).zip(y.chunks_exact(depth)) {
        let max = x.iter().map(Cell::get).fold(f32::MIN, |max, x| if max < x { x } else { max });
        let log = libm::logf(x.iter().fold(0.0, |sum, x| sum + math::exp(x.get() - max)));
        for (x, y) in x.iter().zip(y) {
            y.set(x.get() - max - log);
        }
    }
}

/// Logarithm of a softmax of `i8` rows; the result has 1/16 for a step, and 127 is 0.
///
/// `exps[d]` is the exponential (Q0.31) of an element `d` below its row's largest one, 0 where it does not count. The rest is TFLite's fixed point:
/// sum in Q12.19, saturated, logarithm in Q5.26.
#[inline(never)]
pub fn log_softmax_i8(depth: usize, p: &LogSoftmax, exps: &[i32], x: &[Cell<i8>], y: &[Cell<i8>]) {
    let depth = depth.max(1);
    for (x, y) in x.chunks_exact(depth).zip(y.chunks_exact(depth)) {
        let max = x.iter().map(Cell::get).max().unwrap_or(0);
        let exp = |x: i8| exps.get(usize::from(max.abs_diff(x))).copied().unwrap_or(0);
        let sum = x.iter().fold(0i32, |sum, x| sum.saturating_add(round_shift(exp(x.get()), 12)));
        let log = log_from_one(sum);
        let least = p.diff_min.wrapping_sub(1).max(p.divisor.apply(log.wrapping_add(i32::MIN)));
        for (x, y) in x.iter().zip(y) {
            let diff = i32::from(x.get()).wrapping_sub(max.into());
            let value = round_shift(p.diff.apply(diff).wrapping_sub(log), 22).wrapping_add(127);
            y.set(if diff > least { value.clamp(-128, 127) as i8 } else { -128 });
        }
    }
}

/// x / √Σ x², where the root is not less than 10⁻⁶. NaN makes all of its row NaN.
#[inline(never)]
pub fn l2_normalize_f32(depth: usize, x: &[Cell<f32>], y: &[Cell<f32>]) {
    let depth = depth.max(1);
    for (x, y) in x.chunks_exact(depth).zip(y.chunks_exact(depth)) {
        let length = libm::sqrtf(x.iter().fold(0.0, |sum, x| sum + x.get() * x.get()));
        let length = if length < 1e-6 { 1e-6 } else { length };
        for (x, y) in x.iter().zip(y) {
            y.set(x.get() / length);
        }
    }
}

/// The same of `i8` rows, as TFLite's fixed point; the result has 1/128 for a step.
#[inline(never)]
pub fn l2_normalize_i8(depth: usize, zero: i32, x: &[Cell<i8>], y: &[Cell<i8>]) {
    let depth = depth.max(1);
    let centred = |x: &Cell<i8>| i32::from(x.get()).wrapping_sub(zero);
    for (x, y) in x.chunks_exact(depth).zip(y.chunks_exact(depth)) {
        let square = x.iter().map(centred).fold(0i32, |sum, x| sum.wrapping_add(x.wrapping_mul(x)));
        let by = reciprocal_root(square);
        for (x, y) in x.iter().zip(y) {
            y.set(by.apply(centred(x)).clamp(-128, 127) as i8);
        }
    }
}

/// The same of `u8` rows, whose result is around 128: shifted before it is multiplied, so that it is rounded twice.
#[inline(never)]
pub fn l2_normalize_u8(depth: usize, zero: i32, x: &[Cell<u8>], y: &[Cell<u8>]) {
    let depth = depth.max(1);
    let centred = |x: &Cell<u8>| i32::from(x.get()).wrapping_sub(zero);
    for (x, y) in x.chunks_exact(depth).zip(y.chunks_exact(depth)) {
        let square = x.iter().map(centred).fold(0i32, |sum, x| sum.wrapping_add(x.wrapping_mul(x)));
        let by = reciprocal_root(square);
        let by = Scale { shift: by.shift.wrapping_sub(7), ..by };
        for (x, y) in x.iter().zip(y) {
            let scaled = by.apply(centred(x).wrapping_mul(128));
            y.set(scaled.wrapping_add(128).clamp(0, 255) as u8);
        }
    }
}

/// x · (bias + alpha · Σ x²)^−beta, where the sum is over the `radius` elements before x, x itself, and the `radius` − 1 elements behind it.
#[inline(never)]
pub fn local_normalize_f32(
    depth: usize,
    radius: usize,
    bias: f32,
    alpha: f32,
    beta: f32,
    x: &[Cell<f32>],
    y: &[Cell<f32>],
) {
    let depth = depth.max(1);
    for (x, y) in x.chunks_exact(depth).zip(y.chunks_exact(depth)) {
        for (at, y) in y.iter().enumerate() {
            let window = x.get(at.saturating_sub(radius)..at.saturating_add(radius).min(depth));
            let window = window.unwrap_or_default();
            let sum = window.iter().fold(0.0, |sum: f32, x| sum + x.get() * x.get());
            let x = x.get(at).map_or(0.0, Cell::get);
            y.set(x * libm::powf(bias + alpha * sum, -beta));
        }
    }
}

/// 1 / √x of `i16` elements, as TFLite's fixed point; the largest element for x ≤ 0.
#[inline(never)]
pub fn inverse_root_i16(by: &Scale, x: &[Cell<i16>], y: &[Cell<i16>]) {
    /// Bits after the point of the intermediate result.
    const BITS: i32 = 20;
    let by = Scale { shift: by.shift.wrapping_sub(BITS), ..*by };
    for (x, y) in x.iter().zip(y) {
        let x = i32::from(x.get());
        if x <= 0 {
            y.set(i16::MAX);
            continue;
        }
        let root = reciprocal_root(x);
        let root = Scale { shift: root.shift.wrapping_add(BITS - 7), ..root };
        y.set(by.apply(root.apply(1)).clamp(i16::MIN.into(), i16::MAX.into()) as i16);
    }
}

/// The natural logarithm, in Q5.26, of `x` in Q12.19, which is at least 1: TFLite's `log_x_for_x_greater_than_or_equal_to_1`.
fn log_from_one(x: i32) -> i32 {
    const LOG_2: i32 = 1_488_522_236;
    const FOURTH_ROOT_OF_HALF: i32 = 1_805_811_301;
    const ROOT_OF_HALF: i32 = 1_518_500_250;
    /// Of rational functions around the fourth root of one half.
    const ALPHAS: (i32, i32, i32, i32) = (117_049_297, 127_690_142, 1_057_819_769, 638_450_708);
    const QUARTER: i32 = 1 << 23;
    let (alpha_n, alpha_d, alpha_i, alpha_f) = ALPHAS;
    // The mantissa of x / √2 or of x, whichever is smaller, and the greater power of two, in Q6.25.
    let zeros = x.leading_zeros();
    let near = shift_left(high_mul(shift_left(x, zeros.saturating_sub(1)), ROOT_OF_HALF), 1);
    let power = shift_left(12i32.wrapping_sub(zeros as i32), 25).saturating_add(QUARTER);
    let other_zeros = high_mul(x, ROOT_OF_HALF).leading_zeros().saturating_sub(1);
    let other = shift_left(x, other_zeros);
    let other_power = shift_left(12i32.wrapping_sub(other_zeros as i32), 25).saturating_sub(QUARTER);
    let (r, power) = (near.min(other), power.max(other_power));

    // Second factors are not negative.
    let p = ((i64::from(r) + i64::from(FOURTH_ROOT_OF_HALF) + 1) >> 1) as i32;
    let q = r.wrapping_sub(FOURTH_ROOT_OF_HALF).wrapping_mul(2);
    let magnitude = q.wrapping_abs();
    let square = high_mul(magnitude, magnitude);
    let numerator = high_mul(q, r).wrapping_add(high_mul(high_mul(q, square), alpha_n));
    let sum = alpha_i.wrapping_add(q).wrapping_add(high_mul(square, alpha_d));
    let denominator = high_mul(sum, p).wrapping_add(high_mul(q, alpha_f));
    let quotient = high_mul(round_shift(numerator, 6), reciprocal(denominator));
    shift_left(high_mul(power, LOG_2).wrapping_add(quotient), 1)
}

/// 1 / √x for `x` ≥ 0, 0 counting as 1, times 2⁷: TFLite's `GetInvSqrtQuantizedMultiplierExp`.
fn reciprocal_root(x: i32) -> Scale {
    const ONE: i32 = 1 << 28;
    const HALF_ROOT_OF_TWO: i32 = 1_518_500_250;
    if x <= 1 {
        return Scale { multiplier: i32::MAX, shift: 7 };
    }
    let (mut x, mut shift) = (x, 11i32);
    while x >= 1 << 29 {
        x >>= 2;
        shift = shift.wrapping_add(1);
    }
    // 2²⁷ ≤ x < 2²⁹ after a shift by pairs of bits.
    let pairs = (x.leading_zeros().wrapping_sub(1) >> 1).wrapping_sub(1);
    shift = shift.wrapping_sub(pairs as i32);
    let half = round_shift(x.wrapping_shl(pairs.wrapping_mul(2)) >> 1, 1);
    let mut root = ONE;
    for _ in 0..5 {
        let cube = shift_left(high_mul(high_mul(root, root), root), 6);
        root = shift_left(high_mul(ONE + ONE / 2, root).wrapping_sub(high_mul(half, cube)), 3);
    }
    let root = high_mul(root, HALF_ROOT_OF_TWO);
    match shift < 0 {
        true => Scale { multiplier: root.wrapping_shl(shift.unsigned_abs()), shift: 7 },
        false => Scale { multiplier: root, shift: 7i32.wrapping_sub(shift) },
    }
}

/// `x · 2^bits`, saturated.
fn shift_left(x: i32, bits: u32) -> i32 {
    (i64::from(x) << bits.min(31)).clamp(i32::MIN.into(), i32::MAX.into()) as i32
}
