//! Vectors of 128 bits: the proposal "fixed-width SIMD", part of WebAssembly 2.0.

use crate::arch::vector::{operations, Clamp, Simd};
use core::arch::wasm32::*;

/// Fixed-width SIMD.
#[derive(Clone, Copy)]
pub(crate) struct Simd128;

/// Four bytes of each lane as two pairs of words: those at even places, and those at odd ones.
#[derive(Clone, Copy)]
pub(crate) struct Pairs(v128, v128);

// SAFETY: the module exists where programs are compiled for it.
unsafe impl Simd for Simd128 {
    const LANES: usize = 4;
    const FLIP: u8 = 0;
    // Processors below have 16 registers or 32: eight of them are sums.
    const PIXELS: usize = 2;
    const FLOAT_PIXELS: usize = 2;

    type Half = Self;
    type I = v128;
    type F = v128;
    type X = Pairs;
    type W = Pairs;

    operations! {
        fn load_i(from: *const i32) -> v128 = v128_load(from.cast());
        fn store_i(x: v128, to: *mut i32) = v128_store(to.cast(), x);
        fn splat_i(x: i32) -> v128 = i32x4_splat(x);
        fn add_i(a: v128, b: v128) -> v128 = i32x4_add(a, b);
        fn mul_i(a: v128, b: v128) -> v128 = i32x4_mul(a, b);
        fn shift_right_i(x: v128, by: u32) -> v128 = i32x4_shr(x, by);
        fn widen(from: *const i8) -> v128 = {
            let bytes = i32x4_splat(from.cast::<i32>().read_unaligned());
            i32x4_extend_low_i16x8(i16x8_extend_low_i8x16(bytes))
        };
        fn broadcast(from: *const u8) -> Pairs = pairs(i32x4_splat(from.cast::<i32>().read_unaligned()));
        fn operand(from: *const u8) -> Pairs = pairs(v128_load(from.cast()));
        fn weights(from: *const i8) -> Pairs = pairs(v128_load(from.cast()));
        fn dot(acc: v128, x: Pairs, w: Pairs) -> v128 =
            i32x4_add(acc, i32x4_add(i32x4_dot_i16x8(x.0, w.0), i32x4_dot_i16x8(x.1, w.1)));
        // Rows are valid for 16 bytes, `to` for 64.
        fn interleave(rows: [*const u8; 4], to: *mut u8) = {
            let [a, b, c, d] = rows.map(|row| v128_load(row.cast()));
            let to = to.cast::<v128>();
            let (ab, cd) = (low_bytes(a, b), low_bytes(c, d));
            v128_store(to, low_pairs(ab, cd));
            v128_store(to.add(1), high_pairs(ab, cd));
            let (ab, cd) = (high_bytes(a, b), high_bytes(c, d));
            v128_store(to.add(2), low_pairs(ab, cd));
            v128_store(to.add(3), high_pairs(ab, cd));
        };
        fn round_away(acc: v128, factor: v128, half: v128) -> v128 = {
            let acc = f32x4_convert_i32x4(acc);
            let sign = v128_and(acc, u32x4_splat(1 << 31));
            i32x4_trunc_sat_f32x4(f32x4_add(f32x4_mul(acc, factor), v128_or(half, sign)))
        };
        fn round_even(acc: v128, factor: v128) -> v128 =
            i32x4_trunc_sat_f32x4(f32x4_nearest(f32x4_mul(f32x4_convert_i32x4(acc), factor)));
        fn round_nearest(acc: v128, factor: v128, constant: v128) -> v128 = {
            let product = f32x4_mul(f32x4_convert_i32x4(acc), factor);
            i32x4_trunc_sat_f32x4(f32x4_nearest(f32x4_add(product, constant)))
        };
        fn round_twice(acc: v128, multiplier: v128, shift: v128) -> v128 = {
            let product = high_product(acc, multiplier);
            let towards_zero = i32x4_add(product, i32x4_shr(product, 31));
            // Lanes are shifted by different numbers as products with 2^(30 − shift), which are floats with that exponent.
            let power = i32x4_shl(i32x4_sub(i32x4_splat(127 + 30), shift), 23);
            high_product(towards_zero, i32x4_trunc_sat_f32x4(power))
        };
        fn narrow(x: &[v128], clamp: &Clamp, to: *mut i8) = {
            let zero_point = i16x8_splat(clamp.zero_point);
            let low = i16x8_add_sat(i16x8_narrow_i32x4(x[0], x[1]), zero_point);
            let high = i16x8_add_sat(i16x8_narrow_i32x4(x[2], x[3]), zero_point);
            let bytes = i8x16_max(i8x16_narrow_i16x8(low, high), i8x16_splat(clamp.lo));
            v128_store(to.cast(), i8x16_min(bytes, i8x16_splat(clamp.hi)))
        };
        fn load(from: *const f32) -> v128 = v128_load(from.cast());
        fn store(x: v128, to: *mut f32) = v128_store(to.cast(), x);
        fn splat(x: f32) -> v128 = f32x4_splat(x);
        fn mul_add(acc: v128, a: v128, b: v128) -> v128 = f32x4_add(acc, f32x4_mul(a, b));
        fn add(a: v128, b: v128) -> v128 = f32x4_add(a, b);
        fn mul(a: v128, b: v128) -> v128 = f32x4_mul(a, b);
        fn sub(a: v128, b: v128) -> v128 = f32x4_sub(a, b);
        fn div(a: v128, b: v128) -> v128 = f32x4_div(a, b);
        fn max(a: v128, b: v128) -> v128 = {
            // b < a ? a : b.
            f32x4_pmax(b, a)
        };
        fn sqrt(x: v128) -> v128 = f32x4_sqrt(x);
        fn power(n: v128) -> v128 = i32x4_shl(i32x4_add(i32x4_trunc_sat_f32x4(n), i32x4_splat(127)), 23);
        fn clip(x: v128, lo: v128, hi: v128) -> v128 = {
            // Of a NaN both give the first operand.
            f32x4_pmin(f32x4_pmax(x, lo), hi)
        };
    }
}

/// Products divided by 2³¹, rounded half up.
#[inline(always)]
fn high_product(a: v128, b: v128) -> v128 {
    let half = i64x2_splat(1 << 30);
    let low = i64x2_shr(i64x2_add(i64x2_extmul_low_i32x4(a, b), half), 31);
    let high = i64x2_shr(i64x2_add(i64x2_extmul_high_i32x4(a, b), half), 31);
    i32x4_shuffle::<0, 2, 4, 6>(low, high)
}

/// Signed bytes as words.
#[inline(always)]
fn pairs(bytes: v128) -> Pairs {
    Pairs(i16x8_shr(i16x8_shl(bytes, 8), 8), i16x8_shr(bytes, 8))
}

/// Byte after byte of both low halves.
#[inline(always)]
fn low_bytes(a: v128, b: v128) -> v128 {
    i8x16_shuffle::<0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23>(a, b)
}

/// Byte after byte of both high halves.
#[inline(always)]
fn high_bytes(a: v128, b: v128) -> v128 {
    i8x16_shuffle::<8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31>(a, b)
}

/// Pair after pair of both low halves.
#[inline(always)]
fn low_pairs(a: v128, b: v128) -> v128 {
    i16x8_shuffle::<0, 8, 1, 9, 2, 10, 3, 11>(a, b)
}

/// Pair after pair of both high halves.
#[inline(always)]
fn high_pairs(a: v128, b: v128) -> v128 {
    i16x8_shuffle::<4, 12, 5, 13, 6, 14, 7, 15>(a, b)
}
