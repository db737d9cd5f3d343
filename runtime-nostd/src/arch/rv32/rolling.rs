//! Filters of 3 × 3 along rows, channel by channel.
//!
//! A column of three elements is loaded once, and goes to all pixels that it is part of: of the next ones, only sums are kept. With weights and constants in registers, a pixel takes
//! 3 loads, 9 multiplications and 9 additions (one column apart).

use super::upper::UpperRequant;
use crate::arch::extent::{product, reach};
use core::cell::Cell;

/// What a row of results is computed of.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Rows of the operand; `None` is padding. At least one is there.
    pub rows: [Option<&'a [Cell<i8>]>; 3],
    /// \[channels\]\[9\], row by row.
    pub w: &'a [i8],
    /// With constants that are common to the channels.
    pub q: &'a UpperRequant<'a>,
    pub pad: i8,
    pub channels: usize,
    /// Pixels of the result.
    pub pixels: usize,
    /// Columns from one pixel to the next: 1 or 2.
    pub stride: usize,
    /// Whether the first column is padding.
    pub pads_left: bool,
    /// Whether the last one is.
    pub pads_right: bool,
    pub out: &'a [Cell<i8>],
}

impl Line<'_> {
    /// Whether all that it reads and writes is there.
    pub(crate) fn is_there(&self) -> bool {
        let Line { channels, pixels, stride, .. } = *self;
        let columns = reach(pixels, stride, 3);
        let padded = usize::from(self.pads_left) + usize::from(self.pads_right);
        let read = product(columns.saturating_sub(padded), channels);
        // A row has a column that is no padding.
        columns > padded
            && pixels > 0
            && matches!(stride, 1 | 2)
            && self.rows.iter().flatten().all(|row| row.len() >= read)
            && self.rows.iter().any(Option::is_some)
            && self.w.len() >= product(9, channels)
            && self.q.words == 4
            && self.q.channels.len() >= product(self.q.words, channels)
            && self.out.len() >= product(pixels, channels)
    }
}
