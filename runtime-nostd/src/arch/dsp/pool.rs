//! Largest elements and means of windows, four or eight channels at a time.
#![allow(unsafe_code)]

use super::blocks::pool::{add_taps, rescale, words};
use crate::arch::extent::{product, reach};
use crate::arch::portable::pool::inside;
use crate::params::{MeanLinear, Pool};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Taps of a window at most: sums of so many elements fit half of a register.
pub(super) const MOST_TAPS: usize = 256;

/// Means of windows of which none is cut at an edge, of at most 256 taps, of at least eight channels: each sum of stored values becomes a result by `mean`.
///
/// About 1½ cycles a tap and eight an element. Serves `AVERAGE_POOL_2D` and `MEAN` over rows and columns.
#[inline(never)]
pub fn mean_pool2d_i8_dsp(p: &Pool, x: Rows<'_, i8>, mean: &MeanLinear, y: Rows<'_, i8>, band: Band) {
    let c = p.c.max(1);
    // Windows of all columns are one run of taps.
    let runs = p.k_w == p.in_w;
    for (row, out) in y.of_band(band) {
        let top = row.wrapping_mul(p.stride_h);
        let whole = if runs { x.run(top, p.k_h) } else { None };
        for (column, out) in out.chunks_exact(c).take(p.out_w).enumerate() {
            let left = column.wrapping_mul(p.stride_w).wrapping_mul(c);
            let mut channel = 0;
            while channel < c {
                // The last eight channels: some of them twice, which changes nothing.
                let first = channel.min(c.saturating_sub(8));
                let mut sums = [0; 4];
                if let Some(whole) = whole {
                    sums = add(whole, first, c, product(p.k_h, p.k_w), sums);
                } else {
                    for tap in 0..p.k_h.min(MOST_TAPS) {
                        let x = x.row(top.wrapping_add(tap));
                        sums = add(x, left.wrapping_add(first), c, p.k_w, sums);
                    }
                }
                finish(mean, sums, out.get(first..).unwrap_or(&[]));
                channel = channel.saturating_add(8);
            }
        }
    }
}

/// Adds the taps of eight channels from `first` on, `c` elements from one to the next, to sums of channels (0, 2), (1, 3), (4, 6) and (5, 7): low half first.
#[inline(never)]
fn add(x: &[Cell<i8>], first: usize, c: usize, taps: usize, sums: [u32; 4]) -> [u32; 4] {
    match x.get(first..) {
        // SAFETY: there is a tap, and eight elements of the last one end inside of the slice, as `reach` has just said, which no size makes wrap.
        Some(x) if taps > 0 && x.len() >= reach(taps, c, 8) => unsafe {
            add_taps(x.as_ptr().cast(), c, taps, sums)
        },
        _ => sums,
    }
}

/// Rescales eight sums, if there is room for them.
#[inline(never)]
fn finish(mean: &MeanLinear, sums: [u32; 4], out: &[Cell<i8>]) {
    if out.len() >= 8 {
        // SAFETY: there are eight elements, by the comparison above.
        unsafe { rescale(mean, sums, out.as_ptr().cast_mut().cast()) };
    }
}

/// As [`max_pool2d_i8`](crate::kernels::max_pool2d_i8), with a window of `K_H` rows and `K_W` columns, 1 to 3 of each, which `p` has too.
///
/// About ½ + `K_H · K_W` cycles an element, if channels are a multiple of four.
#[inline(always)]
pub fn max_pool2d_i8_dsp<const K_H: usize, const K_W: usize>(
    p: &Pool,
    x: Rows<'_, i8>,
    lo: i32,
    hi: i32,
    y: Rows<'_, i8>,
    band: Band,
) {
    // The assembly is written for these: others do not compile.
    const { assert!(K_H >= 1 && K_H <= 3 && K_W >= 1 && K_W <= 3) };
    max_pool::<K_H, K_W>(p, x, y, band);
    if lo > i32::from(i8::MIN) || hi < i32::from(i8::MAX) {
        clamp(lo, hi, y, band);
    }
}

#[inline(never)]
fn clamp(lo: i32, hi: i32, y: Rows<'_, i8>, band: Band) {
    for (_, y) in y.of_band(band) {
        y.iter().for_each(|y| y.set(i32::from(y.get()).max(lo).min(hi) as i8));
    }
}

#[inline(never)]
fn max_pool<const K_H: usize, const K_W: usize>(p: &Pool, x: Rows<'_, i8>, y: Rows<'_, i8>, band: Band) {
    let (c, stride) = (p.c.max(1), p.stride_w.max(1));
    if product(p.out_w, c) > y.row_len() {
        return;
    }
    // The columns whose windows are inside of the image: the rest of them is narrower.
    let first = p.pad_left.div_ceil(stride).min(p.out_w);
    let behind = p.in_w.saturating_add(p.pad_left).checked_sub(K_W).map_or(0, |last| last / stride + 1);
    let behind = behind.min(p.out_w).max(first);
    for (row, out) in y.of_band(band) {
        let (top, bottom) = inside(row.wrapping_mul(p.stride_h), p.pad_top, K_H, p.in_h);
        // A row more than once is no larger than once.
        let rows: [&[Cell<i8>]; K_H] =
            core::array::from_fn(|tap| x.row(top.wrapping_add(tap).min(bottom.wrapping_sub(1))));
        for column in (0..first).chain(behind..p.out_w) {
            let (left, right) = inside(column.wrapping_mul(stride), p.pad_left, K_W, p.in_w);
            let taps = rows.map(|row| row.get(product(left, c)..product(right, c)).unwrap_or(&[]));
            narrow(&taps, c, out.get(column * c..column * c + c).unwrap_or(&[]));
        }
        let left = product(product(first, stride).saturating_sub(p.pad_left), c);
        let taps = rows.map(|row| row.get(left..).unwrap_or(&[]));
        columns::<K_H, K_W>(&taps, c, product(stride, c), out.get(first * c..behind * c).unwrap_or(&[]));
    }
}

/// One window of pixels of `c` channels.
fn narrow(rows: &[&[Cell<i8>]], c: usize, out: &[Cell<i8>]) {
    for (channel, out) in out.iter().enumerate() {
        let taps = rows.iter().flat_map(|row| row.iter().skip(channel).step_by(c.max(1)));
        out.set(taps.map(Cell::get).fold(i8::MIN, i8::max));
    }
}

/// Windows that are complete, `step` elements from one to the next; `out` has `c` elements of each.
fn columns<const K_H: usize, const K_W: usize>(
    rows: &[&[Cell<i8>]; K_H],
    c: usize,
    step: usize,
    out: &[Cell<i8>],
) {
    let windows = out.len().checked_div(c).unwrap_or(0);
    let taps = reach(windows, step, product(K_W, c));
    if windows == 0 || rows.iter().any(|row| row.len() < taps) {
        return;
    }
    if c % 4 == 0 {
        // SAFETY: the last window ends inside of each row, which is no shorter than `taps`, and `out` has `windows` times `c` results.
        return unsafe {
            words::<K_H, K_W>(rows.map(|row| row.as_ptr().cast()), c, step, windows, c / 4, out)
        };
    }
    for (window, out) in out.chunks_exact(c.max(1)).enumerate() {
        let taps = rows.map(|row| row.get(window * step..window * step + K_W * c).unwrap_or(&[]));
        // The last four channels: some of them twice, which changes nothing.
        for (first, fours) in [(0, c / 4), (c.saturating_sub(4), usize::from(c >= 4))] {
            let out = out.get(first..).unwrap_or(&[]);
            // SAFETY: `fours` times four channels behind `first` are no more than the `c` that there are of each of `K_W` taps, which the rows are long enough for (compared with `taps`
            // above, so that no slice of a window is empty), and in `out`.
            unsafe {
                words::<K_H, K_W>(
                    taps.map(|row| row.as_ptr().cast::<i8>().wrapping_add(first)),
                    c,
                    step,
                    1,
                    fours,
                    out,
                )
            };
        }
        if c < 4 {
            narrow(&taps, c, out);
        }
    }
}
