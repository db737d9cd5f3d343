//! What RESCALE does to an integer.

use super::cx::Cx;
use super::{Lowered, Refusal};
use kiln_ir::{DType, Multiplier};
use std::rc::Rc;

/// `SINGLE_ROUND`, `INEXACT_ROUND` (which is rounded once here) and `DOUBLE_ROUND` in the schema.
const DOUBLE_ROUND: i64 = 3;

/// A RESCALE: (x − zero point) · multiplier / 2^shift, rounded half up, plus a zero point, clamped.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Scale {
    /// One for all elements, or one for each index of the last axis; not negative.
    pub(super) multipliers: Rc<[i64]>,
    /// As many, 2 to 62.
    pub(super) shifts: Rc<[u32]>,
    /// Whether it is rounded to 2^(shift − 31) first.
    pub(super) twice: bool,
    /// Stored value of 0, of the operand and of the result.
    pub(super) zeros: [i64; 2],
    /// Elements of the operand and of the result.
    pub(super) dtypes: [DType; 2],
    /// Whether the bits of these are those of unsigned integers.
    pub(super) unsigned: [bool; 2],
}

impl Scale {
    /// The scale of a RESCALE operator.
    pub(super) fn read(cx: &mut Cx<'_, '_, '_>, from: DType) -> Lowered<Scale> {
        let to = cx.result_dtype(0)?;
        let multipliers = cx.known_ints(1, "multiplier")?;
        let shifts = cx.known_ints(2, "shift")?;
        let zeros = [cx.zero_point(3)?, cx.zero_point(4)?];
        let unsigned = [cx.flag(3)?, cx.flag(4)?];
        let (is_wide, twice) = (cx.flag(0)?, cx.int(1)? == DOUBLE_ROUND);
        let last = cx.operand_dims(0)?.last().copied().unwrap_or(1);
        let count = if cx.flag(2)? { last } else { 1 };
        let fits = multipliers.len() == count && shifts.len() == count;
        malformed_if!(!fits, "{} multipliers and {} shifts, {count} wanted", multipliers.len(), shifts.len());
        malformed_if!(multipliers.iter().any(|&m| m < 0), "a multiplier is negative");
        malformed_if!(shifts.iter().any(|s| !(2..=62).contains(s)), "its shifts are {shifts:?}");
        for dtype in [from, to] {
            if !matches!(dtype, DType::I8 | DType::I16 | DType::I32 | DType::I64) {
                return Err(malformed!("it is for integers, and not for {}", dtype.name()));
            }
        }
        let zeros = [as_read(zeros[0], from, unsigned[0]), as_read(zeros[1], to, unsigned[1])];
        Ok(Scale {
            multipliers: multipliers.into(),
            shifts: shifts.iter().map(|&shift| shift as u32).collect(),
            twice: twice && is_wide,
            zeros,
            dtypes: [from, to],
            unsigned,
        })
    }

    /// Whether all elements have one factor.
    pub(super) fn is_single(&self) -> bool {
        self.multipliers.len() == 1
    }

    /// Multiplier and shift of a channel.
    pub(super) fn of(&self, channel: usize) -> (i64, u32) {
        let at = |len: usize| if len == 1 { 0 } else { channel };
        let of = self.multipliers.get(at(self.multipliers.len())).zip(self.shifts.get(at(self.shifts.len())));
        of.map_or((0, 2), |(&multiplier, &shift)| (multiplier, shift))
    }

    /// The real factor of a channel.
    pub(super) fn factor(&self, channel: usize) -> f64 {
        let (multiplier, shift) = self.of(channel);
        multiplier as f64 * f64::from(shift).exp2().recip()
    }

    /// The factor, where nothing is rounded: it is a whole number.
    pub(super) fn whole(&self) -> Option<i64> {
        let (multiplier, shift) = self.of(0);
        let exact = self.is_single() && multiplier.trailing_zeros() >= shift && multiplier > 0;
        exact.then_some(multiplier >> shift)
    }

    /// Smallest and largest result, as numbers.
    pub(super) fn range(&self) -> (i64, i64) {
        match (self.dtypes[1], self.unsigned[1]) {
            (DType::I8, true) => (0, 255),
            (DType::I16, true) => (0, 65535),
            (dtype, _) => dtype.int_range().unwrap_or((0, 0)),
        }
    }

    /// Of a difference to the operand's zero point, what becomes of it without the result's zero point.
    pub(super) fn scaled(&self, value: i64, channel: usize) -> i64 {
        let (multiplier, shift) = self.of(channel);
        let round = 1i64 << (shift - 1);
        let first = match (self.twice && shift > 31, value < 0) {
            (false, _) => 0,
            (true, false) => 1 << 30,
            (true, true) => -(1 << 30),
        };
        value.wrapping_mul(multiplier).wrapping_add(round + first) >> shift
    }

    /// Of a difference to the operand's zero point, the result as a number.
    pub(super) fn result(&self, value: i64, channel: usize) -> i64 {
        let (lo, hi) = self.range();
        self.scaled(value, channel).saturating_add(self.zeros[1]).clamp(lo, hi)
    }

    /// Of a stored value, the stored result.
    pub(super) fn apply(&self, stored: i64) -> i64 {
        let number = as_read(stored, self.dtypes[0], self.unsigned[0]);
        let result = self.result(number.wrapping_sub(self.zeros[0]), 0);
        match self.dtypes[1] {
            DType::I8 => i64::from(result as i8),
            DType::I16 => i64::from(result as i16),
            _ => result,
        }
    }

    /// The factors as the graph has them: with mantissas of 31 bits. `None` for those that have none.
    pub(super) fn normal(&self, channels: usize) -> Option<Vec<Multiplier>> {
        let count = if self.is_single() { 1 } else { channels };
        (0..count).map(|channel| normal(self.of(channel))).collect()
    }
}

/// A multiplier with a mantissa of 31 bits.
fn normal((multiplier, shift): (i64, u32)) -> Option<Multiplier> {
    let value = i32::try_from(multiplier).ok()?;
    if value <= 0 {
        return (value == 0).then_some(Multiplier { value: 0, shift: 0 });
    }
    let spare = value.leading_zeros() - 1;
    let shift = 31 - i32::try_from(shift + spare).ok()?;
    (-31..=30).contains(&shift).then_some(Multiplier { value: value << spare, shift })
}

/// The number that a stored value is.
fn as_read(stored: i64, dtype: DType, unsigned: bool) -> i64 {
    match (dtype, unsigned) {
        (DType::I8, true) => stored & 0xff,
        (DType::I16, true) => stored & 0xffff,
        _ => stored,
    }
}

/// The refusal of sums whose weights follow from no constants.
pub(super) fn computed_weights() -> Refusal {
    let help = "store them in the model, or use MATMUL";
    Refusal::unsupported("its weights or biases are integers that are computed at run time", help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(multiplier: i64, shift: u32, twice: bool) -> Scale {
        Scale {
            multipliers: Rc::from([multiplier]),
            shifts: Rc::from([shift]),
            twice,
            zeros: [0, 3],
            dtypes: [DType::I32, DType::I8],
            unsigned: [false; 2],
        }
    }

    #[test]
    fn halves_are_rounded_up_once() {
        let half = scale(1 << 30, 31, false);
        assert_eq!([-3, -1, 1, 3].map(|x| half.scaled(x, 0)), [-1, 0, 1, 2]);
        assert_eq!([-300, 0, 5, 300].map(|x| half.result(x, 0)), [-128, 3, 6, 127]);
    }

    #[test]
    fn double_rounding_is_that_of_the_graph() {
        for (multiplier, shift) in [(1_395_353_560, 37), (1 << 30, 40), (2_147_483_647, 33), (1 << 30, 20)] {
            let scale = scale(multiplier, shift, true);
            let Some(by) = scale.normal(1) else { panic!("{multiplier} has no mantissa") };
            for x in (-4000..4000).map(|x| x * 7) {
                let own = kiln_interp::rescaled(&kiln_ir::Rescale::FixedPoint(by.clone()), x, 0);
                assert_eq!(
                    own.map(i64::from),
                    Some(scale.scaled(x.into(), 0)),
                    "{x} by {multiplier} {shift}"
                );
            }
        }
    }
}
