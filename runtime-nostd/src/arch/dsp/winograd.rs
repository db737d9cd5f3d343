//! Convolutions by Winograd's algorithm, two tiles and four filters at a time.
#![allow(unsafe_code)]

use super::affine::{affine, corrected, requant_words};
use super::blocks::{winograd as block, winograd_4x4 as block_4x4};
use crate::arch::winograd::{Layer, Processor, Requantise, Sums, FILTERS};
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Tiles that are computed together.
const TILES: usize = 2;

/// Convolution of an `i8` image by Winograd's algorithm, for cores with the DSP extension: filters of 3 × 3, strides and dilations 1, one group, at most 3640 channels.
///
/// `w` holds filters in fours, of which the last are zero where `out_c` is not a multiple of four. With `pairs` half of `in_c`, rounded up to a multiple of eight:
/// - 16 · `pairs` · 4 words: of each frequency (4 × 4) and pair of channels, of four filters the elements of `2G · g · 2Gᵀ` as halves. Channels 0 and 2, and 1 and 3 of each four are pairs;
/// - four words: first values;
/// - with `SIGNED` four words: corrections;
/// - eight words: `[M, C]` of each filter.
///
/// Results are those of [`conv2d_i8_dsp`](crate::kernels::conv2d_i8_dsp), where sums are not shifted for any filter. `work` has 32 · `pairs` words, and 12 · `pairs` or, if that is more, 128.
/// Two rows are computed at a time, from the first one of the band: a result may not lie over elements that any of both reads.
#[inline(never)]
pub fn conv2d_i8_dsp_winograd<const SHIFT: u32, const SIGNED: bool>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let layer = Layer { p, x, w, pad, work, y };
    let finish = |sums: &Sums<'_, 8>, words: &[i32]| block::finish(&Fitted::<SHIFT, SIGNED>, sums, words);
    layer.run::<TILES, 8, Dsp>(band, FILTERS + requant_words(SIGNED), &finish);
}

/// As [`conv2d_i8_dsp_winograd`], in tiles of 4 × 4 results: 2.25 products for each instead of four, at most 227 channels.
///
/// `w` differs in its weights: 36 · `pairs` · 4 words, of each frequency (6 × 6) and pair of channels, of four filters the elements of `G · g · Gᵀ` (see the table in `arch/winograd.rs`).
/// `work` has 72 · `pairs` words, and 30 · `pairs` or, if that is more, 288. Four rows are computed at a time, from the first one of the band.
#[inline(never)]
pub fn conv2d_i8_dsp_winograd_4x4<const SHIFT: u32, const SIGNED: bool>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let layer = Layer { p, x, w, pad, work, y };
    let finish =
        |sums: &Sums<'_, 32>, words: &[i32]| block_4x4::finish(&Fitted::<SHIFT, SIGNED>, sums, words);
    layer.run::<TILES, 32, Dsp4x4>(band, FILTERS + requant_words(SIGNED), &finish);
}

/// Requantisation by one multiplication.
pub(crate) struct Fitted<const SHIFT: u32, const SIGNED: bool>;

impl<const SHIFT: u32, const SIGNED: bool> Requantise for Fitted<SHIFT, SIGNED> {
    /// Where the first value of the next filter, its correction, and its factor and constant are.
    type Channels = [*const i32; 3];
    /// First value, correction, factor and constant.
    type Channel = (i32, i32, [i32; 2]);

    #[inline(always)]
    fn channels(&self, _: usize, count: usize, words: &[i32]) -> Option<Self::Channels> {
        let corrections = words.get(FILTERS..)?;
        let factors = corrections.get(if SIGNED { FILTERS } else { 0 }..)?;
        let fits = count <= FILTERS && factors.len() >= 2 * FILTERS;
        fits.then_some([words.as_ptr(), corrections.as_ptr(), factors.as_ptr()])
    }

    #[inline(always)]
    unsafe fn next(&self, [first, correction, factors]: &mut Self::Channels) -> Self::Channel {
        // SAFETY: as the caller says: each has words of four filters.
        unsafe {
            let channel = (**first, if SIGNED { **correction } else { 0 }, *factors.cast::<[i32; 2]>());
            (*first, *correction, *factors) = (first.add(1), correction.add(1), factors.add(2));
            channel
        }
    }

    #[inline(always)]
    fn result(&self, (first, correction, factors): Self::Channel, sum: i32) -> i8 {
        let sum = sum.wrapping_add(first);
        match SIGNED {
            true => affine(corrected(sum, 8, correction), factors, SHIFT.saturating_add(8)),
            false => affine(sum, factors, SHIFT),
        }
    }
}

struct Dsp;

impl Processor<TILES> for Dsp {
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

/// Words of four channels of a patch for two tiles of 4 × 4 results.
pub(crate) const PATCH_4X4: usize = 60;

/// Words of half of the frequencies of two such tiles and a pair of channels.
pub(crate) const HALF: usize = 36;

struct Dsp4x4;

impl Processor<TILES> for Dsp4x4 {
    const SIDE: usize = 4;

    #[inline(always)]
    fn transform(patch: &[Cell<i32>], v: &[Cell<i32>]) {
        block_4x4::transform(patch, v);
    }

    #[inline(always)]
    unsafe fn products(v: *const i32, u: *const i32, pairs: usize, m: *mut i32) {
        // SAFETY: as the caller says.
        unsafe { block_4x4::products(v, u, pairs, m) }
    }
}
