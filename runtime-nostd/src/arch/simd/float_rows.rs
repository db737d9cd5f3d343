//! Rows of floats that become one number, or shares of one: means and softmax.

use super::dispatch::kernel;
use super::float_math::exp_of_negative;
use super::float_tile::put;
use super::{Simd, BLOCK};
use crate::arch::portable::reduce::mean_f32;
use crate::arch::portable::softmax::softmax_f32;
use crate::arch::portable::sum::clip;
use crate::params::Reduce;
use core::cell::Cell;

kernel! {
    /// As [`softmax_f32`] in vectors: exponentials to within three units in the last place (the least of them is 2⁻¹²⁶), summed in another order.
    pub fn softmax_f32_simd(depth: usize, beta: f32, x: &[Cell<f32>], y: &[Cell<f32>]) = softmax
}

#[inline(always)]
unsafe fn softmax<S: Simd>(depth: usize, beta: f32, x: &[Cell<f32>], y: &[Cell<f32>]) {
    if beta < 0.0 {
        // Of what is below the largest one, powers would be large.
        return softmax_f32(depth, beta, x, y);
    }
    let depth = depth.max(1);
    for (x, y) in x.chunks_exact(depth).zip(y.chunks_exact(depth)) {
        let (x, y) = (x.as_ptr().cast::<f32>(), y.as_ptr().cast_mut().cast::<f32>());
        // SAFETY: the rows have so many elements.
        unsafe {
            let mut most = S::splat(f32::MIN);
            let mut done = 0;
            while done < depth {
                most = S::max(some::<S>(x.add(done), depth - done, f32::MIN), most);
                done += S::LANES;
            }
            let most = S::splat(fold::<S>(most, |a, b| if a < b { b } else { a }));
            let (mut sum, mut done) = (S::splat(0.0), 0);
            while done < depth {
                let difference = S::sub(some::<S>(x.add(done), depth - done, 0.0), most);
                let power = S::mul(difference, S::splat(beta));
                put::<S>(exp_of_negative::<S>(power), y.add(done), depth - done);
                sum = S::add(sum, some::<S>(y.add(done), depth - done, 0.0));
                done += S::LANES;
            }
            let share = S::splat(1.0 / fold::<S>(sum, |a, b| a + b));
            let mut done = 0;
            while done < depth {
                let exps = some::<S>(y.add(done), depth - done, 0.0);
                put::<S>(S::mul(exps, share), y.add(done), depth - done);
                done += S::LANES;
            }
        }
    }
}

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

/// As many of the next `left` elements as there are lanes; what is behind the last one is `rest`.
#[inline(always)]
unsafe fn some<S: Simd>(x: *const f32, left: usize, rest: f32) -> S::F {
    // SAFETY: the caller's pointer is valid for so many elements.
    unsafe {
        match left >= S::LANES {
            true => S::load(x),
            false => S::load_some(x, left, rest),
        }
    }
}

/// All lanes made one.
#[inline(always)]
unsafe fn fold<S: Simd>(x: S::F, f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [0.0; BLOCK];
    // SAFETY: no vector has more lanes than a block.
    unsafe { S::store(x, lanes.as_mut_ptr()) };
    let mut half = S::LANES / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] = f(lanes[i], lanes[half + i]);
        }
        half /= 2;
    }
    lanes[0]
}
