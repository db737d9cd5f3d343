//! Convolutions by Winograd's algorithm, two tiles and four filters at a time.
#![allow(unsafe_code)]

use super::blocks::winograd as block;
use super::steps::HalfRequant;
use crate::arch::winograd::{Layer, Processor, Requantise, Sums, FILTERS};
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Tiles that are computed together.
pub(crate) const TILES: usize = 2;

/// Convolution of an `i8` image by Winograd's algorithm: filters of 3 × 3, strides and dilations 1, one group, at most 3640 channels.
///
/// `w` holds filters in fours, of which the last are zero where `out_c` is not a multiple of four. With `channels`, `in_c` rounded up to a multiple of eight:
/// - 16 · `channels` · 2 words: of each frequency (4 × 4) and channel, of four filters the elements of `2G · g · 2Gᵀ` as halves. Channels of each four are in the order 0, 2, 1, 3;
/// - four words: first values.
///
/// Results are those of [`conv2d_i8_v6m_pairs`](crate::kernels::conv2d_i8_v6m_pairs). `work` has 32 · `channels` words, and 6 · `channels` or, if that is more, 128.
/// Two rows are computed at a time, from the first one of the band: a result may not lie over elements that any of both reads.
#[inline(never)]
pub fn conv2d_i8_v6m_winograd(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    q: &HalfRequant<'_>,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let finish = |sums: &Sums<'_, 8>, words: &[i32]| block::finish(q, sums, words);
    Layer { p, x, w, pad, work, y }.run::<TILES, 8, V6m>(band, FILTERS, &finish);
}

impl<'a> HalfRequant<'a> {
    /// The constants of `count` channels from channel `first` on, as layers without first values among them have; `None` where they are missing.
    pub(crate) fn channels_from(&self, first: usize, count: usize) -> Option<&'a [i32]> {
        let (start, len) = (self.words.checked_mul(first)?, self.words.checked_mul(count)?);
        let channels = self.channels.get(start..)?.get(..len)?;
        matches!(self.words, 3 | 5).then_some(channels)
    }
}

impl<'a> Requantise for HalfRequant<'a> {
    /// First values and constants from the next filter on.
    type Channels = (*const i32, &'a [i32]);
    type Channel = (i32, &'a [i32]);

    #[inline(always)]
    fn channels(&self, first: usize, count: usize, words: &[i32]) -> Option<Self::Channels> {
        let firsts = words.get(..count)?;
        Some((firsts.as_ptr(), self.channels_from(first, count)?))
    }

    #[inline(always)]
    unsafe fn next(&self, (first, constants): &mut Self::Channels) -> Self::Channel {
        // SAFETY: as the caller says: there is a first value of each filter.
        let channel = (unsafe { **first }, *constants);
        *first = first.wrapping_add(1);
        *constants = constants.get(self.words..).unwrap_or(&[]);
        channel
    }

    #[inline(always)]
    fn result(&self, (first, constants): Self::Channel, sum: i32) -> i8 {
        HalfRequant::result(self, sum.wrapping_add(first), constants)
    }
}

struct V6m;

impl Processor<TILES> for V6m {
    const WORDS: usize = 2;

    #[inline(always)]
    fn transform(patch: &[Cell<i32>], v: &[Cell<i32>]) {
        block::transform(patch, v);
    }

    #[inline(always)]
    unsafe fn products(v: *const i32, u: *const i32, pairs: usize, m: *mut i32) {
        // SAFETY: as the caller says.
        unsafe { block::products(v, u, pairs, m) }
    }
}
