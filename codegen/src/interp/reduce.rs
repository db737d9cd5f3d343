//! Reductions.

use super::fixed_point::multiply;
use super::tensor::{clamp_f32, clamp_i32, for_each_index, ints, offset, pack_i32};
use crate::ir::{Clamp, Data, Rescale, Type};

/// See `mean` in the op table. Integers: `QuantizedMeanOrSum` of TFLite's `reference/reduce.h`.
pub(super) fn mean(
    axes: &[usize],
    rescale: &Rescale,
    clamp: &Clamp,
    (ty, data): (&Type, &Data),
    result: &Type,
) -> Data {
    let dims = ty.shape.dims();
    let mut kept = ty.shape.clone();
    axes.iter().for_each(|&axis| kept.0[axis] = 1);
    let mut strides = kept.strides();
    axes.iter().for_each(|&axis| strides[axis] = 0);
    let count: usize = axes.iter().map(|&axis| dims[axis]).product();
    let outputs = kept.numel();

    let mut position = 0;
    match rescale {
        Rescale::Real => {
            let xs = data.to_f32();
            let mut sums = vec![0f32; outputs];
            for_each_index(dims, |index| {
                sums[offset(index, &strides)] += xs[position];
                position += 1;
            });
            let mean = |sum: f32| clamp_f32(sum / count as f32, clamp.float_bounds());
            Data::from_f32(&sums.into_iter().map(mean).collect::<Vec<_>>())
        }
        Rescale::FixedPoint(multipliers) => {
            let xs = ints(ty, data);
            let mut sums = vec![0i32; outputs];
            for_each_index(dims, |index| {
                let sum = &mut sums[offset(index, &strides)];
                *sum = sum.wrapping_add(xs[position]);
                position += 1;
            });
            let zeros = ty.zero_point().wrapping_mul(count as i32);
            let mean = |sum: i32| {
                let mean = multiply(sum.wrapping_sub(zeros), multipliers[0]);
                clamp_i32(mean.wrapping_add(result.zero_point()), clamp.int_bounds())
            };
            pack_i32(result.dtype, sums.into_iter().map(mean))
        }
    }
}
