//! Quantisation by multiplication.

use super::kernel::Asked;
use super::*;
use crate::ir::Rounding;

/// The inverse with which a node quantises as division does, by a kernel that makes stored values of quotients like that; `None` where it has none.
pub(super) fn inverse(asked: &Asked<'_>, stored: Stored) -> Option<Inverse> {
    let round = match asked.node.op {
        Op::Quantize { rounding: Rounding::Away } => f32::round,
        Op::Quantize { rounding: Rounding::Even } => f32::round_ties_even,
        _ => return None,
    };
    let (tx, out) = (asked.graph.ty(*asked.node.operands.first()?), asked.graph.ty(asked.node.result));
    let scale = out.scale().filter(|_| (tx.dtype, out.dtype) == (DType::F32, DType::I8))?;
    fit(scale, out.zero_point(), round, stored)
}

/// How a kernel makes a stored value of a quotient and a zero point.
pub(super) type Stored = fn(f32, i32) -> i32;

impl<'a> Selector<'a> {
    /// The call of a quantisation.
    pub(super) fn quantize_by(
        &mut self,
        node: &'a Node,
        kernel: KernelId,
        inverse: &Inverse,
        generics: Vec<Generic>,
    ) -> Selected {
        let out = self.ty(node.result);
        let (scale, zero_point) = (out.scale().ok_or_else(|| self.no_kernel(node))?, out.zero_point());
        let fields = vec![
            ("high", Field::Float(inverse.high)),
            ("low", Field::Float(inverse.low.unwrap_or(0.0))),
            ("scale", Field::Float(scale)),
            ("zero_point", Field::Int(zero_point.into())),
        ];
        let args = vec![
            Arg::Struct(Struct { name: "QuantizeLinear", fields }),
            Arg::Cells(self.cells(node.operands[0], node.result)?),
            Arg::Cells(self.cells(node.result, node.result)?),
        ];
        self.call_generic(kernel, generics, args);
        Ok(())
    }
}

/// About 1 / scale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inverse {
    high: f32,
    /// What is added to `high`, positive, if anything.
    pub(super) low: Option<f32>,
}

impl Inverse {
    /// What the kernel takes for `x / scale`.
    fn times(self, x: f32) -> f32 {
        match self.low {
            Some(low) => x.mul_add(self.high, x * low),
            None => x * self.high,
        }
    }
}

/// Finds an inverse with which every float is stored as division stores it. Both are monotone, so they are the same if they take their steps at the same floats.
fn fit(scale: f32, zero_point: i32, round: impl Fn(f32) -> f32, stored: Stored) -> Option<Inverse> {
    if !scale.is_normal() || scale <= 0.0 || !(-128..=127).contains(&zero_point) {
        return None;
    }
    let reference = |x: f32| (round(x / scale) as i32).saturating_add(zero_point).clamp(-128, 127);
    let steps: Vec<(i32, f32, f32)> = (-127..=127).map(|y| step(y, reference)).collect();
    let exact = 1.0 / f64::from(scale);
    let nearest = exact as f32;
    // With a positive rest, infinity times either is the same infinity.
    let below = if f64::from(nearest) > exact { next(nearest, -1) } else { nearest };
    let rest = ((exact - f64::from(below)) as f32).max(f32::MIN_POSITIVE);
    let single = [0, 1, -1].map(|ulps| next(nearest, ulps)).map(|high| Inverse { high, low: None });
    let candidates = single.into_iter().chain([Inverse { high: below, low: Some(rest) }]);
    candidates.into_iter().filter(|inverse| inverse.high.is_normal()).find(|inverse| {
        let at = |x: f32| stored(inverse.times(x), zero_point);
        steps.iter().all(|&(y, before, from)| at(before) < y && at(from) >= y)
    })
}

/// The float that is so many further from zero.
fn next(x: f32, ulps: i32) -> f32 {
    f32::from_bits(x.to_bits().wrapping_add_signed(ulps))
}

/// The two floats between which a monotone function that is −128 at −∞ and 127 at ∞ reaches `y`.
fn step(y: i32, f: impl Fn(f32) -> i32) -> (i32, f32, f32) {
    let float = |key: i64| {
        let bits = key.unsigned_abs() as u32 | if key < 0 { 1 << 31 } else { 0 };
        f32::from_bits(bits)
    };
    let infinity = i64::from(f32::INFINITY.to_bits());
    let (mut before, mut from) = (-infinity, infinity);
    while from - before > 1 {
        let middle = (before + from).div_euclid(2);
        match f(float(middle)) >= y {
            true => from = middle,
            false => before = middle,
        }
    }
    (y, float(before), float(from))
}

/// As the kernel of cores with the DSP extension does it: 1/32s towards zero, in 16 bits, then half away from zero.
pub(super) fn by_thirty_seconds(quotient: f32, zero_point: i32) -> i32 {
    let t = ((quotient * 32.0) as i32).clamp(i16::MIN.into(), i16::MAX.into());
    ((t * ((1 << 15) + 1) + ((2 * zero_point + 1) << 19)) >> 20).clamp(-128, 127)
}

/// Half away from zero.
pub(super) fn away(quotient: f32, zero_point: i32) -> i32 {
    (quotient.round() as i32).saturating_add(zero_point).clamp(-128, 127)
}

/// Half to even.
pub(super) fn even(quotient: f32, zero_point: i32) -> i32 {
    (quotient.round_ties_even() as i32).saturating_add(zero_point).clamp(-128, 127)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Way = (Stored, fn(f32) -> f32);

    /// Kernels, and how what they are compared with rounds.
    const WAYS: [Way; 3] =
        [(by_thirty_seconds, f32::round), (away, f32::round), (even, f32::round_ties_even)];

    #[test]
    fn inverses_of_many_scales() {
        for (stored, round) in WAYS {
            let mut single = 0;
            for i in 1..400 {
                let (scale, zero) = (1.7f32.powi(i % 40 - 30) / i as f32, (i * 37) % 256 - 128);
                let inverse = fit(scale, zero, round, stored).unwrap_or_else(|| panic!("{scale}"));
                single += i32::from(inverse.low.is_none());
                for j in -20_000..20_000 {
                    let x = j as f32 * scale / 64.0;
                    let expected = (round(x / scale) as i32 + zero).clamp(-128, 127);
                    assert_eq!(stored(inverse.times(x), zero), expected, "{x} / {scale}");
                }
            }
            println!("{single} need one factor only");
        }
    }

    #[test]
    fn extreme_operands() {
        for (stored, round) in WAYS {
            let fit = |scale: f32, zero_point: i32| fit(scale, zero_point, round, stored);
            for scale in [1.0f32, 0.25, 1.0 / 255.0, 0.1] {
                let inverse = fit(scale, -1).unwrap();
                let at = |x: f32| stored(inverse.times(x), -1);
                assert_eq!([f32::INFINITY, f32::MAX].map(at), [127; 2]);
                assert_eq!(at(f32::NEG_INFINITY), -128);
                assert_eq!([f32::NAN, -0.0].map(at), [-1; 2]);
            }
            assert_eq!(fit(1.0, 0).unwrap().low, None);
            assert!(fit(f32::INFINITY, 0).is_none() && fit(0.0, 0).is_none() && fit(1e-41, 0).is_none());
        }
    }
}
