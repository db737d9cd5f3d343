//! The inner blocks of kernels in assembly.

#![allow(unsafe_code)]

pub(crate) mod depthwise;
pub(crate) mod operand;
pub(crate) mod pairs;
pub(crate) mod rolling;
pub(crate) mod singles;
