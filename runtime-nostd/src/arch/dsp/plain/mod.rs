//! The inner blocks of kernels in plain Rust, with the results of the assembly.
#![allow(unsafe_code)]

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
