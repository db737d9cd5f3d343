//! One form for all channels of a layer.

use super::affine::{Affine, Form};
use super::fit::{fit_steps, MOST_SHIFT};
use super::{Interval, Reference, Steps};

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
    let Some(fitted) = channels.iter().map(Fitted::of).collect::<Option<Vec<_>>>() else {
        return Err(channels.iter().filter_map(Fitted::of).count().min(channels.len().saturating_sub(1)));
    };
    let most = fitted.iter().map(Fitted::most_shift).min().unwrap_or(MOST_SHIFT);
    let signs = [false, true];
    for signed in signs {
        let shifts = preferred.iter().copied().filter(|&shift| shift < most).chain([most]);
        if let Some(choice) = shifts.into_iter().find_map(|shift| all(&fitted, Form { shift, signed })) {
            return Ok(choice);
        }
    }
    let count = |form| fitted.iter().filter(|channel| channel.fit(form).is_some()).count();
    Err(signs.map(|signed| count(Form { shift: most, signed })).into_iter().max().unwrap_or(0))
}

/// A form for all channels, which gives up at the first that it does not fit.
fn all(channels: &[Fitted<'_>], form: Form) -> Option<Choice> {
    let affine = channels.iter().map(|channel| channel.fit(form)).collect::<Option<_>>()?;
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

    fn fit(&self, form: Form) -> Option<Affine> {
        fit_steps(&self.channel.reference, &self.steps, self.channel.gain_bits, form)
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
