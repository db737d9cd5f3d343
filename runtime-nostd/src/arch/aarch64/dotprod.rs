//! Advanced SIMD with the dot products of Armv8.4, which multiply bytes and add four of the products.

use super::neon::vectors;
use crate::arch::vector::{operations, Clamp, Simd};
use core::arch::aarch64::*;
use core::arch::asm;

/// Advanced SIMD with FEAT_DotProd.
#[derive(Clone, Copy)]
pub(crate) struct DotProduct;

// SAFETY: the module exists where programs are compiled for both.
unsafe impl Simd for DotProduct {
    const PIXELS: usize = 6;

    type X = int8x16_t;
    type W = int8x16_t;

    operations! {
        fn broadcast(from: *const u8) -> int8x16_t =
            vreinterpretq_s8_s32(vdupq_n_s32(from.cast::<i32>().read_unaligned()));
        fn operand(from: *const u8) -> int8x16_t = vld1q_s8(from.cast());
        fn weights(from: *const i8) -> int8x16_t = vld1q_s8(from);
        // The intrinsic is unstable. The instruction reads and writes these registers only.
        fn dot(acc: int32x4_t, x: int8x16_t, w: int8x16_t) -> int32x4_t = {
            let mut acc = acc;
            asm!(
                "sdot {acc:v}.4s, {x:v}.16b, {w:v}.16b",
                acc = inout(vreg) acc,
                x = in(vreg) x,
                w = in(vreg) w,
                options(pure, nomem, nostack, preserves_flags),
            );
            acc
        };
    }

    vectors!();
}
