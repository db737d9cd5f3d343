//! Arithmetic element by element.

use super::fixed_point::multiply;
use super::requantise::Factors;
use super::tensor::{
    broadcast_strides, centred, clamp_f32, clamp_i32, for_each_index, ints, offset, pack_i32,
};
use super::{single, Evaluated, Tensor};
use kiln_ir::{AddRescale, Clamp, DType, Data, LeakyRescale, Multiplier, Op, Real, Rescale, Type};

pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    let first = operands[0];
    Ok(Some(match op {
        Op::Add { rescale, clamp } => add_sub(Binary::Add, rescale, clamp, operands, result),
        Op::Sub { rescale, clamp } => add_sub(Binary::Sub, rescale, clamp, operands, result),
        Op::Mul { rescale, clamp } => mul(rescale, clamp, operands, result),
        Op::Clip { clamp } => clip(clamp, first, result),
        Op::LeakyRelu { alpha, rescale } => leaky_relu(alpha.0, rescale, first, result),
        Op::Requantize { rescale, clamp } => requantize(single(rescale)?, clamp, first, result),
        _ => return Ok(None),
    }))
}

/// The three binary operations.
#[derive(Clone, Copy)]
enum Binary {
    Add,
    Sub,
    Mul,
}

impl Binary {
    fn real(self, a: f32, b: f32) -> f32 {
        match self {
            Binary::Add => a + b,
            Binary::Sub => a - b,
            Binary::Mul => a * b,
        }
    }

    fn wrapping(self, a: i64, b: i64) -> i64 {
        match self {
            Binary::Add => a.wrapping_add(b),
            Binary::Sub => a.wrapping_sub(b),
            Binary::Mul => a.wrapping_mul(b),
        }
    }

    fn wrapping_i32(self, a: i32, b: i32) -> i32 {
        self.wrapping(i64::from(a), i64::from(b)) as i32
    }
}

/// What `of` makes of the positions in both operands, for every element of the result.
pub(super) fn of_pairs<T>(
    a: &Type,
    b: &Type,
    result: &Type,
    mut of: impl FnMut(usize, usize) -> T,
) -> Vec<T> {
    let rank = result.shape.rank();
    let (a, b) = (broadcast_strides(a, rank), broadcast_strides(b, rank));
    let mut all = Vec::with_capacity(result.shape.numel());
    for_each_index(result.shape.dims(), |index| all.push(of(offset(index, &a), offset(index, &b))));
    all
}

/// See `add` and `sub` in the op table.
fn add_sub(op: Binary, rescale: &AddRescale, clamp: &Clamp, operands: &[Tensor<'_>], result: &Type) -> Data {
    match *rescale {
        AddRescale::Real => plain(op, clamp, operands, result),
        AddRescale::FixedPoint { left_shift, x: by_x, y: by_y, out } => {
            let (x, y) = (operands[0], operands[1]);
            let scaled = |(ty, data): Tensor<'_>, by: Multiplier| -> Vec<i32> {
                centred(ty, data).into_iter().map(|v| multiply(v.wrapping_shl(left_shift), by)).collect()
            };
            let (xs, ys) = (scaled(x, by_x), scaled(y, by_y));
            let zero = result.zero_point();
            let z = of_pairs(x.0, y.0, result, |i, j| {
                let sum = multiply(op.wrapping_i32(xs[i], ys[j]), out).wrapping_add(zero);
                clamp_i32(sum, clamp.int_bounds())
            });
            pack_i32(result.dtype, z)
        }
        AddRescale::Float { x: by_x, y: by_y, constant, offset } => {
            let (x, y) = (operands[0], operands[1]);
            let scaled = |(ty, data): Tensor<'_>, by: Real| -> Vec<f32> {
                ints(ty, data).into_iter().map(|v| v.wrapping_add(offset) as f32 * by.0).collect()
            };
            let (xs, ys) = (scaled(x, by_x), scaled(y, by_y));
            let z = of_pairs(x.0, y.0, result, |i, j| {
                // Differences negate the factor.
                let sum = (constant.0 + xs[i]) + ys[j];
                let stored = (sum.round_ties_even() as i32).saturating_sub(offset);
                clamp_i32(stored, clamp.int_bounds())
            });
            pack_i32(result.dtype, z)
        }
    }
}

/// See `mul` in the op table.
fn mul(rescale: &Rescale, clamp: &Clamp, operands: &[Tensor<'_>], result: &Type) -> Data {
    let Ok(factors) = Factors::of(rescale) else { return plain(Binary::Mul, clamp, operands, result) };
    let (x, y) = (operands[0], operands[1]);
    let (xs, ys) = (centred(x.0, x.1), centred(y.0, y.1));
    let zero = result.zero_point();
    let z = of_pairs(x.0, y.0, result, |i, j| {
        let product = factors.apply(xs[i].wrapping_mul(ys[j]), 0).saturating_add(zero);
        clamp_i32(product, clamp.int_bounds())
    });
    pack_i32(result.dtype, z)
}

/// Floats, and plain integers, which wrap. A clamp's bound at the end of the `i32` range is none for `i64`.
fn plain(op: Binary, clamp: &Clamp, operands: &[Tensor<'_>], result: &Type) -> Data {
    let (x, y) = (operands[0], operands[1]);
    if result.dtype == DType::F32 {
        let (xs, ys) = (x.1.to_f32(), y.1.to_f32());
        let z = of_pairs(x.0, y.0, result, |i, j| clamp_f32(op.real(xs[i], ys[j]), clamp.float_bounds()));
        return Data::from_f32(&z);
    }
    let (xs, ys) = (x.1.to_ints(x.0.dtype), y.1.to_ints(y.0.dtype));
    let z = of_pairs(x.0, y.0, result, |i, j| {
        let value = op.wrapping(xs[i], ys[j]);
        if result.dtype == DType::I64 {
            clamp_i64(value, clamp)
        } else {
            i64::from(clamp_i32(value as i32, clamp.int_bounds()))
        }
    });
    Data::from_ints(result.dtype, z)
}

pub(super) fn clamp_i64(value: i64, clamp: &Clamp) -> i64 {
    let (lo, hi) = clamp.int_bounds();
    let lo = if lo == i32::MIN { i64::MIN } else { i64::from(lo) };
    let hi = if hi == i32::MAX { i64::MAX } else { i64::from(hi) };
    value.max(lo).min(hi)
}

/// See `clip` in the op table.
fn clip(clamp: &Clamp, (ty, data): Tensor<'_>, result: &Type) -> Data {
    if ty.dtype == DType::F32 {
        let clipped = data.to_f32().into_iter().map(|x| clamp_f32(x, clamp.float_bounds()));
        return Data::from_f32(&clipped.collect::<Vec<_>>());
    }
    Data::from_ints(result.dtype, data.to_ints(ty.dtype).into_iter().map(|x| clamp_i64(x, clamp)))
}

/// See `leaky_relu` in the op table.
fn leaky_relu(alpha: f32, rescale: &LeakyRescale, (ty, data): Tensor<'_>, result: &Type) -> Data {
    match *rescale {
        LeakyRescale::Real => {
            let leak = |x: f32| if x > 0.0 { x } else { x * alpha };
            Data::from_f32(&data.to_f32().into_iter().map(leak).collect::<Vec<_>>())
        }
        LeakyRescale::FixedPoint { identity, alpha } => {
            let zero = result.zero_point();
            let (lo, hi) = result.dtype.int_range().unwrap_or((i64::MIN, i64::MAX));
            let leak = |x: i32| {
                let y = multiply(x, if x >= 0 { identity } else { alpha }).wrapping_add(zero);
                i64::from(y).clamp(lo, hi)
            };
            Data::from_ints(result.dtype, centred(ty, data).into_iter().map(leak))
        }
    }
}

/// See `requantize` in the op table.
fn requantize(by: Multiplier, clamp: &Clamp, (ty, data): Tensor<'_>, result: &Type) -> Data {
    let zero = ty.zero_point();
    let rescaled = ints(ty, data).into_iter().map(|x| {
        let y = multiply(x.wrapping_sub(zero), by).wrapping_add(result.zero_point());
        clamp_i32(y, clamp.int_bounds())
    });
    pack_i32(result.dtype, rescaled)
}
