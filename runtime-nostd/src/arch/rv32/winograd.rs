//! Convolutions by Winograd's algorithm, four tiles and four filters at a time.
#![allow(unsafe_code)]

use super::blocks::{winograd as block, winograd_4x4 as block_4x4};
use super::upper::{Channel, Channels, Own, UpperRequant};
use crate::arch::winograd::{transform, transform_4x4, Lanes, Layer, Processor, Requantise, Sums};
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Tiles that are computed together.
const TILES: usize = 4;

/// Convolution of an `i8` image by Winograd's algorithm: filters of 3 × 3, strides and dilations 1, one group, at most 3640 channels.
///
/// `w` holds filters in fours, of which the last are zero where `out_c` is not a multiple of four. With `pairs` half of `in_c`, rounded up to a multiple of eight, these are
/// 16 · `pairs` · 4 words: of each frequency (4 × 4) and pair of channels, of four filters the elements of `2G · g · 2Gᵀ` as halves. Channels 0 and 2, and 1 and 3 of each four are pairs.
///
/// Results are those of [`conv2d_i8_rv32_quads`](crate::kernels::conv2d_i8_rv32_quads). `work` has 64 · `pairs` words, and 20 · `pairs` or, if that is more, 256.
/// Two rows are computed at a time, from the first one of the band: a result may not lie over elements that any of both reads.
#[inline(never)]
pub fn conv2d_i8_rv32_winograd(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    q: &UpperRequant<'_>,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    Layer { p, x, w, pad, work, y }
        .run::<TILES, 16, Rv32>(band, 0, &|sums: &Sums<'_, 16>, _| block::finish(q, sums));
}

/// As [`conv2d_i8_rv32_winograd`], in tiles of 4 × 4 results: 2.25 products for each instead of four, at most 227 channels.
///
/// `w` are 36 · `pairs` · 4 words: of each frequency (6 × 6) and pair of channels, of four filters the elements of `G · g · Gᵀ` (see the table in `arch/winograd.rs`).
/// `work` has 144 · `pairs` words, and 54 · `pairs` or, if that is more, 576. Four rows are computed at a time, from the first one of the band.
#[inline(never)]
pub fn conv2d_i8_rv32_winograd_4x4(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    q: &UpperRequant<'_>,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let finish = |sums: &Sums<'_, 64>, _: &[i32]| block_4x4::finish(q, sums);
    Layer { p, x, w, pad, work, y }.run::<TILES, 64, Rv32Tiles4x4>(band, 0, &finish);
}

impl<'a> Requantise for UpperRequant<'a> {
    type Channels = Channels<'a>;
    type Channel = (Channel, Own);

    #[inline(always)]
    fn channels(&self, first: usize, count: usize, _: &[i32]) -> Option<Channels<'a>> {
        self.channels_from(first, count)
    }

    #[inline(always)]
    unsafe fn next(&self, channels: &mut Channels<'a>) -> (Channel, Own) {
        // SAFETY: as the caller says.
        unsafe { UpperRequant::next(self, channels) }
    }

    #[inline(always)]
    fn result(&self, (channel, own): Self::Channel, sum: i32) -> i8 {
        self.own(sum.wrapping_add(channel.first), channel, own)
    }
}

struct Rv32;

impl Processor<TILES> for Rv32 {
    #[inline(always)]
    fn transform(patch: &[Cell<i32>], v: &[Cell<i32>]) {
        transform::<TILES, Single>(patch, v);
    }

    #[inline(always)]
    unsafe fn products(v: *const i32, u: *const i32, pairs: usize, m: *mut i32) {
        // SAFETY: as the caller says.
        unsafe { block::products(v, u, pairs, m) }
    }
}

struct Rv32Tiles4x4;

impl Processor<TILES> for Rv32Tiles4x4 {
    const SIDE: usize = 4;

    #[inline(always)]
    fn transform(patch: &[Cell<i32>], v: &[Cell<i32>]) {
        transform_4x4::<TILES, 18, Single>(patch, v);
    }

    #[inline(always)]
    unsafe fn products(v: *const i32, u: *const i32, pairs: usize, m: *mut i32) {
        // SAFETY: as the caller says.
        unsafe { block_4x4::products(v, u, pairs, m) }
    }
}

/// One channel.
#[derive(Clone, Copy)]
struct Single(i32);

impl Lanes for Single {
    const PHASES: usize = 4;

    #[inline(always)]
    fn load(word: &Cell<i32>, phase: usize) -> Self {
        // SAFETY: a word has four bytes.
        Single(unsafe { i32::from(*word.as_ptr().cast::<i8>().add(phase % 4)) })
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Single(self.0.wrapping_add(other.0))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Single(self.0.wrapping_sub(other.0))
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut i32, phase: usize) {
        // SAFETY: as the caller says. A word has two halves.
        unsafe { to.cast::<i16>().add(phase / 2 % 2).write(self.0 as i16) }
    }
}
