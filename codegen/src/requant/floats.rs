//! Requantisation in vectors of hosts: a product of floats.

use super::{Channel, Reference, Scaling, Steps};
use crate::ir::{Multiplier, Real};

/// The two constants of one channel; what they are says [`Rounding`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constants {
    /// Of a product of floats: the factor, which is not negative, and what is added.
    Floats(f32, f32),
    /// Of the reference: the multiplier, and how far the product is shifted to the right, less one.
    Integers(i32, i32),
}

/// How sums become integers: the same for all channels of a layer. Sums become `f32`, and each operation rounds to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rounding {
    /// `acc · factor + constant`, half to even; the zero point is part of the constant.
    Nearest,
    /// `acc · factor`, plus the constant with the sign of `acc`, without its fraction: as the double rounding, symmetric about zero.
    Away,
    /// `acc · factor`, half to even: ONNX Runtime's arithmetic as it is.
    Even,
    /// The double rounding as it is.
    Twice,
}

/// A form that is exact for every channel.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatChoice {
    /// Common to all channels.
    pub rounding: Rounding,
    /// One per channel.
    pub constants: Vec<Constants>,
}

/// Neighbours of the factor, in both directions, that are tried.
const NEIGHBOURS: i32 = 64;

/// Products have to be less than this, so that they are integers of 32 bits.
const MOST: f32 = 1_073_741_824.0;

impl Rounding {
    /// The twin of the instructions, for floats: the result of an accumulator.
    pub fn apply(self, [factor, constant]: [f32; 2], acc: i32, reference: &Reference) -> i32 {
        let acc = acc as f32;
        let scaled = match self {
            Rounding::Nearest => (acc * factor + constant).round_ties_even() - reference.zero_point as f32,
            Rounding::Away => (acc * factor + constant.copysign(acc)).trunc(),
            Rounding::Even | Rounding::Twice => (acc * factor).round_ties_even(),
        };
        (scaled as i32).saturating_add(reference.zero_point).max(reference.lo).min(reference.hi)
    }

    /// Whether constants give the reference: no product leaves its range, all operations are monotone, and the steps are the same.
    fn is_exact(self, floats: [f32; 2], steps: &Steps, reference: &Reference) -> bool {
        let within = |acc: i64| (acc as f32 * floats[0]).abs() < MOST;
        floats[0] >= 0.0
            && (floats[1] >= 0.0 || self == Rounding::Nearest)
            && within(steps.range.lo)
            && within(steps.range.hi)
            && steps.are_those_of(|acc| self.apply(floats, acc, reference))
    }

    /// What has to be added for the steps to be where they are, in real numbers: the middle of what all of them allow.
    fn constant_for(self, factor: f32, steps: &Steps, reference: &Reference) -> Option<f32> {
        let factor = f64::from(factor);
        let product = |acc: i64| acc as f64 * factor;
        let (mut least, mut most) = match self {
            Rounding::Nearest => (f64::MIN, f64::MAX),
            _ => (0.0f64, 1.0f64),
        };
        for (y, at) in steps.iter() {
            let value = f64::from(y - reference.zero_point);
            // A step's accumulator reaches the value, and the one below does not. What is rounded by its magnitude goes the other way below zero.
            let (low, high) = match (self, value > 0.0) {
                (Rounding::Nearest, _) => {
                    (f64::from(y) - 0.5 - product(at), f64::from(y) - 0.5 - product(at - 1))
                }
                (_, true) => (value - product(at), value - product(at - 1)),
                (_, false) => (1.0 - value + product(at - 1), 1.0 - value + product(at)),
            };
            (least, most) = (least.max(low), most.min(high));
        }
        let middle = match self {
            Rounding::Nearest if steps.at.is_empty() => f64::from(steps.first) - product(steps.range.lo),
            _ => (least + most) / 2.0,
        };
        (least <= most).then_some(middle as f32)
    }

    /// The constants of a channel, or `None` where none were found. What is returned is proven on the whole range.
    fn fit(self, steps: &Steps, reference: &Reference) -> Option<Constants> {
        let nearest = reference.multiplier.factor() as f32;
        let neighbours = (0..=NEIGHBOURS).flat_map(|i| if i == 0 { vec![0] } else { vec![i, -i] });
        neighbours.into_iter().find_map(|ulps| {
            let factor = f32::from_bits(nearest.to_bits().checked_add_signed(ulps)?);
            let floats = [factor, self.constant_for(factor, steps, reference)?];
            self.is_exact(floats, steps, reference).then_some(Constants::Floats(floats[0], floats[1]))
        })
    }
}

/// The constants of all channels of a layer: floats where they are exact for all of them, in the form with the fewest instructions.
///
/// # Errors
/// How many channels could be fitted, where not all can even be computed as the reference does.
pub fn choose_floats(channels: &[Channel]) -> Result<FloatChoice, usize> {
    let all = |rounding, constants: Vec<Constants>| {
        (constants.len() == channels.len()).then_some(FloatChoice { rounding, constants })
    };
    if channels.iter().any(|channel| matches!(channel.reference.scaling, Scaling::Float(_))) {
        let constants: Vec<Constants> = channels.iter().filter_map(as_it_is).collect();
        let fitted = constants.len();
        return all(Rounding::Even, constants).ok_or(fitted);
    }
    let steps: Option<Vec<Steps>> =
        channels.iter().map(|channel| Steps::of(&channel.reference, channel.range)).collect();
    let Some(steps) = steps else { return Err(0) };
    let fit = |rounding: Rounding| -> Option<FloatChoice> {
        let pairs = channels.iter().zip(&steps);
        let constants = pairs.map(|(channel, steps)| rounding.fit(steps, &channel.reference));
        all(rounding, constants.collect::<Option<_>>()?)
    };
    let twice: Vec<Constants> = channels.iter().filter_map(twice).collect();
    let fitted = twice.len();
    fit(Rounding::Nearest)
        .or_else(|| fit(Rounding::Away))
        .or_else(|| all(Rounding::Twice, twice))
        .ok_or(fitted)
}

/// A reference that is a product of floats itself.
fn as_it_is(channel: &Channel) -> Option<Constants> {
    let Scaling::Float(Real(factor)) = channel.reference.scaling else { return None };
    let within = |acc: i64| i32::try_from(acc).is_ok() && (acc as f32 * factor).abs() < MOST;
    let fits = factor >= 0.0 && within(channel.range.lo) && within(channel.range.hi);
    fits.then_some(Constants::Floats(factor, 0.0))
}

/// The reference's own constants, where it rounds twice and shifts to the right.
fn twice(channel: &Channel) -> Option<Constants> {
    let Multiplier { value, shift } = channel.reference.multiplier;
    let fits = channel.reference.scaling == Scaling::Twice && value >= 0 && (-31..=-1).contains(&shift);
    fits.then_some(Constants::Integers(value, -1 - shift))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requant::Interval;

    fn channel(factor: f64, zero_point: i32, reach: i64) -> Channel {
        let multiplier = Multiplier::of(factor).unwrap();
        let reference = Reference { multiplier, scaling: Scaling::Twice, zero_point, lo: -128, hi: 127 };
        Channel { reference, range: Interval { lo: -reach, hi: reach }, gain_bits: 0 }
    }

    /// Every accumulator, not only those at the steps.
    #[test]
    fn fitted_floats_are_the_double_rounding() {
        let mut fitted = [0; 2];
        for i in 0..200 {
            let factor = 0.000_3 * f64::from(i * 37 % 101 + 1);
            // Every other layer has results on one side of its zero point alone, as behind a ReLU.
            let zero_point = if i % 2 == 0 { -128 } else { i % 256 - 128 };
            let Channel { reference, range, .. } = channel(factor, zero_point, 40_000);
            let steps = Steps::of(&reference, range).unwrap();
            for (rounding, fitted) in [Rounding::Nearest, Rounding::Away].into_iter().zip(&mut fitted) {
                let Some(Constants::Floats(a, b)) = rounding.fit(&steps, &reference) else { continue };
                *fitted += 1;
                for acc in -40_000..=40_000 {
                    assert_eq!(
                        rounding.apply([a, b], acc, &reference),
                        reference.apply(acc),
                        "{acc} * {factor}"
                    );
                }
            }
        }
        assert!(fitted[0] >= 90 && fitted[1] >= 190, "{fitted:?} of 200 factors were fitted");
    }

    #[test]
    fn what_is_rounded_once_has_floats_or_nothing() {
        for factor in [0.3, 0.07, 0.001_9, 0.000_31] {
            let mut channel = channel(factor, 5, 40_000);
            channel.reference.scaling = Scaling::Once;
            let choice = choose_floats(&[channel]).unwrap();
            let Constants::Floats(a, b) = choice.constants[0] else { panic!("{choice:?}") };
            for acc in -40_000..=40_000 {
                let fitted = choice.rounding.apply([a, b], acc, &channel.reference);
                assert_eq!(fitted, channel.reference.apply(acc), "{acc} * {factor}");
            }
        }
        let mut fine = channel(0.000_000_002, 0, i64::from(i32::MAX));
        fine.reference.scaling = Scaling::Once;
        assert!(choose_floats(&[fine]).is_err());
    }

    #[test]
    fn products_of_floats_stay_what_they_are() {
        let reference = Reference::of_float(Real(0.001), 3, (-128, 127)).unwrap();
        let range = Interval { lo: -100_000, hi: 100_000 };
        let channel = Channel { reference, range, gain_bits: 0 };
        let choice = choose_floats(&[channel]).unwrap();
        assert_eq!(choice.rounding, Rounding::Even);
        for acc in -100_000..=100_000 {
            assert_eq!(choice.rounding.apply([0.001, 0.0], acc, &reference), reference.apply(acc));
        }
    }

    #[test]
    fn what_has_no_floats_is_rounded_twice() {
        // Half a million accumulators between results: the rounding of floats is coarser than one of them.
        let channel = channel(0.000_000_002, 0, i64::from(i32::MAX));
        let choice = choose_floats(&[channel]).unwrap();
        assert_eq!(choice.rounding, Rounding::Twice);
        let Constants::Integers(value, shift) = choice.constants[0] else { panic!("{choice:?}") };
        assert_eq!(Multiplier { value, shift: -1 - shift }, channel.reference.multiplier);
    }
}
