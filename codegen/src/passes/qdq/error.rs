//! By how many steps an integer layer may differ from the floats that it stands for, on the same operands.
//!
//! Both compute one real number, divide it into steps of the result, and round. The bound adds up what each is off the real number.

use crate::ir::{DType, Multiplier, Rescale, Type};
use crate::requant::mantissa_of_16_bits;

/// What one operation on floats is off, relatively: half a unit in the last place.
const UNIT: f64 = 1.0 / 16_777_216.0;

/// Sums below it are exact as floats.
const EXACT: f64 = 16_777_216.0;

/// Sums of products of stored values.
pub(super) struct Sum {
    /// How many products.
    pub(super) products: usize,
    /// Most that the magnitudes of all products and of the bias come to.
    pub(super) reach: f64,
    /// How far the integer bias is off.
    pub(super) bias: f64,
    /// Whether all scales are powers of two, and the number of what is averaged is: then floats are exact.
    pub(super) binary: bool,
}

/// Largest distance of a stored value from the zero point.
pub(super) fn reach(ty: &Type) -> Option<f64> {
    let (lo, hi) = ty.dtype.int_range()?;
    let zero = i64::from(ty.zero_point());
    Some((hi - zero).max(zero - lo) as f64)
}

/// Whether numbers are powers of two.
pub(super) fn binary(numbers: impl IntoIterator<Item = f32>) -> bool {
    numbers.into_iter().all(|x| x.is_normal() && x.to_bits().trailing_zeros() >= 23)
}

/// What sums of products have to stay below.
pub(super) fn most(y: &Type) -> f64 {
    match y.dtype {
        // Times 16 bits of a factor.
        DType::I16 => 2f64.powi(46),
        _ => 2f64.powi(31),
    }
}

/// By how many steps the roundings of two numbers differ that are so far apart.
pub(super) fn between_roundings(apart: f64) -> u32 {
    // More than 16 bits are all there is.
    apart.min(65_535.0).floor() as u32 + 1
}

/// The steps of a layer whose sums, times `by`, are steps of the result. `channel` is the factor's.
pub(super) fn steps(sum: &Sum, by: f64, rescale: &Rescale, channel: usize, y: &Type) -> Option<u32> {
    let at = |len: usize| if len == 1 { 0 } else { channel };
    // Each product is of two rounded numbers; it is added to others and a bias, and divided by a number and a scale.
    let operations = (sum.products + 6) as f64 * UNIT;
    let floats = operations / (1.0 - operations).max(UNIT) * (sum.reach + sum.bias) * by;
    // What is beyond the range of the result is clamped by both.
    let largest = (sum.reach * by).min(2.0 * reach(y)? + 1.0);
    let integers = match rescale {
        Rescale::Float(list) => {
            let own = f64::from(list.get(at(list.len()))?.0);
            let is_exact = sum.binary && own == by && sum.bias == 0.0 && sum.reach < EXACT;
            if is_exact {
                return Some(0);
            }
            largest * ((own / by - 1.0).abs() + 3.0 * UNIT)
        }
        Rescale::FixedPoint(list) => {
            let own = list.get(at(list.len()))?;
            let (own, first) = match y.dtype {
                DType::I16 => (of_16_bits(*own), 0.0),
                // The first of two roundings.
                _ => (own.factor(), if own.shift < 0 { f64::from(own.shift).exp2() } else { 0.0 }),
            };
            largest * (own / by - 1.0).abs() + first
        }
        _ => return None,
    };
    Some(between_roundings(floats + integers + sum.bias * by))
}

/// The factor that is left of a multiplier where sums have 64 bits.
fn of_16_bits(by: Multiplier) -> f64 {
    f64::from(mantissa_of_16_bits(by)) * f64::from(by.shift - 15).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::Real;

    #[test]
    fn powers_of_two_are_exact_and_others_next_to_it() {
        let y = Type::quantized(DType::I8, &[1], 0.5, 0);
        let sum = Sum { products: 9, reach: 100_000.0, bias: 0.0, binary: true };
        let float = |by: f32| Rescale::Float(vec![Real(by)]);
        assert_eq!(steps(&sum, 0.125, &float(0.125), 0, &y), Some(0));
        assert_eq!(steps(&Sum { bias: 0.5, ..sum }, 0.125, &float(0.125), 0, &y), Some(1));
        let sum = Sum { products: 9, reach: 100_000.0, bias: 0.0, binary: false };
        assert_eq!(steps(&sum, 0.01, &float(0.01), 0, &y), Some(1));
        // A bias that is half an accumulator off, which is 47 steps.
        assert_eq!(steps(&Sum { bias: 0.5, reach: 1.0, ..sum }, 94.0, &float(94.0), 0, &y), Some(48));
        assert!(binary([0.25, 1.0, 64.0]) && !binary([0.3]) && !binary([0.0]));
    }

    #[test]
    fn roundings_of_one_number_differ_by_a_step_at_most() {
        assert_eq!([0.0, 0.9, 1.0, 46.5].map(between_roundings), [1, 1, 2, 47]);
    }
}
