//! Products of single rows with filters: what takes time is reading the weights.

use super::dispatch::kernel;
use super::requant::{self, with_rounding, GROUP, HEADER};
use super::shape::Shape;
use super::{Clamp, Simd, BLOCK};
use crate::params::{FilterBlocks, Rounding};
use crate::rows::{Band, Rows};
use core::cell::Cell;

kernel! {
    /// As [`dense_i8`](crate::kernels::dense_i8), in vectors: the same results where the factors in `filters` are proven. Weights are those of
    /// [`conv2d_i8_simd`](crate::kernels::conv2d_i8_simd) with one run. `work` holds a row, completed to a multiple of 32 elements.
    pub fn dense_i8_simd(
        x: Rows<'_, i8>,
        filters: &FilterBlocks<'_>,
        work: &[Cell<i32>],
        y: Rows<'_, i8>,
        band: Band,
    ) = dense(x.row_len(), y.row_len(), x, filters, work, y, band), const SYMMETRIC
}

kernel! {
    /// As [`dense_i8_simd`], compiled for the channels of one layer.
    pub fn dense_i8_simd_sized<C: Shape>(
        x: Rows<'_, i8>,
        filters: &FilterBlocks<'_>,
        work: &[Cell<i32>],
        y: Rows<'_, i8>,
        band: Band,
    ) = dense(C::CONV.in_c, C::CONV.out_c, x, filters, work, y, band), const SYMMETRIC
}

/// A product as its tiles see it.
struct Product {
    x: *const u8,
    /// Groups of four elements.
    groups: usize,
    block_bytes: usize,
    rounding: Rounding,
    clamp: Clamp,
}

/// A row of `k` elements times filters of as many, to so many channels.
#[inline(always)]
unsafe fn dense<S: Simd>(
    k: usize,
    channels: usize,
    x: Rows<'_, i8>,
    filters: &FilterBlocks<'_>,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let groups = k.div_ceil(4);
    let block_bytes = HEADER.saturating_add(groups.saturating_mul(GROUP));
    let blocks = channels.div_ceil(BLOCK);
    if filters.blocks.len() < blocks.saturating_mul(block_bytes)
        || 4 * work.len() < k.div_ceil(32).saturating_mul(32)
    {
        return;
    }
    let operand = work.as_ptr().cast_mut().cast::<u8>();
    for (row, y) in y.of_band(band) {
        let x = x.row(row);
        if x.len() < k || y.len() < channels {
            return;
        }
        // SAFETY: the row fits the workspace; blocks and results are counted by the same sizes.
        unsafe {
            for (i, x) in x.iter().enumerate().take(k) {
                *operand.add(i) = x.get() as u8 ^ S::FLIP;
            }
            let product = Product {
                x: operand,
                groups,
                block_bytes,
                rounding: filters.rounding,
                clamp: requant::clamp(filters),
            };
            let (mut block, mut first) = (filters.blocks.as_ptr(), 0);
            while first < channels {
                let (to, left) = (y.as_ptr().cast_mut().cast::<i8>().add(first), channels - first);
                let vectors = left.div_ceil(BLOCK) * (BLOCK / S::LANES);
                let taken = match vectors {
                    4.. => tile::<S, 4, 2>(&product, block, to, left),
                    2.. if S::LANES >= 8 => tile::<S, 2, 4>(&product, block, to, left),
                    _ => tile::<S, 1, 4>(&product, block, to, left),
                };
                block = block.add(taken * block_bytes);
                first += taken * BLOCK;
            }
        }
    }
}

/// `N` vectors of results; every `SPLIT`-th group is summed by itself, so that sums do not wait for each other. Returns the blocks they are.
#[inline(always)]
unsafe fn tile<S: Simd, const N: usize, const SPLIT: usize>(
    t: &Product,
    block: *const i8,
    y: *mut i8,
    channels: usize,
) -> usize {
    // SAFETY: as the caller's.
    unsafe {
        let mut sums = [[S::splat_i(0); N]; SPLIT];
        for n in 0..N {
            sums[0][n] = requant::start::<S>(block, t.block_bytes, n);
        }
        let (mut x, mut w, mut left) = (t.x, block.add(HEADER), t.groups);
        while left >= SPLIT {
            for s in 0..SPLIT {
                let x = S::broadcast(x.add(4 * s));
                for n in 0..N {
                    let lane = n * S::LANES;
                    let at = lane / BLOCK * t.block_bytes + s * GROUP + 4 * (lane % BLOCK);
                    sums[s][n] = S::dot(sums[s][n], x, S::weights(w.add(at)));
                }
            }
            x = x.add(4 * SPLIT);
            w = w.add(SPLIT * GROUP);
            left -= SPLIT;
        }
        while left > 0 {
            let operand = S::broadcast(x);
            for n in 0..N {
                let lane = n * S::LANES;
                let weights = S::weights(w.add(lane / BLOCK * t.block_bytes + 4 * (lane % BLOCK)));
                sums[0][n] = S::dot(sums[0][n], operand, weights);
            }
            x = x.add(4);
            w = w.add(GROUP);
            left -= 1;
        }
        for s in 1..SPLIT {
            for n in 0..N {
                sums[0][n] = S::add_i(sums[0][n], sums[s][n]);
            }
        }
        with_rounding!(t.rounding, finish::<S, N>(t, block, y, channels, sums[0]));
        N * S::LANES / BLOCK
    }
}

/// The results of `N` vectors of sums.
#[inline(always)]
unsafe fn finish<S: Simd, const N: usize, const R: u8>(
    t: &Product,
    block: *const i8,
    y: *mut i8,
    channels: usize,
    sums: [S::I; N],
) {
    let of_block = BLOCK / S::LANES;
    // SAFETY: as the caller's.
    unsafe {
        // Another array: sums that nothing points to stay in registers.
        let mut results = [S::splat_i(0); N];
        for n in 0..N {
            results[n] = requant::scale::<S, R>(sums[n], block, t.block_bytes, n);
        }
        for b in 0..N / of_block {
            let vectors = &results[b * of_block..(b + 1) * of_block];
            requant::write::<S>(vectors, &t.clamp, y.add(b * BLOCK), channels.saturating_sub(b * BLOCK));
        }
    }
}
