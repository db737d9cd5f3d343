//! Depthwise convolution: a table of taps for each pixel, and a loop over the channels.

use super::blocks::depthwise::{sum, Tap};
use super::blocks::rolling::roll;
use super::rolling::{Lines, Padding};
use super::steps::HalfRequant;
use crate::arch::extent::{product, span};
use crate::arch::pixel::Pixel;
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Channels that one table serves: as many as there is padding for.
const CHANNELS: usize = 64;

/// Most taps of a table: three for each of nine groups.
const TAPS: usize = 27;

/// Depthwise convolution of one `i8` image, as many channels in the result as in the operand, with at most 27 taps.
///
/// Rows of `x` have `in_w · in_c` elements, those of `y` `out_w · in_c`. `w` is \[taps\]\[in_c\], filled up with zeros to a number of taps that
/// three divides. Padding reads as `pad`. `q` has four or six words for each channel.
#[inline(never)]
pub fn depthwise2d_i8_v6m(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i8],
    pad: i8,
    q: &HalfRequant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    let padding = [const { Cell::new(0) }; CHANNELS];
    padding.iter().for_each(|cell| cell.set(pad));
    let full = product(p.in_w, p.in_c) <= x.row_len();
    let layer = Layer { p, x, w, padding: &padding, full, reach: span(p.k_w, p.dilation_w) };
    for (row, out) in y.of_band(band) {
        let mut c = 0;
        while c < p.in_c && p.in_c <= out.len() {
            let count = CHANNELS.min(p.in_c - c);
            let mut table = Table { taps: [Tap::NONE; TAPS], len: 0 };
            let channels = q.channels.get(q.words.wrapping_mul(c)..).unwrap_or(&[]);
            if layer.weights(c, count, &mut table).is_none() {
                return;
            }
            // Whether no tap of the pixel before was left or right of the image.
            let mut inside = false;
            for (column, out) in out.chunks_exact(p.in_c.max(1)).take(p.out_w).enumerate() {
                let out = out.get(c..c.wrapping_add(count)).unwrap_or(&[]);
                let pixel = Pixel::new(p, x, row, column);
                let was_inside = inside && column > 0;
                inside = layer.is_inside(pixel);
                if was_inside && inside {
                    layer.advance(pixel, &mut table);
                } else {
                    layer.elements(pixel, c, count, &mut table);
                }
                sum(&table, channels, q, out);
            }
            c += count;
        }
    }
}

/// As [`depthwise2d_i8_v6m`] for filters of 3 × 3 without dilation, one or two rows and columns apart, with at most one column of padding on each side, and at most 341 channels. `w` has
/// three words for each channel, of the filter's columns from the last one on: the rows' weights are bytes 0, 1 and 3. The first two are not both −128. `q` has four words for each
/// channel: nothing is written if it has six.
///
/// Two rows are computed at a time, from the first one of the band: a result may not lie over elements that any of both reads.
#[inline(never)]
pub fn depthwise2d_i8_v6m_rolling(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    q: &HalfRequant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    let padding = Padding::new();
    let Some(lines) = Lines::new(p, x, w, pad, q, &padding) else { return };
    let mut rows = y.of_band(band);
    while let Some((row, out)) = rows.next() {
        // A row without a second one is computed twice.
        let second = rows.next().map_or(out, |(_, second)| second);
        lines.roll(row, [out, second], roll);
    }
}

/// What the channels of a block read. The number of taps is a multiple of three.
pub(crate) struct Table<'a> {
    pub(crate) taps: [Tap<'a>; TAPS],
    pub(crate) len: usize,
}

struct Layer<'a> {
    p: &'a Conv,
    x: Rows<'a, i8>,
    w: &'a [i8],
    padding: &'a [Cell<i8>],
    /// Whether rows of the operand have all of its columns.
    full: bool,
    /// Columns from the first tap of a row to the last one.
    reach: usize,
}

impl<'a> Layer<'a> {
    /// The taps of `count` channels from `c` on, with their weights; `None` where there is no such thing.
    fn weights(&self, c: usize, count: usize, table: &mut Table<'a>) -> Option<()> {
        let padding = self.padding.get(..count)?;
        // A filter without taps may have any number of rows.
        let taps =
            self.p.k_h.checked_mul(self.p.k_w).filter(|&taps| taps > 0)?.checked_next_multiple_of(3)?;
        let mut at = c;
        for tap in table.taps.get_mut(..taps)? {
            *tap = Tap::new(padding, self.w.get(at..at.wrapping_add(count))?);
            at = at.wrapping_add(self.p.in_c);
        }
        table.len = taps;
        Some(())
    }

    /// Whether no tap of a pixel is left or right of the image.
    #[inline(always)]
    fn is_inside(&self, pixel: Pixel) -> bool {
        let (in_w, left) = (self.p.in_w, pixel.column(0));
        self.full && left < in_w && self.reach < in_w.wrapping_sub(left)
    }

    /// From a pixel inside the image to the next one in its row, which is inside as well: taps move, but for those above and below the image.
    #[inline(never)]
    fn advance(&self, pixel: Pixel, table: &mut Table<'a>) {
        let Conv { in_c, k_h, k_w, stride_w, dilation_h, .. } = *self.p;
        let step = stride_w.wrapping_mul(in_c);
        let mut taps = table.taps.iter_mut();
        for ky in 0..k_h {
            let is_image = !pixel.row(self.x, ky.wrapping_mul(dilation_h)).is_empty();
            for _ in 0..k_w {
                let Some(tap) = taps.next() else { return };
                if is_image {
                    tap.advance(step);
                }
            }
        }
    }

    /// What they read for a pixel.
    #[inline(never)]
    fn elements(&self, pixel: Pixel, c: usize, count: usize, table: &mut Table<'a>) {
        let Conv { in_w, in_c, k_h, k_w, dilation_h, dilation_w, .. } = *self.p;
        let padding = self.padding.get(..count).unwrap_or(&[]);
        let mut taps = table.taps.iter_mut().take(table.len);
        let step = dilation_w.wrapping_mul(in_c);
        let left = pixel.column(0);
        let first = left.wrapping_mul(in_c).wrapping_add(c);
        for ky in 0..k_h {
            let image = pixel.row(self.x, ky.wrapping_mul(dilation_h));
            let (mut ix, mut at) = (left, first);
            for _ in 0..k_w {
                let Some(tap) = taps.next() else { return };
                let x = if ix < in_w { image.get(at..) } else { None };
                tap.read(x.filter(|x| x.len() >= count).unwrap_or(padding));
                (ix, at) = (ix.wrapping_add(dilation_w), at.wrapping_add(step));
            }
        }
    }
}
