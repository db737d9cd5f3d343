//! Softmax: elements of a row that become shares of one.

use super::math::exp_of_negative;
use super::tile::{fold, put, some};
use crate::arch::portable::softmax::softmax_f32;
use crate::arch::simd::dispatch::kernel;
use crate::arch::simd::Simd;
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
