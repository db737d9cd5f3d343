//! Vectors of 256 bits with AVX-VNNI, which multiplies unsigned bytes with signed ones and adds four of the products.
// As in `x86`; and the build script sees to it that no compiler sees what it does not know.
#![allow(unsafe_code, unused_unsafe, clippy::indexing_slicing, clippy::incompatible_msrv)]

use crate::arch::vector::{operations, Clamp, Simd};
use crate::arch::x86::avx2::vectors;
use core::arch::x86_64::*;

/// AVX2, FMA and AVX-VNNI.
#[derive(Clone, Copy)]
pub(crate) struct AvxVnni;

// SAFETY: callers see to it that the processor has all three.
unsafe impl Simd for AvxVnni {
    const FLIP: u8 = 0x80;
    const PIXELS: usize = 6;

    type X = __m256i;
    type W = __m256i;

    operations! {
        fn broadcast(from: *const u8) -> __m256i = _mm256_set1_epi32(from.cast::<i32>().read_unaligned());
        fn operand(from: *const u8) -> __m256i = _mm256_loadu_si256(from.cast());
        fn weights(from: *const i8) -> __m256i = _mm256_loadu_si256(from.cast());
        fn dot(acc: __m256i, x: __m256i, w: __m256i) -> __m256i = _mm256_dpbusd_avx_epi32(acc, x, w);
    }

    vectors!();
}
