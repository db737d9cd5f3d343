//! Comparisons, choices between operands, and changes of type.

use super::elementwise::of_pairs;
use super::fixed_point::multiply_below_one;
use super::tensor::{broadcast_strides, centred, for_each_index, offset};
use super::{Evaluated, Tensor};
use kiln_ir::{CompareRescale, Comparison, DType, Data, Multiplier, Op, Type};

pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    let first = operands[0];
    Ok(Some(match op {
        Op::Compare { function, rescale } => compare(*function, rescale, operands, result),
        Op::Select {} => select(operands, result),
        Op::Cast {} => cast(first, result),
        _ => return Ok(None),
    }))
}

/// See `compare` in the op table. Quantised integers: `ComparisonWithScaling` of TFLite's `reference/comparisons.h`.
fn compare(function: Comparison, rescale: &CompareRescale, operands: &[Tensor<'_>], result: &Type) -> Data {
    let (x, y) = (operands[0], operands[1]);
    if x.0.dtype == DType::F32 {
        let (xs, ys) = (x.1.to_f32(), y.1.to_f32());
        return Data::new(of_pairs(x.0, y.0, result, |i, j| u8::from(function.holds(xs[i], ys[j]))));
    }
    let (xs, ys) = match *rescale {
        CompareRescale::Stored => (x.1.to_ints(x.0.dtype), y.1.to_ints(y.0.dtype)),
        CompareRescale::FixedPoint { left_shift, x: by_x, y: by_y } => {
            let scaled = |(ty, data): Tensor<'_>, by: Multiplier| -> Vec<i64> {
                let each = centred(ty, data).into_iter();
                each.map(|v| i64::from(multiply_below_one(v.wrapping_shl(left_shift), by))).collect()
            };
            (scaled(x, by_x), scaled(y, by_y))
        }
    };
    Data::new(of_pairs(x.0, y.0, result, |i, j| u8::from(function.holds(xs[i], ys[j]))))
}

/// See `select` in the op table.
fn select(operands: &[Tensor<'_>], result: &Type) -> Data {
    let (rank, size) = (result.shape.rank(), result.dtype.size());
    let strides: Vec<Vec<usize>> = operands.iter().map(|(ty, _)| broadcast_strides(ty, rank)).collect();
    let mut bytes = Vec::with_capacity(result.bytes());
    for_each_index(result.shape.dims(), |index| {
        let chosen = if operands[0].1.bytes()[offset(index, &strides[0])] != 0 { 1 } else { 2 };
        let at = offset(index, &strides[chosen]) * size;
        bytes.extend_from_slice(&operands[chosen].1.bytes()[at..at + size]);
    });
    Data::new(bytes)
}

/// See `cast` in the op table.
fn cast((ty, data): Tensor<'_>, result: &Type) -> Data {
    match (ty.dtype, result.dtype) {
        (DType::F32, DType::F32) => data.clone(),
        (DType::F32, DType::Bool) => {
            Data::new(data.to_f32().into_iter().map(|x| u8::from(x != 0.0)).collect::<Vec<_>>())
        }
        (DType::F32, to) => {
            let (lo, hi) = to.int_range().unwrap_or((i64::MIN, i64::MAX));
            // Also what is no number becomes 0.
            Data::from_ints(to, data.to_f32().into_iter().map(|x| (x as i64).clamp(lo, hi)))
        }
        (from, DType::F32) => {
            Data::from_f32(&data.to_ints(from).into_iter().map(|x| x as f32).collect::<Vec<_>>())
        }
        (from, DType::Bool) => {
            Data::from_ints(DType::Bool, data.to_ints(from).into_iter().map(|x| i64::from(x != 0)))
        }
        (from, to) => Data::from_ints(to, data.to_ints(from)),
    }
}
