//! Reductions.

use super::fixed_point::multiply_wide;
use super::requantise::Factors;
use super::tensor::{centred, clamp_f32, clamp_i32, for_each_index, ints, offset, pack_i32};
use super::{single, Computed, Evaluated, Tensor};
use kiln_ir::{Clamp, DType, Data, Op, Reduction, Rescale, Type};
use std::cmp::Ordering;

pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    let first = operands[0];
    Ok(Some(match op {
        Op::Reduce { function, axes, rescale } => reduce(*function, axes, rescale, first, result)?,
        Op::ArgReduce { axis, largest } => arg_reduce(*axis, *largest, first, result),
        Op::CumSum { axis, exclusive, reverse } => cumsum(*axis, *exclusive, *reverse, first, result),
        Op::TopK {} => top_k(first, result),
        Op::Mean { axes, rescale, clamp } => mean(axes, rescale, clamp, first, result),
        _ => return Ok(None),
    }))
}

/// See `mean` in the op table. Integers: `QuantizedMeanOrSum` of TFLite's `reference/reduce.h`.
fn mean(axes: &[usize], rescale: &Rescale, clamp: &Clamp, (ty, data): Tensor<'_>, result: &Type) -> Data {
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
        rescale => {
            // (Verified graphs have factors for integers.)
            let factors = Factors::of(rescale);
            let apply = |sum| factors.as_ref().map_or(0, |factors| factors.apply(sum, 0));
            let xs = ints(ty, data);
            let mut sums = vec![0i32; outputs];
            for_each_index(dims, |index| {
                let sum = &mut sums[offset(index, &strides)];
                *sum = sum.wrapping_add(xs[position]);
                position += 1;
            });
            let zeros = ty.zero_point().wrapping_mul(count as i32);
            let mean = |sum: i32| {
                let mean = apply(sum.wrapping_sub(zeros));
                clamp_i32(mean.wrapping_add(result.zero_point()), clamp.int_bounds())
            };
            pack_i32(result.dtype, sums.into_iter().map(mean))
        }
    }
}

/// See `reduce` in the op table. Floats are taken in the operand's order.
fn reduce(
    function: Reduction,
    axes: &[usize],
    rescale: &Rescale,
    (ty, data): Tensor<'_>,
    result: &Type,
) -> Computed {
    if function == Reduction::Sum && result.quant.is_some() {
        let by = Rescale::FixedPoint(vec![single(rescale)?]);
        let (lo, hi) = result.dtype.int_range().unwrap_or((0, 0));
        let clamp = Clamp::Int { lo: lo as i32, hi: hi as i32 };
        return Ok(mean(axes, &by, &clamp, (ty, data), result));
    }
    let mut kept = ty.shape.clone();
    axes.iter().for_each(|&axis| kept.0[axis] = 1);
    let mut strides = kept.strides();
    axes.iter().for_each(|&axis| strides[axis] = 0);
    let mut position = 0;
    if function == Reduction::Product && result.quant.is_some() {
        let (by, xs) = (single(rescale)?, centred(ty, data));
        let mut products: Vec<Option<i32>> = vec![None; kept.numel()];
        for_each_index(ty.shape.dims(), |index| {
            let product = &mut products[offset(index, &strides)];
            let next = |so_far| multiply_wide(i64::from(so_far) * i64::from(xs[position]), by);
            *product = Some(product.map_or(xs[position], next));
            position += 1;
        });
        let (lo, hi) = result.dtype.int_range().unwrap_or((0, 0));
        let end = |product: Option<i32>| {
            let value = multiply_wide(product.unwrap_or(1).into(), by).wrapping_add(result.zero_point());
            i64::from(value).clamp(lo, hi)
        };
        return Ok(Data::from_ints(result.dtype, products.into_iter().map(end)));
    }
    if ty.dtype == DType::F32 {
        let start = match function {
            Reduction::Max => f32::MIN,
            Reduction::Min => f32::MAX,
            Reduction::Product => 1.0,
            Reduction::Sum => 0.0,
        };
        let (xs, mut ys) = (data.to_f32(), vec![start; kept.numel()]);
        for_each_index(ty.shape.dims(), |index| {
            let (x, y) = (xs[position], &mut ys[offset(index, &strides)]);
            *y = match function {
                Reduction::Max if x > *y => x,
                Reduction::Min if x < *y => x,
                Reduction::Max | Reduction::Min => *y,
                Reduction::Product => *y * x,
                Reduction::Sum => *y + x,
            };
            position += 1;
        });
        return Ok(Data::from_f32(&ys));
    }
    let start = match function {
        Reduction::Max => i64::MIN,
        Reduction::Min => i64::MAX,
        Reduction::Product => 1,
        Reduction::Sum => 0,
    };
    let (xs, mut ys) = (data.to_ints(ty.dtype), vec![start; kept.numel()]);
    for_each_index(ty.shape.dims(), |index| {
        let (x, y) = (xs[position], &mut ys[offset(index, &strides)]);
        *y = match function {
            Reduction::Max => x.max(*y),
            Reduction::Min => x.min(*y),
            // Low bits of products and sums are those of their low bits.
            Reduction::Product => y.wrapping_mul(x),
            Reduction::Sum => y.wrapping_add(x),
        };
        position += 1;
    });
    Ok(Data::from_ints(result.dtype, ys))
}

/// Positions along an axis: those of the elements at each index of the other axes, in order.
fn along(ty: &Type, axis: usize) -> Vec<Vec<usize>> {
    let (dims, strides) = (ty.shape.dims(), ty.shape.strides());
    let mut others = dims.to_vec();
    others[axis] = 1;
    let mut runs = Vec::new();
    for_each_index(&others, |index| {
        let first = offset(index, &strides);
        runs.push((0..dims[axis]).map(|i| first + i * strides[axis]).collect());
    });
    runs
}

/// See `arg_reduce` in the op table.
fn arg_reduce(axis: usize, largest: bool, (ty, data): Tensor<'_>, result: &Type) -> Data {
    fn best<T: PartialOrd>(run: &[usize], x: &[T], largest: bool) -> i64 {
        let better = |a: &T, b: &T| if largest { a > b } else { a < b };
        (1..run.len()).fold(0, |best, i| if better(&x[run[i]], &x[run[best]]) { i } else { best }) as i64
    }
    let runs = along(ty, axis);
    let found: Vec<i64> = match ty.dtype {
        DType::F32 => {
            let x = data.to_f32();
            runs.iter().map(|run| best(run, &x, largest)).collect()
        }
        dtype => {
            let x = data.to_ints(dtype);
            runs.iter().map(|run| best(run, &x, largest)).collect()
        }
    };
    Data::from_ints(result.dtype, found)
}

/// See `top_k` in the op table.
fn top_k((ty, data): Tensor<'_>, result: &Type) -> Data {
    fn ranked<T: Copy>(row: &[T], k: usize, order: impl Fn(&T, &T) -> Ordering) -> Vec<i32> {
        let mut at: Vec<usize> = (0..row.len()).collect();
        at.sort_by(|&i, &j| order(&row[j], &row[i]));
        at.into_iter().take(k).map(|i| i as i32).collect()
    }
    let (depth, k) = (ty.shape.last().max(1), result.shape.last());
    let found: Vec<i32> = match ty.dtype {
        DType::F32 => {
            let order = |a: &f32, b: &f32| a.partial_cmp(b).unwrap_or(b.is_nan().cmp(&a.is_nan()));
            data.to_f32().chunks_exact(depth).flat_map(|row| ranked(row, k, order)).collect()
        }
        dtype => data.to_ints(dtype).chunks_exact(depth).flat_map(|row| ranked(row, k, i64::cmp)).collect(),
    };
    Data::from_i32(&found)
}

/// See `cumsum` in the op table.
fn cumsum(axis: usize, exclusive: bool, reverse: bool, (ty, data): Tensor<'_>, result: &Type) -> Data {
    fn sums<T: Copy>(
        runs: Vec<Vec<usize>>,
        x: &[T],
        zero: T,
        (exclusive, reverse): (bool, bool),
        add: impl Fn(T, T) -> T,
    ) -> Vec<T> {
        let mut y = x.to_vec();
        for mut run in runs {
            if reverse {
                run.reverse();
            }
            let mut sum = zero;
            for at in run {
                let before = sum;
                sum = add(sum, x[at]);
                y[at] = if exclusive { before } else { sum };
            }
        }
        y
    }
    let (runs, how) = (along(ty, axis), (exclusive, reverse));
    match ty.dtype {
        DType::F32 => Data::from_f32(&sums(runs, &data.to_f32(), 0.0, how, |a, b| a + b)),
        dtype => Data::from_ints(result.dtype, sums(runs, &data.to_ints(dtype), 0, how, i64::wrapping_add)),
    }
}
