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
    pub limit: i32,
    pub constant: i32,
    pub multiplier: i32,
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

    /// The constants of `count` channels; `None` where some are missing.
    #[inline(always)]
    pub(crate) fn channels(&self, count: usize) -> Option<Channels<'_>> {
        self.channels_from(0, count)
    }

    /// The constants of `count` channels from channel `o` on; `None` where some are missing.
    #[inline(always)]
    pub(crate) fn channels_from(&self, o: usize, count: usize) -> Option<Channels<'_>> {
        let words = product(count, self.words);
        let from = self.channels.get(product(o, self.words)..)?;
        let sizes = matches!(self.words, 4 | 6) && words <= from.len();
        sizes.then_some(Channels { next: from.as_ptr(), words: self.words, of: PhantomData })
    }

    /// Result of an accumulator.
    #[inline(always)]
    pub(crate) fn result(&self, v: i32, channel: Channel) -> i8 {
        let constant = if v < channel.origin { channel.below } else { channel.constant };
        self.unsigned(v, Channel { constant, ..channel })
    }

    /// Result of an accumulator in layers that are not signed.
    #[inline(always)]
    pub(crate) fn unsigned(&self, v: i32, channel: Channel) -> i8 {
        let Channel { limit, constant, multiplier, .. } = channel;
        if v as u32 >= limit as u32 {
            return if v < 0 { self.lo as i8 } else { self.hi as i8 };
        }
        let product =
            u64::from((v as u32).wrapping_shl(self.spread)).wrapping_mul(u64::from(multiplier as u32));
        ((product >> 32) as i32).wrapping_add(constant).wrapping_shr(self.shift) as i8
    }
}

/// The constants of channels, one after the other.
pub(crate) struct Channels<'a> {
    next: *const i32,
    words: usize,
    of: PhantomData<&'a i32>,
}

impl Channels<'_> {
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
        Channel { first, limit, constant, multiplier, origin: i32::MIN, below: constant }
    }

    /// The last one with all of its constants.
    ///
    /// # Safety
    /// It was the last one, and the layer is signed.
    #[inline(always)]
    pub(crate) unsafe fn signed(&self, channel: Channel) -> Channel {
        // SAFETY: as the caller says. Each has six words.
        let [origin, below] = unsafe { *self.next.sub(2).cast::<[i32; 2]>() };
        Channel { origin, below, ..channel }
    }
}
