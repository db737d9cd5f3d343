//! Layers with integer weights whose operands are quantised as they come: TFLite's hybrid kernels.
//!
//! A row of numbers that share a scale is described by three floats: the scale, the reciprocal by which numbers are multiplied, and the zero point.

use super::conv::conv2d;
use super::dense::matrix;
use super::depthwise::{depthwise2d, Taps};
use super::math;
use super::sum::{clip, layers, pixel_by_fours, Sum, LANES};
use crate::arch::sum_i8;
use crate::params::{Conv, DynamicLayer};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Describes each row of `x`: numbers between the least and the largest (and 0) become −128 to 127.
#[inline(never)]
pub fn dynamic_scale_f32_asymmetric(x: Rows<'_, f32>, y: &[Cell<f32>]) {
    describe(x, y, |lo, hi| {
        if lo == hi {
            return [1.0, 0.0, 0.0];
        }
        let (lo, hi) = (f64::from(lo), f64::from(hi));
        let scale = (hi - lo) / 255.0;
        // Of the two ends, that whose zero point is less in error.
        let (from_lo, from_hi) = (lo / scale, hi / scale);
        let zero = if 128.0 - from_lo < 127.0 + from_hi { -128.0 - from_lo } else { 127.0 - from_hi };
        let scale = scale as f32;
        [scale, 1.0 / scale, libm::round(zero).clamp(-128.0, 127.0) as f32]
    });
}

/// As [`dynamic_scale_f32_asymmetric`] with the zero point 0: numbers up to the largest magnitude become −127 to 127.
#[inline(never)]
pub fn dynamic_scale_f32_symmetric(x: Rows<'_, f32>, y: &[Cell<f32>]) {
    describe(x, y, |lo, hi| {
        let range = if hi > -lo { hi } else { -lo };
        if range == 0.0 {
            return [1.0, 0.0, 0.0];
        }
        [range / 127.0, 127.0 / range, 0.0]
    });
}

#[inline(always)]
fn describe(x: Rows<'_, f32>, y: &[Cell<f32>], of_ends: impl Fn(f32, f32) -> [f32; 3]) {
    for (row, y) in y.chunks_exact(3).enumerate() {
        let (mut lo, mut hi) = (0.0f32, 0.0f32);
        for x in x.row(row) {
            let x = x.get();
            lo = if x < lo { x } else { lo };
            hi = if x > hi { x } else { hi };
        }
        for (y, value) in y.iter().zip(of_ends(lo, hi)) {
            y.set(value);
        }
    }
}

/// Each row of `x` as `i8`, by its description in `scales`: the zero point plus x times the reciprocal, rounded half away from zero, saturating.
#[inline(never)]
pub fn quantize_f32_i8_dynamic(x: Rows<'_, f32>, scales: &[Cell<f32>], y: Rows<'_, i8>) {
    for (row, scale) in scales.chunks_exact(3).enumerate() {
        let [_, reciprocal, zero] = scale else { return };
        let (reciprocal, zero) = (reciprocal.get(), zero.get());
        for (x, y) in x.row(row).iter().zip(y.row(row)) {
            y.set(clip(math::round(zero + x.get() * reciprocal), -128.0, 127.0) as i8);
        }
    }
}

layers! { conv2d;
    /// Convolution of an image from [`quantize_f32_i8_dynamic`], described by `scale`, with packed filters `w`; see [`conv2d_i8`](super::conv::conv2d_i8) for their order.
    pub fn conv2d_i8_f32_dynamic(&[i8], dynamic);
}

layers! { depthwise2d;
    /// As [`conv2d_i8_f32_dynamic`] with a filter for each channel; see [`depthwise2d_i8`](super::depthwise::depthwise2d_i8) for their order.
    pub fn depthwise2d_i8_f32_dynamic(&[i8], dynamic);
}

/// Product of the rows of `x`, each described by three of `scales`, with packed filters.
#[inline(never)]
pub fn dense_i8_f32_dynamic(
    x: Rows<'_, i8>,
    w: &[i8],
    layer: &DynamicLayer<'_>,
    scales: &[Cell<f32>],
    y: Rows<'_, f32>,
) {
    let shape = matrix(x.row_len(), y.row_len());
    for (row, scale) in scales.chunks_exact(3).enumerate() {
        conv2d_i8_f32_dynamic(&shape, x, w, layer, scale, y, Band { first: row, rows: 1 });
    }
}

/// Exact sums modulo 2³², which become floats; padding reads as the zero point.
#[derive(Clone, Copy)]
pub(crate) struct Dynamic<'a> {
    layer: &'a DynamicLayer<'a>,
    scale: f32,
    zero: i32,
}

impl<'a> Dynamic<'a> {
    #[inline(always)]
    pub(crate) fn new(layer: &'a DynamicLayer<'a>, scale: &[Cell<f32>]) -> Option<Self> {
        let [scale, _, zero] = scale else { return None };
        Some(Dynamic { layer, scale: scale.get(), zero: zero.get() as i32 })
    }
}

impl Sum for Dynamic<'_> {
    type T = i8;
    type W = i8;
    type Y = f32;
    type Acc = i32;

    const ANY: i8 = 0;
    const EMPTY: i32 = 0;

    #[inline(always)]
    fn four(x: &[Cell<i8>], w: &[i8], acc: &mut [i32; LANES]) -> bool {
        sum_i8::four(x, w, acc)
    }

    #[inline(always)]
    fn pixel(self, x: &[Cell<i8>], w: &[i8], o: usize, out: &[Cell<f32>]) -> usize {
        pixel_by_fours(self, x, w, o, out)
    }

    #[inline(always)]
    fn inside(taps: &Taps<'_, i8>, w: &[i8], first: usize, acc: &mut [i32]) -> usize {
        sum_i8::window(taps, w, first, acc)
    }

    #[inline(always)]
    fn add(acc: i32, x: i8, w: i8) -> i32 {
        acc.wrapping_add(i32::from(x) * i32::from(w))
    }

    #[inline(always)]
    fn pad(self) -> i8 {
        self.zero as i8
    }

    #[inline(always)]
    fn finish(self, o: usize, acc: &[i32], out: &[Cell<f32>]) {
        let DynamicLayer { scales, sums, bias, lo, hi } = *self.layer;
        for (lane, (acc, out)) in acc.iter().zip(out).enumerate() {
            let o = o + lane;
            let (Some(sum), Some(bias)) = (sums.get(o), bias.get(o)) else { return };
            let Some(scale) = scales.get(if scales.len() == 1 { 0 } else { o }) else { return };
            let products = acc.wrapping_sub(self.zero.wrapping_mul(*sum));
            out.set(clip(products as f32 * (scale * self.scale) + bias, lo, hi));
        }
    }
}
