//! What an accumulator means, and the steps that it takes.

use super::search::first_where;
use super::Interval;
use crate::ir::{Multiplier, Real, Rescale};

/// How an accumulator is scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scaling {
    /// By the multiplier, with TensorFlow Lite's double rounding.
    Twice,
    /// By the multiplier, rounded half away from zero once.
    Once,
    /// By a factor in floats, rounded half to even.
    Float(Real),
}

/// The exact meaning of a channel's requantisation: the accumulator scaled, plus the zero point, clamped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// The real factor, or the nearest one to it.
    pub multiplier: Multiplier,
    /// How it is applied.
    pub scaling: Scaling,
    /// Of the result.
    pub zero_point: i32,
    /// Smallest result, at least −128.
    pub lo: i32,
    /// Largest result, at most 127.
    pub hi: i32,
}

impl Reference {
    /// What becomes of the sums of a filter of a layer of integers; `None` of other layers.
    pub fn of(rescale: &Rescale, filter: usize, zero_point: i32, (lo, hi): (i32, i32)) -> Option<Reference> {
        let at = |len: usize| if len == 1 { 0 } else { filter };
        let fixed = |list: &[Multiplier], scaling| {
            let multiplier = *list.get(at(list.len()))?;
            Some(Reference { multiplier, scaling, zero_point, lo, hi })
        };
        match rescale {
            Rescale::FixedPoint(list) => fixed(list, Scaling::Twice),
            Rescale::Once(list) => fixed(list, Scaling::Once),
            Rescale::Float(list) => Reference::of_float(*list.get(at(list.len()))?, zero_point, (lo, hi)),
            Rescale::Real | Rescale::FloatSum { .. } => None,
        }
    }

    /// The meaning of a factor in floats; `None` where there is no multiplier near it.
    pub fn of_float(by: Real, zero_point: i32, (lo, hi): (i32, i32)) -> Option<Reference> {
        let multiplier = Multiplier::of(by.0.into())?;
        Some(Reference { multiplier, scaling: Scaling::Float(by), zero_point, lo, hi })
    }

    /// The result of one accumulator, for multipliers that are not negative.
    pub fn apply(&self, acc: i32) -> i32 {
        let result = self.scaled(acc).wrapping_add(self.zero_point);
        result.max(self.lo).min(self.hi)
    }

    fn scaled(&self, acc: i32) -> i32 {
        match self.scaling {
            Scaling::Twice => rescaled(self.multiplier, acc),
            Scaling::Once => rescaled_once(self.multiplier, acc),
            Scaling::Float(by) => product(acc, by.0),
        }
    }

    /// Whether nothing overflows for the accumulators of a range, so that the reference is monotone there.
    pub fn is_monotone(&self, range: Interval) -> bool {
        let Multiplier { value, shift } = self.multiplier;
        let end = |acc: i64| self.scaled(acc as i32).checked_add(self.zero_point).is_some();
        value >= 0
            && (-31..=30).contains(&shift)
            && range.lo <= range.hi
            && range.fits_i32(shift.max(0).unsigned_abs())
            && end(range.lo)
            && end(range.hi)
            && -128 <= self.lo
            && self.lo <= self.hi
            && self.hi <= 127
    }

    /// The smallest accumulator of a range whose result is at least `y`; `range.hi + 1` if there is none.
    /// The reference has to be monotone on the range.
    pub fn step(&self, y: i32, range: Interval) -> i64 {
        first_where(range, self.guess(y), |acc| self.apply(acc as i32) >= y)
    }

    /// About where the step to `y` is.
    fn guess(&self, y: i32) -> i64 {
        ((f64::from(y) - f64::from(self.zero_point) - 0.5) / self.multiplier.factor()).ceil() as i64
    }
}

/// An integer times a multiplier, rounded to a whole number of 2^`shift` and then to one: the first rounding takes ties up, the
/// second away from zero. For multipliers that are not negative.
pub(super) fn rescaled(by: Multiplier, x: i32) -> i32 {
    let scaled = x.wrapping_shl(by.shift.max(0).unsigned_abs());
    let product = (i64::from(scaled) * i64::from(by.value) + (1 << 30)) >> 31;
    match by.shift.min(0).unsigned_abs().min(32) {
        0 => product as i32,
        right => ((product + (1i64 << (right - 1)) - i64::from(product < 0)) >> right) as i32,
    }
}

/// The same, rounded half away from zero once.
fn rescaled_once(by: Multiplier, x: i32) -> i32 {
    let shift = (31 - by.shift).clamp(1, 62);
    let product = i64::from(x) * i64::from(by.value);
    ((product + (1 << (shift - 1)) - i64::from(product < 0)) >> shift) as i32
}

/// A sum as a float times a factor, rounded half to even. What is beyond 2¹⁷ is clamped anyway, and so does not overflow.
fn product(acc: i32, by: f32) -> i32 {
    (acc as f32 * by).clamp(-131_072.0, 131_072.0).round_ties_even() as i32
}

/// All steps of a reference on a range: what a cheaper arithmetic has to reproduce.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    /// The accumulators for which they hold.
    pub range: Interval,
    /// Result of the smallest accumulator.
    pub first: i32,
    /// For each result above `first`, in ascending order, the smallest accumulator that gives at least that.
    pub at: Vec<i64>,
}

impl Steps {
    /// The steps of a reference, or `None` where it is not monotone on the range.
    pub fn of(reference: &Reference, range: Interval) -> Option<Steps> {
        let steps = || Steps::taken(range, |y| reference.guess(y), |acc| reference.apply(acc));
        reference.is_monotone(range).then(steps)
    }

    /// The steps of a monotone function, with a guess of where they are.
    pub(super) fn taken(range: Interval, guess: impl Fn(i32) -> i64, function: impl Fn(i32) -> i32) -> Steps {
        let (first, last) = (function(range.lo as i32), function(range.hi as i32));
        let at = |y| first_where(range, guess(y), |acc| function(acc as i32) >= y);
        Steps { range, first, at: (first + 1..=last).map(at).collect() }
    }

    /// Whether the reference's clamp, not that of 8 bits, decides a result: saturation does not replace it.
    pub(super) fn clamped(&self, reference: &Reference) -> bool {
        let free = Reference { lo: -128, hi: 127, ..*reference };
        let differs = |acc: i64| free.apply(acc as i32) != reference.apply(acc as i32);
        differs(self.range.lo) || differs(self.range.hi)
    }

    /// Result of the largest accumulator.
    pub fn last(&self) -> i32 {
        self.first + self.at.len() as i32
    }

    /// The steps as pairs of a result and the smallest accumulator that gives at least that.
    pub fn iter(&self) -> impl Iterator<Item = (i32, i64)> + '_ {
        (self.first + 1..).zip(self.at.iter().copied())
    }

    /// Whether a monotone function equals the reference on the whole range: it does if it has the same values at both ends and takes
    /// the same steps at the same accumulators.
    pub fn are_those_of(&self, function: impl Fn(i32) -> i32) -> bool {
        function(self.range.lo as i32) == self.first
            && function(self.range.hi as i32) == self.last()
            && self.iter().all(|(y, at)| function((at - 1) as i32) < y && y <= function(at as i32))
    }
}
