//! Requantisation with two multiplications of 16 bits.

use core::cell::Cell;

/// Requantisation of a layer, proven equal to the reference by the compiler for every accumulator that can occur.
///
/// With an accumulator `v` whose first value puts the lowest step at about 0, the result of a channel is
///
/// ```text
/// v as u32 < limit: ((((v · low) >> 14) + v · high + constant) as i32) >> shift     ; products modulo 2³², unsigned
/// otherwise:        if v < 0 { lo } else { hi }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct HalfRequant<'a> {
    /// Of each channel: `limit`, `constant`, `low | high << 16`. In signed layers five: before them `origin`, from which on the constant holds, and
    /// the constant below.
    pub channels: &'a [i32],
    /// Whether there are five.
    pub signed: bool,
    /// Common to the channels.
    pub shift: u32,
    /// Smallest result.
    pub lo: i32,
    /// Largest result.
    pub hi: i32,
}

impl HalfRequant<'_> {
    /// The constants of the channels from `o` on.
    pub(super) fn from(&self, o: usize) -> &[i32] {
        let words = if self.signed { 5 } else { 3 };
        self.channels.get(o.wrapping_mul(words)..).unwrap_or(&[])
    }

    /// Result of an accumulator.
    #[inline(always)]
    pub(super) fn apply(&self, v: i32, limit: i32, constant: i32, multiplier: i32) -> i8 {
        if v as u32 >= limit as u32 {
            return if v < 0 { self.lo as i8 } else { self.hi as i8 };
        }
        let low = v.wrapping_mul(multiplier & 0xffff) as u32 >> 14;
        let high = v.wrapping_mul((multiplier as u32 >> 16) as i32);
        let sum = high.wrapping_add(low as i32).wrapping_add(constant);
        sum.wrapping_shr(self.shift) as i8
    }

    /// Results of the channels from `o` on.
    #[inline(never)]
    pub(super) fn finish(&self, o: usize, v: impl Iterator<Item = i32>, out: &[Cell<i8>]) {
        let results = v.zip(out);
        if self.signed {
            for ((v, out), channel) in results.zip(self.from(o).chunks_exact(5)) {
                let [origin, below, limit, constant, multiplier] = *channel else { return };
                let constant = if v < origin { below } else { constant };
                out.set(self.apply(v, limit, constant, multiplier));
            }
        } else {
            for ((v, out), channel) in results.zip(self.from(o).chunks_exact(3)) {
                let [limit, constant, multiplier] = *channel else { return };
                out.set(self.apply(v, limit, constant, multiplier));
            }
        }
    }
}
