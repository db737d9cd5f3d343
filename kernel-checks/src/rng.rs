//! Random operands, the same on every machine.

use core::cell::Cell;
use kiln::kernels::Scale;

/// A small generator (Marsaglia's xorshift64, multiplied as in xorshift64*).
pub struct Rng(u64);

impl Rng {
    /// A generator for one round of a check: another name or round gives other numbers.
    pub fn new(name: &str, round: u32) -> Self {
        // FNV-1a.
        let hash = name.bytes().chain(round.to_le_bytes());
        let seed = hash.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut rng = Rng(seed | 1);
        for _ in 0..8 {
            rng.word();
        }
        rng
    }

    /// Any 32 bits.
    pub fn word(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    /// A number in `lo..=hi`.
    pub fn int(&mut self, lo: i32, hi: i32) -> i32 {
        let span = u64::from(hi.wrapping_sub(lo) as u32) + 1;
        lo.wrapping_add(((u64::from(self.word()) * span) >> 32) as i32)
    }

    /// A size in `lo..=hi`.
    pub fn size(&mut self, lo: usize, hi: usize) -> usize {
        self.int(lo as i32, hi as i32) as usize
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: i32) -> bool {
        self.int(1, n) == 1
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.size(0, from.len() - 1)]
    }

    /// Any `i8`; the extremes one time in ten each.
    pub fn i8(&mut self) -> i8 {
        match self.int(0, 9) {
            0 => i8::MIN,
            1 => i8::MAX,
            _ => self.word() as i8,
        }
    }

    /// Fills with [`Rng::i8`]; now and then all elements are the same extreme one.
    pub fn fill_i8(&mut self, to: &mut [i8]) {
        match self.int(0, 15) {
            0 => to.fill(i8::MIN),
            1 => to.fill(i8::MAX),
            _ => to.iter_mut().for_each(|element| *element = self.i8()),
        }
    }

    /// Fills with numbers in `lo..=hi`; now and then with only the two ends of it.
    pub fn fill_i8_in(&mut self, to: &mut [i8], lo: i8, hi: i8) {
        let ends = self.one_in(8);
        for element in to {
            *element = match ends {
                true => self.pick(&[lo, hi]),
                false => self.int(lo.into(), hi.into()) as i8,
            };
        }
    }

    /// Fills cells as [`Rng::fill_i8`] does.
    pub fn fill_i8_cells(&mut self, to: &[Cell<i8>]) {
        let same = match self.int(0, 15) {
            0 => Some(i8::MIN),
            1 => Some(i8::MAX),
            _ => None,
        };
        to.iter().for_each(|cell| cell.set(same.unwrap_or_else(|| self.i8())));
    }

    /// Fills with numbers in `lo..=hi`.
    pub fn fill_i32(&mut self, to: &mut [i32], lo: i32, hi: i32) {
        to.iter_mut().for_each(|element| *element = self.int(lo, hi));
    }

    /// A range of results as activations leave it: all of `i8`, from the zero point on (ReLU), or anything.
    pub fn clamp(&mut self, zero_point: i32) -> (i32, i32) {
        match self.int(0, 3) {
            0 | 1 => (-128, 127),
            2 => (zero_point, 127),
            _ => {
                let lo = self.int(-128, 127);
                (lo, self.int(lo, 127))
            }
        }
    }

    /// A factor that brings sums of up to about `magnitude` into the range of `i8`, or one time in 16 an extreme one.
    pub fn scale(&mut self, magnitude: u32) -> Scale {
        let mantissa = self.int(1 << 30, i32::MAX);
        match self.int(0, 63) {
            0 => Scale { multiplier: i32::MAX, shift: 30 },
            1 => Scale { multiplier: 1 << 30, shift: -31 },
            2 => Scale { multiplier: 0, shift: 0 },
            3 => Scale { multiplier: mantissa, shift: 0 },
            _ => {
                let bits = 32 - magnitude.leading_zeros() as i32;
                Scale { multiplier: mantissa, shift: (7 - bits + self.int(-2, 2)).clamp(-31, 30) }
            }
        }
    }
}
