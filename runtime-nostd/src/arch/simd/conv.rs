//! Convolution of all channels with all filters: tiles of pixels and filters.

use super::dispatch::kernel;
use super::requant::{self, with_rounding, GROUP, HEADER};
use super::shape::{Any, Shape};
use super::tiles::{with_pixels, Even};
use super::work::{Ring, MOST_RUNS};
use super::{Clamp, Simd, BLOCK};
use crate::params::{Conv, FilterBlocks, Rounding};
use crate::rows::{Band, Rows};
use core::cell::Cell;

kernel! {
    /// As [`conv2d_i8`](crate::kernels::conv2d_i8) with one group, in vectors: the same results where the factors in `filters` are proven.
    ///
    /// Weights of a block come in runs, one for each row of the filter, or for each of its taps where columns are dilated; of a run sixteen filters' four elements, and the
    /// next four, completed by zeros. `work` holds the rows that a filter covers, with padding: (k_h − 1) · dilation_h + 1 rows of all columns that are read, each a
    /// multiple of 64 bytes, and 256 bytes besides.
    pub fn conv2d_i8_simd(
        p: &Conv,
        x: Rows<'_, i8>,
        filters: &FilterBlocks<'_>,
        pad: i8,
        work: &[Cell<i32>],
        y: Rows<'_, i8>,
        band: Band,
    ) = conv<Any>(p, x, filters, pad, work, y, band), const SYMMETRIC
}

kernel! {
    /// As [`conv2d_i8_simd`], compiled for the sizes of one layer: more code, and less of it runs.
    pub fn conv2d_i8_simd_sized<C: Shape>(
        x: Rows<'_, i8>,
        filters: &FilterBlocks<'_>,
        pad: i8,
        work: &[Cell<i32>],
        y: Rows<'_, i8>,
        band: Band,
    ) = conv<C>(&C::CONV, x, filters, pad, work, y, band), const SYMMETRIC
}

/// A convolution as its tiles see it.
struct Tiles<'a> {
    /// Where the operand's runs begin, in bytes from the first pixel's of a row of results.
    runs: &'a [*const u8],
    /// Groups of four taps in a run.
    groups: usize,
    /// Bytes of the operand from one pixel of the result to the next.
    step: usize,
    /// Bytes of a block.
    block_bytes: usize,
    /// Channels of the result.
    channels: usize,
    /// Elements of a row of the result.
    elements: usize,
    rounding: Rounding,
    clamp: Clamp,
}

#[inline(always)]
unsafe fn conv<S: Simd, C: Shape>(
    p: &Conv,
    x: Rows<'_, i8>,
    filters: &FilterBlocks<'_>,
    pad: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let joined = p.dilation_w == 1 || p.k_w == 1;
    let (run, columns) = if joined { (p.k_w.saturating_mul(p.in_c), 1) } else { (p.in_c, p.k_w) };
    let groups = run.div_ceil(4);
    let count = p.k_h.saturating_mul(columns);
    let block_bytes = HEADER.saturating_add(count.saturating_mul(groups).saturating_mul(GROUP));
    let blocks = p.out_c.div_ceil(BLOCK);
    let mut ring = Ring::new(p, 1);
    if filters.blocks.len() < blocks.saturating_mul(block_bytes)
        || 4 * work.len() < ring.elements()
        || count > MOST_RUNS
        || p.k_h > MOST_RUNS
    {
        return;
    }
    let mut runs = [core::ptr::null(); MOST_RUNS];
    let work = work.as_ptr().cast_mut().cast::<u8>();
    let flip = |x: i8| x as u8 ^ S::FLIP;
    for (row, y) in y.of_band(band) {
        let top = row.wrapping_mul(p.stride_h);
        // SAFETY: the ring fits the workspace, and its rows have the columns that `out_w` pixels read; there are as many blocks as channels ask for, and room for the results.
        unsafe {
            ring.fill(p, x, top, work, flip(pad), flip);
            ring.runs(p, top, columns, work, &mut runs);
            if y.len() < p.out_w.saturating_mul(p.out_c) {
                return;
            }
            let tiles = Tiles {
                runs: &runs[..count],
                groups,
                step: p.stride_w.saturating_mul(p.in_c),
                block_bytes,
                channels: p.out_c,
                elements: p.out_w * p.out_c,
                rounding: filters.rounding,
                clamp: requant::clamp(filters),
            };
            let y = y.as_ptr().cast_mut().cast::<i8>();
            all_blocks::<S, C>(&tiles, filters.blocks.as_ptr(), y, p.out_w);
        }
    }
}

/// All filters of so many pixels.
#[inline(always)]
unsafe fn all_blocks<S: Simd, C: Shape>(t: &Tiles<'_>, mut block: *const i8, y: *mut i8, pixels: usize) {
    let mut first = 0;
    // SAFETY: there are as many blocks as channels ask for.
    unsafe {
        while first < t.channels {
            // Tiles of two vectors, or of one block.
            let taken = match S::LANES {
                16 if t.channels - first > BLOCK => all_pixels::<S, C, 2>(t, block, first, y, pixels),
                16 => all_pixels::<S, C, 1>(t, block, first, y, pixels),
                8 => all_pixels::<S, C, 2>(t, block, first, y, pixels),
                _ => all_pixels::<S, C, 4>(t, block, first, y, pixels),
            };
            block = block.add(taken * t.block_bytes);
            first += taken * BLOCK;
        }
    }
}

/// Pixels of a tile of so many vectors, at most.
const fn most_pixels<S: Simd>(vectors: usize) -> usize {
    // A single wide vector leaves registers for more pixels, and needs them: sums wait for each other.
    if vectors == 1 && S::LANES == BLOCK {
        SINGLE_PIXELS
    } else {
        S::PIXELS
    }
}

/// Whether rows of a shape have tiles of so many pixels.
const fn takes<S: Simd, C: Shape>(vectors: usize, count: usize) -> bool {
    let (pixels, most) = (C::CONV.out_w, most_pixels::<S>(vectors));
    if pixels == 0 {
        return count <= most;
    }
    let tiles = pixels.div_ceil(most);
    count == pixels / tiles || count == pixels.div_ceil(tiles)
}

/// `N` vectors of filters, of so many pixels: in tiles that are as even as can be. Returns the blocks they are.
#[inline(always)]
unsafe fn all_pixels<S: Simd, C: Shape, const N: usize>(
    t: &Tiles<'_>,
    block: *const i8,
    first: usize,
    y: *mut i8,
    pixels: usize,
) -> usize {
    let mut sums = Sums([0; MOST_SUMS]);
    let to = sums.0.as_mut_ptr();
    for (pixel, count) in Even::new(pixels, const { most_pixels::<S>(N) }) {
        // SAFETY: the pixels are there; so is the room for their results.
        unsafe {
            with_pixels!(count, P if takes::<S, C>(N, P) => tile::<S, P, N>(t, block, pixel, to));
            let place = pixel * t.channels + first;
            with_rounding!(t.rounding, finish::<S, N>(t, block, first, count, place, to, y));
        }
    }
    N * S::LANES / BLOCK
}

/// Sums of a tile, for as long as they become results. In another memory than where they are added up, which is registers.
#[repr(align(64))]
struct Sums([i32; MOST_SUMS]);

/// Pixels of a tile of one vector that is a block.
const SINGLE_PIXELS: usize = 12;

/// Eight pixels of two blocks.
const MOST_SUMS: usize = 8 * 2 * BLOCK;

/// The sums of `N` vectors of filters, of `P` pixels.
#[inline(always)]
unsafe fn tile<S: Simd, const P: usize, const N: usize>(
    t: &Tiles<'_>,
    block: *const i8,
    pixel: usize,
    to: *mut i32,
) {
    // SAFETY: as the caller's.
    unsafe {
        let mut sums = [[S::splat_i(0); N]; P];
        for n in 0..N {
            let start = requant::start::<S>(block, t.block_bytes, n);
            for p in 0..P {
                sums[p][n] = start;
            }
        }
        let mut w = block.add(HEADER);
        for run in t.runs {
            let mut x = run.add(pixel * t.step);
            for _ in 0..t.groups {
                let mut weights = [S::weights(w); N];
                for n in 1..N {
                    let lane = n * S::LANES;
                    weights[n] = S::weights(w.add(lane / BLOCK * t.block_bytes + 4 * (lane % BLOCK)));
                }
                for p in 0..P {
                    let x = S::broadcast(x.add(p * t.step));
                    for n in 0..N {
                        sums[p][n] = S::dot(sums[p][n], x, weights[n]);
                    }
                }
                x = x.add(4);
                w = w.add(GROUP);
            }
        }
        for p in 0..P {
            for n in 0..N {
                S::store_i(sums[p][n], to.add((p * N + n) * S::LANES));
            }
        }
    }
}

/// The results of so many pixels, from the channel `first` on.
#[inline(always)]
unsafe fn finish<S: Simd, const N: usize, const R: u8>(
    t: &Tiles<'_>,
    block: *const i8,
    first: usize,
    pixels: usize,
    place: usize,
    sums: *const i32,
    y: *mut i8,
) {
    let of_block = BLOCK / S::LANES;
    // Whether these are all channels: what is written behind them belongs to the next pixel, which comes later.
    let all = first == 0 && t.channels <= N * S::LANES;
    for p in 0..pixels {
        let place = place + p * t.channels;
        // SAFETY: as the caller's.
        unsafe {
            let mut results = [S::splat_i(0); N];
            for n in 0..N {
                let sum = S::load_i(sums.add((p * N + n) * S::LANES));
                results[n] = requant::scale::<S, R>(sum, block, t.block_bytes, n);
            }
            for b in 0..N / of_block {
                let vectors = &results[b * of_block..(b + 1) * of_block];
                let place = place + b * BLOCK;
                let left =
                    if all { t.elements - place } else { (t.channels - first).saturating_sub(b * BLOCK) };
                requant::write::<S>(vectors, &t.clamp, y.add(place), left);
            }
        }
    }
}
