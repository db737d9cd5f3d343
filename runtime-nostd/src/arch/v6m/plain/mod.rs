//! The inner blocks of kernels in plain Rust, with the results of the assembly.

pub(crate) mod column;
pub(crate) mod depthwise;
pub(crate) mod operand;
pub(crate) mod pair;
pub(crate) mod rolling;
pub(crate) mod single;
pub(crate) mod winograd;
