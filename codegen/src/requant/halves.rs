//! Requantisation by two multiplications of 16 bits, on cores whose product has 32 bits: Cortex-M0, M0+, M23.

use super::offset::{agrees, computed, multipliers, offsets};
use super::{Interval, Reference, Steps};

/// Bits of the multiplier's lower part, which counts 2^−14.
const LOW_BITS: u32 = 14;

/// The largest shift: 256 results take all 32 bits.
const MOST_SHIFT: u32 = 24;

/// What the channels of a layer have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HalvesForm {
    /// The last shift.
    pub shift: u32,
    /// Whether accumulators below zero have a constant of their own: results below the zero point round the other way.
    pub signed: bool,
    /// Smallest result.
    pub lo: i32,
    /// Largest result.
    pub hi: i32,
}

/// The constants of one channel.
///
/// With `v = acc + delta`, which costs nothing where `delta` is part of the accumulator's first value, and all products modulo 2³²:
///
/// ```text
/// v as u32 < limit: ((v · high + ((v · low) >> 14) + constant) as i32) >> shift
/// otherwise:        if v < 0 { lo } else { hi }
/// ```
///
/// In a signed form, `below` takes the place of `constant` where `v < origin`, which is where `acc < 0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Halves {
    /// Added to the accumulator's first value.
    pub delta: i32,
    /// The first `v` beyond the steps.
    pub limit: u32,
    /// The multiplier's integer part.
    pub high: u16,
    /// The multiplier's fraction, in units of 2^−14.
    pub low: u16,
    /// Offset of the scaled accumulator, the smallest result in it.
    pub constant: i32,
    /// The same for negative accumulators, in signed forms.
    pub below: i32,
    /// `v` of the accumulator 0, in signed forms.
    pub origin: i32,
}

impl Halves {
    /// The twin of the instructions: the result of an accumulator, `delta` not included.
    pub fn apply(&self, acc: i32, form: HalvesForm) -> i32 {
        let v = acc.wrapping_add(self.delta);
        if v as u32 >= self.limit {
            return if v < 0 { form.lo } else { form.hi };
        }
        let constant = if form.signed && v < self.origin { self.below } else { self.constant };
        (self.scaled(v as u32) as i32).wrapping_add(constant) >> form.shift
    }

    /// `v` times the multiplier, as the instructions compute it.
    fn scaled(&self, v: u32) -> u32 {
        v.wrapping_mul(self.high.into()).wrapping_add(v.wrapping_mul(self.low.into()) >> LOW_BITS)
    }

    /// Whether this is the reference: nothing wraps, so that the twin is monotone on both sides of zero.
    fn is_exact(&self, steps: &Steps, form: HalvesForm) -> bool {
        self.never_wraps() && agrees(steps, self.delta, |acc| self.apply(acc, form))
    }

    /// Whether products and sums of all `v` below the limit are what they are without a modulus.
    fn never_wraps(&self) -> bool {
        let last = u64::from(self.limit.saturating_sub(1));
        let (high, low) = (last * u64::from(self.high), last * u64::from(self.low));
        let fits = |constant: i32| {
            let most = (high + (low >> LOW_BITS)) as i64 + i64::from(constant);
            i32::try_from(most).is_ok()
        };
        let parts = [high, low, high + (low >> LOW_BITS)];
        parts.iter().all(|&part| u32::try_from(part).is_ok()) && fits(self.constant)
    }
}

/// Finds a form for all channels of a layer, and the constants of each: references with the same clamp, and the accumulators they
/// can get. `None` where no form is exact for all.
pub fn choose_halves(channels: &[(Reference, Interval)]) -> Option<(HalvesForm, Vec<Halves>)> {
    let (Reference { lo, hi, .. }, _) = *channels.first()?;
    let steps = channels.iter().map(|(reference, range)| Steps::of(reference, *range));
    let steps = steps.collect::<Option<Vec<_>>>()?;
    let most = channels.iter().zip(&steps).filter(|(_, steps)| !steps.at.is_empty());
    let most = most.map(|((reference, _), _)| most_shift(reference)).min().unwrap_or(MOST_SHIFT);
    for signed in [false, true] {
        for shift in (most.saturating_sub(3)..=most).rev() {
            let form = HalvesForm { shift, signed, lo, hi };
            let fitted =
                channels.iter().zip(&steps).map(|((reference, _), steps)| fit(reference, steps, form));
            if let Some(all) = fitted.collect() {
                return Some((form, all));
            }
        }
    }
    None
}

/// The largest shift that leaves the multiplier 16 bits before the point.
fn most_shift(reference: &Reference) -> u32 {
    let factor = reference.multiplier.factor();
    (0..=MOST_SHIFT).rev().find(|&shift| factor * f64::from(shift).exp2() < 65_535.0).unwrap_or(0)
}

/// The constants of a channel with these steps, proven, or `None` where none were found.
fn fit(reference: &Reference, steps: &Steps, form: HalvesForm) -> Option<Halves> {
    let exact = reference.multiplier.factor() * f64::from(form.shift + LOW_BITS).exp2();
    multipliers(exact, steps)
        .filter_map(|multiplier| with_multiplier(multiplier, steps, form))
        .find(|halves| halves.is_exact(steps, form))
}

/// The constants with that multiplier, if the steps leave room for an offset.
fn with_multiplier(multiplier: i64, steps: &Steps, form: HalvesForm) -> Option<Halves> {
    let computed = computed(steps, form.lo, form.hi);
    let delta = i32::try_from(-computed.start).ok()?;
    let halves = Halves {
        delta,
        limit: u32::try_from(computed.end - computed.start).ok()?,
        high: u16::try_from(multiplier >> LOW_BITS).ok()?,
        low: (multiplier & ((1 << LOW_BITS) - 1)) as u16,
        origin: if form.signed { delta } else { 0 },
        ..Halves::default()
    };
    let [constant, below] = offsets(steps, &computed, form.shift, form.signed, |v| halves.scaled(v))?;
    Some(Halves { constant, below, ..halves })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Multiplier;
    use crate::requant::Scaling;

    fn reference(value: i32, shift: i32, zero_point: i32, lo: i32, hi: i32) -> Reference {
        Reference { multiplier: Multiplier { value, shift }, scaling: Scaling::Twice, zero_point, lo, hi }
    }

    /// Compares every accumulator of a range.
    fn check(reference: Reference, range: Interval) -> Option<HalvesForm> {
        let (form, halves) = choose_halves(&[(reference, range)])?;
        for acc in range.lo..=range.hi {
            let acc = acc as i32;
            assert_eq!(
                halves[0].apply(acc, form),
                reference.apply(acc),
                "{acc}: {reference:?} {form:?} {:?}",
                halves[0]
            );
        }
        Some(form)
    }

    #[test]
    fn every_accumulator_of_random_layers_agrees() {
        let mut state = 7u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let (mut unsigned, mut signed, mut none, mut rounded_once) = (0, 0, 0, 0);
        for _ in 0..400 {
            let value = (1 << 29) + random(3 << 29) as i32;
            let shift = -4 - random(7) as i32;
            let (zero_point, lo, hi) = match random(4) {
                0 => (random(256) as i32 - 128, -128, 127),
                1 => (-128, -128, random(255) as i32 - 127),
                _ => (-128, -128, 127),
            };
            let width = 1000 + random(300_000) as i64;
            let middle = random(60_000) as i64 - 30_000;
            let range = Interval { lo: middle - width, hi: middle + width };
            let once = Reference { scaling: Scaling::Once, ..reference(value, shift, zero_point, lo, hi) };
            rounded_once += u32::from(check(once, range).is_some());
            match check(reference(value, shift, zero_point, lo, hi), range) {
                Some(form) if form.signed => signed += 1,
                Some(_) => unsigned += 1,
                None => none += 1,
            }
        }
        assert!(unsigned > 200 && signed > 60 && none < 20, "{unsigned} {signed} {none}");
        assert!(rounded_once > 380, "{rounded_once} of 400 layers that round once");
    }

    #[test]
    fn constant_results_need_no_steps() {
        let range = Interval { lo: -5000, hi: 5000 };
        for (zero_point, lo, hi) in [(0, 3, 3), (-128, -128, -128), (127, 127, 127), (0, -128, 127)] {
            check(reference(1 << 30, -20, zero_point, lo, hi), range).unwrap();
        }
    }

    #[test]
    fn what_is_not_monotone_is_refused() {
        let range = Interval { lo: i64::from(i32::MIN), hi: i64::from(i32::MAX) };
        assert_eq!(choose_halves(&[(reference(1 << 30, 3, 0, -128, 127), range)]), None);
        assert_eq!(choose_halves(&[]), None);
    }
}
