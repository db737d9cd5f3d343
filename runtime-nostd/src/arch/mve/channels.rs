//! Depthwise convolutions, sixteen channels of a pixel at a time: for images of any width, also of one pixel.
#![allow(unsafe_code)]

use super::affine::End;
use super::blocks::channels::{pixels, Taps};
use super::LANES;
use crate::arch::extent::{product, reach, sum};
use crate::arch::memory::bytes_of_words;
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Depthwise convolution of an `i8` image, for cores with Helium: `groups`, `in_c` and `out_c` are the same, 16 at least, and there are at most 64 taps.
///
/// `w` begins with four words: the last shift of affine forms, the smallest and the largest result of `CLAMPED` ones, and 0. What follows is of each sixteen channels, the last sixteen of which
/// may begin before the others end:
/// - the first values of sums: of channels 0, 2, 4 and 6, of 1, 3, 5 and 7, of 8, 10, 12 and 14, of 9, 11, 13 and 15;
/// - for each tap \[k_h\]\[k_w\] a byte of each channel;
/// - for each four channels, in the order of their first values, multipliers M and constants C; with `EXACT` shifts.
///
/// M, C, shifts and `EXACT` mean what they mean in [`conv2d_i8_mve`](crate::kernels::conv2d_i8_mve).
///
/// `work` has [`depthwise2d_mve_padding_words`](crate::kernels::depthwise2d_mve_padding_words). Operand rows, padding and `y` are as in [`conv2d_i8`](crate::kernels::conv2d_i8). Nothing is
/// written if these do not fit each other.
pub fn depthwise2d_i8_mve_channels<const EXACT: bool, const CLAMPED: bool>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let words = words(p.in_c, p.taps(), EXACT);
    rows(p, x, w, pad, work, y, band, words, pixels::<EXACT, CLAMPED>);
}

/// The rows of a band, by a block that computes consecutive pixels and reads so many words. Channels are bytes.
#[inline(never)]
pub(super) fn rows(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
    words: usize,
    block: unsafe fn(&Run<'_>),
) {
    let count = p.taps();
    let padding = bytes_of_words(work);
    let fits = p.in_c == p.out_c
        && p.in_c >= LANES
        && (1..=MOST_TAPS).contains(&count)
        && padding.len() >= p.in_c
        && w.len() >= words
        && x.row_len() >= p.in_row()
        && y.row_len() >= p.out_row();
    if !fits {
        return;
    }
    let image = Image { p, x, padding };
    let mut padded = false;
    let mut taps = Taps::new();
    for (oy, y) in y.of_band(band) {
        let top = oy.wrapping_mul(p.stride_h).wrapping_sub(p.pad_top);
        let mut ox = 0;
        while ox < p.out_w {
            let left = ox.wrapping_mul(p.stride_w).wrapping_sub(p.pad_left);
            let run = image.inside(top, left).min(p.out_w - ox);
            let filled = if run > 0 {
                image.fill(&mut taps, top, left, run)
            } else {
                if !padded {
                    padding.iter().for_each(|cell| cell.set(pad));
                    padded = true;
                }
                image.fill_border(&mut taps, top, left)
            };
            let Some(y) = y.get(product(ox, p.out_c)..).filter(|_| filled) else { return };
            let run = run.max(1);
            let (x_step, y_step) = (product(p.stride_w, p.in_c), p.out_c);
            if y.len() < reach(run, y_step, p.out_c) {
                return;
            }
            // SAFETY: all taps have been set, and have the channels of all pixels, as `fill` has compared; `y` as well, and `w` the words of all channels.
            unsafe { block(&Run { taps: &taps, count, w, y, channels: p.in_c, x_step, y_step, pixels: run }) }
            ox += run;
        }
    }
}

/// Words of padding that [`depthwise2d_i8_mve_channels`](crate::kernels::depthwise2d_i8_mve_channels) needs.
pub const fn depthwise2d_mve_padding_words(channels: usize) -> usize {
    channels.div_ceil(4)
}

/// Taps of a filter at most.
pub(crate) const MOST_TAPS: usize = 64;

/// Words before those of the first channels.
pub(crate) const HEAD: usize = 4;

/// Vectors of words that requantise four channels.
pub(crate) const fn ends(exact: bool) -> usize {
    End::of(0, exact, false).words() - 1
}

/// Words of sixteen channels with so many taps.
pub(crate) const fn group_words(taps: usize, exact: bool) -> usize {
    sum(LANES * (1 + ends(exact)), product(taps, LANES / 4))
}

const fn words(channels: usize, taps: usize, exact: bool) -> usize {
    sum(HEAD, product(channels.div_ceil(LANES), group_words(taps, exact)))
}

/// Pixels of a row of the result one behind the other.
pub(crate) struct Run<'a> {
    /// What each tap of the first pixel reads, from its first channel on.
    pub taps: &'a Taps<'a>,
    /// How many taps there are.
    pub count: usize,
    pub w: &'a [i32],
    /// Results, beginning with the first.
    pub y: &'a [Cell<i8>],
    /// Sixteen at least.
    pub channels: usize,
    /// From one pixel to the next, of operand and result.
    pub x_step: usize,
    pub y_step: usize,
    pub pixels: usize,
}

/// The operand, and a pixel of its padding.
struct Image<'a> {
    p: &'a Conv,
    x: Rows<'a, i8>,
    padding: &'a [Cell<i8>],
}

impl<'a> Image<'a> {
    /// How many pixels from this one on have all taps inside of the image.
    fn inside(&self, top: usize, left: usize) -> usize {
        let p = self.p;
        let last = |first: usize, taps: usize, dilation: usize| sum(first, product(taps - 1, dilation));
        let (bottom, right) = (last(top, p.k_h, p.dilation_h), last(left, p.k_w, p.dilation_w));
        if bottom >= p.in_h || right >= p.in_w {
            return 0;
        }
        match (p.in_w - 1 - right).checked_div(p.stride_w) {
            Some(more) => more + 1,
            None => 1,
        }
    }

    /// The taps of the first of `run` pixels, all of which are inside of the image. `false` if something is missing.
    fn fill(&self, taps: &mut Taps<'a>, top: usize, left: usize, run: usize) -> bool {
        let p = self.p;
        let reach = reach(run, product(p.stride_w, p.in_c), p.in_c);
        let (right, down) = (product(p.dilation_w, p.in_c), product(p.dilation_h, self.x.row_len()));
        let first = product(left, p.in_c);
        let (mut ky, mut tap) = (0, 0usize);
        while ky < p.k_h {
            let iy = top.wrapping_add(ky.wrapping_mul(p.dilation_h));
            // Rows that lie one behind the other.
            let (Some(rows), held) = self.x.rows_from(iy, p.in_h.wrapping_sub(iy)) else { return false };
            let (mut row, mut at) = (0, first);
            while ky < p.k_h && row < held {
                let mut column = at;
                for _ in 0..p.k_w {
                    let Some(x) = rows.get(column..).filter(|x| x.len() >= reach) else { return false };
                    taps.set(tap, x);
                    (tap, column) = (tap.wrapping_add(1), column.wrapping_add(right));
                }
                (ky, row, at) = (ky + 1, sum(row, p.dilation_h), at.wrapping_add(down));
            }
        }
        true
    }

    /// The taps of a pixel, some of which are in the padding. `false` if something is missing.
    fn fill_border(&self, taps: &mut Taps<'a>, top: usize, left: usize) -> bool {
        let p = self.p;
        let mut tap = 0usize;
        for ky in 0..p.k_h {
            let iy = top.wrapping_add(ky.wrapping_mul(p.dilation_h));
            // No column of a row in the padding is inside of the image.
            let (row, in_w) = if iy < p.in_h { (self.x.row(iy), p.in_w) } else { (self.padding, 0) };
            let mut ix = left;
            for _ in 0..p.k_w {
                let x = if ix < in_w { row.get(ix.wrapping_mul(p.in_c)..) } else { Some(self.padding) };
                let Some(x) = x.filter(|x| x.len() >= p.in_c) else { return false };
                taps.set(tap, x);
                (tap, ix) = (tap.wrapping_add(1), ix.wrapping_add(p.dilation_w));
            }
        }
        true
    }
}
