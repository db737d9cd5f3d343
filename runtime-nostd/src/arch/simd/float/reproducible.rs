//! Kernels of floats whose results have the same bits on every processor: those of the portable kernels, which are the interpreter's.
//!
//! Lanes are results of their own, and each sum is made in the order of the portable kernel, product by product ([`Apart`](crate::arch::simd::apart::Apart)). Sums over a row, which vectors would divide
//! among their lanes, are made one by one, those of several rows at a time. Functions are those of the portable kernels.
//!
//! Padding is added here and left out there: a product of 0 changes no sum, as long as weights are finite (of others the compiler makes no such call), since no sum is −0.

use super::conv::conv;
use super::dense::vector_f32_simd;
use super::depthwise::depthwise;
use super::lanes::{exps, gelus, logistics, LANES};
use super::layer;
use super::matmul::{products, with_operands};
use super::reduce::row_of_means;
use crate::arch::portable::dense::matrix;
use crate::arch::portable::reduce::mean_f32;
use crate::arch::portable::sum::clip;
use crate::arch::simd::dispatch::kernel;
use crate::arch::simd::Simd;
use crate::params::{Conv, MatMul, Reduce};
use crate::rows::{Band, Read, Rows};
use core::cell::Cell;

layer! {
    /// As [`conv2d_f32_simd`](crate::kernels::conv2d_f32_simd), with the bits of [`conv2d_f32`](crate::kernels::conv2d_f32) where weights are finite.
    pub fn conv2d_f32_simd_reproducible = conv of Apart
}

layer! {
    /// As [`depthwise2d_f32_simd`](crate::kernels::depthwise2d_f32_simd), with the bits of [`depthwise2d_f32`](crate::kernels::depthwise2d_f32) where weights are finite.
    pub fn depthwise2d_f32_simd_reproducible = depthwise of Apart
}

/// As [`dense_f32_simd`](crate::kernels::dense_f32_simd), with the bits of [`dense_f32`](crate::kernels::dense_f32).
pub fn dense_f32_simd_reproducible(
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
        _ => conv2d_f32_simd_reproducible(&matrix(x.row_len(), y.row_len()), x, w, lo, hi, work, y, band),
    }
}

/// As [`matmul_f32_simd`](crate::kernels::matmul_f32_simd), with the bits of [`matmul_f32`](crate::kernels::matmul_f32).
#[inline(always)]
pub fn matmul_f32_simd_reproducible(
    p: &MatMul,
    lo: f32,
    hi: f32,
    a: impl Read<f32>,
    b: impl Read<f32>,
    y: &[Cell<f32>],
    work: &[Cell<f32>],
) {
    with_operands(p, lo, hi, a, b, y, work, matrices_apart);
}

kernel! {
    /// All products; operands, result and workspace are as long as they have to be.
    fn matrices_apart(p: &MatMul, range: [f32; 2], operands: [*const f32; 2], y: &[Cell<f32>], work: &[Cell<f32>])
        = products of Apart
}

/// Rows that are summed at a time: an addition takes as long as several others can begin.
const ROWS: usize = 8;

kernel! {
    /// As [`mean_f32`], with the same bits: rows of elements side by side are summed several at a time.
    pub fn mean_f32_simd_reproducible(p: &Reduce, lo: f32, hi: f32, x: &[Cell<f32>], y: &[Cell<f32>]) = means
}

#[inline(always)]
unsafe fn means<S: Simd>(p: &Reduce, lo: f32, hi: f32, x: &[Cell<f32>], y: &[Cell<f32>]) {
    let Some(len) = row_of_means(p, x, y) else { return mean_f32(p, lo, hi, x, y) };
    for (x, y) in x.chunks(len.saturating_mul(ROWS)).zip(y.chunks(ROWS)) {
        for (sum, y) in sums(len, x).into_iter().zip(y) {
            y.set(clip(sum / len as f32, lo, hi));
        }
    }
}

/// The sums of at most [`ROWS`] rows of `len` elements, each in order.
#[inline(always)]
fn sums(len: usize, x: &[Cell<f32>]) -> [f32; ROWS] {
    let mut sums = [0.0; ROWS];
    let mut rows = [&x[..0]; ROWS];
    for (row, x) in rows.iter_mut().zip(x.chunks_exact(len)) {
        *row = x;
    }
    if x.len() / len == ROWS {
        // Of known lengths.
        let rows = rows.map(|row| &row[..len]);
        for i in 0..len {
            for (sum, row) in sums.iter_mut().zip(&rows) {
                *sum += row[i].get();
            }
        }
    } else {
        for (sum, row) in sums.iter_mut().zip(&rows) {
            *sum = row.iter().fold(0.0, |sum, x| sum + x.get());
        }
    }
    sums
}

kernel! {
    /// As [`softmax_f32`](crate::kernels::softmax_f32), with the same bits.
    pub fn softmax_f32_simd_reproducible(depth: usize, beta: f32, x: &[Cell<f32>], y: &[Cell<f32>]) = softmax
}

#[inline(always)]
unsafe fn softmax<S: Simd>(depth: usize, beta: f32, x: &[Cell<f32>], y: &[Cell<f32>]) {
    let depth = depth.max(1);
    let several = depth.saturating_mul(ROWS);
    for (x, y) in x.chunks(several).zip(y.chunks(several)) {
        for (x, y) in x.chunks_exact(depth).zip(y.chunks_exact(depth)) {
            let most = largest(x);
            mapped(x, y, |x| exps(x.map(|x| (x - most) * beta)));
        }
        for (sum, y) in sums(depth, y).into_iter().zip(y.chunks_exact(depth)) {
            mapped(y, y, |y| y.map(|y| y / sum));
        }
    }
}

/// The largest element that is a number; `f32::MIN` where none is larger.
#[inline(always)]
fn largest(x: &[Cell<f32>]) -> f32 {
    let mut most = [f32::MIN; LANES];
    let blocks = x.chunks_exact(LANES);
    let rest = blocks.remainder();
    let larger = |most: f32, x: f32| if most < x { x } else { most };
    for block in blocks {
        for i in 0..LANES {
            most[i] = larger(most[i], block[i].get());
        }
    }
    let most = most.into_iter().fold(f32::MIN, larger);
    rest.iter().fold(most, |most, x| larger(most, x.get()))
}

kernel! {
    /// As [`exp_f32`](crate::kernels::exp_f32), with the same bits.
    pub fn exp_f32_simd_reproducible(x: &[Cell<f32>], y: &[Cell<f32>]) = all_exps
}

#[inline(always)]
unsafe fn all_exps<S: Simd>(x: &[Cell<f32>], y: &[Cell<f32>]) {
    mapped(x, y, exps);
}

kernel! {
    /// As [`logistic_f32`](crate::kernels::logistic_f32), with the same bits.
    pub fn logistic_f32_simd_reproducible(x: &[Cell<f32>], y: &[Cell<f32>]) = all_logistics
}

#[inline(always)]
unsafe fn all_logistics<S: Simd>(x: &[Cell<f32>], y: &[Cell<f32>]) {
    mapped(x, y, logistics);
}

kernel! {
    /// As [`gelu_f32`](crate::kernels::gelu_f32), with the same bits.
    pub fn gelu_f32_simd_reproducible(x: &[Cell<f32>], y: &[Cell<f32>]) = all_gelus
}

#[inline(always)]
unsafe fn all_gelus<S: Simd>(x: &[Cell<f32>], y: &[Cell<f32>]) {
    mapped(x, y, gelus);
}

/// Applies `f` to all elements, in order.
#[inline(always)]
fn mapped(x: &[Cell<f32>], y: &[Cell<f32>], f: impl Fn([f32; LANES]) -> [f32; LANES]) {
    for (x, y) in x.chunks(LANES).zip(y.chunks(LANES)) {
        let mut block = [0.0; LANES];
        if x.len() == LANES && y.len() == LANES {
            for i in 0..LANES {
                block[i] = x[i].get();
            }
            let block = f(block);
            for i in 0..LANES {
                y[i].set(block[i]);
            }
        } else {
            block.iter_mut().zip(x).for_each(|(to, x)| *to = x.get());
            f(block).into_iter().zip(y).for_each(|(value, y)| y.set(value));
        }
    }
}
