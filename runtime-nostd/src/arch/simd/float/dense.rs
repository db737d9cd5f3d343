//! Products of matrices of floats with filters.

use super::conv::conv2d_f32_simd;
use super::tile::put;
use crate::arch::extent::{product, sum};
use crate::arch::portable::dense::matrix;
use crate::arch::simd::dispatch::kernel;
use crate::arch::simd::{Simd, BLOCK};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// As [`dense_f32`](crate::kernels::dense_f32) in vectors. One row has the same bits: products are rounded and added in the same order, which costs
/// nothing where weights stream from memory. Those of several rows are added in another order, and maybe with one rounding.
///
/// `w` and `work` as of [`conv2d_f32_simd`](crate::kernels::conv2d_f32_simd), where filters are points.
pub fn dense_f32_simd(
    x: Rows<'_, f32>,
    w: &[f32],
    lo: f32,
    hi: f32,
    work: &[Cell<f32>],
    y: Rows<'_, f32>,
    band: Band,
) {
    match band.rows {
        1 => vector_f32_simd(x, w, lo, hi, y, band.first),
        _ => conv2d_f32_simd(&matrix(x.row_len(), y.row_len()), x, w, lo, hi, work, y, band),
    }
}

kernel! {
    /// One row of it: all weights are read once, in their order.
    pub(super) fn vector_f32_simd(x: Rows<'_, f32>, w: &[f32], lo: f32, hi: f32, y: Rows<'_, f32>, row: usize) = vector
}

#[inline(always)]
unsafe fn vector<S: Simd>(x: Rows<'_, f32>, w: &[f32], lo: f32, hi: f32, y: Rows<'_, f32>, row: usize) {
    let (x, y) = (x.row(row), y.row(row));
    let block = product(BLOCK, sum(1, x.len()));
    if w.len() < product(y.len().div_ceil(BLOCK), block) {
        return;
    }
    let (x, taps) = (x.as_ptr().cast::<f32>(), x.len());
    let (y, channels) = (y.as_ptr().cast_mut().cast::<f32>(), y.len());
    let mut first = 0;
    while first < channels {
        // SAFETY: there are as many blocks as channels ask for, of as many weights as the row has elements.
        unsafe {
            let (block_at, y, left) = (w.as_ptr().add(first / BLOCK * block), y.add(first), channels - first);
            let row = Row { x, taps, block, lo, hi };
            // So many sums at once that none is waited for.
            first += match (S::LANES, left.div_ceil(BLOCK)) {
                (16, ..=1) => row.filters::<S, 1>(block_at, y, left),
                (16, ..=3) | (8, ..=1) => row.filters::<S, 2>(block_at, y, left),
                (16, _) | (8, ..=3) | (_, ..=1) => row.filters::<S, 4>(block_at, y, left),
                _ => row.filters::<S, 8>(block_at, y, left),
            };
        }
    }
}

/// The operand.
struct Row {
    x: *const f32,
    taps: usize,
    /// Elements of a block.
    block: usize,
    lo: f32,
    hi: f32,
}

impl Row {
    /// `N` vectors of filters, of which `left` have results. Returns the number of filters.
    #[inline(always)]
    unsafe fn filters<S: Simd, const N: usize>(&self, block: *const f32, y: *mut f32, left: usize) -> usize {
        let at = |n: usize| n * S::LANES / BLOCK * self.block + n * S::LANES % BLOCK;
        // SAFETY: as the caller's.
        unsafe {
            let mut sums = [S::splat(0.0); N];
            let w = block.add(BLOCK);
            for tap in 0..self.taps {
                let x = S::splat(*self.x.add(tap));
                for n in 0..N {
                    sums[n] = S::add(sums[n], S::mul(x, S::load(w.add(tap * BLOCK + at(n)))));
                }
            }
            for n in 0..N {
                let sum = S::add(sums[n], S::load(block.add(at(n))));
                let channel = n * S::LANES;
                if channel < left {
                    put::<S>(
                        S::clip(sum, S::splat(self.lo), S::splat(self.hi)),
                        y.add(channel),
                        left - channel,
                    );
                }
            }
        }
        N * S::LANES
    }
}
