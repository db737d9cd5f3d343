//! No blocks for short planar rows: the kernels compute all of them.

use crate::arch::dsp::depthwise::Window;
use crate::params::Conv;
use core::cell::Cell;

/// Computes no row.
pub(crate) fn row<const WIDTH: usize, const PIXEL: usize, const SHIFT: u32, const SIGNED: bool>(
    _: &Conv,
    _: &Window<'_>,
    _: &[i32],
    _: i8,
    _: &[Cell<i8>],
    _: usize,
) -> bool {
    false
}
