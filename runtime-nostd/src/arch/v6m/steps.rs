//! Requantisation with two multiplications of 16 bits.

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
    /// Of each channel: `limit`, `constant`, `low | high << 16`; in signed layers before them `origin`, from which on the constant holds, and the
    /// constant below. In depthwise layers the accumulator's first value, `limit`, `constant`, `low | high << 16`, and in signed ones `origin` and
    /// the constant below.
    pub channels: &'a [i32],
    /// How many of each channel: 3 or 5; in depthwise layers 4 or 6.
    pub words: usize,
    /// Common to the channels.
    pub shift: u32,
    /// Smallest result.
    pub lo: i32,
    /// Largest result.
    pub hi: i32,
}

impl HalfRequant<'_> {
    /// Whether results below the zero point have a constant of their own.
    pub(crate) fn is_signed(&self) -> bool {
        self.words == 5
    }

    /// Result of an accumulator.
    #[inline(always)]
    pub(crate) fn apply(&self, v: i32, limit: i32, constant: i32, multiplier: i32) -> i8 {
        if v as u32 >= limit as u32 {
            return if v < 0 { self.lo as i8 } else { self.hi as i8 };
        }
        let low = v.wrapping_mul(multiplier & 0xffff) as u32 >> 14;
        let high = v.wrapping_mul((multiplier as u32 >> 16) as i32);
        let sum = high.wrapping_add(low as i32).wrapping_add(constant);
        sum.wrapping_shr(self.shift) as i8
    }

    /// Result of an accumulator, for the channel whose constants come first; 0 where they are missing.
    #[inline(never)]
    pub(crate) fn result(&self, v: i32, channel: &[i32]) -> i8 {
        match *channel {
            [origin, below, limit, constant, multiplier, ..] if self.is_signed() => {
                self.apply(v, limit, if v < origin { below } else { constant }, multiplier)
            }
            [limit, constant, multiplier, ..] => self.apply(v, limit, constant, multiplier),
            _ => 0,
        }
    }
}
