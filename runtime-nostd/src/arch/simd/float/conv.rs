//! Convolution of all channels of floats with all filters.

use super::layer;
use super::tile::Tiles;
use crate::arch::extent::{product, product_of, sum};
use crate::arch::simd::dispatch::kernel;
use crate::arch::simd::work::{aligned, Ring, MOST_RUNS};
use crate::arch::simd::{Simd, BLOCK};
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

layer! {
    /// As [`conv2d_f32`](crate::kernels::conv2d_f32) with one group, in vectors: products may be added with one rounding.
    ///
    /// `w` has, of each block of sixteen filters, their biases and, for each tap in the order \[k_h\]\[k_w\]\[in_c\], their sixteen weights; the last block is completed by zeros.
    /// `work` holds the rows that a filter covers, with padding: (k_h − 1) · dilation_h + 1 rows of all columns that are read, each a
    /// multiple of 64 elements, and 256 elements besides; or, where filters are points, every pixel of the operand has its result, and there are no others, as many rows as are 6144 elements or less, and
    /// 16 besides. There it need not be if it would hold one row.
    pub fn conv2d_f32_simd = conv
}

/// Elements of operands that are computed together, since they stay in the first cache while filters go by.
const NEAR: usize = 6144;

#[inline(always)]
pub(super) unsafe fn conv<S: Simd>(
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
    let (taps, columns) = if joined { (product(p.k_w, p.in_c), 1) } else { (p.in_c, p.k_w) };
    let (mut ring, step) = (Ring::new(p, 1), product(p.stride_w, p.in_c));
    let unpadded = p.pad_left == 0 && p.columns() <= p.in_w;
    // Filters are points, and every pixel of the operand has its result; rows of both lie behind each other without a gap.
    let points = unpadded
        && p.pad_top == 0
        && product_of([p.k_h, p.k_w, p.stride_h, p.stride_w]) == 1
        && p.in_w == p.out_w
        && y.within(band).range().end <= p.in_h
        && x.row_len() == p.in_row()
        && y.row_len() == p.out_row();
    let count = product(p.k_h, columns);
    let block = product(BLOCK, sum(1, product(count, taps)));
    if w.len() < product(p.out_c.div_ceil(BLOCK), block) || count > MOST_RUNS || p.k_h > MOST_RUNS {
        return;
    }
    let mut runs = [core::ptr::null(); MOST_RUNS];
    let (mut row, end) = (band.first, y.within(band).range().end);
    while row < end && !y.row(row).is_empty() {
        let top = row.wrapping_mul(p.stride_h);
        let mut rows = 1;
        // SAFETY: there are as many blocks as channels ask for, and room for the results of all pixels. What of the operand is read in its place ends where its rows do, which `in_place` and
        // `points` have found to be long enough; what is copied fits the workspace.
        unsafe {
            if points {
                let Some((from, count)) =
                    together(x, y, row, (end - row).min(p.in_h.saturating_sub(row)), work)
                else {
                    return;
                };
                (runs[0], rows) = (from, count);
            } else if !(unpadded && in_place(p, columns, x, y, row, &mut runs)) {
                if work.len() < ring.elements() {
                    return;
                }
                let work = aligned(work);
                ring.fill(p, x, top, work, 0.0, |x| x);
                ring.runs(p, top, columns, work, &mut runs);
            }
            let Some(y) = y.run(row, rows).filter(|y| y.len() >= product(rows, p.out_row())) else { return };
            let tiles = Tiles {
                runs: &runs[..count],
                taps,
                step,
                blocks: w.as_ptr(),
                channels: p.out_c,
                y: y.as_ptr().cast_mut().cast(),
                pixels: product(rows, p.out_w),
                lo,
                hi,
            };
            tiles.all::<S>();
        }
        row += rows;
    }
}

/// Where rows from `row` on begin that can be computed together, and how many of at most `most` they are: those that lie behind each other and are near. Where the result lies
/// over them, they are copied.
#[inline(always)]
unsafe fn together(
    x: Rows<'_, f32>,
    y: Rows<'_, f32>,
    row: usize,
    most: usize,
    work: &[Cell<f32>],
) -> Option<(*const f32, usize)> {
    let len = x.row_len();
    let (_, rows) = x.rows_from(row, most.min(NEAR.checked_div(len).unwrap_or(1)));
    let (_, rows) = y.rows_from(row, rows);
    let from = x.run(row, rows)?;
    // A row by itself never lies where its result does.
    if rows == 1 || are_apart(from, y.run(row, rows)?) {
        return Some((from.as_ptr().cast(), rows));
    }
    let rows = rows.min((work.len().saturating_sub(BLOCK)).checked_div(len).unwrap_or(0));
    if rows <= 1 {
        return Some((from.as_ptr().cast(), 1));
    }
    let to = aligned(work);
    // SAFETY: the rows follow each other in the operand, and the workspace has room for as many and for a block, by less than which its start is moved.
    unsafe { core::ptr::copy(from.as_ptr().cast(), to, rows * len) };
    Some((to, rows))
}

/// The runs of a row of results, where they can be read in their place: all rows are there, and none lies where the result does.
#[inline(always)]
fn in_place(
    p: &Conv,
    columns: usize,
    x: Rows<'_, f32>,
    y: Rows<'_, f32>,
    row: usize,
    runs: &mut [*const f32; MOST_RUNS],
) -> bool {
    let y = y.row(row);
    for ky in 0..p.k_h {
        let x = match row
            .wrapping_mul(p.stride_h)
            .wrapping_add(ky.wrapping_mul(p.dilation_h))
            .checked_sub(p.pad_top)
        {
            Some(row) if row < p.in_h => x.row(row),
            _ => return false,
        };
        if x.len() < p.in_row() || !are_apart(x, y) {
            return false;
        }
        for kx in 0..columns {
            runs[ky * columns + kx] =
                x.as_ptr().cast::<f32>().wrapping_add(kx.wrapping_mul(p.dilation_w).wrapping_mul(p.in_c));
        }
    }
    true
}

fn are_apart(x: &[Cell<f32>], y: &[Cell<f32>]) -> bool {
    let (x, y) = (x.as_ptr_range(), y.as_ptr_range());
    x.end <= y.start || y.end <= x.start
}
