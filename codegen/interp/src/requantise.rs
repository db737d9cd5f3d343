//! How integer sums become results.

use super::fixed_point::{multiply, multiply_once};
use super::InterpError;
use kiln_ir::{Multiplier, Real, Rescale};

/// The factors of a rescale of integers, and what they do.
#[derive(Clone, Copy)]
pub(super) enum Factors<'a> {
    FixedPoint(&'a [Multiplier]),
    Once(&'a [Multiplier]),
    Float(&'a [Real]),
    FloatSum(Real, i32),
}

impl<'a> Factors<'a> {
    pub(super) fn of(rescale: &'a Rescale) -> Result<Self, InterpError> {
        match rescale {
            Rescale::Real => Err(InterpError::new("integers want a factor")),
            Rescale::FixedPoint(list) if !list.is_empty() => Ok(Factors::FixedPoint(list)),
            Rescale::Once(list) if !list.is_empty() => Ok(Factors::Once(list)),
            Rescale::Float(list) if !list.is_empty() => Ok(Factors::Float(list)),
            Rescale::FloatSum { by, plus } => Ok(Factors::FloatSum(*by, *plus)),
            _ => Err(InterpError::new("a rescale without factors")),
        }
    }

    /// The sum of a channel, rescaled: without zero point and clamp.
    pub(super) fn apply(self, sum: i32, channel: usize) -> i32 {
        let at = |len: usize| if len == 1 { 0 } else { channel };
        match self {
            Factors::FixedPoint(list) => multiply(sum, list[at(list.len())]),
            Factors::Once(list) => multiply_once(sum, list[at(list.len())]),
            Factors::Float(list) => float(sum, list[at(list.len())]),
            Factors::FloatSum(by, plus) => {
                ((sum as f32 * by.0 + plus as f32).round_ties_even() as i32).saturating_sub(plus)
            }
        }
    }
}

/// The sum of a channel, rescaled: without zero point and clamp; `None` where integers have no such rescale.
pub fn rescaled(rescale: &Rescale, sum: i32, channel: usize) -> Option<i32> {
    Factors::of(rescale).ok().map(|factors| factors.apply(sum, channel))
}

/// A sum times a factor, rounded half to even; saturated to what no clamp of 16 bits tells from more.
fn float(sum: i32, by: Real) -> i32 {
    (sum as f32 * by.0).clamp(-131_072.0, 131_072.0).round_ties_even() as i32
}
