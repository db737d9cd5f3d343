//! Filters of 3 × 3 along rows, channel by channel.
//!
//! A column of three elements is loaded once, and goes to all pixels that it is part of: of the next ones, only sums are kept. With weights and constants in registers, a pixel takes
//! 3 loads, 9 multiplications and 9 additions (one column apart).

use super::upper::UpperRequant;
use crate::arch::extent::{product, reach, sum};
use crate::params::Conv;

/// What all rows of a result have in common.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
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
    /// Elements of a row of the operand that are read, and of a row of the result.
    pub lengths: [usize; 2],
}

impl<'a> Line<'a> {
    /// `None` for other filters, or where weights or constants are missing.
    #[inline(always)]
    pub(super) fn new(p: &Conv, w: &'a [i8], pad: i8, q: &'a UpperRequant<'a>) -> Option<Self> {
        let Conv { in_w, in_c: channels, out_w: pixels, stride_w: stride, pad_left, .. } = *p;
        // Up to the last column that is read.
        let columns = reach(pixels, stride, 3);
        let pads_right = columns > sum(in_w, pad_left);
        let padded = pad_left.wrapping_add(pads_right.into());
        let suits = p.k_h == 3
            && p.k_w == 3
            && p.dilation_h == 1
            && p.dilation_w == 1
            && pad_left <= 1
            && matches!(stride, 1 | 2)
            && columns <= sum(in_w, 1 + pad_left)
            // A row has a column that is no padding.
            && columns > padded
            && channels > 0
            && w.len() >= product(9, channels)
            && q.words == 4
            && q.channels.len() >= product(q.words, channels);
        let lengths = [product(columns.wrapping_sub(padded), channels), product(pixels, channels)];
        let pads_left = pad_left == 1;
        suits.then_some(Line { w, q, pad, channels, pixels, stride, pads_left, pads_right, lengths })
    }
}
