//! Requantisation: how an accumulator becomes an 8-bit result in as few instructions as exactness allows.
//!
//! The [`Reference`] is TensorFlow Lite's double rounding, LiteRT's single one or ONNX Runtime's product of floats, zero point and clamp. Of a channel, and over the accumulators that
//! its weights can reach ([`reachable`]), it is a monotone step function with at most 255 [`Steps`]. Cheaper arithmetic is
//! *fitted* to the steps and then *proven*: it is monotone too, so it equals the reference wherever it takes the same steps
//! at the same accumulators. No derivation is trusted: whatever has been fitted is compared, step by step.
//!
//! | form | for | file |
//! |---|---|---|
//! | [`Affine`] | cores with `SMMLAR` and `SSAT`: Cortex-M4, M7, M33 | `affine.rs`, fitted in `fit.rs` |
//! | [`FloatChoice`] | vectors of hosts | `floats.rs` |
//! | [`AddAffine`] | sums and differences of two operands, on all cores | `add.rs` |
//! | [`AverageAffine`] | average pooling, on all cores | `pool.rs` |
//! | [`Halves`] | cores whose product has 32 bits: Cortex-M0, M0+, M23 | `halves.rs`, offsets of both in `offset.rs` |
//! | [`Upper`] | cores that have the upper half of a product: RISC-V | `upper.rs` |
//!
//! [`choose`] finds the form of a whole layer.

mod add;
mod affine;
mod bias;
mod choose;
mod corridor;
mod fit;
mod floats;
mod halves;
mod offset;
mod pool;
mod reference;
mod residue;
mod search;
#[cfg(test)]
mod tests;
mod upper;

use crate::ir::Multiplier;
pub use add::{fit_add, fit_add_float, AddAffine, AddFloatReference, AddReference, Products};
pub use affine::{Affine, Form, SIGNED_GAIN_BITS};
pub use bias::folded_bias;
pub use choose::{choose, filters, fits, is_cheap, largest_shift, Channel, Choice, SIGNS};
pub use fit::fit;
pub use floats::{choose_floats, Constants, FloatChoice, Rounding};
pub use halves::{choose_halves, Halves, HalvesForm};
pub use pool::{fit_average, AverageAffine, AverageReference};
pub use reference::{Reference, Scaling, Steps};
pub use upper::{choose_upper, Shifts, Upper, UpperForm};

/// A range of accumulators, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    /// Smallest.
    pub lo: i64,
    /// Largest.
    pub hi: i64,
}

impl Interval {
    /// Whether the range holds no value that an `i32` cannot, times 2^`bits`.
    fn fits_i32(self, bits: u32) -> bool {
        let fits = |x: i64| x.checked_mul(1 << bits).is_some_and(|x| i32::try_from(x).is_ok());
        fits(self.lo) && fits(self.hi)
    }

    /// The range moved up by `delta`.
    pub(crate) fn plus(self, delta: i32) -> Interval {
        Interval { lo: self.lo + i64::from(delta), hi: self.hi + i64::from(delta) }
    }
}

/// The 16 bits of a multiplier, which is not negative, that are left of it where sums have 64 bits: TensorFlow Lite's `MultiplyByQuantizedMultiplier` of an `int64_t`.
pub fn mantissa_of_16_bits(by: Multiplier) -> i32 {
    if by.value < 0x7fff_0000 {
        by.value.wrapping_add(1 << 15) >> 16
    } else {
        0x7fff
    }
}

/// The accumulators Σ x·w + `bias` that operands with stored values in `x.0..=x.1` can reach.
///
/// The bias holds the operand's zero point ([`folded_bias`]), and padding reads as that zero
/// point, so it has to lie in the range too. The range is exact at both ends, if each operand may be any value.
pub fn reachable(weights: impl Iterator<Item = i8>, bias: i32, x: (i32, i32)) -> Interval {
    let (least, most) = (i64::from(x.0), i64::from(x.1));
    let start = Interval { lo: bias.into(), hi: bias.into() };
    weights.fold(start, |sum, w| {
        let (a, b) = (i64::from(w) * least, i64::from(w) * most);
        Interval { lo: sum.lo + a.min(b), hi: sum.hi + a.max(b) }
    })
}
