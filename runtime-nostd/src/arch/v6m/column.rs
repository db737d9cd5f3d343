//! Filters of k × 1, channel by channel, for three rows of the result at once.
//!
//! Each weight is a factor of three elements, one for each row. Of the elements of a tap, the next one needs two again: they stay in registers.

use super::blocks::column::{sums, Row};
use super::steps::HalfRequant;
use crate::arch::extent::product;
use crate::arch::pixel::Pixel;
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Rows of the result that are computed together.
pub(crate) const ROWS: usize = 3;

/// Most taps.
const TAPS: usize = 30;

/// Channels for which rows are found at once: as many as there is padding for.
const CHANNELS: usize = 64;

/// Some channels of a column.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    /// What the taps of the first row of the result read, and behind them those of two rows more: `count` elements each.
    pub rows: &'a [Row<'a>],
    /// Channels.
    pub count: usize,
    /// Of each channel as many weights as there are taps.
    pub w: &'a [i32],
    /// Constants, from those of the first channel on.
    pub channels: &'a [i32],
    pub q: &'a HalfRequant<'a>,
    /// The results of each row. Where there is no row, those of the first one.
    pub out: [&'a [Cell<i8>]; ROWS],
}

impl Part<'_> {
    /// Taps, if the channels have weights, constants and results; `None` where there are no channels, or no taps.
    pub(crate) fn taps(&self) -> Option<usize> {
        let taps = self.rows.len().checked_sub(ROWS - 1).filter(|&taps| taps > 0)?;
        let fits = self.count > 0
            && self.w.len() >= taps.wrapping_mul(self.count)
            && matches!(self.q.words, 4 | 6)
            && self.channels.len() >= self.q.words.wrapping_mul(self.count)
            && self.out.iter().all(|out| out.len() >= self.count);
        fits.then_some(taps)
    }
}

/// Depthwise convolution of one `i8` image with filters of one column: as many channels in the result as in the operand, at most 30 taps, strides and dilations 1, and no padding to the left.
///
/// Rows of `x` have `in_w · in_c` elements, those of `y` `out_w · in_c`. `w` is \[in_c\]\[taps\]. Padding reads as `pad`. `q` has four or six words
/// for each channel. Three rows are computed at a time, from the first one of the band: a result may not lie over elements that any of them reads.
#[inline(never)]
pub fn depthwise2d_i8_v6m_column(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    q: &HalfRequant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    let Conv { in_c, out_w, k_h, k_w, stride_h, stride_w, dilation_h, pad_left, .. } = *p;
    let plain = [k_w, stride_h, stride_w, dilation_h, pad_left] == [1, 1, 1, 1, 0];
    if !plain || !(1..=TAPS).contains(&k_h) || !y.holds(band.rows, product(out_w, in_c.max(1))) {
        return;
    }
    let padding = [const { Cell::new(0) }; CHANNELS];
    padding.iter().for_each(|cell| cell.set(pad));
    let (first, end) = (band.first, band.range().end);
    for oy in band.range().step_by(ROWS) {
        let pixel = Pixel::new(p, x, oy, 0);
        let out = [0, 1, 2].map(|below| {
            let row = oy.wrapping_add(below);
            y.row(if row < end && row >= first { row } else { oy })
        });
        for column in 0..out_w {
            let mut c = 0;
            while c < in_c {
                let count = CHANNELS.min(in_c - c);
                let at = column.wrapping_mul(in_c).wrapping_add(c);
                let mut rows = [Row::NONE; TAPS + ROWS - 1];
                let Some(rows) = rows.get_mut(..k_h.wrapping_add(ROWS - 1)) else { return };
                let Some(padding) = padding.get(..count) else { return };
                for (below, row) in rows.iter_mut().enumerate() {
                    let cells = pixel.row(x, below).get(at..at.wrapping_add(count));
                    *row = Row::new(cells.unwrap_or(padding));
                }
                let part = Part {
                    rows,
                    count,
                    w: w.get(product(k_h, c)..).unwrap_or(&[]),
                    channels: q.channels.get(product(q.words, c)..).unwrap_or(&[]),
                    q,
                    out: out.map(|out| out.get(at..at.wrapping_add(count)).unwrap_or(&[])),
                };
                sums(&part);
                c += count;
            }
        }
    }
}
