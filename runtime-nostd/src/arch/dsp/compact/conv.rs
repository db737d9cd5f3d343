//! Convolution in tiles of two pixels and four filters, as in [`tile`](crate::arch::dsp::tile).
#![allow(unsafe_code)]

use super::Pixels;
use crate::arch::dsp::blocks::compact::conv::{tiles, widen};
use crate::arch::extent::{product, span, sum};
use crate::params::{CompactConv, Conv};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Convolution of an `i8` image with `groups` and `dilation_w` of 1, for cores with the DSP extension: also of an image one pixel wide, and of one pixel, which is
/// a product of a matrix and a vector.
///
/// Weights and results are those of [`conv2d_i8_dsp`](crate::kernels::conv2d_i8_dsp), with the shift and the sign that `p` says; rows of `y` are channel-last. `work`
/// holds the taps of [`CompactConv::pixels`] pixels, as [`conv2d_work_words`](crate::kernels::conv2d_work_words) says. Nothing is written if these do not fit each other.
#[inline(never)]
pub fn conv2d_i8_dsp_compact(
    p: &CompactConv<'_>,
    x: Rows<'_, i8>,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let Conv { k_h, k_w, in_c, stride_w, out_w, out_c, .. } = p.conv;
    let (column, pixels) = (product(k_h, in_c), p.pixels.min(out_w).max(1));
    // What the work space holds of as many pixels: so large are all products below at most, but for those with a step that nothing takes.
    let cells = product(sum(span(pixels, stride_w), k_w), column);
    if cells == 0 || cells > 2 * work.len() || product(out_w, out_c.max(1)) > y.row_len() {
        return;
    }
    let (step, pairs) = (stride_w.wrapping_mul(2 * column), (k_w * column).div_ceil(2));
    for (oy, row) in y.of_band(band) {
        let mut out = row;
        let mut ox = 0;
        while ox < out_w {
            let count = (out_w - ox).min(pixels);
            fill(p, x, work, oy, ox, count);
            ox += count;
            // The last one of an odd number is computed alone.
            for (from, count) in [(0, count & !1), (count & !1, count & 1)] {
                tiles(p, pairs, Pixels { taps: work, from: from.wrapping_mul(step), step, count }, out);
                out = out.get(count * out_c..).unwrap_or(&[]);
            }
        }
    }
}

/// Fills the work space with all that `pixels` pixels from column `ox` of row `oy` of the result read, widened to `i16`: column by column, each from top to bottom.
/// What is outside of the image reads as padding. The work space is as large as that, and a column is not empty.
#[inline(never)]
fn fill(
    CompactConv { conv: p, pad, .. }: &CompactConv<'_>,
    x: Rows<'_, i8>,
    work: &[Cell<i32>],
    oy: usize,
    ox: usize,
    pixels: usize,
) {
    let columns = (pixels - 1) * p.stride_w + p.k_w;
    // Columns from the first to the one behind the last that are inside of the image.
    let left = ox.wrapping_mul(p.stride_w);
    let first = p.pad_left.saturating_sub(left).min(columns);
    let behind = p.in_w.wrapping_add(p.pad_left).saturating_sub(left).min(columns).max(first);
    let at = left.wrapping_add(first).wrapping_sub(p.pad_left).wrapping_mul(p.in_c);
    let padding = [const { Cell::new(0) }; 4];
    padding.iter().for_each(|cell| cell.set(*pad));
    for ky in 0..p.k_h {
        let down = ky.wrapping_mul(p.dilation_h).wrapping_sub(p.pad_top);
        let iy = oy.wrapping_mul(p.stride_h).wrapping_add(down);
        let row = if iy < p.in_h { x.row(iy).get(at..).unwrap_or(&[]) } else { &[] };
        let inside = row.len() / p.in_c >= behind - first;
        let mut to: *mut i16 = work.as_ptr().cast_mut().cast::<i16>().wrapping_add(ky * p.in_c);
        for (count, image) in [(first, false), (behind - first, inside), (columns - behind, false)] {
            let from = if image { row.as_ptr() } else { padding.as_ptr() };
            // SAFETY: the row has elements of as many columns (`inside`), or the same four elements of padding are read; the work space has cells for all columns
            // (the caller has compared `cells`, which does not wrap), of which these are some.
            to = unsafe { widen(from.cast(), image, to, count, p.in_c, (p.k_h - 1) * p.in_c) };
        }
    }
}
