//! Depthwise convolution: every channel has a filter of its own.
//!
//! Pixels and channels of a row are one sequence of elements, and a tap is a distance in it, so that vectors are full whatever the number of channels. Four taps of an element are multiplied at a time:
//! rows are interleaved for that, once for each row of results, and read once for each column of the filter.

use super::dispatch::kernel;
use super::requant::{self, with_rounding, GROUP, HEADER};
use super::shape::Shape;
use super::tiles::{period, with_block};
use super::work::{Ring, MOST_RUNS, SLACK};
use super::{Clamp, Simd, BLOCK};
use crate::params::{Conv, FilterBlocks, Rounding};
use crate::rows::{Band, Rows};
use core::cell::Cell;

kernel! {
    /// As [`depthwise2d_i8`](crate::kernels::depthwise2d_i8) with one filter for each channel, in vectors: the same results where the factors in `filters` are proven.
    ///
    /// A block has the filters of sixteen consecutive elements of a row; the channels begin again behind the last one, until a block ends with it. Its weights are groups
    /// of four rows of one column, column by column, and then those of the next four rows; or, of filters one row high, of four columns. What is missing is zero.
    /// `work` holds the rows of [`conv2d_i8_simd`](crate::kernels::conv2d_i8_simd), in phases where columns are strided and channels are not a multiple of 16, and behind them four
    /// times a row, for each four rows or columns of the filter.
    pub fn depthwise2d_i8_simd(
        p: &Conv,
        x: Rows<'_, i8>,
        filters: &FilterBlocks<'_>,
        pad: i8,
        work: &[Cell<i32>],
        y: Rows<'_, i8>,
        band: Band,
    ) = depthwise(p, x, filters, pad, work, y, band), const SYMMETRIC
}

kernel! {
    /// As [`depthwise2d_i8_simd`], compiled for the sizes of one layer.
    pub fn depthwise2d_i8_simd_sized<C: Shape>(
        x: Rows<'_, i8>,
        filters: &FilterBlocks<'_>,
        pad: i8,
        work: &[Cell<i32>],
        y: Rows<'_, i8>,
        band: Band,
    ) = depthwise(&C::CONV, x, filters, pad, work, y, band), const SYMMETRIC
}

/// Groups of four taps.
const MOST_GROUPS: usize = 32;

/// One row of results as its vectors see it.
struct Line<'a> {
    /// The interleaved elements of each group of taps, from that of the first element on.
    groups: &'a [*const u8],
    blocks: *const i8,
    block_bytes: usize,
    /// Blocks until channels begin again.
    period: usize,
    /// Elements of the operand from one result to that a period behind it.
    step: usize,
    /// Elements of the row.
    elements: usize,
    rounding: Rounding,
    clamp: Clamp,
    y: *mut i8,
}

#[inline(always)]
unsafe fn depthwise<S: Simd>(
    p: &Conv,
    x: Rows<'_, i8>,
    filters: &FilterBlocks<'_>,
    pad: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let c = p.in_c;
    let period = period(c);
    let phases = if p.stride_w > 1 && c % BLOCK != 0 { p.stride_w } else { 1 };
    let mut ring = Ring::new(p, phases);
    let (parts, columns) = if p.k_h == 1 { (p.k_w.div_ceil(4), 1) } else { (p.k_h.div_ceil(4), p.k_w) };
    let groups = parts.saturating_mul(columns);
    let block_bytes = HEADER.saturating_add(groups.saturating_mul(GROUP));
    let interleaved = parts.saturating_mul(ring.row).saturating_add(SLACK).saturating_mul(4);
    let bytes = ring.elements().saturating_add(interleaved);
    if period == 0
        || filters.blocks.len() < period.saturating_mul(block_bytes)
        || 4 * work.len() < bytes
        || groups > MOST_GROUPS
        || p.k_h > MOST_RUNS
        // Where columns do not advance, a vector's pixels do not lie behind each other.
        || p.stride_w == 0
    {
        return;
    }
    let rows = work.as_ptr().cast_mut().cast::<u8>();
    let flip = |x: i8| x as u8 ^ S::FLIP;
    let mut pointers = [core::ptr::null(); MOST_GROUPS];
    for (row, y) in y.of_band(band) {
        let top = row.wrapping_mul(p.stride_h);
        if y.len() < p.out_w.saturating_mul(c) {
            return;
        }
        // SAFETY: rows and what is interleaved of them fit the workspace; rows have the columns that `out_w` pixels read, there is a block for each phase, and room for the results.
        unsafe {
            ring.fill(p, x, top, rows, flip(pad), flip);
            let interleaved = rows.add(ring.elements());
            for part in 0..parts {
                let to = interleaved.add(4 * part * ring.row);
                let mut sources = [rows.add(ring.at(top)).cast_const(); 4];
                for (i, source) in sources.iter_mut().enumerate() {
                    let tap = 4 * part + i;
                    if p.k_h == 1 && tap < p.k_w {
                        *source = source.add(ring.column(tap * p.dilation_w, c));
                    } else if tap < p.k_h {
                        *source = rows.add(ring.at(top.wrapping_add(tap.wrapping_mul(p.dilation_h))));
                    }
                }
                let mut done = 0;
                while done < ring.row {
                    S::interleave(sources.map(|source| source.add(done)), to.add(4 * done));
                    done += 4 * S::LANES;
                }
                for kx in 0..columns {
                    pointers[part * columns + kx] =
                        to.add(4 * ring.column(kx.wrapping_mul(p.dilation_w), c)).cast_const();
                }
            }
            let line = Line {
                groups: &pointers[..groups],
                blocks: filters.blocks.as_ptr(),
                block_bytes,
                period,
                step: (period * BLOCK).saturating_mul(if phases == 1 { p.stride_w } else { 1 }),
                elements: p.out_w * c,
                rounding: filters.rounding,
                clamp: requant::clamp(filters),
                y: y.as_ptr().cast_mut().cast(),
            };
            with_block!(S, N => with_rounding!(line.rounding, vectors::<S, N>(&line)));
        }
    }
}

/// A row of results, in blocks of `N` vectors.
#[inline(always)]
unsafe fn vectors<S: Simd, const N: usize, const R: u8>(t: &Line<'_>) {
    for phase in 0..t.period {
        // SAFETY: as the caller's.
        unsafe {
            let block = t.blocks.add(phase * t.block_bytes);
            match t.groups {
                [a, b, c] => held::<S, N, 3, R>(t, block, phase, [*a, *b, *c]),
                [a] => held::<S, N, 1, R>(t, block, phase, [*a]),
                _ => loaded::<S, N, R>(t, block, phase),
            }
        }
    }
}

/// The elements of one block in each period, whose weights are held in registers.
#[inline(always)]
unsafe fn held<S: Simd, const N: usize, const G: usize, const R: u8>(
    t: &Line<'_>,
    block: *const i8,
    phase: usize,
    groups: [*const u8; G],
) {
    // SAFETY: as the caller's.
    unsafe {
        let mut weights = [[S::weights(block.add(HEADER)); N]; G];
        for g in 0..G {
            for n in 0..N {
                weights[g][n] = S::weights(block.add(HEADER + g * GROUP + 4 * n * S::LANES));
            }
        }
        // Where there is a second element, the step to it is inside of what was interleaved, and does not wrap.
        let (step, next) = (t.step.wrapping_mul(4), t.period * BLOCK);
        let (clamp, y, elements) = (t.clamp, t.y, t.elements);
        let (mut from, mut element) = (4 * phase * BLOCK, phase * BLOCK);
        while element < elements {
            let mut results = [S::splat_i(0); N];
            for n in 0..N {
                let mut sum = requant::start::<S>(block, 0, n);
                for g in 0..G {
                    sum = S::dot(sum, S::operand(groups[g].add(from + 4 * n * S::LANES)), weights[g][n]);
                }
                results[n] = requant::scale::<S, R>(sum, block, 0, n);
            }
            requant::write::<S>(&results, &clamp, y.add(element), elements - element);
            from = from.wrapping_add(step);
            element += next;
        }
    }
}

/// As [`held`], with weights that are loaded each time.
#[inline(always)]
unsafe fn loaded<S: Simd, const N: usize, const R: u8>(t: &Line<'_>, block: *const i8, phase: usize) {
    // SAFETY: as the caller's.
    unsafe {
        // Where there is a second element, the step to it is inside of what was interleaved, and does not wrap.
        let (step, next) = (t.step.wrapping_mul(4), t.period * BLOCK);
        let (clamp, y, elements) = (t.clamp, t.y, t.elements);
        let (mut from, mut element) = (4 * phase * BLOCK, phase * BLOCK);
        while element < elements {
            let mut sums = [S::splat_i(0); N];
            for n in 0..N {
                sums[n] = requant::start::<S>(block, 0, n);
            }
            let mut w = block.add(HEADER);
            for group in t.groups {
                for n in 0..N {
                    let x = S::operand(group.add(from + 4 * n * S::LANES));
                    sums[n] = S::dot(sums[n], x, S::weights(w.add(4 * n * S::LANES)));
                }
                w = w.add(GROUP);
            }
            let mut results = [S::splat_i(0); N];
            for n in 0..N {
                results[n] = requant::scale::<S, R>(sums[n], block, 0, n);
            }
            requant::write::<S>(&results, &clamp, y.add(element), elements - element);
            from = from.wrapping_add(step);
            element += next;
        }
    }
}
