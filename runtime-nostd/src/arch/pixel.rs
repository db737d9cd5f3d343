//! Where the taps of a pixel are in the operand of a convolution.

use crate::params::Conv;
use crate::rows::Rows;
use core::cell::Cell;

/// Where the filters' first tap is for one pixel of the result.
#[derive(Clone, Copy, Default)]
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
