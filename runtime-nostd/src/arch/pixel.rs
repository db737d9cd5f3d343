//! Where the taps of a pixel are in the operand of a convolution.

use crate::arch::extent::product;
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;
use core::ops::Range;

/// Where the filters' first tap is for one pixel of the result.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Pixel {
    /// Row and column; may be negative. Rows are counted from the lap of the ring in which the first one is.
    top: usize,
    pub(crate) left: usize,
    /// Rows of the operand.
    in_h: usize,
}

impl Pixel {
    pub(crate) fn new(p: &Conv, x: Rows<'_, i8>, row: usize, column: usize) -> Self {
        let top = row.wrapping_mul(p.stride_h);
        let skipped = x.laps_before(top.saturating_sub(p.pad_top));
        Pixel {
            top: top.wrapping_sub(p.pad_top).wrapping_sub(skipped),
            left: column.wrapping_mul(p.stride_w).wrapping_sub(p.pad_left),
            in_h: p.in_h.saturating_sub(skipped),
        }
    }

    /// The pixel whose first tap is so many columns of the operand further on.
    #[inline(always)]
    pub(crate) fn further(self, columns: usize) -> Pixel {
        Pixel { left: self.left.wrapping_add(columns), ..self }
    }

    /// The row of the operand `below` the first tap; empty in the padding.
    #[inline(always)]
    pub(crate) fn row<'a>(&self, x: Rows<'a, i8>, below: usize) -> &'a [Cell<i8>] {
        let iy = self.top.wrapping_add(below);
        if iy < self.in_h {
            x.row(iy)
        } else {
            &[]
        }
    }

    /// The column of the operand `behind` the first tap; no column of it in the padding.
    #[inline(always)]
    pub(crate) fn column(&self, behind: usize) -> usize {
        self.left.wrapping_add(behind)
    }
}

/// The pixels of a band, and where the results of each are. There is at least one in each row.
pub(crate) struct Pixels<'a> {
    y: Rows<'a, i8>,
    pub(crate) rows: Range<usize>,
    /// Pixels that are left in this row.
    pub(crate) columns: usize,
    pub(crate) pixel: Pixel,
    out: &'a [Cell<i8>],
}

impl<'a> Pixels<'a> {
    pub(crate) fn new(y: Rows<'a, i8>, band: Band) -> Self {
        Pixels { y, rows: band.range(), columns: 0, pixel: Pixel::default(), out: &[] }
    }

    /// Begins the next row where none is left in this one. `None` where there is none.
    #[inline(always)]
    pub(crate) fn begin(&mut self, p: &Conv, first_of: impl Fn(usize) -> Pixel) -> Option<()> {
        match self.columns {
            0 => self.begin_row(p, first_of),
            _ => Some(()),
        }
    }

    #[inline(never)]
    fn begin_row(&mut self, p: &Conv, first_of: impl Fn(usize) -> Pixel) -> Option<()> {
        let row = self.rows.next()?;
        (self.columns, self.out) = (p.out_w, self.y.row(row));
        self.pixel = first_of(row);
        Some(())
    }

    /// Where the results of the next pixel are, which is in this row; empty if there is no memory. Goes on behind it.
    #[inline(always)]
    pub(crate) fn place(&mut self, p: &Conv) -> &'a [Cell<i8>] {
        self.places(p, 1)
    }

    /// The same of the next `count` pixels.
    #[inline(always)]
    pub(crate) fn places(&mut self, p: &Conv, count: usize) -> &'a [Cell<i8>] {
        let (out, behind) = self.out.split_at_checked(product(count, p.out_c)).unwrap_or_default();
        self.pixel = self.pixel.further(count.wrapping_mul(p.stride_w));
        (self.columns, self.out) = (self.columns.wrapping_sub(count), behind);
        out
    }
}
