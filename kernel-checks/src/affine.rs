//! Requantisation by one multiplication, as kernels of cores with DSP have it for each channel.

use crate::reference::affine;
use crate::{Rng, Scratch};

/// M, C and corrections (0 where there are none) of filters whose sums are of so many products and come multiplied by 2^`gain`: multipliers that bring them to the range of
/// results, and any constants.
pub(crate) fn factors<const N: usize>(
    rng: &mut Rng,
    products: usize,
    shift: u32,
    signed: bool,
    gain: impl Fn(usize) -> u32,
) -> [[i32; 3]; N] {
    let bits = 32 - (products as u32 * 8192).leading_zeros();
    let exponent = (39 + shift - bits).min(30);
    let mut factors = [[0; 3]; N];
    for (o, [m, c, correction]) in factors.iter_mut().enumerate() {
        let constant = 1 << (shift + 6 + gain(o)).min(30);
        *m = rng.int(1 << (exponent - 1), 1 << exponent);
        *c = rng.int(-constant, constant);
        *correction = if signed { -rng.int(0, 1000) } else { 0 };
    }
    factors
}

/// First values, M, C and corrections of all channels.
pub(crate) struct Forms<'a> {
    /// Four for each channel.
    words: &'a [i32],
    shift: u32,
    signed: bool,
}

impl<'a> Forms<'a> {
    /// For so many channels: any multiplier, and constants that leave results inside of the clamp as well as outside.
    pub(crate) fn draw(
        rng: &mut Rng,
        scratch: &mut Scratch<'a>,
        channels: usize,
        shift: u32,
        signed: bool,
    ) -> Self {
        let words = scratch.words.take(4 * channels);
        for form in words.chunks_exact_mut(4) {
            let ranges = [(-20_000, 20_000), (0, i32::MAX), (-1000 << shift, 100 << shift), (-700, 0)];
            form.iter_mut().zip(ranges).for_each(|(word, (lo, hi))| *word = rng.int(lo, hi));
            form[1] >>= rng.size(0, 9);
        }
        Forms { words, shift, signed }
    }

    /// The first value of a channel's sum.
    pub(crate) fn first(&self, c: usize) -> i32 {
        self.words[4 * c]
    }

    /// First value, M, C and, in a signed form, the correction of a channel.
    pub(crate) fn words(&self, c: usize) -> &'a [i32] {
        &self.words[4 * c..][..if self.signed { 4 } else { 3 }]
    }

    /// The result of a channel, in exact arithmetic.
    pub(crate) fn result(&self, sum: i32, c: usize) -> i8 {
        let [m, constant, correction] = [1, 2, 3].map(|i| self.words[4 * c + i]);
        match self.signed {
            true => affine(sum, 8, [m, constant, correction], self.shift + 8),
            false => affine(sum, 0, [m, constant, 0], self.shift),
        }
    }
}
