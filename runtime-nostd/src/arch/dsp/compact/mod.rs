//! Kernels that are small rather than fast, for `optimize = "size"`: one function for all layers of a kind.
//!
//! What the fast kernels know when they are compiled is told at run time here, shifts and signs as well, and nothing has a second way of being computed:
//! no pairs of pixels across rows, no rows that stay in the work space, no plain Rust beside the assembly of a target that has it.

pub(crate) mod conv;
pub(crate) mod dense;
pub(crate) mod depthwise;
pub(crate) mod elementwise;
pub(crate) mod pool;

use core::cell::Cell;

/// Pixels whose taps are in the work space.
#[derive(Clone, Copy)]
pub(crate) struct Pixels<'a> {
    /// The taps as pairs of `i16`.
    pub taps: &'a [Cell<i32>],
    /// Where in it those of the first pixel are, in bytes.
    pub from: usize,
    /// Bytes from one pixel's taps to the next one's.
    pub step: usize,
    /// How many pixels, an even number; but at least one, which is computed twice if it is alone.
    pub count: usize,
}

/// Taps of a filter's row or column that are inside of the image.
pub(crate) struct Taps {
    /// The first one.
    pub(crate) first: usize,
    /// Where it is in the image.
    pub(crate) at: usize,
    /// How many there are.
    pub(crate) count: usize,
}
