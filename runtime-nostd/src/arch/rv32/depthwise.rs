//! Depthwise convolution: of any filters pixel by pixel, and of filters of 3 × 3 channel by channel.

use super::blocks::depthwise::sum;
use super::blocks::rolling::roll;
use super::rolling::Line;
use super::upper::UpperRequant;
use crate::arch::extent::product;
use crate::arch::pixel::Pixel;
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Channels that one table serves: as many as there is padding for.
const CHANNELS: usize = 64;

/// Most taps of a table.
pub(crate) const TAPS: usize = 32;

/// Where each tap's elements are, for the channels of a block.
pub(crate) type Table<'a> = [&'a [Cell<i8>]; TAPS];

/// Depthwise convolution of one `i8` image, as many channels in the result as in the operand, with at most 32 taps.
///
/// Rows of `x` have `in_w · in_c` elements, those of `y` `out_w · in_c`. `w` is \[in_c / 4\]\[taps\]\[4\], filled up with zeros to a number of channels that
/// four divides. Padding reads as `pad`.
#[inline(never)]
pub fn depthwise2d_i8_rv32(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i8],
    pad: i8,
    q: &UpperRequant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    let padding = [const { Cell::new(0) }; CHANNELS];
    padding.iter().for_each(|cell| cell.set(pad));
    let taps = p.taps();
    if taps == 0 || taps > TAPS {
        return;
    }
    let layer = Layer { p, x, padding: &padding };
    for (row, out) in y.of_band(band) {
        let mut c = 0;
        while c < p.in_c && p.in_c <= out.len() {
            let count = CHANNELS.min(p.in_c - c);
            let mut table: Table<'_> = [&[]; TAPS];
            let w = w.get(product(c, taps)..).unwrap_or(&[]);
            for (column, out) in out.chunks_exact(p.in_c.max(1)).take(p.out_w).enumerate() {
                let out = out.get(c..c.wrapping_add(count)).unwrap_or(&[]);
                layer.elements(Pixel::new(p, x, row, column), c, count, &mut table);
                sum(table.get(..taps).unwrap_or(&[]), w, c, q, out);
            }
            c += count;
        }
    }
}

struct Layer<'a> {
    p: &'a Conv,
    x: Rows<'a, i8>,
    padding: &'a [Cell<i8>],
}

impl<'a> Layer<'a> {
    /// What `count` channels from `c` on read for a pixel.
    #[inline(always)]
    fn elements(&self, pixel: Pixel, c: usize, count: usize, table: &mut Table<'a>) {
        let Conv { in_w, in_c, k_h, k_w, dilation_h, dilation_w, .. } = *self.p;
        let padding = self.padding.get(..count).unwrap_or(&[]);
        let mut taps = table.iter_mut();
        let step = dilation_w.wrapping_mul(in_c);
        let left = pixel.column(0);
        let first = left.wrapping_mul(in_c).wrapping_add(c);
        for ky in 0..k_h {
            let image = pixel.row(self.x, ky.wrapping_mul(dilation_h));
            let (mut ix, mut at) = (left, first);
            for _ in 0..k_w {
                let Some(tap) = taps.next() else { return };
                let x = if ix < in_w { image.get(at..at.wrapping_add(count)) } else { None };
                *tap = x.unwrap_or(padding);
                (ix, at) = (ix.wrapping_add(dilation_w), at.wrapping_add(step));
            }
        }
    }
}

/// As [`depthwise2d_i8_rv32`] for filters of 3 × 3 without dilation, one or two columns apart, with at most one column of padding on each side. `w` is \[in_c\]\[9\].
///
/// An element is loaded once for all pixels that it is part of. Constants of channels are common: nothing is written if they have eight words.
#[inline(never)]
pub fn depthwise2d_i8_rv32_rolling(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i8],
    pad: i8,
    q: &UpperRequant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    let Some(line) = Line::new(p, w, pad, q) else { return };
    for (row, out) in y.of_band(band) {
        let pixel = Pixel::new(p, x, row, 0);
        roll(&line, |ky| pixel.row(x, ky), out);
    }
}
