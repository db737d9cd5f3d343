//! The inner blocks of kernels in assembly.
//!
//! [`arch`](crate::arch) chooses between these and those of `plain`, file by file with the same functions. (`convert` is chosen by itself: not all cores have floats.)
#![allow(unsafe_code)]

#[macro_use]
mod pieces;

pub(crate) mod compact;
pub(crate) mod conv;
pub(crate) mod conv1;
pub(crate) mod conv_small;
pub(crate) mod dense;
pub(crate) mod dense_eights;
pub(crate) mod depthwise;
pub(crate) mod depthwise1d;
pub(crate) mod depthwise_narrow;
pub(crate) mod depthwise_planar;
pub(crate) mod elementwise;
pub(crate) mod movement;
pub(crate) mod points;
pub(crate) mod pool;
pub(crate) mod window;
pub(crate) mod winograd;
pub(crate) mod winograd_4x4;
