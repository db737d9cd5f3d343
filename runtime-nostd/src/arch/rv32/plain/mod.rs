//! The inner blocks of kernels in plain Rust, with the results of the assembly.

pub(crate) mod depthwise;
pub(crate) mod operand;
pub(crate) mod pairs;
pub(crate) mod quads;
pub(crate) mod rolling;
pub(crate) mod singles;
pub(crate) mod wide;
pub(crate) mod winograd;
pub(crate) mod winograd_4x4;
