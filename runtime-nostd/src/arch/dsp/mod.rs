//! Kernels for Cortex-M4, M7 and M33: cores with the DSP extension, two 16-bit products in one instruction.
//!
//! Their inner blocks are assembly (`asm`) where the processor has the instructions, and plain Rust with the same results elsewhere (`plain`).

pub(crate) mod compact;
pub(crate) mod conv;
pub(crate) mod convert;
pub(crate) mod dense;
pub(crate) mod depthwise;
pub(crate) mod elementwise;
pub(crate) mod movement;
pub(crate) mod parts;
pub(crate) mod patches;
pub(crate) mod points;
pub(crate) mod pool;
pub(crate) mod recurrent;

pub(crate) mod affine;
pub(crate) mod taps;
pub(crate) mod tile;
mod window;
pub(crate) mod winograd;

/// What generated code calls.
pub(crate) mod kernels {
    pub use super::compact::{conv::*, dense::*, depthwise::*, elementwise::*, pool::*};
    pub use super::{
        conv::*, convert::*, dense::*, depthwise::*, elementwise::*, movement::*, parts::*, patches::*,
        points::*, pool::*, recurrent::*, winograd::*,
    };
}

use super::dsp_blocks as blocks;
