//! Requantisation with the upper half of one product.

#![allow(unsafe_code)]

use crate::arch::extent::product;
use core::marker::PhantomData;

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
    /// Of each channel: the accumulator's first value, `limit`, `constant`, `multiplier`. In layers whose channels have constants of their own, these follow: `origin`, from which on the constant
    /// holds, the constant below, `spread` and `shift`.
    pub channels: &'a [i32],
    /// How many of each channel: 4 or 8.
    pub words: usize,
    /// Common to the channels, where they have four words.
    pub spread: u32,
    /// Common to the channels, where they have four words.
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
}

/// What channels of eight words have besides.
#[derive(Clone, Copy)]
pub(crate) struct Own {
    /// Below which accumulator there is another constant.
    origin: i32,
    below: i32,
    spread: i32,
    shift: i32,
}

/// Words of channels with constants of their own.
pub(crate) const OWN: usize = 8;

impl<'a> UpperRequant<'a> {
    /// Whether channels have constants of their own.
    #[inline(always)]
    pub(crate) fn is_own(&self) -> bool {
        self.words == OWN
    }

    /// The accumulator's first value and, for any accumulator, the result of channel `o`; `None` where its constants are missing.
    // Only plain Rust asks for it.
    #[allow(dead_code)]
    #[inline(always)]
    pub(crate) fn channel(&self, o: usize) -> Option<(i32, impl Fn(i32) -> i8 + '_)> {
        let mut channels = self.channels_from(o, 1)?;
        // SAFETY: one was asked for.
        let (channel, own) = unsafe { self.next(&mut channels) };
        Some((channel.first, move |v| self.own(v, channel, own)))
    }

    /// The constants of the next one of some channels, with the shifts that are common to the channels where it has none of its own.
    ///
    /// # Safety
    /// There is one of those that were asked for.
    #[inline(always)]
    pub(crate) unsafe fn next(&self, channels: &mut Channels<'_>) -> (Channel, Own) {
        // SAFETY: as the caller says.
        let channel = unsafe { channels.next() };
        let own = match self.is_own() {
            // SAFETY: it was the last one.
            true => unsafe { channels.own() },
            false => {
                let (spread, shift) = (self.spread as i32, self.shift as i32);
                Own { origin: i32::MIN, below: channel.constant, spread, shift }
            }
        };
        (channel, own)
    }

    /// Results of sums above and, in the second byte, below all steps.
    // Only assembly asks for it.
    #[allow(dead_code)]
    #[inline(always)]
    pub(crate) fn ends(&self) -> u32 {
        u32::from(self.hi as u8) | u32::from(self.lo as u8) << 8
    }

    /// The constants of `count` channels; `None` where some are missing.
    #[inline(always)]
    pub(crate) fn channels(&self, count: usize) -> Option<Channels<'a>> {
        self.channels_from(0, count)
    }

    /// The constants of `count` channels from channel `o` on; `None` where some are missing.
    #[inline(always)]
    pub(crate) fn channels_from(&self, o: usize, count: usize) -> Option<Channels<'a>> {
        let words = product(count, self.words);
        let from = self.channels.get(product(o, self.words)..)?;
        let sizes = matches!(self.words, 4 | OWN) && words <= from.len();
        sizes.then_some(Channels { next: from.as_ptr(), words: self.words, of: PhantomData })
    }

    /// Result of an accumulator in layers whose channels have constants of their own.
    #[inline(always)]
    pub(crate) fn own(&self, v: i32, channel: Channel, own: Own) -> i8 {
        let constant = if v < own.origin { own.below } else { channel.constant };
        self.shifted(v, Channel { constant, ..channel }, own.spread as u32, own.shift as u32)
    }

    /// Result of an accumulator in layers whose channels have common shifts.
    #[inline(always)]
    pub(crate) fn common(&self, v: i32, channel: Channel) -> i8 {
        self.shifted(v, channel, self.spread, self.shift)
    }

    #[inline(always)]
    fn shifted(&self, v: i32, channel: Channel, spread: u32, shift: u32) -> i8 {
        let Channel { limit, constant, multiplier, .. } = channel;
        if v as u32 >= limit as u32 {
            return if v < 0 { self.lo as i8 } else { self.hi as i8 };
        }
        let product = u64::from((v as u32).wrapping_shl(spread)).wrapping_mul(u64::from(multiplier as u32));
        ((product >> 32) as i32).wrapping_add(constant).wrapping_shr(shift) as i8
    }
}

/// The constants of channels, one after the other.
pub(crate) struct Channels<'a> {
    next: *const i32,
    words: usize,
    of: PhantomData<&'a i32>,
}

impl Channels<'_> {
    /// Where they are.
    // Only assembly asks for it.
    #[allow(dead_code)]
    #[inline(always)]
    pub(crate) fn as_ptr(&self) -> *const i32 {
        self.next
    }

    /// The accumulator's first value, `ahead` channels from the next one on.
    ///
    /// # Safety
    /// It is one of those that were asked for.
    #[inline(always)]
    pub(crate) unsafe fn first(&self, ahead: usize) -> i32 {
        // SAFETY: as the caller says.
        unsafe { *self.next.add(ahead * self.words) }
    }

    /// The constants of the next channel.
    ///
    /// # Safety
    /// There is one of those that were asked for.
    #[inline(always)]
    pub(crate) unsafe fn next(&mut self) -> Channel {
        // SAFETY: as the caller says. Each has at least four words.
        let [first, limit, constant, multiplier] = unsafe { *self.next.cast::<[i32; 4]>() };
        self.next = self.next.wrapping_add(self.words);
        Channel { first, limit, constant, multiplier }
    }

    /// What the last one has besides.
    ///
    /// # Safety
    /// It was the last one, and channels have constants of their own.
    #[inline(always)]
    pub(crate) unsafe fn own(&self) -> Own {
        // SAFETY: as the caller says. Each has eight words.
        let [origin, below, spread, shift] = unsafe { *self.next.sub(4).cast::<[i32; 4]>() };
        Own { origin, below, spread, shift }
    }
}
