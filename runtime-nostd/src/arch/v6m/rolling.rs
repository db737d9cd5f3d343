//! Filters of 3 × 3 along rows, channel by channel, for two rows of the result at once.
//!
//! A column of the operand makes three words, one for each row of the filters, with the element for the upper result in the lower field and that for the lower one in the upper field (see
//! [`super`]). Each word is multiplied with three weights: of the result that it ends, of the next one, and of the one behind that. Of these, only sums are kept.
//!
//! A window is the first two rows of a column, or the third one. Lower fields are signed: a shift to the right, and the bit that leaves last, part the fields.

use super::steps::HalfRequant;
use crate::arch::extent::{product, reach, sum};
use crate::arch::pixel::Pixel;
use crate::params::Conv;
use crate::rows::Rows;
use core::cell::Cell;

/// Rows of the operand for two rows of the result that are two rows apart.
pub(crate) const ROWS: usize = 5;

/// Padding above and below the image.
pub(super) struct Padding {
    cells: [Cell<i8>; PADDING],
    /// Whether there is something in it.
    filled: Cell<bool>,
}

/// Elements of it.
const PADDING: usize = 1024;

impl Padding {
    pub(super) const fn new() -> Self {
        Padding { cells: [const { Cell::new(0) }; PADDING], filled: Cell::new(false) }
    }
}

/// Some columns of two rows of the result.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    /// Columns of the operand that are not padding. If the rows of the result are one row apart, the last one is not read.
    pub rows: [&'a [Cell<i8>]; ROWS],
    /// Where the results are written, the second row first. Both may be the same.
    pub out: [&'a [Cell<i8>]; 2],
    pub layer: Layer<'a>,
    /// Pixels of each row.
    pub pixels: usize,
    /// Whether the first column is padding.
    pub pads_left: bool,
    /// Whether the last one is.
    pub pads_right: bool,
}

/// What all parts have in common.
#[derive(Clone, Copy)]
pub(crate) struct Layer<'a> {
    /// Three words for each channel, of the columns of the filter from the last one on. The rows' weights are bytes 0, 1 and 3.
    pub w: &'a [i32],
    pub q: &'a HalfRequant<'a>,
    pub pad: i8,
    pub channels: usize,
    /// Rows and columns of the operand from one pixel to the next: 1 or 2.
    pub stride: usize,
}

impl Part<'_> {
    /// Elements of each row of the operand, and of each row of the result; `None` if something is not there.
    #[inline(always)]
    pub(crate) fn lengths(&self) -> Option<[usize; 2]> {
        let Layer { w, q, channels, stride, .. } = self.layer;
        let padded = usize::from(self.pads_left).wrapping_add(self.pads_right.into());
        let inside = reach(self.pixels, stride, 3).checked_sub(padded)?;
        let [read, written] = [product(inside, channels), product(self.pixels, channels)];
        let there = matches!(stride, 1 | 2)
            && self.pixels > 0
            && channels > 0
            && w.len() >= product(3, channels)
            && q.words == 4
            && q.channels.len() >= product(4, channels)
            && self.rows.iter().take(stride.wrapping_add(3)).all(|row| row.len() >= read)
            && self.out.iter().all(|out| out.len() >= written);
        there.then_some([read, written])
    }
}

/// The rows of a result.
pub(super) struct Lines<'a> {
    p: &'a Conv,
    x: Rows<'a, i8>,
    layer: Layer<'a>,
    /// Whether the last column that is read is padding.
    pads_right: bool,
    /// Pixels for whose columns there is padding.
    most: usize,
    padding: &'a Padding,
}

impl<'a> Lines<'a> {
    /// `None` for other filters.
    #[inline(always)]
    pub(super) fn new(
        p: &'a Conv,
        x: Rows<'a, i8>,
        w: &'a [i32],
        pad: i8,
        q: &'a HalfRequant<'a>,
        padding: &'a Padding,
    ) -> Option<Self> {
        let Conv { in_w, in_c: channels, out_w, stride_w: stride, pad_left, .. } = *p;
        let columns = reach(out_w, stride, 3);
        let suits = p.k_h == 3
            && p.k_w == 3
            && p.dilation_h == 1
            && p.dilation_w == 1
            && p.stride_h == stride
            && matches!(stride, 1 | 2)
            && pad_left <= 1
            && columns <= sum(in_w, 1 + pad_left);
        if !suits {
            return None;
        }
        // Up to the last column that is read.
        let pads_right = columns > sum(in_w, pad_left);
        let row = product(in_w, channels);
        let behind_first = PADDING.checked_div(channels)?.checked_sub(3)?;
        let most = behind_first.checked_div(stride)?.wrapping_add(1);
        let most = if row <= PADDING { out_w } else { most };
        let layer = Layer { w, q, pad, channels, stride };
        Some(Lines { p, x, layer, pads_right, most, padding })
    }

    /// Computes row `row`, and the row behind it if `out` has two. `part` computes the results of a part.
    #[inline(always)]
    pub(super) fn roll(&self, row: usize, out: [&[Cell<i8>]; 2], part: impl Fn(&Part<'_>)) {
        let Lines { p, x, layer, .. } = *self;
        if out.iter().any(|out| out.len() < product(p.out_w, layer.channels)) {
            return;
        }
        let pixel = Pixel::new(p, x, row, 0);
        let rows = [0, 1, 2, 3, 4].map(|ky| if ky < layer.stride + 3 { pixel.row(x, ky) } else { &[] });
        let padded = rows.iter().take(layer.stride + 3).any(|row| row.is_empty());
        if padded && !self.padding.filled.replace(true) {
            let row = product(p.in_w, layer.channels);
            self.padding.cells.iter().take(row).for_each(|cell| cell.set(layer.pad));
        }
        let most = if padded { self.most } else { p.out_w };
        let mut first = 0;
        while first < p.out_w {
            let pixels = most.min(p.out_w - first);
            let (pads_left, last) = (first == 0 && p.pad_left > 0, first + pixels == p.out_w);
            let column = first * layer.stride - if first > 0 { p.pad_left } else { 0 };
            let from = product(column, layer.channels);
            let rows = rows.map(|row| match row.is_empty() {
                true => &self.padding.cells[..],
                false => row.get(from..).unwrap_or(&[]),
            });
            let from = product(first, layer.channels);
            let out = out.map(|out| out.get(from..).unwrap_or(&[]));
            part(&Part { rows, out, layer, pixels, pads_left, pads_right: last && self.pads_right });
            first += pixels;
        }
    }
}
