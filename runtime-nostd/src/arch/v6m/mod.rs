//! Kernels for Cortex-M0, M0+ and M23: eight low registers, no long multiplication, one instruction for a 32-bit product.
//!
//! # Two products in one multiplication
//!
//! `(a + 2¹⁶·b) · w = a·w + 2¹⁶·b·w`: one `MULS` multiplies a weight with two pixels ([`pair`]), or a pixel with two weights ([`single`]). Both
//! products stay apart as long as their sums fit 16 bits. A *window* is as many taps as are added up before they are parted: two, four or eight. Two fit unless
//! both weights are −128. Weights of more taps are made to fit, and *rests* say what they are besides. A word stands for the operands of each tap, and one more
//! for a correction. The correction makes the sum that belongs to weights between −128 and 127 out of one with bytes between 0 and 255, which is what `LDRB`
//! loads, and moves the lower field into the range of an unsigned 16-bit number, so that a shift parts the fields.
//!
//! The sums of windows go to two accumulators, `q += window` and `h += window >> 16`: `h` is the sum of the upper fields, `q − (h << 16)` that of the
//! lower ones. First values and corrections are chosen so that both results come out with their bias.
//!
//! The hot loops are assembly (`asm`) where the processor has the instructions, and plain Rust with the same results elsewhere (`plain`).

pub(crate) mod column;
pub(crate) mod conv;
pub(crate) mod dense;
pub(crate) mod depthwise;
pub(crate) mod elementwise;
pub(crate) mod parts;

pub(crate) mod operand;
pub(crate) mod pair;
pub(crate) mod rolling;
mod single;
pub(crate) mod steps;
pub(crate) mod winograd;

/// What generated code calls.
pub(crate) mod kernels {
    pub use super::steps::HalfRequant;
    pub use super::{column::*, conv::*, dense::*, depthwise::*, elementwise::*, parts::*, winograd::*};
}

use super::v6m_blocks as blocks;
