//! Kernels in vectors of 32-bit lanes, for processors of hosts: x86-64, AArch64 and WebAssembly.
//!
//! They are written once, over the operations of [`Simd`]; the instruction sets are implementations of it: `arch/x86`, `arch/aarch64`, `arch/wasm`,
//! and [`scalar::Scalar`] for all others. Which one runs is decided when the program does ([`dispatch`]), or by the features it is compiled with. Integers are
//! the same bits on all of them; those of [`float`] differ where products are added with one rounding or with two.
//!
//! Filters come in *blocks* of sixteen: a vector of any width divides that, so that one packing serves all. Rows of operands are copied to a workspace, where
//! padding is written out and what vectors read beyond an end is harmless.
// Addresses are computed from sizes that the entry of each kernel compares with the lengths of its operands.
#![allow(unsafe_code, clippy::indexing_slicing)]

pub(crate) mod conv;
pub(crate) mod dense;
pub(crate) mod depthwise;
pub(crate) mod elementwise;
pub(crate) mod float;
pub(crate) mod parts;
pub(crate) mod pool;

mod apart;
pub(crate) mod dispatch;
mod requant;
mod scalar;
pub(crate) mod shape;
#[cfg(test)]
mod tests;
mod tiles;
mod work;

/// What generated code calls.
pub(crate) mod kernels {
    pub use super::float::{
        conv::*, dense::*, depthwise::*, elementwise::*, matmul::*, pool::*, reduce::*, reproducible::*,
        softmax::*, unary::*,
    };
    pub use super::parts::*;
    pub use super::shape::{Shape, Sizes};
    pub use super::{conv::*, dense::*, depthwise::*, elementwise::*, pool::*};
}

use super::vector::{Clamp, Simd, BLOCK};
