//! Random channels: every accumulator of the range, and accumulators far away.

use super::*;
use crate::interp::fixed_point;
use crate::ir::{Multiplier, Real};

/// The definition, as the interpreter has it.
fn definition(reference: &Reference, acc: i32) -> i32 {
    let multiply = match reference.scaling {
        Scaling::Once => fixed_point::multiply_once,
        _ => fixed_point::multiply,
    };
    let y = multiply(acc, reference.multiplier).wrapping_add(reference.zero_point);
    y.clamp(reference.lo, reference.hi)
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> i64 {
        (self.next() % n.max(1)) as i64
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    fn channel(&mut self) -> Channel {
        let shift = self.pick(&[-12, -11, -10, -9, -8, -7, -6, -5, -4, -2, -1, 0, 2]);
        let value = match self.below(12) {
            0 => 1 << 30,
            1 => i32::MAX,
            2 => 0,
            _ => (1 << 30) + self.below(1 << 30) as i32,
        };
        let zero_point = self.pick(&[-128, -128, -128, 0, 4, -37, 127, -1]);
        let (lo, hi) = match self.below(6) {
            0 => (zero_point, 127),
            1 => (zero_point, (zero_point + 80).min(127)),
            _ => (-128, 127),
        };
        let width = 1 << self.pick(&[3, 8, 12, 15, 16]);
        let span = 1i64 << self.pick(&[4, 10, 17, 21]);
        let start = self.below(2 * span as u64) - span;
        let range = Interval { lo: start, hi: start + self.below(width) };
        let reference = Reference {
            multiplier: Multiplier { value, shift },
            scaling: self.pick(&[Scaling::Twice, Scaling::Once]),
            zero_point,
            lo,
            hi,
        };
        Channel { reference, range, gain_bits: self.pick(&[0, 8]) }
    }
}

fn same_everywhere(channel: &Channel, affine: &Affine, form: Form) {
    for acc in channel.range.lo..=channel.range.hi {
        let acc = acc as i32;
        let (got, expected) =
            (affine.apply(acc, channel.gain_bits, form), definition(&channel.reference, acc));
        assert_eq!(i32::from(got), expected, "{acc} with {affine:?}, {form:?}, of {channel:?}");
    }
}

#[test]
fn reference_is_the_definition() {
    let mut random = Random(1);
    for _ in 0..20_000 {
        let channel = random.channel();
        let acc = match random.below(3) {
            0 => random.next() as i32,
            1 => channel.range.lo as i32,
            _ => (random.next() as i32) >> 12,
        };
        assert_eq!(channel.reference.apply(acc), definition(&channel.reference, acc), "{acc} of {channel:?}");
    }
}

#[test]
fn steps_are_those_of_the_definition() {
    let mut random = Random(2);
    for _ in 0..200 {
        let channel = random.channel();
        let Some(steps) = Steps::of(&channel.reference, channel.range) else { continue };
        let mut at = Vec::new();
        let mut y = definition(&channel.reference, channel.range.lo as i32);
        assert_eq!(steps.first, y);
        for acc in channel.range.lo..=channel.range.hi {
            let here = definition(&channel.reference, acc as i32);
            at.extend((y..here).map(|_| acc));
            y = here;
        }
        assert_eq!(steps.at, at, "{channel:?}");
    }
}

#[test]
fn what_is_fitted_is_exact() {
    let mut random = Random(3);
    let (mut tried, mut fitted) = ([0; 2], [0; 2]);
    for _ in 0..1500 {
        let channel = random.channel();
        for signed in [false, true] {
            let shift = (-channel.reference.multiplier.shift - 1 - random.below(3) as i32).max(0) as u32;
            let form = Form { shift, signed };
            tried[usize::from(signed)] += 1;
            if let Some(affine) = fit(&channel.reference, channel.range, channel.gain_bits, form) {
                fitted[usize::from(signed)] += 1;
                same_everywhere(&channel, &affine, form);
            }
        }
    }
    println!("fitted {fitted:?} of {tried:?}");
    assert!(fitted[0] * 2 > tried[0] && fitted[1] * 10 > tried[1] * 7, "fitted {fitted:?} of {tried:?}");
}

#[test]
fn reachable_accumulators() {
    let weights = [3i8, -128, 0, 127];
    let range = reachable(weights.into_iter(), 1000, (-128, 127));
    assert_eq!(range.lo, 1000 - 128 * 3 - 128 * 127 - 127 * 128);
    assert_eq!(range.hi, 1000 + 127 * 3 + 128 * 128 + 127 * 127);
    assert_eq!(reachable([].into_iter(), -5, (-128, 127)), Interval { lo: -5, hi: -5 });
}

fn definition_of_sum(reference: &AddReference, x: i8, y: i8) -> i32 {
    let of = |stored: i8, (zero, by): (i32, Multiplier)| {
        fixed_point::multiply((i32::from(stored) - zero) << reference.left_shift, by)
    };
    let (x, y) = (of(x, reference.x), of(y, reference.y));
    let sum = if reference.subtract { x - y } else { x + y };
    (fixed_point::multiply(sum, reference.out.1) + reference.out.0).clamp(reference.lo, reference.hi)
}

/// TFLite's preparation of an ADD: both operands to twice the larger scale, the sum to the result's.
fn quantized_multiplier(real: f64) -> Multiplier {
    let shift = real.log2().floor() as i32 + 1;
    let value = (real * f64::from(31 - shift).exp2()).round();
    if value >= 2f64.powi(31) {
        return Multiplier { value: 1 << 30, shift: shift + 1 };
    }
    Multiplier { value: value as i32, shift }
}

const PRODUCTS: [Products; 3] = [Products::High, Products::Upper, Products::Low];

#[test]
fn sums_are_exact_for_all_pairs() {
    let mut random = Random(4);
    let mut fitted = [0; 3];
    const CASES: usize = 60;
    for case in 0..CASES {
        let mut scale = || 0.02 + random.below(1000) as f64 / 5000.0;
        let (x, y) = (scale(), scale());
        let out = (x + y) * (0.4 + scale() * 2.0);
        let twice = 2.0 * x.max(y);
        let mut zero = || random.below(256) as i32 - 128;
        let reference = AddReference {
            left_shift: 20,
            x: (zero(), quantized_multiplier(x / twice)),
            y: (zero(), quantized_multiplier(y / twice)),
            subtract: case % 3 == 0,
            out: (
                if case % 4 == 0 { -128 } else { zero() },
                quantized_multiplier(twice / (f64::from(1 << 20) * out)),
            ),
            lo: -128,
            hi: 127,
        };
        for (products, fitted) in PRODUCTS.into_iter().zip(&mut fitted) {
            let Some(affine) = fit_add(&reference, products) else { continue };
            *fitted += 1;
            for (x, y) in (-128..=127).flat_map(|x| (-128..=127).map(move |y| (x as i8, y as i8))) {
                let expected = definition_of_sum(&reference, x, y);
                assert_eq!(i32::from(affine.apply(x, y, products)), expected, "{x}, {y} of {reference:?}");
            }
        }
    }
    println!("sums: {fitted:?} of {CASES}");
    assert!(
        fitted[0] * 10 > CASES * 8 && fitted[1..].iter().all(|fitted| fitted * 10 > CASES * 9),
        "{fitted:?} of {CASES}"
    );
}

/// Of ResNet-8: rectified sums, whose operands' scales are close to a third and to one of the result's.
#[test]
fn sums_of_a_real_model_are_exact() {
    let multiplier = |value, shift| Multiplier { value, shift };
    let layers = [
        (-128, multiplier(1623821475, -2), 4, multiplier(1098017566, -17)),
        (-17, multiplier(1699529983, -2), 4, multiplier(1140768826, -17)),
        (38, multiplier(1657902019, -2), -2, multiplier(1835721671, -18)),
    ];
    for (x_zero, x, y_zero, out) in layers {
        let y = (y_zero, multiplier(1 << 30, 0));
        let (x, out) = ((x_zero, x), (-128, out));
        let reference = AddReference { left_shift: 20, x, y, subtract: false, out, lo: -128, hi: 127 };
        for products in [Products::Upper, Products::Low] {
            let affine = fit_add(&reference, products).unwrap();
            for (x, y) in (-128..=127).flat_map(|x| (-128..=127).map(move |y| (x as i8, y as i8))) {
                let expected = definition_of_sum(&reference, x, y);
                assert_eq!(i32::from(affine.apply(x, y, products)), expected, "{x}, {y} of {reference:?}");
            }
        }
    }
}

/// Accumulators at the ends of what 32 bits hold, and multipliers at the ends of what shifts can do: no panic, nothing wrong.
#[test]
fn extreme_channels_are_fitted_or_refused() {
    let (least, most) = (i64::from(i32::MIN), i64::from(i32::MAX));
    let ranges =
        [(least, most), (least, least), (most, most), (most - 9, most), (least, least + 9), (-1, 0), (5, 4)];
    for (lo, hi) in ranges {
        let range = Interval { lo, hi };
        for shift in [-31, -30, -24, -9, -1, 0, 1, 30] {
            for (value, zero_point) in
                [(0, 3), (1, -128), (1 << 30, -128), (i32::MAX, 0), (1 << 30, 127), (-5, 0)]
            {
                let reference = Reference {
                    multiplier: Multiplier { value, shift },
                    scaling: Scaling::Twice,
                    zero_point,
                    lo: -128,
                    hi: 127,
                };
                let ends = [lo, lo + 1, lo / 2, hi / 2, hi - 1, hi, 0]
                    .into_iter()
                    .filter(|acc| (lo..=hi).contains(acc));
                let ends: Vec<i32> = ends.filter_map(|acc| i32::try_from(acc).ok()).collect();
                for gain_bits in [0, 8] {
                    let channel = Channel { reference, range, gain_bits };
                    if let Ok(Choice { form, affine }) = choose(&[channel], &[0, 7, 22, 60]) {
                        for &acc in &ends {
                            let got = affine[0].apply(acc, gain_bits, form);
                            assert_eq!(i32::from(got), definition(&reference, acc), "{acc} of {channel:?}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn averages_are_exact_for_all_sums() {
    let clamps = [(-128, 127), (-128, 100), (0, 127)];
    for count in (1..=256).chain([400, 625, 1024]) {
        for (lo, hi) in clamps {
            let reference = AverageReference { count, lo, hi };
            let affine = fit_average(&reference);
            let free = (lo, hi) == (-128, 127);
            assert!(affine.is_some() == free || free && count > 200, "{count} in {lo}..={hi}: {affine:?}");
            let Some(affine) = affine else { continue };
            let n = count as i32;
            for sum in -128 * n..=127 * n {
                // Half away from zero, from the definition.
                let expected = (f64::from(sum) / f64::from(n)).round() as i32;
                assert_eq!(i32::from(affine.apply(sum)), expected, "{sum} / {count}");
            }
        }
    }
}

#[test]
fn products_of_floats_have_cheap_forms() {
    let mut state = 11u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut found = 0;
    for _ in 0..100 {
        let by = Real(0.0005 + random(1 << 24) as f32 / (1 << 24) as f32 * 0.01);
        let width = 2000 + random(50_000) as i64;
        let range = Interval { lo: -width, hi: width };
        let reference = Reference::of_float(by, random(256) as i32 - 128, (-128, 127)).unwrap();
        let Ok(choice) = choose(&[Channel { reference, range, gain_bits: 0 }], &[4]) else { continue };
        found += 1;
        for acc in range.lo..=range.hi {
            let got = choice.affine[0].apply(acc as i32, 0, choice.form);
            assert_eq!(i32::from(got), reference.apply(acc as i32), "{by:?} {acc}");
        }
    }
    assert!(found > 90, "{found}");
}
