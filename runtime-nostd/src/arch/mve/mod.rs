//! Kernels for Cortex-M55, M85 and M52: cores with Helium (MVE), vectors of 16 bytes.
//!
//! `VMLADAVA` adds 16 products of bytes to a core register, so sums need neither wider elements nor a rest. Up to eight of them are in registers at a time: all that a core has with an even number.
//! Elements behind the last whole vector come first, with a predicate that reads no others.
//!
//! The inner blocks are assembly (`asm`) where the processor has the instructions, and plain Rust with the same results elsewhere (`plain`).

pub(crate) mod channels;
pub(crate) mod conv;
pub(crate) mod convert;
pub(crate) mod dense;
pub(crate) mod depthwise;
pub(crate) mod elementwise;
pub(crate) mod int16;
pub(crate) mod movement;
pub(crate) mod pool;
pub(crate) mod recurrent;
pub(crate) mod softmax;
pub(crate) mod unary;
pub(crate) mod wide;

pub(crate) mod affine;
mod window;

/// What generated code calls.
pub(crate) mod kernels {
    pub use super::{
        channels::*, conv::*, convert::*, dense::*, depthwise::*, elementwise::*, int16::*, movement::*,
        pool::*, recurrent::*, softmax::*, unary::*, wide::*,
    };
}

use super::mve_blocks as blocks;

/// Elements of a vector of bytes.
pub(crate) const LANES: usize = 16;

/// Words of a vector.
pub(crate) const VECTOR_WORDS: usize = 4;
