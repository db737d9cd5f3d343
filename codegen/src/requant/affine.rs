//! Requantisation by one multiplication, on cores with `SMMLAR` and `SSAT`.

use super::{Interval, Steps};

/// What the channels of a layer have in common: immediates of the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// The last shift, for accumulators of gain 1. At most 22.
    pub shift: u32,
    /// Whether results below the zero point are corrected: they round away from zero, which moves their steps.
    pub signed: bool,
}

/// Gain, in bits, of the accumulators that signed forms multiply.
pub const SIGNED_GAIN_BITS: u32 = 8;

/// The constants of one channel.
///
/// `delta` is part of the accumulator's first value, so it costs nothing. The kernel has the accumulator `a = acc + delta`, or
/// `256·a` (gain 8 bits). Everything is modulo 2³², the product is exact, `>>` is arithmetic.
///
/// Unsigned form, where all results are at or above the zero point: two instructions for an accumulator in a register.
///
/// ```text
/// SMMLAR x, d, multiplier, constant   ; d = a << gain;  x = (d·multiplier + constant·2³² + 2³¹) >> 32
/// SSAT   y, #8, x, ASR #shift+gain    ; y = clamp(x >> (shift + gain), −128, 127)
/// ```
///
/// Signed form, where results lie on both sides. Rounding away from zero moves the steps of the negative side by 2³¹ / value
/// accumulators, a number between one and two that 1/256 of an accumulator is fine enough to express. Four instructions (for gain 8
/// bits: `ADD d, d256, t` and `AND t, correction, d256, ASR #31`):
///
/// ```text
/// AND    t, correction, a, ASR #31    ; t = a < 0 ? correction : 0
/// ADD    d, t, a, LSL #8
/// SMMLAR x, d, multiplier, constant
/// SSAT   y, #8, x, ASR #shift+8
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Affine {
    /// Added to the accumulator's first value.
    pub delta: i32,
    /// Not negative.
    pub multiplier: i32,
    /// In units of the product's high word.
    pub constant: i32,
    /// Of negative accumulators, in units of 1/256; never positive, and 0 in unsigned forms.
    pub correction: i32,
}

impl Form {
    /// Gain of what is multiplied, for accumulators of gain `gain_bits`.
    pub(super) fn product_gain(self, gain_bits: u32) -> u32 {
        if self.signed {
            SIGNED_GAIN_BITS
        } else {
            gain_bits
        }
    }
}

impl Affine {
    /// The twin of the instructions: the result of an accumulator, `delta` not included.
    pub fn apply(&self, acc: i32, gain_bits: u32, form: Form) -> i8 {
        let gain = form.product_gain(gain_bits);
        let y = self.high_word(acc, gain) >> (form.shift + gain).min(31);
        y.clamp(-128, 127) as i8
    }

    fn high_word(&self, acc: i32, gain: u32) -> i32 {
        let a = acc.wrapping_add(self.delta);
        let d = a.wrapping_shl(gain).wrapping_add(self.correction & (a >> 31));
        let sum = (i64::from(d) * i64::from(self.multiplier))
            .wrapping_add(i64::from(self.constant) << 32)
            .wrapping_add(1 << 31);
        (sum >> 32) as i32
    }

    /// Whether this is the reference: nothing overflows on the range, so that the twin is monotone, and it takes the same steps.
    pub(super) fn is_exact(&self, steps: &Steps, gain_bits: u32, form: Form) -> bool {
        let gain = form.product_gain(gain_bits);
        let shift = form.shift + gain;
        self.multiplier >= 0
            && (-(1 << 20)..=0).contains(&self.correction)
            && (1..=31).contains(&shift.max(1))
            && self.never_wraps(steps.range, gain)
            && steps.are_those_of(|acc| self.apply(acc, gain_bits, form).into())
    }

    /// Whether neither what is multiplied nor the high word leaves the `i32` range. (All are monotone: the ends tell.)
    fn never_wraps(&self, range: Interval, gain: u32) -> bool {
        let moved = range.plus(self.delta);
        let high = |a: i64| {
            let d = (i128::from(a) << gain) + i128::from(if a < 0 { self.correction } else { 0 });
            let sum = d * i128::from(self.multiplier) + (i128::from(self.constant) << 32) + (1 << 31);
            i32::try_from(d).is_ok() && i32::try_from(sum >> 32).is_ok()
        };
        moved.fits_i32(gain) && high(moved.lo) && high(moved.hi)
    }
}
