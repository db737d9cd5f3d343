//! Logarithms of a softmax, and vectors of length 1.

use super::fixed_point::{inverse_sqrt, log_from_one, multiply, rounding_shift_right, ROOT_BITS};
use super::softmax::softmax_exp_table;
use super::tensor::{centred, ints, pack_i32};
use super::{single, Computed, Evaluated, Tensor};
use kiln_ir::{DType, Data, Multiplier, Op, Rescale, SoftmaxScale, Type};

pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    let first = operands[0];
    Ok(Some(match op {
        Op::LogSoftmax { scale, divisor } => log_softmax(scale, divisor, first, result)?,
        Op::L2Normalize {} => l2_normalize(first, result),
        Op::LocalNormalize { radius, bias, alpha, beta } => {
            local_normalize(*radius, [bias.0, alpha.0, beta.0], first)
        }
        Op::InverseRoot { rescale } => inverse_root(single(rescale)?, first.1),
        _ => return Ok(None),
    }))
}

/// Bits between Q5.26 and Q9.22, which has the step of the result times 2²².
const OUTPUT_SHIFT: u32 = 22;

/// See `log_softmax` in the op table. Integers: `LogSoftmaxQuantized` of TFLite's `reference/log_softmax.h`; the sum of a row saturates.
fn log_softmax(scale: &SoftmaxScale, divisor: &Rescale, (ty, data): Tensor<'_>, result: &Type) -> Computed {
    let depth = ty.shape.last().max(1);
    let SoftmaxScale::FixedPoint { multiplier, diff_min } = *scale else {
        let y: Vec<f32> = data.to_f32().chunks_exact(depth).flat_map(real_row).collect();
        return Ok(Data::from_f32(&y));
    };
    let (exps, divisor) = (softmax_exp_table(scale), single(divisor)?);
    let row = |row: &[i32]| -> Vec<i32> {
        let max = row.iter().copied().max().unwrap_or(0);
        let exp =
            |&x: &i32| rounding_shift_right(exps.get(max.abs_diff(x) as usize).copied().unwrap_or(0), 12);
        let sum = row.iter().fold(0i32, |sum, x| sum.saturating_add(exp(x)));
        let log = log_from_one(sum);
        let least = (diff_min - 1).max(multiply(log.wrapping_add(i32::MIN), divisor));
        let result = |&x: &i32| match x - max {
            diff if diff <= least => -128,
            diff => {
                let log = multiply(diff, multiplier).wrapping_sub(log);
                rounding_shift_right(log, OUTPUT_SHIFT).saturating_add(127).clamp(-128, 127)
            }
        };
        row.iter().map(result).collect()
    };
    Ok(pack_i32(result.dtype, ints(ty, data).chunks_exact(depth).flat_map(row).collect::<Vec<_>>()))
}

fn real_row(row: &[f32]) -> Vec<f32> {
    let max = row.iter().fold(f32::MIN, |max, &x| if max < x { x } else { max });
    let log = libm::logf(row.iter().fold(0f32, |sum, x| sum + libm::expf(x - max)));
    row.iter().map(|x| x - max - log).collect()
}

/// See `l2_normalize` in the op table. Integers: `L2Normalization` of TFLite's `integer_ops/l2normalization.h`, and of `reference/l2normalization.h` for `u8`,
/// which shifts before it multiplies.
fn l2_normalize((ty, data): Tensor<'_>, result: &Type) -> Data {
    let depth = ty.shape.last().max(1);
    if ty.dtype == DType::F32 {
        let row = |row: &[f32]| -> Vec<f32> {
            let length = row.iter().fold(0f32, |sum, x| sum + x * x).sqrt();
            let length = if length < 1e-6 { 1e-6 } else { length };
            row.iter().map(|x| x / length).collect()
        };
        return Data::from_f32(&data.to_f32().chunks_exact(depth).flat_map(row).collect::<Vec<_>>());
    }
    let row = |row: &[i32]| -> Vec<i32> {
        let square = row.iter().fold(0i32, |sum, x| sum.wrapping_add(x.wrapping_mul(*x)));
        let (value, shift) = inverse_sqrt(square);
        // The result has 7 fraction bits.
        match result.dtype {
            DType::U8 => {
                let by = Multiplier { value, shift: -shift };
                row.iter().map(|&x| (128 + multiply(128 * x, by)).clamp(0, 255)).collect()
            }
            _ => {
                let by = Multiplier { value, shift: 7 - shift };
                row.iter().map(|&x| multiply(x, by).clamp(-128, 127)).collect()
            }
        }
    };
    pack_i32(result.dtype, centred(ty, data).chunks_exact(depth).flat_map(row).collect::<Vec<_>>())
}

/// See `local_normalize` in the op table: `LocalResponseNormalization` of TFLite's `reference_ops.h`, whose windows end one element early.
fn local_normalize(radius: usize, [bias, alpha, beta]: [f32; 3], (ty, data): Tensor<'_>) -> Data {
    let depth = ty.shape.last().max(1);
    let row = |row: &[f32]| -> Vec<f32> {
        let normalised = |at: usize| {
            let window = &row[at.saturating_sub(radius)..at.saturating_add(radius).min(depth)];
            let sum = window.iter().fold(0f32, |sum, x| sum + x * x);
            row[at] * libm::powf(bias + alpha * sum, -beta)
        };
        (0..depth).map(normalised).collect()
    };
    Data::from_f32(&data.to_f32().chunks_exact(depth).flat_map(row).collect::<Vec<_>>())
}

/// See `inverse_root` in the op table: `RsqrtEvalQuantized` of TFLite Micro's `elementwise.cc`.
fn inverse_root(by: Multiplier, data: &Data) -> Data {
    let out = Multiplier { shift: by.shift - ROOT_BITS, ..by };
    let root = |x: i64| {
        if x <= 0 {
            return i16::MAX;
        }
        let (value, right) = inverse_sqrt(x as i32);
        let fine = multiply(1, Multiplier { value, shift: ROOT_BITS - right });
        multiply(fine, out).clamp(i16::MIN.into(), i16::MAX.into()) as i16
    };
    Data::from_i16(&data.to_ints(DType::I16).into_iter().map(root).collect::<Vec<_>>())
}
