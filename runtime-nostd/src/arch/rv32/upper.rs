//! Requantisation with the upper half of one product.

/// Requantisation of a layer, proven equal to the reference by the compiler for every accumulator that can occur.
///
/// With an accumulator `v` whose first value puts the lowest step at about 0, the result of a channel is
///
/// ```text
/// v as u32 < limit: (((v << spread) · multiplier >> 32) + constant) >> shift       ; an unsigned product of 64 bits
/// otherwise:        if v < 0 { lo } else { hi }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct UpperRequant<'a> {
    /// Of each channel: the accumulator's first value, `limit`, `constant`, `multiplier`; in signed layers also `origin`, from which on the constant holds, and the
    /// constant below.
    pub channels: &'a [i32],
    /// How many of each channel: 4 or 6.
    pub words: usize,
    /// Common to the channels.
    pub spread: u32,
    /// Common to the channels.
    pub shift: u32,
    /// Smallest result.
    pub lo: i32,
    /// Largest result.
    pub hi: i32,
}

/// The constants of a channel.
#[derive(Clone, Copy)]
pub(crate) struct Channel {
    pub first: i32,
    limit: i32,
    constant: i32,
    multiplier: i32,
    /// Below which accumulator there is another constant; none is in layers that are not signed.
    origin: i32,
    below: i32,
}

impl UpperRequant<'_> {
    /// Whether results below the zero point have a constant of their own.
    #[inline(always)]
    pub(crate) fn is_signed(&self) -> bool {
        self.words == 6
    }

    /// The constants of channel `o`; `None` where they are missing.
    #[inline(always)]
    pub(crate) fn channel(&self, o: usize) -> Option<Channel> {
        match *self.channels.get(o.wrapping_mul(self.words)..)? {
            [first, limit, constant, multiplier, origin, below, ..] if self.is_signed() => {
                Some(Channel { first, limit, constant, multiplier, origin, below })
            }
            [first, limit, constant, multiplier, ..] => {
                Some(Channel { first, limit, constant, multiplier, origin: i32::MIN, below: constant })
            }
            _ => None,
        }
    }

    /// Result of an accumulator.
    #[inline(always)]
    pub(crate) fn result(&self, v: i32, channel: Channel) -> i8 {
        let Channel { limit, constant, multiplier, origin, below, .. } = channel;
        if v as u32 >= limit as u32 {
            return if v < 0 { self.lo as i8 } else { self.hi as i8 };
        }
        let product =
            u64::from((v as u32).wrapping_shl(self.spread)).wrapping_mul(u64::from(multiplier as u32));
        let constant = if v < origin { below } else { constant };
        ((product >> 32) as i32).wrapping_add(constant).wrapping_shr(self.shift) as i8
    }
}
