//! No blocks for channel-last images: the kernels compute all of them.

use crate::arch::dsp::depthwise::Pixel;
use crate::params::Conv;
use core::cell::Cell;

pub(crate) struct Block;

impl Block {
    pub(crate) const fn of<const STEP: usize, const UNROLL: usize, const SHIFT: u32, const SIGNED: bool>(
    ) -> Self {
        Block
    }
}

/// Computes no pixel.
pub(crate) fn pixel(_: &Conv, _: &Pixel<'_>, _: &[i32], _: i8, _: &[Cell<i8>], _: &Block) -> bool {
    false
}
