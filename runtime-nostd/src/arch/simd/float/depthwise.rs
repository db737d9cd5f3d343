//! Convolution of floats in which every channel has a filter of its own.

use super::layer;
use super::tile::put;
use crate::arch::extent::{product, product_of, sum};
use crate::arch::simd::dispatch::kernel;
use crate::arch::simd::tiles::{period, with_pixels, Even};
use crate::arch::simd::work::{aligned, Ring, MOST_RUNS};
use crate::arch::simd::{Simd, BLOCK};
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

layer! {
    /// As [`depthwise2d_f32`](crate::kernels::depthwise2d_f32) with as many channels in the result as in the operand, in vectors: products may be added with one
    /// rounding.
    ///
    /// Blocks of sixteen channels have their biases and, for each tap \[k_h\]\[k_w\], their sixteen weights. In two ways, of which the number of channels c decides:
    ///
    /// - c in blocks, the last one completed by zeros: if c / gcd(c, 16) is 1 or more than 15;
    /// - otherwise the channels of so many pixels that they fill blocks: c / gcd(c, 16) of them. The columns of rows in the workspace come in `stride_w` phases.
    ///
    /// `work` holds the rows that a filter covers, with padding: (k_h − 1) · dilation_h + 1 rows of all columns that are read, each a
    /// multiple of 64 elements, and 256 elements besides.
    pub fn depthwise2d_f32_simd = depthwise
}

/// Blocks whose channels are those of several pixels.
const MOST_FLAT: usize = 15;

/// A row of the result, in vectors of which some have the same weights.
struct Row<'a> {
    /// Where the operand's elements of each tap begin.
    taps: &'a [*const f32],
    /// Elements of the operand, and of the result, from one vector to the next of the same weights.
    step: [usize; 2],
    blocks: *const f32,
    y: *mut f32,
    lo: f32,
    hi: f32,
}

#[inline(always)]
pub(super) unsafe fn depthwise<S: Simd>(
    p: &Conv,
    x: Rows<'_, f32>,
    w: &[f32],
    lo: f32,
    hi: f32,
    work: &[Cell<f32>],
    y: Rows<'_, f32>,
    band: Band,
) {
    let channels = p.in_c;
    let period = period(channels);
    let is_flat = period > 1 && period <= MOST_FLAT;
    let (blocks, phases) = if is_flat { (period, p.stride_w) } else { (channels.div_ceil(BLOCK), 1) };
    let mut ring = Ring::new(p, phases);
    let count = p.taps();
    let weights = product_of([blocks, BLOCK, sum(1, count)]);
    // Where columns do not advance, a vector's pixels do not lie behind each other.
    if w.len() < weights
        || work.len() < ring.elements()
        || count > MOST_RUNS
        || p.k_h > MOST_RUNS
        || p.stride_w == 0
    {
        return;
    }
    let mut taps = [core::ptr::null(); MOST_RUNS];
    let work = aligned(work);
    for (row, y) in y.of_band(band) {
        let top = row.wrapping_mul(p.stride_h);
        if y.len() < p.out_row_of(channels) {
            return;
        }
        // SAFETY: the ring fits the workspace, and behind it there is room for a vector: its rows have the columns that `out_w` pixels read. There are as many weights as channels ask for, and
        // the row has room for the results.
        unsafe {
            ring.fill(p, x, top, work, 0.0, |x| x);
            ring.runs(p, top, p.k_w, work, &mut taps);
            let step = if is_flat { [blocks * BLOCK; 2] } else { [product(p.stride_w, channels), channels] };
            let y = y.as_ptr().cast_mut().cast();
            let row = Row { taps: &taps[..count], step, blocks: w.as_ptr(), y, lo, hi };
            match is_flat {
                true => row.flat::<S>(blocks, p.out_row_of(channels)),
                false => row.by_pixel::<S>(channels, p.out_w),
            }
        }
    }
}

impl Row<'_> {
    /// So many elements, whose weights repeat after so many blocks.
    #[inline(always)]
    unsafe fn flat<S: Simd>(&self, blocks: usize, elements: usize) {
        let period = blocks * BLOCK;
        let mut first = 0;
        while first < period && first < elements {
            let left = elements - first;
            // All but the last one may be whole vectors.
            let whole = if left < S::LANES { 0 } else { 1 + (left - S::LANES) / period };
            // SAFETY: as the caller's.
            unsafe {
                self.vectors::<S>(first, whole, S::LANES);
                if whole * period < left {
                    self.tile::<S, 1>(first, whole, left - whole * period);
                }
            }
            first += S::LANES;
        }
    }

    /// So many pixels.
    #[inline(always)]
    unsafe fn by_pixel<S: Simd>(&self, channels: usize, pixels: usize) {
        let mut first = 0;
        while first < channels {
            // SAFETY: as the caller's.
            unsafe { self.vectors::<S>(first, pixels, channels - first) };
            first += S::LANES;
        }
    }

    /// So many vectors with the weights from element `first` on, and of each `len` results, or all: in tiles that are as even as can be.
    #[inline(always)]
    unsafe fn vectors<S: Simd>(&self, first: usize, count: usize, len: usize) {
        for (at, count) in Even::new(count, S::FLOAT_PIXELS) {
            // SAFETY: as the caller's.
            unsafe { with_pixels!(count, P if P <= S::FLOAT_PIXELS => self.tile::<S, P>(first, at, len)) }
        }
    }

    /// `P` vectors.
    #[inline(always)]
    unsafe fn tile<S: Simd, const P: usize>(&self, first: usize, at: usize, len: usize) {
        let [step, to] = self.step;
        // SAFETY: as the caller's.
        unsafe {
            let mut w = self.blocks.add(first / BLOCK * BLOCK * (1 + self.taps.len()) + first % BLOCK);
            let bias = S::load(w);
            let mut sums = [S::splat(0.0); P];
            for tap in self.taps {
                w = w.add(BLOCK);
                let (weights, x) = (S::load(w), tap.add(first + at * step));
                for p in 0..P {
                    sums[p] = S::mul_add(sums[p], S::load(x.add(p * step)), weights);
                }
            }
            let (lo, hi) = (S::splat(self.lo), S::splat(self.hi));
            // Another array: sums that nothing points to stay in registers.
            let mut results = [lo; P];
            for p in 0..P {
                results[p] = S::clip(S::add(sums[p], bias), lo, hi);
            }
            for p in 0..P {
                put::<S>(results[p], self.y.add(first + (at + p) * to), len);
            }
        }
    }
}
