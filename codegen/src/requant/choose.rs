//! One form for all channels of a layer.

use super::affine::{Affine, Form};
use super::fit::{fit_steps, MOST_SHIFT, THOROUGH};
use super::{reachable, Interval, Reference, Steps};

/// What has to be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// Exact meaning.
    pub reference: Reference,
    /// Reachable accumulators.
    pub range: Interval,
    /// Gain of the accumulator that the kernel has: 0 or 8 bits.
    pub gain_bits: u32,
}

/// A form that is exact for every channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Common to all channels.
    pub form: Form,
    /// One per channel.
    pub affine: Vec<Affine>,
}

impl Choice {
    /// Instructions per result, for accumulators in a register.
    pub fn instructions(&self) -> usize {
        if self.form.signed {
            4
        } else {
            2
        }
    }
}

impl std::fmt::Display for Choice {
    /// Such as `64 of 64 channels in 2 instructions, shift 7`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (n, instructions) = (self.affine.len(), self.instructions());
        write!(f, "{n} of {n} channels in {instructions} instructions, shift {}", self.form.shift)
    }
}

/// Finds a form for a layer: unsigned before signed, `preferred` shifts (those already used in a model, so that its layers share
/// code) before the one that keeps most bits of the multipliers.
///
/// # Errors
/// How many channels could be fitted at best, where no form fits all.
pub fn choose(channels: &[Channel], preferred: &[u32]) -> Result<Choice, usize> {
    let Some(fitted) = fitted(channels) else {
        return Err(channels.iter().filter_map(Fitted::of).count().min(channels.len().saturating_sub(1)));
    };
    let most = most_shift(&fitted);
    let shifts: Vec<u32> = preferred.iter().copied().filter(|&shift| shift < most).chain([most]).collect();
    let mut forms = SIGNS.iter().flat_map(|&signed| shifts.iter().map(move |&shift| Form { shift, signed }));
    if let Some(choice) = forms.find_map(|form| all(&fitted, form)) {
        return Ok(choice);
    }
    let count = |form| fitted.iter().filter(|channel| channel.fit(form, THOROUGH).is_some()).count();
    Err(SIGNS.map(|signed| count(Form { shift: most, signed })).into_iter().max().unwrap_or(0))
}

/// The channels of a layer of 8 bits. Each filter has two: for kernels whose sums have no gain, and for those whose sums have 8 bits of it. Biases hold the operand's zero point. `None` where a filter has no reference.
pub fn filters(
    weights: &[i8],
    bias: &[i32],
    reference: impl Fn(usize) -> Option<Reference>,
) -> Option<Vec<[Channel; 2]>> {
    let size = weights.len().checked_div(bias.len())?.max(1);
    let of = |(o, (filter, &bias)): (usize, (&[i8], &i32))| {
        let reference = reference(o)?;
        let range = reachable(filter.iter().copied(), bias, (i8::MIN.into(), i8::MAX.into()));
        Some([0, 8].map(|gain_bits| Channel { reference, range, gain_bits }))
    };
    weights.chunks(size).zip(bias).enumerate().map(of).collect()
}

/// Whether [`choose`] finds a form, without shifts to prefer. It does not search for long, so it may say no where [`choose`] succeeds. That is rare.
pub fn is_cheap(channels: &[Channel]) -> bool {
    let Some(fitted) = fitted(channels) else { return false };
    let shift = most_shift(&fitted);
    SIGNS.iter().any(|&signed| all_fit(&fitted, Form { shift, signed }))
}

/// Whether channels have this form. As [`is_cheap`], it does not search for long.
pub fn fits(channels: &[Channel], form: Form) -> bool {
    fitted(channels).is_some_and(|fitted| all_fit(&fitted, form))
}

/// The largest shift that all channels can have; `None` where one has no steps.
pub fn largest_shift(channels: &[Channel]) -> Option<u32> {
    fitted(channels).map(|fitted| most_shift(&fitted))
}

/// The channels with their steps; `None` where one has none.
fn fitted(channels: &[Channel]) -> Option<Vec<Fitted<'_>>> {
    channels.iter().map(Fitted::of).collect()
}

fn all_fit(channels: &[Fitted<'_>], form: Form) -> bool {
    channels.iter().all(|channel| channel.fit(form, SOON).is_some())
}

/// Multipliers on either side of the best one that are tried where many layers are asked about.
const SOON: i64 = 4;

/// Of a [`Form`], in the order in which they are tried: signed ones take more instructions.
pub const SIGNS: [bool; 2] = [false, true];

/// The largest shift that all channels have.
fn most_shift(channels: &[Fitted<'_>]) -> u32 {
    channels.iter().map(Fitted::most_shift).min().unwrap_or(MOST_SHIFT)
}

/// A form for all channels, which gives up at the first that it does not fit.
fn all(channels: &[Fitted<'_>], form: Form) -> Option<Choice> {
    let affine = channels.iter().map(|channel| channel.fit(form, THOROUGH)).collect::<Option<_>>()?;
    Some(Choice { form, affine })
}

/// A channel and its steps.
struct Fitted<'a> {
    channel: &'a Channel,
    steps: Steps,
}

impl<'a> Fitted<'a> {
    fn of(channel: &'a Channel) -> Option<Fitted<'a>> {
        Some(Fitted { channel, steps: Steps::of(&channel.reference, channel.range)? })
    }

    fn fit(&self, form: Form, most: i64) -> Option<Affine> {
        fit_steps(&self.channel.reference, &self.steps, self.channel.gain_bits, form, most)
    }

    /// The largest shift with which the multiplier fits an `i32`. Channels whose result never changes have none of their own.
    fn most_shift(&self) -> u32 {
        let by = self.channel.reference.multiplier;
        if self.steps.at.is_empty() || by.value <= 0 {
            return MOST_SHIFT;
        }
        let spare = by.value.leading_zeros() as i32 - 1;
        u32::try_from(spare - 1 - by.shift).unwrap_or(0).min(MOST_SHIFT)
    }
}
