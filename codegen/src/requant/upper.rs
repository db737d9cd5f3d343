//! Requantisation by the upper half of one product, on cores that have it: RISC-V.

use super::offset::{agrees, computed, multipliers, offsets};
use super::{Interval, Reference, Steps};
use std::ops::Range;

/// What the channels of a layer have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UpperForm {
    /// The shifts of all channels, where they are the same and negative accumulators have no constant of their own.
    pub shifts: Option<Shifts>,
    /// Smallest result.
    pub lo: i32,
    /// Largest result.
    pub hi: i32,
}

/// The shifts on both sides of a product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shifts {
    /// To the left, of the accumulator.
    pub spread: u32,
    /// To the right, at the end.
    pub shift: u32,
}

/// The constants of one channel.
///
/// With `v = acc + delta`, which costs nothing where `delta` is part of the accumulator's first value:
///
/// ```text
/// v as u32 < limit: (((v << spread) · multiplier >> 32) + constant) >> shift       ; an unsigned product of 64 bits
/// otherwise:        if v < 0 { lo } else { hi }
/// ```
///
/// Where `v < origin`, which is where `acc < 0`, `below` takes the place of `constant`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Upper {
    /// Added to the accumulator's first value.
    pub delta: i32,
    /// The first `v` beyond the steps.
    pub limit: u32,
    /// The factor, shifted so that it has about 32 bits.
    pub multiplier: u32,
    /// Offset of the scaled accumulator, the smallest result in it.
    pub constant: i32,
    /// The same for negative accumulators.
    pub below: i32,
    /// `v` of the accumulator 0.
    pub origin: i32,
    /// On both sides of the product.
    pub shifts: Shifts,
}

impl Upper {
    /// The twin of the instructions: the result of an accumulator, `delta` not included.
    pub fn apply(&self, acc: i32, form: UpperForm) -> i32 {
        let v = acc.wrapping_add(self.delta);
        if v as u32 >= self.limit {
            return if v < 0 { form.lo } else { form.hi };
        }
        let constant = if v < self.origin { self.below } else { self.constant };
        (self.scaled(v as u32) as i32).wrapping_add(constant) >> self.shifts.shift
    }

    fn scaled(&self, v: u32) -> u32 {
        ((u64::from(v << self.shifts.spread) * u64::from(self.multiplier)) >> 32) as u32
    }

    /// Whether this is the reference: nothing wraps, so that the twin is monotone on both sides of zero.
    fn is_exact(&self, steps: &Steps, form: UpperForm) -> bool {
        self.never_wraps() && agrees(steps, self.delta, |acc| self.apply(acc, form))
    }

    /// Whether products and sums of all `v` below the limit are what they are without a modulus.
    fn never_wraps(&self) -> bool {
        let last = u64::from(self.limit.saturating_sub(1)) << self.shifts.spread;
        let most = ((last * u64::from(self.multiplier)) >> 32) as i64;
        let fits = |constant: i32| i32::try_from(most + i64::from(constant)).is_ok();
        u32::try_from(last).is_ok() && fits(self.constant) && fits(self.below)
    }
}

/// The largest shift: 256 results take all 32 bits.
const MOST_SHIFT: u32 = 24;

/// Smaller shifts that are tried, too.
const SHIFTS: u32 = 3;

/// Finds a form for all channels of a layer, and the constants of each: references with the same clamp, and the accumulators they
/// can get. `None` where a channel has no exact form.
pub fn choose_upper(channels: &[(Reference, Interval)]) -> Option<(UpperForm, Vec<Upper>)> {
    let (Reference { lo, hi, .. }, _) = *channels.first()?;
    let channels = channels.iter().map(|(reference, range)| Channel::of(*reference, *range, (lo, hi)));
    let channels = channels.collect::<Option<Vec<_>>>()?;
    // Channels whose results never change have no shifts that they need.
    let steep = || channels.iter().filter(|channel| !channel.steps.at.is_empty());
    let spread = steep().map(Channel::spread).min().unwrap_or(0);
    let most = steep().map(|channel| channel.most_shift(spread)).min().unwrap_or(0);
    for shifts in shifts(spread, most) {
        let fitted = channels.iter().map(|channel| channel.fit(shifts, true));
        if let Some(all) = fitted.collect() {
            return Some((UpperForm { shifts: Some(shifts), lo, hi }, all));
        }
    }
    let own = |channel: &Channel| {
        let spread = channel.spread();
        shifts(spread, channel.most_shift(spread)).find_map(|shifts| channel.fit(shifts, false))
    };
    let all = channels.iter().map(own).collect::<Option<_>>()?;
    Some((UpperForm { shifts: None, lo, hi }, all))
}

/// Shifts that are tried, those that lose least first.
fn shifts(spread: u32, most: u32) -> impl Iterator<Item = Shifts> {
    (most.saturating_sub(SHIFTS)..=most).rev().map(move |shift| Shifts { spread, shift })
}

/// A channel that is to be fitted.
struct Channel {
    reference: Reference,
    steps: Steps,
    /// The accumulators whose results are computed.
    computed: Range<i64>,
}

impl Channel {
    /// `None` where the reference is not monotone, or has another clamp than its layer.
    fn of(reference: Reference, range: Interval, (lo, hi): (i32, i32)) -> Option<Channel> {
        let steps = Steps::of(&reference, range).filter(|_| (reference.lo, reference.hi) == (lo, hi))?;
        let computed = computed(&steps, lo, hi);
        Some(Channel { reference, steps, computed })
    }

    /// The first `v` beyond the steps.
    fn limit(&self) -> u64 {
        (self.computed.end - self.computed.start) as u64
    }

    /// The largest shift to the left that loses nothing of `v`.
    fn spread(&self) -> u32 {
        u64::leading_zeros(self.limit().saturating_sub(1)).saturating_sub(32).min(31)
    }

    /// The largest shift to the right with which the multiplier fits 32 bits.
    fn most_shift(&self, spread: u32) -> u32 {
        let multiplier = |shift: u32| self.multiplier(Shifts { spread, shift });
        (0..=MOST_SHIFT).rev().find(|&shift| multiplier(shift) < f64::from(u32::MAX - 3)).unwrap_or(0)
    }

    /// The exact multiplier.
    fn multiplier(&self, Shifts { spread, shift }: Shifts) -> f64 {
        self.reference.multiplier.factor() * (f64::from(shift) + 32.0 - f64::from(spread)).exp2()
    }

    /// The constants, proven, or `None` where none were found. With shifts that are common to a layer, negative accumulators have no constant of their own.
    fn fit(&self, shifts: Shifts, common: bool) -> Option<Upper> {
        let Reference { lo, hi, .. } = self.reference;
        let form = UpperForm { shifts: common.then_some(shifts), lo, hi };
        multipliers(self.multiplier(shifts), &self.steps)
            .filter_map(|multiplier| self.with_multiplier(multiplier, shifts, common))
            .find(|upper| upper.is_exact(&self.steps, form))
    }

    /// The constants with that multiplier, if the steps leave room for an offset.
    fn with_multiplier(&self, multiplier: i64, shifts: Shifts, common: bool) -> Option<Upper> {
        let delta = i32::try_from(-self.computed.start).ok()?;
        let upper = Upper {
            delta,
            limit: u32::try_from(self.limit()).ok()?,
            multiplier: u32::try_from(multiplier).ok()?,
            origin: if common { i32::MIN } else { delta },
            shifts,
            ..Upper::default()
        };
        let [constant, below] =
            offsets(&self.steps, &self.computed, shifts.shift, !common, |v| upper.scaled(v))?;
        Some(Upper { constant, below, ..upper })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Multiplier, Real};
    use crate::requant::Scaling;

    /// Compares accumulators of a range with the reference: all, or each `stride`-th and those beside the steps.
    fn check(channels: &[(Reference, Interval)], stride: usize) -> Option<UpperForm> {
        let (form, all) = choose_upper(channels)?;
        for ((reference, range), upper) in channels.iter().zip(&all) {
            if let Some(shifts) = form.shifts {
                assert_eq!(upper.shifts, shifts);
            }
            let steps = Steps::of(reference, *range).unwrap();
            let beside = steps.at.iter().flat_map(|&at| [at - 1, at]).filter(|&at| at >= range.lo);
            for acc in (range.lo..=range.hi).step_by(stride).chain(beside) {
                let acc = acc as i32;
                assert_eq!(
                    upper.apply(acc, form),
                    reference.apply(acc),
                    "{acc}: {reference:?} {form:?} {upper:?}"
                );
            }
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
        let (mut common, mut own, mut none) = (0, 0, [0; 3]);
        for _ in 0..150 {
            let (zero_point, lo, hi) = match random(4) {
                0 => (random(256) as i32 - 128, -128, 127),
                1 => (-128, -128, random(255) as i32 - 127),
                _ => (-128, -128, 127),
            };
            let kind = random(3) as usize;
            // Factors of channels lie as far apart as in real depthwise layers: up to 1 to 500.
            let channels = [(); 6].map(|()| {
                let value = (1 << 29) + random(3 << 29) as i32;
                let multiplier = Multiplier { value, shift: -4 - random(8) as i32 };
                let float = Scaling::Float(Real(multiplier.factor() as f32));
                let scaling = [Scaling::Twice, Scaling::Once, float][kind];
                let reference = Reference { multiplier, scaling, zero_point, lo, hi };
                let width = 1000 + random(300_000) as i64;
                let middle = random(60_000) as i64 - 30_000;
                (reference, Interval { lo: middle - width, hi: middle + width })
            });
            match check(&channels, 7) {
                Some(UpperForm { shifts: Some(_), .. }) => common += 1,
                Some(_) => own += 1,
                None => none[kind] += 1,
            }
        }
        // Products of floats are rounded before they are rounded half to even: their steps may lie closer than one line gets to them.
        assert!(common > 100 && own > 5 && none[..2] == [0, 0], "{common} {own} {none:?}");
    }

    #[test]
    fn constant_results_need_no_steps() {
        let range = Interval { lo: -5000, hi: 5000 };
        for (zero_point, lo, hi) in [(0, 3, 3), (-128, -128, -128), (127, 127, 127), (0, -128, 127)] {
            let multiplier = Multiplier { value: 1 << 30, shift: -20 };
            check(&[(Reference { multiplier, scaling: Scaling::Twice, zero_point, lo, hi }, range)], 1)
                .unwrap();
        }
    }

    #[test]
    fn what_is_not_monotone_is_refused() {
        let range = Interval { lo: i64::from(i32::MIN), hi: i64::from(i32::MAX) };
        let multiplier = Multiplier { value: 1 << 30, shift: 3 };
        let reference = Reference { multiplier, scaling: Scaling::Twice, zero_point: 0, lo: -128, hi: 127 };
        assert_eq!(choose_upper(&[(reference, range)]), None);
        assert_eq!(choose_upper(&[]), None);
    }
}
