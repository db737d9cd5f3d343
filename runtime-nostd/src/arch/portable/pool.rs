//! Pooling: windows of which only the taps inside the image count, as in TFLite's `AVERAGE_POOL_2D` and `MAX_POOL_2D`.
//!
//! Rows of the operand have `in_w · c` elements, those of the result `out_w · c`.

use super::sum::clip;
use crate::params::Pool;
use crate::rows::{Band, Rows};
use core::num::NonZeroU32;

/// Mean of each window, rounded half away from zero, clamped to `lo..=hi`. Operand and result have the same quantisation.
#[inline(never)]
pub fn avg_pool2d_i8(p: &Pool, x: Rows<'_, i8>, lo: i32, hi: i32, y: Rows<'_, i8>, band: Band) {
    let add = |sum: i32, x: i8| sum.wrapping_add(x.into());
    pool2d(p, x, y, band, 0, add, |sum, taps| mean_of(sum, taps).max(lo).min(hi) as i8);
}

/// As [`avg_pool2d_i8`] for unsigned stored values.
#[inline(never)]
pub fn avg_pool2d_u8(p: &Pool, x: Rows<'_, u8>, lo: i32, hi: i32, y: Rows<'_, u8>, band: Band) {
    let add = |sum: i32, x: u8| sum.wrapping_add(x.into());
    pool2d(p, x, y, band, 0, add, |sum, taps| mean_of(sum, taps).max(lo).min(hi) as u8);
}

/// `sum / taps`, rounded half away from zero; 0 without taps.
#[inline(always)]
pub(crate) fn mean_of(sum: i32, taps: u32) -> i32 {
    let Some(n) = NonZeroU32::new(taps) else { return 0 };
    let magnitude = (sum.unsigned_abs().wrapping_add(taps / 2) / n) as i32;
    if sum < 0 {
        magnitude.wrapping_neg()
    } else {
        magnitude
    }
}

/// Largest element of each window, clamped to `lo..=hi`. Operand and result have the same quantisation.
#[inline(never)]
pub fn max_pool2d_i8(p: &Pool, x: Rows<'_, i8>, lo: i32, hi: i32, y: Rows<'_, i8>, band: Band) {
    let larger = |max: i32, x: i8| max.max(x.into());
    pool2d(p, x, y, band, i32::from(i8::MIN), larger, |max, _| max.max(lo).min(hi) as i8);
}

/// Mean of each window, clamped to `lo..=hi`: the taps' sum in their order, divided by their number.
#[inline(never)]
pub fn avg_pool2d_f32(p: &Pool, x: Rows<'_, f32>, lo: f32, hi: f32, y: Rows<'_, f32>, band: Band) {
    pool2d(p, x, y, band, 0.0, |sum: f32, x: f32| sum + x, |sum, taps| clip(sum / taps as f32, lo, hi));
}

/// Largest element of each window, clamped to `lo..=hi`.
#[inline(never)]
pub fn max_pool2d_f32(p: &Pool, x: Rows<'_, f32>, lo: f32, hi: f32, y: Rows<'_, f32>, band: Band) {
    let larger = |max: f32, x: f32| if max < x { x } else { max };
    pool2d(p, x, y, band, f32::MIN, larger, |max, _| clip(max, lo, hi));
}

/// Folds the taps of each window, starting from `start`; `finish` gets their number as well.
#[inline(always)]
pub(crate) fn pool2d<T: Copy, A: Copy>(
    p: &Pool,
    x: Rows<'_, T>,
    y: Rows<'_, T>,
    band: Band,
    start: A,
    fold: impl Fn(A, T) -> A,
    finish: impl Fn(A, u32) -> T,
) {
    let pitch = p.c.max(1);
    let Some(held) = x.held() else { return };
    for (row, out) in y.of_band(band) {
        let (top, bottom) = inside(row.wrapping_mul(p.stride_h), p.pad_top, p.k_h, p.in_h);
        // A window has no more rows than are held at a time.
        if bottom - top > held {
            return;
        }
        let skipped = x.laps_before(top);
        let (top, bottom) = (top.wrapping_sub(skipped), bottom.wrapping_sub(skipped));
        for (column, out) in out.chunks_exact(pitch).take(p.out_w).enumerate() {
            let (left, right) = inside(column.wrapping_mul(p.stride_w), p.pad_left, p.k_w, p.in_w);
            let taps = (bottom - top).wrapping_mul(right - left);
            for (c, out) in out.iter().enumerate() {
                let mut acc = start;
                for iy in top..bottom {
                    let (from, to) = (left.wrapping_mul(pitch).wrapping_add(c), right.wrapping_mul(pitch));
                    let taps = x.row(iy).get(from..to).unwrap_or(&[]);
                    acc = taps.iter().step_by(pitch).fold(acc, |acc, x| fold(acc, x.get()));
                }
                out.set(finish(acc, taps as u32));
            }
        }
    }
}

/// Where a window of `size` that starts `pad` before `start` begins and ends inside an image of `len`.
#[inline(always)]
pub(crate) fn inside(start: usize, pad: usize, size: usize, len: usize) -> (usize, usize) {
    let first = start.saturating_sub(pad);
    // A sum that wraps gives another window, which lies inside of the image as well.
    let end = start.wrapping_add(size).saturating_sub(pad).min(len);
    (first.min(end), end)
}
