//! exp(β·x) / Σ exp(β·x) along rows of `depth` elements.

use super::math;
use crate::fixed::{high_mul, round_shift};
use core::cell::Cell;

/// Softmax of `i8` rows; the result has scale 1/256 and zero point −128.
///
/// `exps[d]` is the exponential (Q0.31) of an element `d` below its row's largest one, 0 where it does not count. The rest is
/// gemmlowp's fixed-point division: sum in Q12.19, reciprocal by Newton's method, product rounded half away from zero.
/// A sum of 2¹² and more (rows of 4096 equal elements) saturates: no share of it is half a step of the result.
#[inline(never)]
pub fn softmax_i8(depth: usize, exps: &[i32], x: &[Cell<i8>], y: &[Cell<i8>]) {
    rows(depth, exps, x, y, 8, |value| value.wrapping_sub(128).clamp(-128, 127) as i8);
}

/// As [`softmax_i8`], with a result of scale 1/65536 and zero point −32768.
#[inline(never)]
pub fn softmax_i8_i16(depth: usize, exps: &[i32], x: &[Cell<i8>], y: &[Cell<i16>]) {
    rows(depth, exps, x, y, 16, |value| value.wrapping_sub(1 << 15).clamp(-1 << 15, (1 << 15) - 1) as i16);
}

/// Rows whose results have so many bits, as fractions of one.
#[inline(always)]
fn rows<T>(
    depth: usize,
    exps: &[i32],
    x: &[Cell<i8>],
    y: &[Cell<T>],
    bits_of_result: u32,
    stored: impl Fn(i32) -> T,
) {
    let depth = depth.max(1);
    for (x, y) in x.chunks_exact(depth).zip(y.chunks_exact(depth)) {
        let max = x.iter().map(Cell::get).max().unwrap_or(0);
        let exp = |x: i8| exps.get(usize::from(max.abs_diff(x))).copied().unwrap_or(0);
        let sum = x.iter().fold(0i32, |sum, x| sum.saturating_add(round_shift(exp(x.get()), 12)));
        // The sum is (1 + fraction) · 2^bits, with the fraction in Q0.31.
        let zeros = sum.leading_zeros();
        let bits = 12u32.wrapping_sub(zeros);
        let fraction = sum.wrapping_shl(zeros).wrapping_sub(i32::MIN);
        let reciprocal = reciprocal(fraction);
        for (x, y) in x.iter().zip(y) {
            let product = high_mul(reciprocal, exp(x.get()));
            // Larger shifts leave less than half a step of the result.
            let shift = bits.wrapping_add(31 - bits_of_result);
            let value = if shift > 31 { 0 } else { round_shift(product, shift) };
            y.set(stored(value));
        }
    }
}

/// 1 / (1 + x) for `x` in 0..1, both in Q0.31: gemmlowp's `one_over_one_plus_x_for_x_in_0_1`.
pub(crate) fn reciprocal(x: i32) -> i32 {
    /// 48/17 and −32/17 in Q2.29: the best linear start.
    const START: (i32, i32) = (1_515_870_810, -1_010_580_540);
    const ONE: i32 = 1 << 29;
    // (x + 1) / 2 in Q0.31, rounded half away from zero.
    let half_denominator = ((i64::from(x) + i64::from(i32::MAX) + 1) >> 1) as i32;
    let mut y = START.0.wrapping_add(high_mul(half_denominator, START.1));
    for _ in 0..3 {
        let error = ONE.wrapping_sub(high_mul(half_denominator, y));
        // The product is in Q4.27.
        y = y.wrapping_add(saturating_double(saturating_double(high_mul(y, error))));
    }
    // Half of y in Q1.30 has the same bits; back to Q0.31.
    saturating_double(y)
}

fn saturating_double(x: i32) -> i32 {
    x.saturating_mul(2)
}

/// Softmax of float rows, as TFLite computes it: exponentials of β · (x − largest), then each divided by their sum.
#[inline(never)]
pub fn softmax_f32(depth: usize, beta: f32, x: &[Cell<f32>], y: &[Cell<f32>]) {
    let depth = depth.max(1);
    for (x, y) in x.chunks_exact(depth).zip(y.chunks_exact(depth)) {
        let max = x.iter().map(Cell::get).fold(f32::MIN, |max, x| if max < x { x } else { max });
        let mut sum = 0.0;
        for (x, y) in x.iter().zip(y) {
            let exp = math::exp((x.get() - max) * beta);
            sum += exp;
            y.set(exp);
        }
        for y in y {
            y.set(y.get() / sum);
        }
    }
}
