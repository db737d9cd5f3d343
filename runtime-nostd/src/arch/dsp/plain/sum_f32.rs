//! Products with four filters whose elements alternate, and of channels with a filter each, where no block computes them: [`sum::dot`](crate::arch::portable::sum::dot) and
//! [`depthwise`](crate::arch::portable::depthwise) do it.

use crate::arch::portable::depthwise::Taps;
use core::cell::Cell;

/// Adds nothing.
#[inline(always)]
pub(crate) fn four(_: &[Cell<f32>], _: &[f32], _: &mut [f32; 4]) -> bool {
    false
}

/// Writes nothing.
#[inline(always)]
pub(crate) fn pixel(_: &[Cell<f32>], _: &[f32], _: &[f32], _: [f32; 2], _: &[Cell<f32>]) -> usize {
    0
}

/// Writes nothing.
#[inline(always)]
pub(crate) fn finish(_: &[f32], _: &[f32], _: [f32; 2], _: &[Cell<f32>]) -> usize {
    0
}

/// Writes nothing.
#[inline(always)]
pub(crate) fn window(_: &Taps<'_, f32>, _: &[f32], _: &[f32], _: [f32; 2], _: &[Cell<f32>]) -> usize {
    0
}
