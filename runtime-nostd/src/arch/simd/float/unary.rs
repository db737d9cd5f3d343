//! Functions of one float.

use super::math::{erf_of_magnitude, exp};
use super::tile::put;
use crate::arch::simd::dispatch::kernel;
use crate::arch::simd::Simd;
use core::cell::Cell;

/// A function of floats.
pub(crate) trait Function {
    /// Its values.
    ///
    /// # Safety
    ///
    /// The processor has what `S` needs.
    unsafe fn of<S: Simd>(x: S::F) -> S::F;
}

macro_rules! functions {
    ($( $(#[doc = $doc:literal])+ $vis:vis fn $name:ident = $function:ident $x:ident $body:expr; )+) => {$(
        struct $function;

        impl Function for $function {
            #[inline(always)]
            unsafe fn of<S: Simd>($x: S::F) -> S::F {
                // SAFETY: the caller's.
                unsafe { $body }
            }
        }

        $(#[doc = $doc])+
        $vis fn $name(x: &[Cell<f32>], y: &[Cell<f32>]) {
            map::<$function>(x, y);
        }
    )+};
}

functions! {
    /// As [`exp_f32`](crate::kernels::exp_f32) in vectors, to within three units in the last place.
    pub fn exp_f32_simd = Exp x exp::<S>(x);
    /// As [`logistic_f32`](crate::kernels::logistic_f32) in vectors, to within six units in the last place.
    pub fn logistic_f32_simd = Logistic x {
        let (zero, one) = (S::splat(0.0), S::splat(1.0));
        // At most 1, so that the least results are reached.
        let e = exp::<S>(S::sub(zero, S::max(x, S::sub(zero, x))));
        // 1 from 0 on: below, and near it, e is the larger one.
        let numerator = S::max(e, S::clip(S::mul(x, S::splat(1e30)), zero, one));
        // 0 below −9: there the result is eˣ, as TFLite has it.
        let near = S::clip(S::mul_add(one, S::add(x, S::splat(9.0)), S::splat(1e30)), zero, one);
        S::div(numerator, S::mul_add(one, near, e))
    };
    /// As [`gelu_f32`](crate::kernels::gelu_f32) in vectors, to within 4·10⁻⁷ · |x|.
    pub fn gelu_f32_simd = Gelu x {
        // x + |x| · erf(|x|/√2) is twice what is asked for.
        let erf = erf_of_magnitude::<S>(S::mul(x, S::splat(core::f32::consts::FRAC_1_SQRT_2)));
        let magnitude = S::max(x, S::sub(S::splat(0.0), x));
        S::mul(S::splat(0.5), S::mul_add(x, magnitude, erf))
    };
    /// As [`rsqrt_f32`](crate::kernels::rsqrt_f32) in vectors, with the same results.
    pub fn rsqrt_f32_simd = Rsqrt x S::div(S::splat(1.0), S::sqrt(x));
    /// As [`sqrt_f32`](crate::kernels::sqrt_f32) in vectors, with the same results.
    pub fn sqrt_f32_simd = Sqrt x S::sqrt(x);
}

kernel! {
    /// Applies a function to all elements, in order.
    fn map<O: Function>(x: &[Cell<f32>], y: &[Cell<f32>]) = mapped
}

#[inline(always)]
unsafe fn mapped<S: Simd, O: Function>(x: &[Cell<f32>], y: &[Cell<f32>]) {
    let len = x.len().min(y.len());
    let (x, y) = (x.as_ptr().cast::<f32>(), y.as_ptr().cast_mut().cast::<f32>());
    // SAFETY: so many elements are there.
    unsafe {
        let mut done = 0;
        while done + S::LANES <= len {
            S::store(O::of::<S>(S::load(x.add(done))), y.add(done));
            done += S::LANES;
        }
        if done < len {
            put::<S>(O::of::<S>(S::load_some(x.add(done), len - done, 0.0)), y.add(done), len - done);
        }
    }
}
