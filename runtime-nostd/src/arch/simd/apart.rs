//! Vectors whose products are rounded before they are added, on every processor: what a kernel computes with them has the same bits everywhere.

use super::{Clamp, Simd};
use core::marker::PhantomData;

/// The vectors of `S`, without its products and sums of one rounding.
#[derive(Clone, Copy)]
pub(crate) struct Apart<S>(PhantomData<S>);

/// Functions that are those of `S`.
macro_rules! as_before {
    ($( fn $name:ident($($arg:ident: $ty:ty),*) $(-> $result:ty)?; )+) => {$(
        #[inline(always)]
        unsafe fn $name($($arg: $ty),*) $(-> $result)? {
            // SAFETY: the caller's.
            unsafe { S::$name($($arg),*) }
        }
    )+};
}

// SAFETY: callers see to what `S` needs.
unsafe impl<S: Simd> Simd for Apart<S> {
    const LANES: usize = S::LANES;
    const FLIP: u8 = S::FLIP;
    const PIXELS: usize = S::PIXELS;
    const FLOAT_PIXELS: usize = S::FLOAT_PIXELS;

    type Half = Apart<S::Half>;
    type I = S::I;
    type F = S::F;
    type X = S::X;
    type W = S::W;

    #[inline(always)]
    unsafe fn mul_add(acc: S::F, a: S::F, b: S::F) -> S::F {
        // SAFETY: the caller's.
        unsafe { S::add(acc, S::mul(a, b)) }
    }

    as_before! {
        fn load_i(from: *const i32) -> S::I;
        fn store_i(x: S::I, to: *mut i32);
        fn splat_i(x: i32) -> S::I;
        fn add_i(a: S::I, b: S::I) -> S::I;
        fn mul_i(a: S::I, b: S::I) -> S::I;
        fn shift_right_i(x: S::I, by: u32) -> S::I;
        fn widen(from: *const i8) -> S::I;
        fn broadcast(from: *const u8) -> S::X;
        fn operand(from: *const u8) -> S::X;
        fn weights(from: *const i8) -> S::W;
        fn dot(acc: S::I, x: S::X, w: S::W) -> S::I;
        fn interleave(rows: [*const u8; 4], to: *mut u8);
        fn round_away(acc: S::I, factor: S::F, half: S::F) -> S::I;
        fn round_even(acc: S::I, factor: S::F) -> S::I;
        fn round_nearest(acc: S::I, factor: S::F, constant: S::F) -> S::I;
        fn round_twice(acc: S::I, multiplier: S::I, shift: S::I) -> S::I;
        fn narrow(x: &[S::I], clamp: &Clamp, to: *mut i8);
        fn load(from: *const f32) -> S::F;
        fn store(x: S::F, to: *mut f32);
        fn load_some(from: *const f32, count: usize, rest: f32) -> S::F;
        fn store_some(x: S::F, to: *mut f32, count: usize);
        fn splat(x: f32) -> S::F;
        fn add(a: S::F, b: S::F) -> S::F;
        fn sub(a: S::F, b: S::F) -> S::F;
        fn mul(a: S::F, b: S::F) -> S::F;
        fn div(a: S::F, b: S::F) -> S::F;
        fn max(a: S::F, b: S::F) -> S::F;
        fn sqrt(x: S::F) -> S::F;
        fn power(n: S::F) -> S::F;
        fn clip(x: S::F, lo: S::F, hi: S::F) -> S::F;
    }
}
