//! Poolings, means and matrix products over all rows of an image, which take the rows as they come: they are added to sums, and the last one makes the result.
//!
//! Bands come in ascending order and begin with row 0, which clears the sums: one for each element of the result. Row by row, each sum is made of the same
//! additions in the same order as in the kernels that take the whole image.

use super::pool::{inside, mean_of};
use super::sum::{clip, dot, Float, Int8, Once, Sum, LANES};
use crate::arch::extent::product;
use crate::fixed::to_i8;
use crate::params::{FloatRequant, MeanRows, Pool, Requant};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Means of windows, which differ in the format of elements and in that of sums. An element is added to a sum, and a sum divided by the number of taps and clamped.
macro_rules! means {
    ($( $(#[doc = $doc:literal])+ $vis:vis fn $name:ident($t:ty, $sum:ty) = $start:expr, $add:expr, $mean:expr; )+) => {$(
        $(#[doc = $doc])+
        #[inline(never)]
        $vis fn $name(
            p: &Pool,
            lo: $sum,
            hi: $sum,
            x: Rows<'_, $t>,
            sums: &[Cell<$sum>],
            y: &[Cell<$t>],
            band: Band,
        ) {
            absorb(p, x, sums, y, band, [lo, hi], $start, $add, $mean);
        }
    )+};
}

means! {
    /// As [`avg_pool2d_i8`](super::pool::avg_pool2d_i8) with a window over all rows: `band` are rows of the operand, `y` \[out_w\]\[c\] is the result.
    pub fn avg_pool_rows_i8(i8, i32) =
        0, |sum, x| sum.wrapping_add(x.into()), |sum, taps, [lo, hi]| mean_of(sum, taps).max(lo).min(hi) as i8;
    /// As [`avg_pool2d_i16`](super::int16::avg_pool2d_i16) with a window over all rows: `band` are rows of the operand, `y` \[out_w\]\[c\] is the result.
    pub fn avg_pool_rows_i16(i16, i32) =
        0, |sum, x| sum.wrapping_add(x.into()), |sum, taps, [lo, hi]| mean_of(sum, taps).max(lo).min(hi) as i16;
    /// As [`avg_pool2d_u8`](super::pool::avg_pool2d_u8) with a window over all rows: `band` are rows of the operand, `y` \[out_w\]\[c\] is the result.
    pub fn avg_pool_rows_u8(u8, i32) =
        0, |sum, x| sum.wrapping_add(x.into()), |sum, taps, [lo, hi]| mean_of(sum, taps).max(lo).min(hi) as u8;
    /// As [`avg_pool2d_f32`](super::pool::avg_pool2d_f32) with a window over all rows: `band` are rows of the operand, `y` \[out_w\]\[c\] is the result.
    pub fn avg_pool_rows_f32(f32, f32) = 0.0, |sum, x| sum + x, |sum, taps, [lo, hi]| clip(sum / taps as f32, lo, hi);
}

/// As [`mean_i8`](super::reduce::mean_i8) over all rows and columns: `band` are rows of the operand, `y` \[c\] is the result.
#[inline(never)]
pub fn mean_rows_i8(
    p: &MeanRows,
    lo: i32,
    hi: i32,
    x: Rows<'_, i8>,
    sums: &[Cell<i32>],
    y: &[Cell<i8>],
    band: Band,
) {
    let add = |sum: i32, x: i8| sum.wrapping_add(x.into()).wrapping_sub(p.x_zero);
    let shape = one_column(p.rows, x.row_len(), y.len());
    let mean = |sum, _, [lo, hi]: [i32; 2]| to_i8(p.scale.apply(sum), p.out_zero, lo, hi);
    absorb(&shape, x, sums, y, band, [lo, hi], 0, add, mean);
}

/// As [`mean_i16`](super::int16::mean_i16) over all rows and columns: `band` are rows of the operand, `y` \[c\] is the result.
#[inline(never)]
pub fn mean_rows_i16(
    p: &MeanRows,
    lo: i32,
    hi: i32,
    x: Rows<'_, i16>,
    sums: &[Cell<i32>],
    y: &[Cell<i16>],
    band: Band,
) {
    let add = |sum: i32, x: i16| sum.wrapping_add(x.into()).wrapping_sub(p.x_zero);
    let shape = one_column(p.rows, x.row_len(), y.len());
    let mean =
        |sum, _, [lo, hi]: [i32; 2]| p.scale.apply(sum).saturating_add(p.out_zero).max(lo).min(hi) as i16;
    absorb(&shape, x, sums, y, band, [lo, hi], 0, add, mean);
}

/// As [`mean_f32`](super::reduce::mean_f32) over all `rows` and columns: `band` are rows of the operand, `y` \[c\] is the result.
#[inline(never)]
pub fn mean_rows_f32(
    rows: usize,
    lo: f32,
    hi: f32,
    x: Rows<'_, f32>,
    sums: &[Cell<f32>],
    y: &[Cell<f32>],
    band: Band,
) {
    let shape = one_column(rows, x.row_len(), y.len());
    let mean = |sum: f32, taps, [lo, hi]: [f32; 2]| clip(sum / taps as f32, lo, hi);
    absorb(&shape, x, sums, y, band, [lo, hi], 0.0, |sum, x| sum + x, mean);
}

/// Matrix products of bytes, which differ in how sums become results.
macro_rules! products {
    ($( $(#[doc = $doc:literal])+ $vis:vis fn $name:ident($requant:ty) = $by:expr; )+) => {$(
        $(#[doc = $doc])+
        #[inline(never)]
        $vis fn $name(
            rows: usize,
            x: Rows<'_, i8>,
            w: &[i8],
            bias: &[i32],
            q: &$requant,
            sums: &[Cell<i32>],
            y: &[Cell<i8>],
            band: Band,
        ) {
            multiply(rows, x, w, Int8::new(bias, 0, $by(q)), sums, y, band);
        }
    )+};
}

products! {
    /// As [`dense_i8`](super::dense::dense_i8) with an image of `rows` rows as vector: `band` are rows of the image, `y` is the result.
    pub fn dense_rows_i8(Requant<'_>) = core::convert::identity;
    /// As [`dense_i8_once`](super::dense::dense_i8_once) with an image of `rows` rows as vector: `band` are rows of the image, `y` is the result.
    pub fn dense_rows_i8_once(Requant<'_>) = Once;
    /// As [`dense_i8_float`](super::dense::dense_i8_float) with an image of `rows` rows as vector: `band` are rows of the image, `y` is the result.
    pub fn dense_rows_i8_float(FloatRequant<'_>) = core::convert::identity;
}

/// As [`dense_f32`](super::dense::dense_f32) with an image of `rows` rows as vector: `band` are rows of the image, `y` is the result.
#[inline(never)]
pub fn dense_rows_f32(
    rows: usize,
    x: Rows<'_, f32>,
    w: &[f32],
    bias: &[f32],
    lo: f32,
    hi: f32,
    sums: &[Cell<f32>],
    y: &[Cell<f32>],
    band: Band,
) {
    multiply(rows, x, w, Float { bias, lo, hi }, sums, y, band);
}

/// Adds the products of the rows of a band with their part of the packed filters; after the last row, the sums become results.
#[inline(always)]
fn multiply<S: Sum>(
    rows: usize,
    x: Rows<'_, S::T>,
    w: &[S::W],
    sum: S,
    sums: &[Cell<S::Acc>],
    y: &[Cell<S::Y>],
    band: Band,
) {
    let len = x.row_len();
    let size = product(rows, len);
    for (row, x) in x.of_band(band) {
        let mut o = 0;
        while o < y.len() {
            // As many filters alternate; those behind them follow one by one.
            let lanes = if y.len() - o < LANES { 1 } else { LANES };
            let from = product(o, size).saturating_add(product(lanes, product(row, len)));
            let weights = w.get(from..).and_then(|w| w.get(..product(lanes, len)));
            let range = o..o + lanes;
            let (Some(w), Some(sums), Some(out)) = (weights, sums.get(range.clone()), y.get(range)) else {
                return;
            };
            let mut acc = [S::EMPTY; LANES];
            let Some(acc) = acc.get_mut(..lanes) else { return };
            if row > 0 {
                acc.iter_mut().zip(sums).for_each(|(acc, sum)| *acc = sum.get());
            }
            dot::<S>(x, w, acc);
            if row.wrapping_add(1) == rows {
                sum.finish(o, acc, out);
            } else {
                acc.iter().zip(sums).for_each(|(acc, sum)| sum.set(*acc));
            }
            o += lanes;
        }
    }
}

/// A window as large as an image of `c` channels.
fn one_column(rows: usize, row_len: usize, c: usize) -> Pool {
    let columns = row_len.checked_div(c).unwrap_or(0);
    Pool {
        in_h: rows,
        in_w: columns,
        c,
        out_w: 1,
        k_h: rows,
        k_w: columns,
        stride_h: 1,
        stride_w: 1,
        pad_top: 0,
        pad_left: 0,
    }
}

/// Folds the taps of each window in the rows of a band into its sum; after the last row, `finish` gets their number and the range of results as well.
#[inline(always)]
fn absorb<T: Copy, A: Copy>(
    p: &Pool,
    x: Rows<'_, T>,
    sums: &[Cell<A>],
    y: &[Cell<T>],
    band: Band,
    range: [A; 2],
    start: A,
    fold: impl Fn(A, T) -> A,
    finish: impl Fn(A, u32, [A; 2]) -> T,
) {
    let pitch = p.c.max(1);
    for (row, image) in x.of_band(band) {
        for (column, (sums, out)) in
            sums.chunks_exact(pitch).zip(y.chunks_exact(pitch)).take(p.out_w).enumerate()
        {
            let (left, right) = inside(column.wrapping_mul(p.stride_w), p.pad_left, p.k_w, p.in_w);
            if row == 0 {
                sums.iter().for_each(|sum| sum.set(start));
            }
            let taps = image.get(left.wrapping_mul(pitch)..right.wrapping_mul(pitch)).unwrap_or(&[]);
            for tap in taps.chunks_exact(pitch) {
                for (sum, x) in sums.iter().zip(tap) {
                    sum.set(fold(sum.get(), x.get()));
                }
            }
            if row.wrapping_add(1) == p.in_h {
                let taps = p.in_h.wrapping_mul(right - left) as u32;
                for (sum, out) in sums.iter().zip(out) {
                    out.set(finish(sum.get(), taps, range));
                }
            }
        }
    }
}
