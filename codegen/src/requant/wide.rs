//! Requantisation on cores that multiply 32 bits by 32 to 64: Cortex-M3, and hosts.

use super::corridor::{Corridor, Side};
use super::{Channel, Interval, Reference, Steps};

/// What the channels of a layer have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WideForm {
    /// The last shift, of 64 bits: 32 at least.
    pub shift: u32,
    /// Whether the constant of negative accumulators is another.
    pub signed: bool,
}

/// The constants of one channel: `y = clamp((acc·multiplier + constant [+ correction if acc < 0]) >> shift, −128, 127)` in 64 bits.
///
/// ```text
/// SMLAL lo, hi, acc, multiplier     ; lo, hi hold the constant before
/// SSAT  y, #8, hi, ASR #shift − 32
/// ```
///
/// Signed forms load the constant by the accumulator's sign: `constant` or `constant + correction`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Wide {
    /// Not negative.
    pub multiplier: i32,
    /// Added to the product.
    pub constant: i64,
    /// Added for negative accumulators; never positive, and 0 in unsigned forms.
    pub correction: i64,
}

impl Wide {
    /// The twin of the instructions.
    pub fn apply(&self, acc: i32, form: WideForm) -> i8 {
        let correction = self.correction & i64::from(acc >> 31);
        let product = i64::from(acc) * i64::from(self.multiplier);
        let sum = product.wrapping_add(self.constant).wrapping_add(correction);
        (sum >> form.shift.min(63)).clamp(-128, 127) as i8
    }

    /// Whether this is the reference: nothing overflows on the range, so that the twin is monotone, and it takes the same steps.
    fn is_exact(&self, steps: &Steps, form: WideForm) -> bool {
        // The high word's shift must not lose the bits above an i32.
        let fits = |acc: i64| {
            let correction = if acc < 0 { self.correction } else { 0 };
            let product = i128::from(acc) * i128::from(self.multiplier);
            i64::try_from(product + i128::from(self.constant) + i128::from(correction)).is_ok()
        };
        (32..64).contains(&form.shift)
            && self.multiplier >= 0
            && self.correction <= 0
            && fits(steps.range.lo)
            && fits(steps.range.hi)
            && steps.are_those_of(|acc| self.apply(acc, form).into())
    }
}

/// A form that is exact for every channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WideChoice {
    /// Common to all channels.
    pub form: WideForm,
    /// One per channel.
    pub wide: Vec<Wide>,
}

/// The constants of a channel, or `None` where none were found. What is returned is proven on the whole range.
pub fn fit_wide(reference: &Reference, range: Interval, form: WideForm) -> Option<Wide> {
    fit_steps(reference, &Steps::of(reference, range)?, form)
}

fn fit_steps(reference: &Reference, steps: &Steps, form: WideForm) -> Option<Wide> {
    if !(32..=MOST_SHIFT).contains(&form.shift) || steps.clamped(reference) {
        return None;
    }
    let corridor =
        Corridor { steps, zero_point: reference.zero_point, bits: form.shift, signed: form.signed };
    corridor.find(reference, |m| {
        let constant = |side| {
            let (lo, hi) = corridor.window(m, side).ends(corridor.unit())?;
            (lo <= hi).then_some(lo + (hi - lo) / 2)
        };
        let (above, below) = match constant(Side::All) {
            Some(constant) => (constant, constant),
            None if form.signed => (constant(Side::Above)?, constant(Side::Below)?),
            None => return None,
        };
        let wide = Wide { multiplier: m.try_into().ok()?, constant: above, correction: below - above };
        wide.is_exact(steps, form).then_some(wide)
    })
}

const MOST_SHIFT: u32 = 54;

/// Finds a form for a layer: unsigned before signed, with the largest shift for which all multipliers are positive `i32`s. Gains are not looked
/// at: all accumulators are plain.
///
/// # Errors
/// How many channels could be fitted at best, where no form fits all.
pub fn choose_wide(channels: &[Channel]) -> Result<WideChoice, usize> {
    let steps: Vec<Option<Steps>> =
        channels.iter().map(|channel| Steps::of(&channel.reference, channel.range)).collect();
    let shift = channels.iter().zip(&steps).filter_map(|(channel, steps)| {
        let changes = steps.as_ref().is_some_and(|steps| !steps.at.is_empty());
        changes.then_some(31 - channel.reference.multiplier.shift)
    });
    let shift = u32::try_from(shift.min().unwrap_or(32)).unwrap_or(0).min(MOST_SHIFT);
    let fit = |form: WideForm| {
        channels
            .iter()
            .zip(&steps)
            .map(move |(channel, steps)| fit_steps(&channel.reference, steps.as_ref()?, form))
    };
    let forms = [false, true].map(|signed| WideForm { shift, signed });
    let all = |form| Some(WideChoice { form, wide: fit(form).collect::<Option<_>>()? });
    let count = |form| fit(form).flatten().count();
    let chosen = forms.into_iter().find_map(all);
    chosen.ok_or_else(|| forms.map(count).into_iter().max().unwrap_or(0))
}
