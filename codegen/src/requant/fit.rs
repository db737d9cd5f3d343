//! Finding the constants of an [`Affine`].
//!
//! Offsets come as delta·M + constant·2^(32 − gain) + 2^(31 − gain), with 2^(32 + shift) for one result: `delta` is the fine adjustment, found
//! modulo the coarse one.

use super::affine::{Affine, Form, SIGNED_GAIN_BITS};
use super::corridor::{div_ceil, Corridor, Side};
use super::residue::nearest_factor;
use super::{Interval, Reference, Steps};

/// The largest shift: with it, all offsets of results fit 63 bits.
pub(super) const MOST_SHIFT: u32 = 22;

/// The constants of a channel whose accumulators come with a gain of `gain_bits` (0 or 8), or `None` where none were found.
/// What is returned is proven on the whole range.
pub fn fit(reference: &Reference, range: Interval, gain_bits: u32, form: Form) -> Option<Affine> {
    fit_steps(reference, &Steps::of(reference, range)?, gain_bits, form, THOROUGH)
}

/// Multipliers on either side of the best one that are tried before a channel is given up.
pub(super) const THOROUGH: i64 = 100;

/// As [`fit`], for a reference with these steps, trying `most` multipliers on either side.
pub(super) fn fit_steps(
    reference: &Reference,
    steps: &Steps,
    gain_bits: u32,
    form: Form,
    most: i64,
) -> Option<Affine> {
    if form.shift > MOST_SHIFT || form.shift + form.product_gain(gain_bits) > 31 {
        return None;
    }
    if steps.clamped(reference) {
        return None;
    }
    let zero_point = reference.zero_point;
    let corridor = Corridor { steps, zero_point, bits: 32 + form.shift, signed: form.signed };
    let fitting = Fitting { steps, corridor, gain_bits, form };
    corridor.find(reference, most, |m| fitting.with_multiplier(m))
}

struct Fitting<'a> {
    steps: &'a Steps,
    corridor: Corridor<'a>,
    gain_bits: u32,
    form: Form,
}

impl Fitting<'_> {
    /// The constants with a given multiplier.
    fn with_multiplier(&self, m: i64) -> Option<Affine> {
        let multiplier = i32::try_from(m).ok().filter(|&m| m >= 0)?;
        let exact = |affine: &Affine| affine.is_exact(self.steps, self.gain_bits, self.form);
        // Channels of signed layers whose results lie on one side need no correction.
        let plain = self.uncorrected(m, multiplier).filter(exact);
        plain.or_else(|| self.corrected(m, multiplier).filter(exact).filter(|_| self.form.signed))
    }

    fn uncorrected(&self, m: i64, multiplier: i32) -> Option<Affine> {
        let (lo, hi) = self.corridor.window(m, Side::All).ends(self.corridor.unit())?;
        let gain = self.form.product_gain(self.gain_bits);
        let coarse = 1 << (32 - gain);
        // Accumulators far from zero are brought to where they do not overflow.
        let Interval { lo: least, hi: most } = self.steps.range;
        let start = if self.steps.range.fits_i32(gain + 1) { 0 } else { -(least + (most - least) / 2) };
        let taken = start * m + coarse / 2;
        let delta = start + nearest_factor(m, coarse, lo.checked_sub(taken)?, hi.checked_sub(taken)?)?;
        let constant = div_ceil(rest(lo, coarse / 2, delta, m), coarse.into());
        Some(Affine {
            delta: delta.try_into().ok()?,
            multiplier,
            constant: constant.try_into().ok()?,
            correction: 0,
        })
    }

    fn corrected(&self, m: i64, multiplier: i32) -> Option<Affine> {
        let (above, below) = (self.corridor.window(m, Side::Above), self.corridor.window(m, Side::Below));
        let (above, below) = (above.ends(self.corridor.unit()), below.ends(self.corridor.unit()));
        let (above, below) = (above.or(below)?, below.or(above)?);
        if above.0 > above.1 || below.0 > below.1 {
            return None;
        }
        let (least, most) = self.deltas_by_sign();
        if least > most {
            return None;
        }
        let coarse = 1i64 << (32 - SIGNED_GAIN_BITS);
        let start = 0.clamp(least, most);
        let spare = above.1 - above.0;
        (0..=1024)
            .flat_map(|away| [start + away, start - away])
            .filter(|delta| (least..=most).contains(delta))
            .find_map(|delta| {
                // By how much the coarse adjustment goes beyond `above.0`: its low bits, for which it does not matter that others are lost.
                let left = above.0.wrapping_sub(coarse / 2).wrapping_sub(delta.wrapping_mul(m));
                let beyond = left.wrapping_neg() & (coarse - 1);
                if beyond > spare {
                    return None;
                }
                let offset = above.0.checked_add(beyond)?;
                // offset + correction·m / 256 has to lie in `below`. (What saturates is no `i32` in the end.)
                let down = |end: i64| end.saturating_sub(offset).saturating_mul(1 << SIGNED_GAIN_BITS);
                let correction = if m == 0 { 0 } else { down(below.1).div_euclid(m).min(0) };
                if correction.saturating_mul(m) < down(below.0) {
                    return None;
                }
                let constant = div_ceil(rest(above.0, coarse / 2, delta, m), coarse.into());
                Some(Affine {
                    delta: delta.try_into().ok()?,
                    multiplier,
                    constant: constant.try_into().ok()?,
                    correction: correction.try_into().ok()?,
                })
            })
    }

    /// The smallest and largest `delta` with which accumulators change sign where the result is the zero point.
    fn deltas_by_sign(&self) -> (i64, i64) {
        let Steps { range, first, .. } = *self.steps;
        let (zero, last) = (self.corridor.zero_point, self.steps.last());
        let step = |y: i32| usize::try_from(y - first - 1).ok().and_then(|i| self.steps.at.get(i)).copied();
        let negative_until = match step(zero) {
            Some(at) => at,
            None if last < zero => range.hi + 1,
            None => i64::from(i32::MIN),
        };
        let positive_from = match step(zero + 1) {
            Some(at) => at,
            None if first > zero => range.lo,
            None => i64::from(i32::MAX),
        };
        (-positive_from, -negative_until)
    }
}

/// What is left of an offset for the coarse adjustment.
fn rest(offset: i64, half: i64, delta: i64, m: i64) -> i128 {
    i128::from(offset) - i128::from(half) - i128::from(delta) * i128::from(m)
}
