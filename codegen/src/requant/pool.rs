//! The division of average pooling.

use super::{Interval, Steps};

/// The exact meaning of an average: the sum of `count` stored values by their number, rounded half away from zero, clamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AverageReference {
    /// Number of values, at least 1.
    pub count: u32,
    /// Smallest result.
    pub lo: i32,
    /// Largest result.
    pub hi: i32,
}

/// A division by multiplication, on sums of stored 8-bit values:
/// `y = clamp((s·multiplier + constant) >> 23, −128, 127)`, modulo 2³², with `s = sum + (sum >> 31)` if signed, else `s = sum`.
///
/// ```text
/// ADD  s, sum, sum, ASR #31        ; only if signed
/// MLA  t, s, multiplier, constant
/// SSAT y, #8, t, ASR #23
/// ```
///
/// Signed are even counts: the halves of negative sums round down. A sum may hold `constant / multiplier` from the beginning instead, if that
/// is a whole number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AverageAffine {
    /// 2²³ / count, about.
    pub multiplier: i32,
    /// A half, about.
    pub constant: i32,
    /// Whether negative sums are lowered by one.
    pub signed: bool,
}

impl AverageReference {
    /// The result of one sum.
    pub fn apply(&self, sum: i32) -> i32 {
        let (sum, count) = (i64::from(sum), i64::from(self.count.max(1)));
        let half = if sum > 0 { count / 2 } else { -(count / 2) };
        ((sum + half) / count).clamp(self.lo.into(), self.hi.into()) as i32
    }

    fn steps(&self) -> Option<Steps> {
        let count = i64::from(self.count);
        let range = Interval { lo: -128 * count, hi: 127 * count };
        let possible = count > 0 && range.fits_i32(0) && self.lo <= self.hi;
        possible.then(|| Steps::taken(range, |y| (2 * i64::from(y) - 1) * count / 2, |sum| self.apply(sum)))
    }
}

impl AverageAffine {
    /// The last shift.
    pub const SHIFT: u32 = 23;

    /// The twin of the instructions.
    pub fn apply(&self, sum: i32) -> i8 {
        (self.shifted(sum) as i32 >> Self::SHIFT).clamp(-128, 127) as i8
    }

    /// What is shifted, before it is cut to 32 bits.
    fn shifted(&self, sum: i32) -> i64 {
        let sum = i64::from(sum) + if self.signed { i64::from(sum >> 31) } else { 0 };
        sum * i64::from(self.multiplier) + i64::from(self.constant)
    }

    fn is_exact(&self, steps: &Steps) -> bool {
        let fits = |sum: i64| i32::try_from(self.shifted(sum as i32)).is_ok();
        self.multiplier >= 0
            && fits(steps.range.lo)
            && fits(steps.range.hi)
            && steps.are_those_of(|sum| self.apply(sum).into())
    }
}

/// The constants for a count, proven for all sums; `None` where the sums are too many for 32 bits, or the clamp is narrower than the sums.
pub fn fit_average(reference: &AverageReference) -> Option<AverageAffine> {
    let steps = reference.steps()?;
    let (one, count) = (1i64 << AverageAffine::SHIFT, i64::from(reference.count));
    let candidates = [one / count, one / count + 1].into_iter().flat_map(|multiplier| {
        // Half a result more, and half a sum less than the next: the middle between two sums.
        let constant = one / 2 + multiplier / if count % 2 == 0 { 2 } else { 64 };
        [false, true].map(|signed| (multiplier, constant, signed))
    });
    let affine = candidates.filter_map(|(multiplier, constant, signed)| {
        Some(AverageAffine {
            multiplier: multiplier.try_into().ok()?,
            constant: constant.try_into().ok()?,
            signed,
        })
    });
    affine.into_iter().find(|affine| affine.is_exact(&steps))
}
