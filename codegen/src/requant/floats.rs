//! Requantisation in vectors of hosts: a product of floats.

use super::{Channel, Reference, Steps};
use crate::ir::Real;

/// The constants of one channel: `y = clamp(round(acc · factor) + zero point, lo, hi)`, where `acc` becomes a `f32` and the product is rounded to one. How it becomes an integer says
/// [`FloatForm`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Floats {
    /// Not negative.
    pub factor: f32,
    /// About a half.
    pub half: f32,
}

/// What the channels of a layer have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FloatForm {
    /// `half` with the sign of `acc` is added, the sum rounded to `f32`, and its fraction dropped: as the double rounding, symmetric about zero.
    Away,
    /// Half to even: ONNX Runtime's arithmetic as it is.
    Even,
}

/// A form that is exact for every channel.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatChoice {
    /// Common to all channels.
    pub form: FloatForm,
    /// One per channel.
    pub floats: Vec<Floats>,
}

/// Neighbours of the factor, in both directions, that are tried.
const NEIGHBOURS: i32 = 48;

/// Products have to be less than this, so that they are integers of 32 bits.
const MOST: f32 = 1_073_741_824.0;

impl Floats {
    /// The twin of the instructions.
    pub fn apply(&self, acc: i32, form: FloatForm, reference: &Reference) -> i32 {
        let acc = acc as f32;
        let scaled = match form {
            FloatForm::Away => (acc * self.factor + self.half.copysign(acc)).trunc(),
            FloatForm::Even => (acc * self.factor).round_ties_even(),
        };
        (scaled as i32).saturating_add(reference.zero_point).max(reference.lo).min(reference.hi)
    }

    /// Whether this is the reference: no product leaves its range, all operations are monotone, and the steps are the same.
    fn is_exact(&self, steps: &Steps, reference: &Reference) -> bool {
        let within = |acc: i64| (acc as f32 * self.factor).abs() < MOST;
        self.factor >= 0.0
            && self.half >= 0.0
            && within(steps.range.lo)
            && within(steps.range.hi)
            && steps.are_those_of(|acc| self.apply(acc, FloatForm::Away, reference))
    }
}

/// The constants of all channels of a layer.
///
/// # Errors
/// How many channels could be fitted, where not all.
pub fn choose_floats(channels: &[Channel]) -> Result<FloatChoice, usize> {
    let even: Vec<Floats> = channels.iter().filter_map(as_it_is).collect();
    if even.len() == channels.len() && !even.is_empty() {
        return Ok(FloatChoice { form: FloatForm::Even, floats: even });
    }
    let floats: Vec<Floats> = channels.iter().filter_map(fit_floats).collect();
    match floats.len() == channels.len() {
        true => Ok(FloatChoice { form: FloatForm::Away, floats }),
        false => Err(floats.len()),
    }
}

/// A reference that is a product of floats itself.
fn as_it_is(channel: &Channel) -> Option<Floats> {
    let Real(factor) = channel.reference.float?;
    let within = |acc: i64| i32::try_from(acc).is_ok() && (acc as f32 * factor).abs() < MOST;
    let fits = factor >= 0.0 && within(channel.range.lo) && within(channel.range.hi);
    fits.then_some(Floats { factor, half: 0.0 })
}

/// The constants of a channel, or `None` where none were found. What is returned is proven on the whole range.
pub fn fit_floats(channel: &Channel) -> Option<Floats> {
    let Channel { reference, range, .. } = channel;
    let steps = Steps::of(reference, *range)?;
    let nearest = reference.multiplier.factor() as f32;
    let neighbours = (0..=NEIGHBOURS).flat_map(|i| if i == 0 { vec![0] } else { vec![i, -i] });
    neighbours.into_iter().find_map(|ulps| {
        let factor = f32::from_bits(nearest.to_bits().checked_add_signed(ulps)?);
        let floats = Floats { factor, half: half_for(factor, &steps, reference)? };
        floats.is_exact(&steps, reference).then_some(floats)
    })
}

/// What has to be added for the steps to be where they are, in real numbers: the middle of what all of them allow.
fn half_for(factor: f32, steps: &Steps, reference: &Reference) -> Option<f32> {
    let factor = f64::from(factor);
    let product = |acc: i64| acc as f64 * factor;
    let (mut least, mut most) = (0.0f64, 1.0f64);
    for (y, at) in steps.iter() {
        let value = f64::from(y - reference.zero_point);
        // Above zero the step's accumulator reaches the value, and the one below does not; below zero it is the other way round.
        let (low, high) = match value > 0.0 {
            true => (value - product(at), value - product(at - 1)),
            false => (1.0 - value + product(at - 1), 1.0 - value + product(at)),
        };
        (least, most) = (least.max(low), most.min(high));
    }
    (least <= most).then_some(((least + most) / 2.0) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Multiplier;
    use crate::requant::Interval;

    fn channel(factor: f64, zero_point: i32, reach: i64) -> Channel {
        let multiplier = Multiplier::of(factor).unwrap();
        let reference = Reference { multiplier, float: None, zero_point, lo: -128, hi: 127 };
        Channel { reference, range: Interval { lo: -reach, hi: reach }, gain_bits: 0 }
    }

    /// Every accumulator, not only those at the steps.
    #[test]
    fn fitted_floats_are_the_double_rounding() {
        let mut fitted = 0;
        for i in 0..200 {
            let factor = 0.000_3 * f64::from(i * 37 % 101 + 1);
            let channel = channel(factor, i % 256 - 128, 40_000);
            let Some(floats) = fit_floats(&channel) else { continue };
            fitted += 1;
            for acc in -40_000..=40_000 {
                let twin = floats.apply(acc, FloatForm::Away, &channel.reference);
                assert_eq!(twin, channel.reference.apply(acc), "{acc} * {factor}");
            }
        }
        assert!(fitted >= 190, "only {fitted} of 200 factors were fitted");
    }

    #[test]
    fn products_of_floats_stay_what_they_are() {
        let reference = Reference::of_float(Real(0.001), 3, (-128, 127)).unwrap();
        let range = Interval { lo: -100_000, hi: 100_000 };
        let channel = Channel { reference, range, gain_bits: 0 };
        let choice = choose_floats(&[channel]).unwrap();
        assert_eq!(choice.form, FloatForm::Even);
        for acc in -100_000..=100_000 {
            assert_eq!(choice.floats[0].apply(acc, choice.form, &reference), reference.apply(acc));
        }
    }

    #[test]
    fn sums_beyond_all_bounds_are_refused() {
        assert_eq!(fit_floats(&channel(1.9, 0, i64::from(i32::MAX))), None);
    }
}
