//! Depthwise convolution of channel-last images, four channels at a time.

use super::depthwise_planar::Finish;
use crate::arch::extent::product;
use crate::params::{Conv, Requant};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// As [`depthwise2d_i8`](crate::kernels::depthwise2d_i8) with as many channels in the result as in the operand, at least four, and sums that need no more than one
/// multiplication to be rescaled: as in [`depthwise2d_i8_dsp_planar`](crate::kernels::depthwise2d_i8_dsp_planar).
///
/// `STEP` is the distance of the taps of a row, `in_c · dilation_w`; where `k_w` is 1, that of the taps of a column, `in_w · in_c · dilation_h`. `UNROLL` is how
/// many taps there are in a turn of the loop, 44 bytes of code each.
///
/// `w` holds for each four channels, the last four of which may begin before the others end:
/// - the first values of the sums: bias and what exactness asks for;
/// - the weights of the taps \[k_h\]\[k_w\], one byte for each of the four channels, the first one low;
/// - M and C of each channel; with `SIGNED` M, C and the correction.
///
/// The padding `pad` is subtracted from elements. So taps in the padding do not count, and are not computed.
#[inline(never)]
pub fn depthwise2d_i8_dsp<const STEP: usize, const UNROLL: usize, const SHIFT: u32, const SIGNED: bool>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    y: Rows<'_, i8>,
    band: Band,
) {
    #[cfg(kiln_dsp)]
    let block = super::depthwise_asm::Block::of::<STEP, UNROLL, SHIFT, SIGNED>();
    for_pixels(p, x, w, y, band, &mut |pixel, out| {
        #[cfg(kiln_dsp)]
        if super::depthwise_asm::pixel(p, &pixel, w, pad, out, &block) {
            return;
        }
        pixel.plain(p, w, pad, out, &Finish::Affine { shift: SHIFT, signed: SIGNED });
    });
}

/// As [`depthwise2d_i8_dsp`] for sums that are rescaled as TensorFlow Lite Micro does; in `w`, M and C are missing, and the first values are the biases.
#[inline(never)]
pub fn depthwise2d_i8_dsp_exact(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    q: &Requant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    for_pixels(p, x, w, y, band, &mut |pixel, out| pixel.plain(p, w, pad, out, &Finish::Exact(q)));
}

/// A pixel of the result: which taps of its filters are inside of the image.
pub(crate) struct Pixel<'a> {
    x: Rows<'a, i8>,
    /// Row and column of the first tap; may be negative.
    top: usize,
    left: usize,
    /// The first column of taps inside of the image, and behind the last one.
    pub(crate) columns: (usize, usize),
}

/// Goes through the pixels of a band of the result. There are none where rows of the operand are shorter than `p` says, or weights fewer than taps: so every column inside of the image
/// is in its row, and no number of taps wraps.
#[inline(never)]
fn for_pixels(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    y: Rows<'_, i8>,
    band: Band,
    each: &mut dyn FnMut(Pixel<'_>, &[Cell<i8>]),
) {
    if product(p.in_w, p.in_c) > x.row_len() || product(p.k_h.max(1), p.k_w.max(1)) > w.len() {
        return;
    }
    for (row, out) in y.of_band(band) {
        let top = row.wrapping_mul(p.stride_h).wrapping_sub(p.pad_top);
        for (column, out) in out.chunks_exact(p.out_c.max(1)).take(p.out_w).enumerate() {
            let left = column.wrapping_mul(p.stride_w).wrapping_sub(p.pad_left);
            let inside = |&kx: &usize| left.wrapping_add(kx.wrapping_mul(p.dilation_w)) < p.in_w;
            let first = (0..p.k_w).find(inside).unwrap_or(p.k_w);
            let end = (first..p.k_w).find(|kx| !inside(kx)).unwrap_or(p.k_w);
            each(Pixel { x, top, left, columns: (first, end) }, out);
        }
    }
}

impl<'a> Pixel<'a> {
    /// The pixels of the operand from the first tap inside of the image on, for row `ky` of the filters. `None` in the padding.
    #[inline(always)]
    pub(crate) fn row(&self, p: &Conv, ky: usize) -> Option<&'a [Cell<i8>]> {
        let row = self.top.wrapping_add(ky.wrapping_mul(p.dilation_h));
        let (first, end) = self.columns;
        if row >= p.in_h || first >= end {
            return None;
        }
        let column = self.left.wrapping_add(first.wrapping_mul(p.dilation_w));
        let behind = self.left.wrapping_add((end - 1).wrapping_mul(p.dilation_w)).wrapping_add(1);
        self.x.row(row).get(column.wrapping_mul(p.in_c)..behind.wrapping_mul(p.in_c))
    }

    /// How many taps of the only column of filters are read from one row of the operand behind the other, from row `ky` on: up to the end of the ring, and of
    /// the operand. None where rows have another length than `p` says.
    #[cfg(kiln_dsp)]
    #[inline(always)]
    pub(crate) fn run(&self, p: &Conv, ky: usize) -> usize {
        if self.x.row_len() != product(p.in_w, p.in_c) {
            return 0;
        }
        let row = self.top.wrapping_add(ky.wrapping_mul(p.dilation_h));
        let rows = self.x.run_from(row).min(p.in_h.saturating_sub(row));
        rows.div_ceil(p.dilation_h.max(1)).min(p.k_h - ky)
    }

    /// All channels, in plain Rust.
    #[inline(never)]
    fn plain(&self, p: &Conv, w: &[i32], pad: i8, out: &[Cell<i8>], finish: &Finish<'_>) {
        let (taps, each) = (p.k_h * p.k_w, finish.words());
        for (quad, w) in w.chunks_exact((4 + taps + 4 * each).max(1)).enumerate() {
            let c = (4 * quad).min(p.in_c.saturating_sub(4));
            for lane in 0..4 {
                let mut d = w.get(lane).copied().unwrap_or(0);
                for ky in 0..p.k_h {
                    let row = self.row(p, ky).unwrap_or(&[]);
                    let pixels = row.iter().skip(c + lane).step_by(product(p.in_c, p.dilation_w).max(1));
                    let weights = w.get(4 + ky * p.k_w + self.columns.0..).unwrap_or(&[]);
                    for (x, w) in pixels.zip(weights) {
                        let w = w.to_le_bytes().get(lane).map_or(0, |&w| i32::from(w as i8));
                        d = d.wrapping_add((i32::from(x.get()) - i32::from(pad)).wrapping_mul(w));
                    }
                }
                let tail = w.get(4 + taps + lane * each..).and_then(|w| w.get(..each)).unwrap_or(&[]);
                let (Some(y), Some(cell)) = (finish.result(d, c + lane, tail), out.get(c + lane)) else {
                    return;
                };
                cell.set(y);
            }
        }
    }
}
