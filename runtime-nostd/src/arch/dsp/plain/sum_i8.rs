//! Products of bytes with four filters whose elements alternate, where no block computes them: [`sum::dot`](crate::arch::portable::sum::dot) does it.

use core::cell::Cell;

/// Adds nothing.
#[inline(always)]
pub(crate) fn four(_: &[Cell<i8>], _: &[i8], _: &mut [i32; 4]) -> bool {
    false
}

/// Adds nothing.
#[inline(always)]
pub(crate) fn four_wide(_: &[Cell<i8>], _: &[i16], _: &mut [i32; 4]) -> bool {
    false
}
