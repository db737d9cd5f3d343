//! Requantisation by one multiplication, as depthwise kernels of cores with DSP have it for each channel.

use crate::{Rng, Scratch};

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
        let (d, shift) = match self.signed {
            true => {
                (sum.wrapping_mul(256).wrapping_add(if sum < 0 { correction } else { 0 }), self.shift + 8)
            }
            false => (sum, self.shift),
        };
        let product = i128::from(d) * i128::from(m) + (i128::from(constant) << 32) + (1 << 31);
        (((product >> 32) as i32) >> shift).clamp(-128, 127) as i8
    }
}
