//! Means of floats.

use super::tile::{fold, some};
use crate::arch::portable::reduce::mean_f32;
use crate::arch::portable::sum::clip;
use crate::arch::simd::dispatch::kernel;
use crate::arch::simd::Simd;
use crate::params::Reduce;
use core::cell::Cell;

/// As [`mean_f32`](crate::kernels::mean_f32) in vectors where elements lie side by side: they are summed in another order.
pub fn mean_f32_simd(p: &Reduce, lo: f32, hi: f32, x: &[Cell<f32>], y: &[Cell<f32>]) {
    match row_of_means(p, x, y) {
        Some(len) => means(len, lo, hi, x, y),
        None => mean_f32(p, lo, hi, x, y),
    }
}

/// How many elements of a mean lie side by side, where all do and rows of them follow each other.
pub(super) fn row_of_means(p: &Reduce, x: &[Cell<f32>], y: &[Cell<f32>]) -> Option<usize> {
    let [front @ .., len] = p.inner;
    let inner = front == [1; 5] && p.inner_strides[5] == 1;
    // Outer axes that follow each other make up all of the operand.
    let mut stride = len;
    let behind = p.outer.iter().zip(&p.outer_strides).rev().all(|(&dim, &of)| {
        let follows = dim == 1 || of == stride;
        stride = stride.saturating_mul(dim);
        follows
    });
    let whole = stride == x.len() && y.len().checked_mul(len) == Some(stride);
    (inner && behind && len > 0 && whole).then_some(len)
}

kernel! {
    /// The mean of each row.
    fn means(len: usize, lo: f32, hi: f32, x: &[Cell<f32>], y: &[Cell<f32>]) = mean
}

#[inline(always)]
unsafe fn mean<S: Simd>(len: usize, lo: f32, hi: f32, x: &[Cell<f32>], y: &[Cell<f32>]) {
    for (x, y) in x.chunks_exact(len).zip(y) {
        // SAFETY: the row has so many elements.
        let sum = unsafe {
            let (mut sum, mut done) = (S::splat(0.0), 0);
            while done < len {
                sum = S::add(sum, some::<S>(x.as_ptr().cast::<f32>().add(done), len - done, 0.0));
                done += S::LANES;
            }
            fold::<S>(sum, |a, b| a + b)
        };
        y.set(clip(sum / len as f32, lo, hi));
    }
}
