//! No blocks for planar rows: the kernels compute all of them.

use crate::arch::dsp::depthwise::Window;
use crate::params::Conv;
use core::cell::Cell;

pub(crate) struct Block;

impl Block {
    pub(crate) const fn of<const STRIDE: usize, const PIXEL: usize, const SHIFT: u32, const SIGNED: bool>(
    ) -> Self {
        Block
    }
}

/// Computes no row.
pub(crate) fn row(_: &Conv, _: &Window<'_>, _: &[i32], _: i8, _: &[Cell<i8>], _: usize, _: &Block) -> bool {
    false
}
