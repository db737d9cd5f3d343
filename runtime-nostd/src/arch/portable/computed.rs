//! Convolution with weights and a bias that are operands like any other, in the order of the graph: filters \[out_c\]\[k_h\]\[k_w\]\[in_c / groups\].

use super::math::round_even;
use super::sum::clip;
use crate::arch::opaque;
use crate::fixed::{to_i8, WideSum};
use crate::params::{ComputedConv, FloatRequant, Requant, Scale};
use crate::rows::{Read, ReadSlice};
use core::cell::Cell;

/// Convolutions of integers, which differ in the formats of images and biases, in how sums are rescaled, and in how they are made.
macro_rules! convolutions {
    ($( $(#[doc = $doc:literal])+ $vis:vis fn $name:ident($x:ty, $bias:ty, $q:ty) = $sums:ident($($rescaled:expr)?); )+) => {$(
        $(#[doc = $doc])+
        #[inline(always)]
        $vis fn $name(
            p: &ComputedConv,
            q: &$q,
            x: impl Read<$x>,
            w: impl Read<i8>,
            bias: impl Read<$bias>,
            y: &[Cell<$x>],
        ) {
            $sums(p, q, x.slice(), w.slice(), bias.slice(), y $(, $rescaled)?);
        }
    )+};
}

convolutions! {
    /// Convolution of `i8` images: Σ (x − x_zero) · (w − w_zero) + bias of the taps inside the image, requantised by channel.
    pub fn computed_conv2d_i8(i8, i32, Requant<'_>) = sums_of_8_bits(|q, o, sum| {
        Some(to_i8(factor(q, o)?.apply(sum), q.zero_point, q.lo, q.hi))
    });
    /// As [`computed_conv2d_i8`], but sums are rescaled with one rounding, as LiteRT's `FULLY_CONNECTED` does it.
    pub fn computed_conv2d_i8_once(i8, i32, Requant<'_>) = sums_of_8_bits(|q, o, sum| {
        Some(to_i8(factor(q, o)?.apply_once(sum), q.zero_point, q.lo, q.hi))
    });
    /// As [`computed_conv2d_i8`], but sums are rescaled as floats: ONNX Runtime's `QLinearConv`.
    pub fn computed_conv2d_i8_float(i8, i32, FloatRequant<'_>) = sums_of_8_bits(|q, o, sum| {
        let factor = q.factors.get(if q.factors.len() == 1 { 0 } else { o })?;
        Some(to_i8(round_even(sum as f32 * opaque(factor)), q.zero_point, q.lo, q.hi))
    });
    /// Convolution of `i16` images with `i8` weights and a zero point of 0, with sums of 64 bits.
    pub fn computed_conv2d_i16(i16, i64, Requant<'_>) = sums_of_16_bits();
    /// As [`computed_conv2d_i16`] with sums of 32 bits, modulo 2³².
    pub fn computed_conv2d_i16_narrow(i16, i32, Requant<'_>) = sums_of_16_bits();
}

/// Convolution of floats: products are summed in the order of a filter's elements, the bias comes last, and the result is clamped to `lo..=hi`.
#[inline(always)]
pub fn computed_conv2d_f32(
    p: &ComputedConv,
    lo: f32,
    hi: f32,
    x: impl Read<f32>,
    w: impl Read<f32>,
    bias: impl Read<f32>,
    y: &[Cell<f32>],
) {
    let bias = bias.slice();
    let add = |sum: f32, x: f32, w: f32| sum + x * w;
    sums(p, x.slice(), w.slice(), y, 0.0, add, |sum, o| Some(clip(sum + bias.at(o)?, lo, hi)));
}

/// Products of integers less their zero points; sums with their bias become results by `rescaled`, which gets their channel.
#[inline(always)]
fn sums_of_8_bits<Q>(
    p: &ComputedConv,
    q: &Q,
    x: impl ReadSlice<i8>,
    w: impl ReadSlice<i8>,
    bias: impl ReadSlice<i32>,
    y: &[Cell<i8>],
    rescaled: impl Fn(&Q, usize, i32) -> Option<i8>,
) {
    let (x_zero, w_zero) = (p.x_zero, p.w_zero);
    let add = |sum: i32, x: i8, w: i8| {
        let product = i32::from(x).wrapping_sub(x_zero).wrapping_mul(i32::from(w).wrapping_sub(w_zero));
        sum.wrapping_add(product)
    };
    sums(p, x, w, y, 0, add, |sum, o| rescaled(q, o, sum.wrapping_add(bias.at(o)?)));
}

fn sums_of_16_bits<A: WideSum>(
    p: &ComputedConv,
    q: &Requant<'_>,
    x: impl ReadSlice<i16>,
    w: impl ReadSlice<i8>,
    bias: impl ReadSlice<A>,
    y: &[Cell<i16>],
) {
    let add = |sum: A, x: i16, w: i8| sum.plus(A::product(x, w));
    sums(p, x, w, y, A::EMPTY, add, |sum, o| {
        Some(sum.plus(bias.at(o)?).rescaled(factor(q, o)?).max(q.lo).min(q.hi) as i16)
    });
}

/// The factor of a channel.
#[inline(always)]
fn factor(q: &Requant<'_>, o: usize) -> Option<Scale> {
    let o = if q.multipliers.len() == 1 { 0 } else { o };
    Some(Scale { multiplier: *q.multipliers.get(o)?, shift: (*q.shifts.get(o)?).into() })
}

/// The results, in their order, of the sums that `add` makes from `start` on, by `finish` and their channel.
#[inline(never)]
fn sums<X: Copy, W: Copy, A: Copy, Y>(
    p: &ComputedConv,
    x: impl ReadSlice<X>,
    w: impl ReadSlice<W>,
    y: &[Cell<Y>],
    start: A,
    add: impl Fn(A, X, W) -> A,
    finish: impl Fn(A, usize) -> Option<Y>,
) {
    let c = &p.conv;
    let (Some(run), Some(per_group)) = (c.in_c.checked_div(c.groups), c.out_c.checked_div(c.groups)) else {
        return;
    };
    // No filter is longer than what there is: sizes that no weights have end here.
    let taps = c.k_h.checked_mul(c.k_w).and_then(|taps| taps.checked_mul(run)).filter(|&taps| taps > 0);
    let empty = per_group == 0 || p.out_h == 0 || c.out_w == 0;
    if empty || taps.is_none_or(|taps| w.run(0, taps).is_none()) {
        return;
    }
    let mut results = y.iter();
    for image in 0..p.images {
        for (row, column) in (0..p.out_h).flat_map(|row| (0..c.out_w).map(move |column| (row, column))) {
            let top = row.wrapping_mul(c.stride_h).wrapping_sub(c.pad_top);
            let left = column.wrapping_mul(c.stride_w).wrapping_sub(c.pad_left);
            for o in 0..c.out_c {
                let Some(y) = results.next() else { return };
                let first = (o / per_group).wrapping_mul(run);
                let mut sum = start;
                for ky in 0..c.k_h {
                    let iy = top.wrapping_add(ky.wrapping_mul(c.dilation_h));
                    if iy >= c.in_h {
                        continue;
                    }
                    let pixels = image.wrapping_mul(c.in_h).wrapping_add(iy).wrapping_mul(c.in_w);
                    let filter = o.wrapping_mul(c.k_h).wrapping_add(ky).wrapping_mul(c.k_w);
                    for kx in 0..c.k_w {
                        let ix = left.wrapping_add(kx.wrapping_mul(c.dilation_w));
                        if ix >= c.in_w {
                            continue;
                        }
                        let at = pixels.wrapping_add(ix).wrapping_mul(c.in_c).wrapping_add(first);
                        let tap = filter.wrapping_add(kx).wrapping_mul(run);
                        let (Some(x), Some(w)) = (x.run(at, run), w.run(tap, run)) else { return };
                        sum = x.each().zip(w.each()).fold(sum, |sum, (x, w)| add(sum, x, w));
                    }
                }
                let Some(result) = finish(sum, o) else { return };
                y.set(result);
            }
        }
    }
}
