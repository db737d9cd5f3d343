//! Factors in floats as fixed-point ones.
//!
//! ONNX Runtime makes a float of the sum, multiplies, and rounds half to even; TFLite's multiplier rounds twice. They differ where a product lies next to the middle between two
//! results, and there are few sums that come so close: mostly there is a multiplier next to the factor that takes all steps where the floats take them.

use super::search::first_where;
use super::{Interval, Reference, Steps};
use crate::ir::Multiplier;

/// How far from the nearest multiplier others are looked for: floats have 2⁻²⁴ of rounding, multipliers 2⁻³¹.
const REACH: i64 = 1 << 12;

/// The multiplier that gives, for every sum of the range, what `function` gives, which is monotone and within `lo..=hi`: about the sum times `factor`, plus `zero_point`. What is
/// returned is proven.
pub fn as_fixed_point(
    function: impl Fn(i32) -> i32,
    factor: f64,
    range: Interval,
    zero_point: i32,
    (lo, hi): (i32, i32),
) -> Option<Multiplier> {
    let nearest = Multiplier::of(factor)?;
    let reference = |value: i64| {
        let value = i32::try_from(value).ok()?;
        Some(Reference { multiplier: Multiplier { value, ..nearest }, zero_point, lo, hi })
    };
    let first = reference(nearest.value.into())?;
    if nearest.value <= 0 || !first.is_monotone(range) {
        return None;
    }
    let guess = |y: i32| ((f64::from(y) - f64::from(zero_point) - 0.5) / factor).ceil() as i64;
    let steps = Steps::taken(range, guess, &function);
    let fits = |multiplier: &Reference| {
        multiplier.is_monotone(range) && steps.are_those_of(|acc| multiplier.apply(acc))
    };
    if fits(&first) {
        return Some(nearest);
    }
    // Mantissas of multipliers have 31 bits.
    let mut window = Interval {
        lo: (i64::from(nearest.value) - REACH).max(1 << 30),
        hi: (i64::from(nearest.value) + REACH).min(i32::MAX.into()),
    };
    let middle = i64::from(nearest.value);
    for (y, at) in steps.iter() {
        // A sum has to reach a result, or to stay below: the result grows with the multiplier where the sum is positive, and falls where it is negative.
        for (acc, reached) in [(at, true), (at - 1, false)] {
            let result = |value| reference(value).map_or(0, |by| by.apply(acc as i32));
            let bound = match acc > 0 {
                true => first_where(window, middle, |value| result(value) >= y),
                false => first_where(window, middle, |value| result(value) < y),
            };
            match (acc > 0) == reached {
                true => window.lo = bound,
                false => window.hi = bound - 1,
            }
            if window.lo > window.hi {
                return None;
            }
        }
    }
    let found = reference(window.lo + (window.hi - window.lo) / 2)?;
    fits(&found).then_some(found.multiplier)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_factors_have_a_multiplier() {
        let mut state = 11u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut found = 0;
        for _ in 0..300 {
            let by = 0.0005 + random(1 << 24) as f32 / (1 << 24) as f32 * 0.01;
            let (zero, width) = (random(256) as i32 - 128, 2000 + random(200_000) as i64);
            let range = Interval { lo: -width, hi: width };
            let float = |acc: i32| ((acc as f32 * by).round_ties_even() as i32 + zero).clamp(-128, 127);
            let Some(multiplier) = as_fixed_point(float, by.into(), range, zero, (-128, 127)) else {
                continue;
            };
            found += 1;
            let reference = Reference { multiplier, zero_point: zero, lo: -128, hi: 127 };
            for acc in range.lo..=range.hi {
                assert_eq!(reference.apply(acc as i32), float(acc as i32), "{by} {acc}");
            }
        }
        assert!(found > 280, "{found}");
    }

    #[test]
    fn halves_that_become_even_have_none() {
        let half = |acc: i32| ((acc as f32 * 0.5).round_ties_even() as i32).clamp(-128, 127);
        assert_eq!(as_fixed_point(half, 0.5, Interval { lo: -100, hi: 100 }, 0, (-128, 127)), None);
    }
}
