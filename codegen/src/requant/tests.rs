//! Random channels: every accumulator of the range, and accumulators far away.

use super::*;
use crate::interp::fixed_point;
use crate::ir::Multiplier;

/// The definition, as the interpreter has it.
fn definition(reference: &Reference, acc: i32) -> i32 {
    let y = fixed_point::multiply(acc, reference.multiplier).wrapping_add(reference.zero_point);
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
        let shift = self.pick(&[-12, -11, -10, -9, -8, -7, -6, -5, -4, -2, -1, 0, 2]) as i32;
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
        let reference = Reference { multiplier: Multiplier { value, shift }, zero_point, lo, hi };
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
