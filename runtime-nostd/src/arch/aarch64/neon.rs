//! Vectors of 128 bits: Advanced SIMD.

use crate::arch::vector::{operations, Clamp, Simd};
use core::arch::aarch64::*;

/// Advanced SIMD.
#[derive(Clone, Copy)]
pub(crate) struct Neon;

/// What Advanced SIMD has with and without dot products: all but products of bytes.
macro_rules! vectors {
    () => {
        const LANES: usize = 4;
        const FLIP: u8 = 0;
        // Of 32 registers, 24 are sums and four are weights.
        const FLOAT_PIXELS: usize = 6;

        type Half = Self;
        type I = int32x4_t;
        type F = float32x4_t;

        operations! {
            fn load_i(from: *const i32) -> int32x4_t = vreinterpretq_s32_s8(vld1q_s8(from.cast()));
            fn store_i(x: int32x4_t, to: *mut i32) = vst1q_s8(to.cast(), vreinterpretq_s8_s32(x));
            fn splat_i(x: i32) -> int32x4_t = vdupq_n_s32(x);
            fn add_i(a: int32x4_t, b: int32x4_t) -> int32x4_t = vaddq_s32(a, b);
            fn mul_i(a: int32x4_t, b: int32x4_t) -> int32x4_t = vmulq_s32(a, b);
            // To the left by less than nothing is to the right.
            fn shift_right_i(x: int32x4_t, by: u32) -> int32x4_t = vshlq_s32(x, vdupq_n_s32(-(by as i32)));
            fn widen(from: *const i8) -> int32x4_t = {
                let bytes = vreinterpret_s8_u32(vdup_n_u32(from.cast::<u32>().read_unaligned()));
                vmovl_s16(vget_low_s16(vmovl_s8(bytes)))
            };
            // Rows are valid for 16 bytes, `to` for 64.
            fn interleave(rows: [*const u8; 4], to: *mut u8) = {
                let [a, b, c, d] = rows.map(|row| vld1q_u8(row));
                vst4q_u8(to, uint8x16x4_t(a, b, c, d));
            };
            fn round_away(acc: int32x4_t, factor: float32x4_t, half: float32x4_t) -> int32x4_t = {
                let sign = vdupq_n_u32(1 << 31);
                let acc = vcvtq_f32_s32(acc);
                // All bits but the sign are those of `half`.
                let half = vbslq_f32(sign, acc, half);
                vcvtq_s32_f32(vaddq_f32(vmulq_f32(acc, factor), half))
            };
            fn round_even(acc: int32x4_t, factor: float32x4_t) -> int32x4_t =
                vcvtnq_s32_f32(vmulq_f32(vcvtq_f32_s32(acc), factor));
            fn round_nearest(acc: int32x4_t, factor: float32x4_t, constant: float32x4_t) -> int32x4_t =
                vcvtnq_s32_f32(vaddq_f32(vmulq_f32(vcvtq_f32_s32(acc), factor), constant));
            fn round_twice(acc: int32x4_t, multiplier: int32x4_t, shift: int32x4_t) -> int32x4_t = {
                let product = vqrdmulhq_s32(acc, multiplier);
                let towards_zero = vsraq_n_s32::<31>(product, product);
                // To the left by −1 − shift: to the right, rounded half up.
                vrshlq_s32(towards_zero, vmvnq_s32(shift))
            };
            // `x` has four vectors, and `to` is valid for sixteen bytes.
            fn narrow(x: &[int32x4_t], clamp: &Clamp, to: *mut i8) = {
                let zero_point = vdupq_n_s16(clamp.zero_point);
                let low = vqaddq_s16(vqmovn_high_s32(vqmovn_s32(x[0]), x[1]), zero_point);
                let high = vqaddq_s16(vqmovn_high_s32(vqmovn_s32(x[2]), x[3]), zero_point);
                let bytes = vqmovn_high_s16(vqmovn_s16(low), high);
                let bytes = vmaxq_s8(bytes, vdupq_n_s8(clamp.lo));
                vst1q_s8(to, vminq_s8(bytes, vdupq_n_s8(clamp.hi)));
            };
            fn load(from: *const f32) -> float32x4_t = vreinterpretq_f32_s8(vld1q_s8(from.cast()));
            fn store(x: float32x4_t, to: *mut f32) = vst1q_s8(to.cast(), vreinterpretq_s8_f32(x));
            fn splat(x: f32) -> float32x4_t = vdupq_n_f32(x);
            fn mul_add(acc: float32x4_t, a: float32x4_t, b: float32x4_t) -> float32x4_t = vfmaq_f32(acc, a, b);
            fn add(a: float32x4_t, b: float32x4_t) -> float32x4_t = vaddq_f32(a, b);
            fn mul(a: float32x4_t, b: float32x4_t) -> float32x4_t = vmulq_f32(a, b);
            fn sub(a: float32x4_t, b: float32x4_t) -> float32x4_t = vsubq_f32(a, b);
            fn div(a: float32x4_t, b: float32x4_t) -> float32x4_t = vdivq_f32(a, b);
            fn max(a: float32x4_t, b: float32x4_t) -> float32x4_t = vbslq_f32(vcgtq_f32(a, b), a, b);
            fn sqrt(x: float32x4_t) -> float32x4_t = vsqrtq_f32(x);
            fn power(n: float32x4_t) -> float32x4_t = {
                let exponent = vaddq_s32(vcvtq_s32_f32(n), vdupq_n_s32(127));
                vreinterpretq_f32_s32(vshlq_n_s32::<23>(exponent))
            };
            // The instructions for the greater and the lesser would turn −0 to 0 where the bound is 0.
            fn clip(x: float32x4_t, lo: float32x4_t, hi: float32x4_t) -> float32x4_t = {
                let x = vbslq_f32(vcltq_f32(x, lo), lo, x);
                vbslq_f32(vcgtq_f32(x, hi), hi, x)
            };
        }
    };
}

#[cfg(target_feature = "dotprod")]
pub(super) use vectors;

/// Four bytes of each lane: the first two of all lanes, and the last two.
#[derive(Clone, Copy)]
pub(crate) struct Halves(int8x8_t, int8x8_t);

// SAFETY: the module exists where programs are compiled for Advanced SIMD.
unsafe impl Simd for Neon {
    const PIXELS: usize = 4;

    type X = Halves;
    type W = Halves;

    operations! {
        fn broadcast(from: *const u8) -> Halves = {
            let from = from.cast::<i16>();
            let half = |at: *const i16| vreinterpret_s8_s16(vdup_n_s16(at.read_unaligned()));
            Halves(half(from), half(from.add(1)))
        };
        fn operand(from: *const u8) -> Halves = halves(vld1q_s8(from.cast()));
        fn weights(from: *const i8) -> Halves = halves(vld1q_s8(from));
        // A product of bytes fits 16 bits, the sum of two does not: -128 · -128 · 2.
        fn dot(acc: int32x4_t, x: Halves, w: Halves) -> int32x4_t =
            vpadalq_s16(vpadalq_s16(acc, vmull_s8(x.0, w.0)), vmull_s8(x.1, w.1));
    }

    vectors!();
}

/// The first two bytes of all lanes, and the last two.
#[inline(always)]
unsafe fn halves(bytes: int8x16_t) -> Halves {
    // SAFETY: no condition but the processor's.
    unsafe {
        let pairs = vreinterpretq_s16_s8(bytes);
        let (first, last) = (vuzp1q_s16(pairs, pairs), vuzp2q_s16(pairs, pairs));
        Halves(vget_low_s8(vreinterpretq_s8_s16(first)), vget_low_s8(vreinterpretq_s8_s16(last)))
    }
}
