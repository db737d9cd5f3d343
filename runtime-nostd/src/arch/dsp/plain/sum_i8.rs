//! Products of bytes with four filters whose elements alternate, and of channels with a filter each, where no block computes them: [`sum`](crate::arch::portable::sum) and
//! [`depthwise`](crate::arch::portable::depthwise) do it.
#![allow(unsafe_code)]

use crate::arch::portable::depthwise::Taps;
use crate::arch::portable::sum::Results;
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

/// Adds nothing.
#[inline(always)]
pub(crate) fn window(_: &Taps<'_, i8>, _: &[i8], _: usize, _: &mut [i32]) -> usize {
    0
}

/// Adds nothing.
#[inline(always)]
pub(crate) fn window_wide(_: &Taps<'_, i8>, _: &[i16], _: usize, _: &mut [i32]) -> usize {
    0
}

/// Whether [`rescale`] does it.
pub(crate) const RESCALES: bool = false;

/// Writes nothing.
#[inline(always)]
pub(crate) unsafe fn rescale<const EACH: usize>(_: &Results<'_>) {}
