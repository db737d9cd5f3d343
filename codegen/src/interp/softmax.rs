//! Softmax.

use super::fixed_point::{doubling_high_mul, exp_on_negative, multiply, reciprocal, rounding_shift_right};
use super::tensor::{ints, pack_i32};
use crate::ir::{Data, SoftmaxScale, Type};

/// Integer bits of the exponential's argument.
const DIFF_INTEGER_BITS: u32 = 5;
/// Integer bits of the sum of exponentials.
const SUM_INTEGER_BITS: u32 = 12;

/// See `softmax` in the op table. Integers: `reference/softmax.h` of TFLite; the sum of a row saturates.
pub(super) fn softmax(beta: f32, scale: &SoftmaxScale, (ty, data): (&Type, &Data), result: &Type) -> Data {
    let depth = ty.shape.last().max(1);
    if *scale == SoftmaxScale::Real {
        let y = data.to_f32().chunks_exact(depth).flat_map(|row| real_row(beta, row)).collect::<Vec<_>>();
        return Data::from_f32(&y);
    }
    let exps = softmax_exp_table(scale);
    let (lo, hi) = result.dtype.int_range().unwrap_or((-128, 127));
    let row = |row: &[i32]| integer_row(&exps, row, lo as i32, hi as i32);
    pack_i32(result.dtype, ints(ty, data).chunks_exact(depth).flat_map(row).collect::<Vec<_>>())
}

fn real_row(beta: f32, row: &[f32]) -> Vec<f32> {
    let max = row.iter().fold(f32::MIN, |max, &x| if max < x { x } else { max });
    let exps: Vec<f32> = row.iter().map(|&x| ((x - max) * beta).exp()).collect();
    let sum = exps.iter().fold(0f32, |sum, e| sum + e);
    exps.into_iter().map(|e| e / sum).collect()
}

fn integer_row(exps: &[i32; 256], row: &[i32], lo: i32, hi: i32) -> Vec<i32> {
    let max = row.iter().copied().max().unwrap_or(0);
    let exp = |x: i32| exps.get(max.abs_diff(x) as usize).copied().unwrap_or(0);
    let sum =
        row.iter().fold(0i32, |sum, &x| sum.saturating_add(rounding_shift_right(exp(x), SUM_INTEGER_BITS)));
    let (scale, bits_over_unit) = reciprocal(sum, SUM_INTEGER_BITS);
    // The result has as many fraction bits as its elements have bits.
    let fraction_bits = if lo < -128 { 16 } else { 8 };
    let exponent = (bits_over_unit + 31 - fraction_bits).max(0) as u32;
    let result = |&x: &i32| {
        rounding_shift_right(doubling_high_mul(scale, exp(x)), exponent).saturating_add(lo).clamp(lo, hi)
    };
    row.iter().map(result).collect()
}

/// exp of every possible difference to the largest element of a row of 8-bit values: entry `d` is the Q0.31 exponential of the
/// difference −d, and 0 where that is below `diff_min`. All zero for [`SoftmaxScale::Real`].
pub fn softmax_exp_table(scale: &SoftmaxScale) -> [i32; 256] {
    let SoftmaxScale::FixedPoint { multiplier, diff_min } = *scale else { return [0; 256] };
    std::array::from_fn(|d| {
        let diff = -(d as i32);
        if diff < diff_min {
            0
        } else {
            exp_on_negative(multiply(diff, multiplier).min(0), DIFF_INTEGER_BITS)
        }
    })
}
