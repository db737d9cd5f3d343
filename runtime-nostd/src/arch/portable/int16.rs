//! Layers of `i16` with `i8` weights: TFLite's "16x8" arithmetic. Zero points are 0.

use super::conv::conv2d;
use super::convert::stored;
use super::dense::matrix;
use super::depthwise::depthwise2d;
use super::elementwise::zip;
use super::pool::{mean_of, pool2d};
use super::reduce::reduce;
use super::sum::{layers, Sum};
use super::unary::map;
use crate::arch::opaque;
use crate::fixed::WideSum;
use crate::params::{AddParams, Broadcast, Conv, MulParams, Pool, Reduce, Requant, Scale};
use crate::rows::{Band, Read, Rows};
use core::cell::Cell;

layers! { conv2d;
    /// Convolution of an `i16` image, with sums of 64 bits: as [`conv2d_i8`](super::conv::conv2d_i8) otherwise, with padding of zeros.
    pub fn conv2d_i16(&[i8], sums of i64);
    /// As [`conv2d_i16`] with sums of 32 bits, modulo 2³².
    pub fn conv2d_i16_narrow(&[i8], sums of i32);
}

layers! { depthwise2d;
    /// As [`conv2d_i16`] with filters for each channel: see [`depthwise2d_i8`](super::depthwise::depthwise2d_i8) for their order.
    pub fn depthwise2d_i16(&[i8], sums of i64);
}

/// Product of the rows of `x` with packed filters, with sums of 64 bits.
pub fn dense_i16(x: Rows<'_, i16>, w: &[i8], bias: &[i64], q: &Requant<'_>, y: Rows<'_, i16>, band: Band) {
    conv2d_i16(&matrix(x.row_len(), y.row_len()), x, w, bias, q, y, band);
}

/// As [`dense_i16`] with sums of 32 bits, modulo 2³².
pub fn dense_i16_narrow(
    x: Rows<'_, i16>,
    w: &[i8],
    bias: &[i32],
    q: &Requant<'_>,
    y: Rows<'_, i16>,
    band: Band,
) {
    conv2d_i16_narrow(&matrix(x.row_len(), y.row_len()), x, w, bias, q, y, band);
}

/// Sums of type `A`.
#[derive(Clone, Copy)]
struct Int16<'a, A> {
    bias: &'a [A],
    requant: &'a Requant<'a>,
}

impl<A: WideSum> Sum for Int16<'_, A> {
    type T = i16;
    type W = i8;
    type Y = i16;
    type Acc = A;

    const ANY: i16 = 0;
    const EMPTY: A = A::EMPTY;

    #[inline(always)]
    fn add(acc: A, x: i16, w: i8) -> A {
        acc.plus(A::product(x, w))
    }

    #[inline(always)]
    fn pad(self) -> i16 {
        0
    }

    #[inline(always)]
    fn finish(self, o: usize, acc: &[A], out: &[Cell<i16>]) {
        let Requant { multipliers, shifts, lo, hi, .. } = *self.requant;
        let single = multipliers.len() == 1;
        for (lane, (acc, out)) in acc.iter().zip(out).enumerate() {
            let channel = if single { 0 } else { o + lane };
            let (Some(&multiplier), Some(&shift)) = (multipliers.get(channel), shifts.get(channel)) else {
                return;
            };
            let bias = self.bias.get(o + lane).copied().unwrap_or(A::EMPTY);
            let result = acc.plus(bias).rescaled(Scale { multiplier, shift: shift.into() });
            out.set(result.max(lo).min(hi) as i16);
        }
    }
}

/// Sum of `i16` operands: see [`add_i8`](super::elementwise::add_i8).
#[inline(never)]
pub fn add_i16(shape: &Broadcast, p: &AddParams, a: impl Read<i16>, b: impl Read<i16>, y: &[Cell<i16>]) {
    zip(shape, a.slice(), b.slice(), y, |a, b| {
        let (x, y) = scaled(p, a, b);
        p.out.apply(x.wrapping_add(y)).max(p.lo).min(p.hi) as i16
    });
}

/// Difference of `i16` operands: see [`add_i8`](super::elementwise::add_i8).
#[inline(never)]
pub fn sub_i16(shape: &Broadcast, p: &AddParams, a: impl Read<i16>, b: impl Read<i16>, y: &[Cell<i16>]) {
    zip(shape, a.slice(), b.slice(), y, |a, b| {
        let (x, y) = scaled(p, a, b);
        p.out.apply(x.wrapping_sub(y)).max(p.lo).min(p.hi) as i16
    });
}

#[inline(always)]
fn scaled(p: &AddParams, a: i16, b: i16) -> (i32, i32) {
    let shifted = |x: i16| i32::from(x).wrapping_shl(p.left_shift);
    (p.x.apply(shifted(a)), p.y.apply(shifted(b)))
}

/// Product of `i16` operands: see [`mul_i8`](super::elementwise::mul_i8).
#[inline(never)]
pub fn mul_i16(shape: &Broadcast, p: &MulParams, a: impl Read<i16>, b: impl Read<i16>, y: &[Cell<i16>]) {
    zip(shape, a.slice(), b.slice(), y, |a, b| {
        p.out.apply(i32::from(a) * i32::from(b)).max(p.lo).min(p.hi) as i16
    });
}

/// Square of the difference of `i16` operands: see [`squared_difference_i8`](super::elementwise::squared_difference_i8).
#[inline(never)]
pub fn squared_difference_i16(
    shape: &Broadcast,
    p: &AddParams,
    a: impl Read<i16>,
    b: impl Read<i16>,
    y: &[Cell<i16>],
) {
    zip(shape, a.slice(), b.slice(), y, |a, b| {
        let (x, y) = scaled(p, a, b);
        let difference = x.wrapping_sub(y);
        p.out.apply(difference.wrapping_mul(difference)).max(p.lo).min(p.hi) as i16
    });
}

/// Where `x` is not negative, `identity` times it, else `alpha` times, which may be negative.
#[inline(never)]
pub fn leaky_relu_i16(identity: &Scale, alpha: &Scale, x: &[Cell<i16>], y: &[Cell<i16>]) {
    // A negative factor is applied as its magnitude to the number's negative.
    let magnitude = Scale { multiplier: alpha.multiplier.wrapping_abs(), ..*alpha };
    map(x, y, |x: i16| {
        let x = i32::from(x);
        let real = match (x >= 0, alpha.multiplier < 0) {
            (true, _) => identity.apply(x),
            (false, false) => magnitude.apply(x),
            (false, true) => magnitude.apply(x.wrapping_neg()),
        };
        real.max(i16::MIN.into()).min(i16::MAX.into()) as i16
    });
}

/// Stored values, clamped to `lo..=hi`.
#[inline(never)]
pub fn clip_i16(lo: i16, hi: i16, x: &[Cell<i16>], y: &[Cell<i16>]) {
    map(x, y, |x: i16| x.max(lo).min(hi));
}

/// TFLite's `QUANTIZE`: see [`quantize_f32_i8`](super::convert::quantize_f32_i8).
#[inline(never)]
pub fn quantize_f32_i16(scale: f32, zero_point: i32, x: &[Cell<f32>], y: &[Cell<i16>]) {
    map(x, y, |x| stored(x, scale, zero_point).clamp(-32768, 32767) as i16);
}

/// TFLite's `DEQUANTIZE`: `scale · (x − zero_point)`.
#[inline(never)]
pub fn dequantize_i16_f32(scale: f32, zero_point: i32, x: &[Cell<i16>], y: &[Cell<f32>]) {
    let scale = opaque(scale);
    map(x, y, |x: i16| scale * i32::from(x).wrapping_sub(zero_point) as f32);
}

/// Mean of each window, rounded half away from zero, clamped to `lo..=hi`.
#[inline(never)]
pub fn avg_pool2d_i16(p: &Pool, x: Rows<'_, i16>, lo: i32, hi: i32, y: Rows<'_, i16>, band: Band) {
    let add = |sum: i32, x: i16| sum.wrapping_add(x.into());
    pool2d(p, x, y, band, 0, add, |taps| move |sum| mean_of(sum, taps).max(lo).min(hi) as i16);
}

/// Largest element of each window, clamped to `lo..=hi`.
#[inline(never)]
pub fn max_pool2d_i16(p: &Pool, x: Rows<'_, i16>, lo: i32, hi: i32, y: Rows<'_, i16>, band: Band) {
    let larger = |max: i32, x: i16| max.max(x.into());
    pool2d(p, x, y, band, i32::from(i16::MIN), larger, |_| |max: i32| max.max(lo).min(hi) as i16);
}

/// Mean over some axes: see [`mean_i8`](super::reduce::mean_i8).
#[inline(never)]
pub fn mean_i16(
    p: &Reduce,
    x_zero: i32,
    scale: &Scale,
    out_zero: i32,
    lo: i32,
    hi: i32,
    x: &[Cell<i16>],
    y: &[Cell<i16>],
) {
    let add = |sum: i32, x: i16| sum.wrapping_add(x.into()).wrapping_sub(x_zero);
    reduce(p, x, y, 0, add, |sum| scale.apply(sum).saturating_add(out_zero).max(lo).min(hi) as i16);
}

/// A function of each `i16`, interpolated between 513 entries of `table`: one for every 128 stored values, and one behind them.
#[inline(never)]
pub fn interpolate_i16(table: &[i16], x: &[Cell<i16>], y: &[Cell<i16>]) {
    map(x, y, |x: i16| interpolated(table, x));
}

#[inline(always)]
fn interpolated(table: &[i16], x: i16) -> i16 {
    let at = (256 + (i32::from(x) >> 7)) as usize;
    let (Some(&base), Some(&next)) = (table.get(at), table.get(at.wrapping_add(1))) else { return 0 };
    // The slope has 16 bits, too.
    let step = i32::from(next.wrapping_sub(base));
    let delta = step.wrapping_mul((x & 0x7f).into()).wrapping_add(64) >> 7;
    delta.wrapping_add(base.into()) as i16
}

/// Softmax of `i16` rows: TFLite's `SoftmaxInt16`. `by` brings differences to the largest element of a row to steps of `exp`, the table of exp(x) from −10 to 0;
/// `reciprocal` is that of 1 / (1 + x) from 0 to 1. The result has 15 fraction bits.
#[inline(never)]
pub fn softmax_i16(
    depth: usize,
    by: &Scale,
    exp: &[i16],
    reciprocal: &[i16],
    x: &[Cell<i16>],
    y: &[Cell<i16>],
) {
    let depth = depth.max(1);
    let stored = |x: i32| x.max(i16::MIN.into()).min(i16::MAX.into()) as i16;
    for (x, y) in x.chunks_exact(depth).zip(y.chunks_exact(depth)) {
        let max = i32::from(x.iter().map(Cell::get).max().unwrap_or(0));
        let mut sum = 0i32;
        for (x, y) in x.iter().zip(y) {
            let steps = by.apply(i32::from(x.get()).wrapping_sub(max)).saturating_add(i16::MAX.into());
            let value = interpolated(exp, stored(steps));
            sum = sum.wrapping_add(value.into());
            y.set(value);
        }
        let zeros = sum.leading_zeros();
        let scaled = i64::from(sum).wrapping_shl(zeros.wrapping_sub(1).min(31)).wrapping_add(1 << 13) >> 14;
        let inverse = i32::from(interpolated(reciprocal, stored((scaled as i32).wrapping_sub(3 << 15))));
        let right = 31u32.wrapping_sub(zeros).clamp(1, 30);
        let half = 1i32.wrapping_shl(right.wrapping_sub(1));
        for y in y {
            let share = i32::from(y.get()).wrapping_mul(inverse).wrapping_add(half).wrapping_shr(right);
            y.set(share.max(0).min(i16::MAX.into()) as i16);
        }
    }
}
