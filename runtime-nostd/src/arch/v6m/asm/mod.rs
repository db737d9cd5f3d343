//! The inner blocks of kernels in assembly. [`arch`](crate::arch) chooses between these and those of `plain`, file by file with the same functions.
#![allow(unsafe_code)]

pub(crate) mod depthwise;
pub(crate) mod operand;
pub(crate) mod pair;
pub(crate) mod rolling;
pub(crate) mod single;
