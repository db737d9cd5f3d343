//! Extents: how far a kernel reaches into a slice, in arithmetic that cannot wrap.
//!
//! An extent is a number of elements, computed from sizes, strides and windows that anybody may have made up. It is exact, or `usize::MAX` where it is larger than that. No slice of
//! elements is that long, so whoever compares an extent with the length of a slice has proven that what lies below it is there, on 32 bits as on 64. The proof holds for sums
//! and products of extents: both only ever saturate upwards. It does not hold for differences and quotients of them.
//!
//! A kernel that reads or writes through pointers computes the extents of all of its operands first, compares them, and returns where one does not fit. What it adds up behind that is smaller
//! than what was compared, and needs no check.
// Which of them a target uses depends on its kernels.
#![allow(dead_code)]

use super::HALF_PRODUCTS;
use crate::params::{Conv, Pool};

/// `a · b`.
#[inline(always)]
pub(crate) const fn product(a: usize, b: usize) -> usize {
    // Cores without long products have no cheaper way to see that a product of halves is no longer than a word.
    if HALF_PRODUCTS && (a | b) >> (usize::BITS / 2) == 0 {
        return a.wrapping_mul(b);
    }
    a.saturating_mul(b)
}

/// `a + b`.
#[inline(always)]
pub(crate) const fn sum(a: usize, b: usize) -> usize {
    a.saturating_add(b)
}

/// The product of all factors.
#[inline(always)]
pub(crate) fn product_of<const N: usize>(factors: [usize; N]) -> usize {
    factors.into_iter().fold(1, product)
}

/// The sum of all terms.
#[inline(always)]
pub(crate) fn sum_of<const N: usize>(terms: [usize; N]) -> usize {
    terms.into_iter().fold(0, sum)
}

/// From the first of `count` elements to the last one, which are `step` apart; 0 for none.
#[inline(always)]
pub(crate) const fn span(count: usize, step: usize) -> usize {
    product(count.saturating_sub(1), step)
}

/// What `count` elements reach that are `step` apart and `len` long; 0 for none. A step of 0 is the same element again and again.
#[inline(always)]
pub(crate) const fn reach(count: usize, step: usize, len: usize) -> usize {
    if count == 0 {
        return 0;
    }
    sum(span(count, step), len)
}

/// `len` rounded up to a multiple of `of`, which is not 0.
#[inline(always)]
pub(crate) const fn rounded_up(len: usize, of: usize) -> usize {
    match len.checked_next_multiple_of(of) {
        Some(len) => len,
        None => usize::MAX,
    }
}

/// What windows reach along an axis from the first tap of the first one on, padding included: `count` windows of `taps` taps.
#[inline(always)]
pub(crate) const fn windows(count: usize, stride: usize, taps: usize, dilation: usize) -> usize {
    reach(count, stride, reach(taps, dilation, 1))
}

impl Conv {
    /// Elements of a row of the operand.
    #[inline(always)]
    pub(crate) const fn in_row(&self) -> usize {
        product(self.in_w, self.in_c)
    }

    /// Elements of a row of the result.
    #[inline(always)]
    pub(crate) const fn out_row(&self) -> usize {
        product(self.out_w, self.out_c)
    }

    /// Elements of a row of the result with so many channels.
    #[inline(always)]
    pub(crate) const fn out_row_of(&self, channels: usize) -> usize {
        product(self.out_w, channels)
    }

    /// Columns of the padded operand that a row of results reads.
    #[inline(always)]
    pub(crate) const fn columns(&self) -> usize {
        windows(self.out_w, self.stride_w, self.k_w, self.dilation_w)
    }

    /// Taps of a filter, channels not counted.
    #[inline(always)]
    pub(crate) const fn taps(&self) -> usize {
        product(self.k_h, self.k_w)
    }
}

impl Pool {
    /// Elements of a row of the operand.
    #[inline(always)]
    pub(crate) const fn in_row(&self) -> usize {
        product(self.in_w, self.c)
    }

    /// Elements of a row of the result.
    #[inline(always)]
    pub(crate) const fn out_row(&self) -> usize {
        product(self.out_w, self.c)
    }

    /// Columns of the padded operand that a row of results reads.
    #[inline(always)]
    pub(crate) const fn columns(&self) -> usize {
        windows(self.out_w, self.stride_w, self.k_w, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = usize::MAX;
    const HALF: usize = 1 << (usize::BITS / 2);

    #[test]
    fn extents_are_exact_or_no_slice_is_as_long() {
        assert_eq!((product(HALF - 1, HALF - 1), product(HALF, HALF)), ((HALF - 1) * (HALF - 1), MAX));
        assert_eq!((product_of([MAX, MAX, 0]), product_of([3, 5, 7]), product_of([])), (0, 105, 1));
        assert_eq!((sum_of([1, 2, 3]), sum_of([MAX, 1])), (6, MAX));
        assert_eq!((span(0, 9), span(1, MAX), span(3, 0), span(3, MAX)), (0, 0, 0, MAX));
        assert_eq!((reach(0, 9, 4), reach(3, 9, 4), reach(MAX, 0, 4), reach(2, MAX, 4)), (0, 22, 4, MAX));
        assert_eq!((rounded_up(65, 64), rounded_up(0, 64), rounded_up(MAX, 64)), (128, 0, MAX));
    }

    #[test]
    fn windows_reach_their_last_tap() {
        assert_eq!(windows(3, 2, 3, 2), 9);
        assert_eq!(windows(MAX, 0, 3, 1), 3);
        assert_eq!((windows(0, 2, 3, 1), windows(4, 2, 0, 1)), (0, 6));
        assert_eq!((windows(MAX, MAX, 3, 1), windows(2, 1, MAX, 2)), (MAX, MAX));
    }
}
