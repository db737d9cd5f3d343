//! Products with four filters whose elements alternate, where no instruction computes four at once: [`sum::dot`](super::sum::dot) does it.

use core::cell::Cell;

/// Adds nothing.
#[inline(always)]
pub(crate) fn floats(_: &[Cell<f32>], _: &[f32], _: &mut [f32; 4]) -> bool {
    false
}

/// Adds nothing.
#[inline(always)]
pub(crate) fn bytes(_: &[Cell<i8>], _: &[i8], _: &mut [i32; 4]) -> bool {
    false
}
