//! Kernels for RISC-V with 32 bits and multiplication: RV32IM and what extends it, such as ESP32-C3 and the Hazard3 of RP2350.
//!
//! # Two products in one multiplication
//!
//! `(a + 2¹⁶·b) · w = a·w + 2¹⁶·b·w`: one `MUL` multiplies a weight with two pixels ([`conv`]), or an element with two weights ([`singles`]). Both products stay apart as long as their sums fit 16 bits. A *window* is
//! as many taps as their weights allow, as the compiler has proven: about five ([`windows`]). Its sum `s` goes to two accumulators: `q += s` and
//! `h += (s + 2¹⁵) >> 16`. The half keeps a negative lower field from borrowing of the upper one. So `h` is the sum of the upper fields, and `q − (h << 16)` that of the lower ones.
//!
//! Blocks of tiles are assembly (`asm`) where the processor has the instructions, and plain Rust with the same results elsewhere (`plain`).

pub(crate) mod conv;
pub(crate) mod dense;
pub(crate) mod depthwise;
pub(crate) mod elementwise;
pub(crate) mod operand;
pub(crate) mod parts;
pub(crate) mod rolling;
pub(crate) mod singles;
pub(crate) mod upper;
pub(crate) mod wide;
pub(crate) mod windows;
pub(crate) mod winograd;

/// What generated code calls.
pub(crate) mod kernels {
    pub use super::upper::UpperRequant;
    pub use super::{conv::*, dense::*, depthwise::*, elementwise::*, parts::*, wide::*, winograd::*};
}

use super::rv32_blocks as blocks;
