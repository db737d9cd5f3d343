//! Kernels for Cortex-M4, M7 and M33: cores with the DSP extension, two 16-bit products in one instruction.
//!
//! Their inner blocks are assembly where `kiln_dsp` is set, and plain Rust with the same results elsewhere.

mod affine;
#[cfg(kiln_dsp)]
mod affine_asm;
pub(crate) mod avg_pool;
pub(crate) mod compact;
pub(crate) mod conv;
pub(crate) mod convert;
pub(crate) mod dense;
pub(crate) mod depthwise;
#[cfg(kiln_dsp)]
mod depthwise_asm;
#[cfg(kiln_dsp)]
mod depthwise_narrow_asm;
pub(crate) mod depthwise_planar;
#[cfg(kiln_dsp)]
mod depthwise_planar_asm;
pub(crate) mod dot;
pub(crate) mod elementwise;
pub(crate) mod lstm;
pub(crate) mod max_pool;
pub(crate) mod movement;
pub(crate) mod temporal;
#[cfg(kiln_dsp)]
mod temporal_asm;
pub(crate) mod wide;
pub(crate) mod window;

mod pixel;
mod pixel_eights;
mod tile;
#[cfg(kiln_dsp)]
mod tile_asm;
mod tile_of_any;
