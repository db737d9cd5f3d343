//! Convolution of all channels of floats with all filters.

use super::dispatch::kernel;
use super::float_tile::Tiles;
use super::work::{aligned, fill, Ring};
use super::{Simd, BLOCK};
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

kernel! {
    /// As [`conv2d_f32`](crate::kernels::conv2d_f32) with one group, in vectors: each sum begins with the bias, and products may be added with one rounding.
    ///
    /// `w` has, of each block of sixteen filters, their biases and, for each tap in the order \[k_h\]\[k_w\]\[in_c\], their sixteen weights; the last block is completed by zeros.
    /// `work` holds the rows that a filter covers, with padding: (k_h − 1) · dilation_h + 1 rows of all columns that are read, each a
    /// multiple of 64 elements, and 256 elements besides. Without padding it is not needed.
    pub fn conv2d_f32_simd(
        p: &Conv,
        x: Rows<'_, f32>,
        w: &[f32],
        lo: f32,
        hi: f32,
        work: &[Cell<f32>],
        y: Rows<'_, f32>,
        band: Band,
    ) = conv
}

/// Runs of taps: k_h, or k_h · k_w.
const MOST_RUNS: usize = 64;

/// Elements of operands that stay in the first cache while filters go by.
const NEAR: usize = 6144;

#[inline(always)]
unsafe fn conv<S: Simd>(
    p: &Conv,
    x: Rows<'_, f32>,
    w: &[f32],
    lo: f32,
    hi: f32,
    work: &[Cell<f32>],
    y: Rows<'_, f32>,
    band: Band,
) {
    let joined = p.dilation_w == 1 || p.k_w == 1;
    let (taps, columns) = if joined { (p.k_w * p.in_c, 1) } else { (p.in_c, p.k_w) };
    let (ring, step) = (Ring::new(p, 1), p.stride_w * p.in_c);
    let reach = p.out_w.saturating_sub(1) * p.stride_w + p.k_w.saturating_sub(1) * p.dilation_w + 1;
    // Rows that are read where they are.
    let unpadded = p.pad_left == 0 && reach <= p.in_w;
    let points = unpadded && p.k_h == 1 && step == p.in_c && p.in_w == p.out_w && p.stride_h == 1;
    let block = BLOCK * (1 + p.k_h * columns * taps);
    let has_room = work.len() >= ring.elements();
    if w.len() < p.out_c.div_ceil(BLOCK) * block || p.k_h * columns > MOST_RUNS {
        return;
    }
    let mut runs = [core::ptr::null(); MOST_RUNS];
    let work = aligned(work);
    let mut filled = band.first * p.stride_h;
    let mut row = band.first;
    let end = band.range().end;
    while row < end {
        let top = row * p.stride_h;
        let mut rows = 1;
        let inside = top >= p.pad_top && top - p.pad_top + p.k_h.saturating_sub(1) * p.dilation_h < p.in_h;
        let direct = unpadded && inside;
        if !direct && !has_room {
            return;
        }
        if direct {
            for ky in 0..p.k_h {
                let x = x.row(top - p.pad_top + ky * p.dilation_h);
                if x.len() < p.in_w * p.in_c {
                    return;
                }
                for kx in 0..columns {
                    runs[ky * columns + kx] =
                        x.as_ptr().cast::<f32>().wrapping_add(kx * p.dilation_w * p.in_c);
                }
            }
            if points {
                rows = together(x, top - p.pad_top, y, row, (end - row).min(p.in_h - (top - p.pad_top)));
            }
        }
        // SAFETY: the ring fits the workspace; blocks, rows and pixels are counted by the same sizes.
        unsafe {
            if !direct {
                filled = filled.max(top);
                while filled < top + ring.rows {
                    fill(p, &ring, x, filled, work.add(ring.at(filled)), 0.0, |x| x);
                    filled += 1;
                }
                for ky in 0..p.k_h {
                    let from = work.add(ring.at(top + ky * p.dilation_h)).cast_const();
                    for kx in 0..columns {
                        runs[ky * columns + kx] = from.add(kx * p.dilation_w * p.in_c);
                    }
                }
            }
            let Some(y) = y.run(row, rows).filter(|y| y.len() >= rows * p.out_w * p.out_c) else { return };
            let tiles = Tiles {
                runs: &runs[..p.k_h * columns],
                taps,
                step,
                blocks: w.as_ptr(),
                channels: p.out_c,
                y: y.as_ptr().cast_mut().cast(),
                pixels: rows * p.out_w,
                lo,
                hi,
            };
            tiles.all::<S>();
        }
        row += rows;
    }
}

/// How many of at most `most` rows, from row `from` of the operand and `to` of the result on, can be taken together: they lie behind each other, apart from each other, and
/// the operand's are near.
#[inline(always)]
fn together(x: Rows<'_, f32>, from: usize, y: Rows<'_, f32>, to: usize, most: usize) -> usize {
    let most = most.min(NEAR.checked_div(x.row_len()).unwrap_or(1)).max(1);
    let (_, rows) = x.rows_from(from, most);
    let (_, rows) = y.rows_from(to, rows);
    match (x.run(from, rows), y.run(to, rows)) {
        (Some(x), Some(y)) => {
            let (x, y) = (x.as_ptr_range(), y.as_ptr_range());
            if x.end <= y.start || y.end <= x.start {
                rows
            } else {
                1
            }
        }
        _ => 1,
    }
}
