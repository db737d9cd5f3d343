//! Softmax.

use super::fixed_point::{doubling_high_mul, exp_on_negative, multiply, reciprocal, rounding_shift_right};
use super::interpolate::{interpolation_table, lookup};
use super::tensor::{ints, pack_i32};
use super::{Evaluated, Tensor};
use kiln_ir::{DType, Data, Multiplier, Op, SoftmaxScale, Type};

/// Integer bits of the exponential's argument.
const DIFF_INTEGER_BITS: u32 = 5;
/// Integer bits of the sum of exponentials.
const SUM_INTEGER_BITS: u32 = 12;

/// See `softmax` in the op table. Integers: `reference/softmax.h` of TFLite; the sum of a row saturates.
pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    let Op::Softmax { beta, scale } = op else { return Ok(None) };
    let (ty, data) = operands[0];
    let depth = ty.shape.last().max(1);
    if *scale == SoftmaxScale::Real {
        let y = data.to_f32().chunks_exact(depth).flat_map(|row| real_row(beta.0, row)).collect::<Vec<_>>();
        return Ok(Some(Data::from_f32(&y)));
    }
    if let (DType::I16, SoftmaxScale::FixedPoint { multiplier, .. }) = (ty.dtype, scale) {
        let tables = softmax_tables_16();
        let row = |row: &[i32]| row_of_16_bits(&tables, *multiplier, row);
        let rows = ints(ty, data).chunks_exact(depth).flat_map(row).collect::<Vec<_>>();
        return Ok(Some(pack_i32(result.dtype, rows)));
    }
    let exps = softmax_exp_table(scale);
    let (lo, hi) = result.dtype.int_range().unwrap_or((-128, 127));
    let row = |row: &[i32]| integer_row(&exps, row, lo as i32, hi as i32);
    let rows = ints(ty, data).chunks_exact(depth).flat_map(row).collect::<Vec<_>>();
    Ok(Some(pack_i32(result.dtype, rows)))
}

/// The tables of a softmax of 16 bits: exp(x) for x from −10 to 0, and 1 / (1 + x) for x from 0 to 1, both with 15 fraction bits.
pub fn softmax_tables_16() -> [Vec<i16>; 2] {
    let result = (2.0 / 65535.0, 0);
    [
        interpolation_table((10.0 / 65535.0, i32::from(i16::MAX)), result, f32::exp),
        interpolation_table((1.0 / 65535.0, i32::from(i16::MIN)), result, |x| 1.0 / (1.0 + x)),
    ]
}

/// TFLite's `SoftmaxInt16`.
fn row_of_16_bits([exp, reciprocal]: &[Vec<i16>; 2], by: Multiplier, row: &[i32]) -> Vec<i32> {
    let stored = |x: i32| x.clamp(i16::MIN.into(), i16::MAX.into()) as i16;
    let max = row.iter().copied().max().unwrap_or(0);
    let exps: Vec<i32> = row
        .iter()
        .map(|x| lookup(stored(multiply(x - max, by).saturating_add(i16::MAX.into())), exp).into())
        .collect();
    let sum = exps.iter().fold(0i32, |sum, &x| sum.wrapping_add(x));
    let zeros = sum.leading_zeros();
    // Between 1 and 2 with 16 fraction bits; what is above 1, as a stored value.
    let scaled = (((i64::from(sum) << zeros.saturating_sub(1).min(31)) + (1 << 13)) >> 14) as i32;
    let inverse = i32::from(lookup(stored(scaled.wrapping_sub(3 << 15)), reciprocal));
    let right = (31 - zeros as i32).clamp(1, 30);
    exps.iter()
        .map(|&x| (x.wrapping_mul(inverse).wrapping_add(1 << (right - 1)) >> right).clamp(0, 32767))
        .collect()
}

fn real_row(beta: f32, row: &[f32]) -> Vec<f32> {
    let max = row.iter().fold(f32::MIN, |max, &x| if max < x { x } else { max });
    let exps: Vec<f32> = row.iter().map(|&x| libm::expf((x - max) * beta)).collect();
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
