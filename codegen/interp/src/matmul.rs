//! Products of matrices.

use super::fixed_point::multiply_wide;
use super::requantise::Factors;
use super::tensor::{centred, clamp_f32, clamp_i32, for_each_index, offset, pack_i32};
use super::{single, Evaluated, Tensor};
use kiln_ir::{DType, Data, Op, Rescale, Type};

/// See `matmul` in the op table. Integers: `BatchMatMul` of TFLite's `reference/batch_matmul.h`.
pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    let Op::MatMul { rescale, clamp } = op else { return Ok(None) };
    let (x, y) = (operands[0], operands[1]);
    let depth = x.0.shape.last();
    let rows = |ty: &Type| strides(ty, result.shape.rank());
    let (of_x, of_y) = (rows(x.0), rows(y.0));
    let mut pairs = Vec::with_capacity(result.shape.numel());
    for_each_index(result.shape.dims(), |index| {
        let (lead, last) = index.split_at(index.len() - 2);
        // A row of each operand.
        let row_x = offset(lead, &of_x) + last[0] * depth;
        pairs.push((row_x, offset(lead, &of_y) + last[1] * depth));
    });
    if *rescale == Rescale::Real {
        let (xs, ys) = (x.1.to_f32(), y.1.to_f32());
        let dot = |(i, j): (usize, usize)| {
            let sum = (0..depth).fold(0f32, |sum, k| sum + xs[i + k] * ys[j + k]);
            clamp_f32(sum, clamp.float_bounds())
        };
        return Ok(Some(Data::from_f32(&pairs.into_iter().map(dot).collect::<Vec<_>>())));
    }
    let (xs, ys, by) = (centred(x.0, x.1), centred(y.0, y.1), Factors::of(rescale)?);
    if x.0.dtype == DType::I16 {
        let by = single(rescale)?;
        let dot = |(i, j): (usize, usize)| {
            let products = (0..depth).map(|k| i64::from(xs[i + k].wrapping_mul(ys[j + k])));
            let sum = products.fold(0i64, i64::wrapping_add);
            clamp_i32(multiply_wide(sum, by).wrapping_add(result.zero_point()), clamp.int_bounds())
        };
        return Ok(Some(pack_i32(result.dtype, pairs.into_iter().map(dot).collect::<Vec<_>>())));
    }
    let dot = |(i, j): (usize, usize)| {
        let sum = (0..depth).fold(0i32, |sum, k| sum.wrapping_add(xs[i + k].wrapping_mul(ys[j + k])));
        clamp_i32(by.apply(sum, 0).wrapping_add(result.zero_point()), clamp.int_bounds())
    };
    Ok(Some(pack_i32(result.dtype, pairs.into_iter().map(dot).collect::<Vec<_>>())))
}

/// Strides of the axes in front of a matrix, for a result of `rank` axes; 0 where the matrix is repeated.
fn strides(ty: &Type, rank: usize) -> Vec<usize> {
    let lead = ty.shape.rank() - 2;
    let mut strides = vec![0; rank - 2 - lead];
    for (&dim, stride) in ty.shape.dims()[..lead].iter().zip(ty.shape.strides()) {
        strides.push(if dim == 1 { 0 } else { stride });
    }
    strides
}
