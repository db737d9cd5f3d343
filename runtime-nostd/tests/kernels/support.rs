//! Random data, cells, and exact arithmetic.

use kiln::kernels::Scale;
use std::cell::Cell;

/// A small generator of repeatable numbers (xorshift64*).
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number in `lo..=hi`.
    pub(crate) fn int(&mut self, lo: i64, hi: i64) -> i64 {
        lo + ((self.next() >> 11) % (hi - lo + 1) as u64) as i64
    }

    pub(crate) fn size(&mut self, lo: usize, hi: usize) -> usize {
        self.int(lo as i64, hi as i64) as usize
    }

    /// Stored values over the full range, with the extremes more often than chance would have them.
    pub(crate) fn i8s(&mut self, n: usize) -> Vec<i8> {
        (0..n)
            .map(|_| match self.int(0, 9) {
                0 => i8::MIN,
                1 => i8::MAX,
                _ => self.next() as i8,
            })
            .collect()
    }

    /// Floats in −2..2 on a grid.
    pub(crate) fn f32s(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.int(-2048, 2047) as f32 / 1024.0).collect()
    }

    /// A zero point; often an extreme one.
    pub(crate) fn zero_point(&mut self) -> i8 {
        self.i8s(1)[0]
    }

    /// A multiplier that brings sums of about `magnitude` into the range of `i8`, or now and then an extreme one.
    pub(crate) fn scale(&mut self, magnitude: f64) -> Scale {
        match self.int(0, 19) {
            0 => Scale { multiplier: i32::MAX, shift: 30 },
            1 => Scale { multiplier: 1 << 30, shift: -31 },
            2 => Scale { multiplier: 0, shift: 0 },
            3 => Scale { multiplier: self.int(1 << 30, i32::MAX.into()) as i32, shift: 0 },
            _ => {
                let shift = 7 - magnitude.max(1.0).log2().ceil() as i64;
                let multiplier = self.int(1 << 30, i32::MAX.into()) as i32;
                Scale { multiplier, shift: (shift + self.int(-2, 2)).clamp(-31, 30) as i32 }
            }
        }
    }
}

/// How many random cases are tried of so many: under Miri, which is some thousand times slower, a few.
pub(crate) const fn rounds(count: usize) -> usize {
    if cfg!(miri) {
        count.div_ceil(400)
    } else {
        count
    }
}

/// The elements as cells.
pub(crate) fn cells<T>(data: &mut [T]) -> &[Cell<T>] {
    Cell::from_mut(data).as_slice_of_cells()
}

/// `x · multiplier · 2^(shift − 31)`, rounded twice as TFLite Micro does, in exact arithmetic: after a left shift modulo 2³² to the
/// nearest integer (ties up), and after the right shift to the nearest integer (ties away from zero).
pub(crate) fn rescale(x: i64, scale: Scale) -> i64 {
    let x = i128::from(((x as i32 as i64) << scale.shift.max(0)) as i32);
    let product = nearest_up(x * i128::from(scale.multiplier), 31);
    i64::try_from(nearest_away(product, scale.shift.min(0).unsigned_abs())).unwrap()
}

/// `x / 2^shift` to the nearest integer, ties towards +∞.
pub(crate) fn nearest_up(x: i128, shift: u32) -> i128 {
    (2 * x + (1 << shift)).div_euclid(2 << shift)
}

/// `x / 2^shift` to the nearest integer, ties away from zero.
pub(crate) fn nearest_away(x: i128, shift: u32) -> i128 {
    x.signum() * ((2 * x.abs() + (1 << shift)) / (2 << shift))
}

/// Compares results, and shows the first difference only.
#[track_caller]
pub(crate) fn assert_same<T: PartialEq + std::fmt::Debug>(
    got: &[T],
    expected: &[T],
    what: impl std::fmt::Debug,
) {
    assert_eq!(got.len(), expected.len(), "{what:?}");
    if let Some(i) = got.iter().zip(expected).position(|(a, b)| a != b) {
        panic!("element {i} is {:?} instead of {:?}: {what:?}", got[i], expected[i]);
    }
}
