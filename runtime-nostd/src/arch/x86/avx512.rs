//! Vectors of 512 bits: AVX-512 F, BW, DQ, VL and VNNI.
// As in `x86`; and the build script sees to it that no compiler sees what it does not know.
#![allow(unsafe_code, unused_unsafe, clippy::indexing_slicing, clippy::incompatible_msrv)]

use crate::arch::vector::{operations, Clamp, Simd};
use core::arch::x86_64::*;

/// AVX-512 with VNNI.
#[derive(Clone, Copy)]
pub(crate) struct Avx512;

// SAFETY: callers see to it that the processor has all of them.
unsafe impl Simd for Avx512 {
    const LANES: usize = 16;
    const FLIP: u8 = 0x80;
    const PIXELS: usize = 8;
    const FLOAT_PIXELS: usize = 8;

    type Half = crate::arch::x86::avx2::Avx2;
    type I = __m512i;
    type F = __m512;
    type X = __m512i;
    type W = __m512i;

    operations! {
        fn load_i(from: *const i32) -> __m512i = _mm512_loadu_si512(from.cast());
        fn store_i(x: __m512i, to: *mut i32) = _mm512_storeu_si512(to.cast(), x);
        fn splat_i(x: i32) -> __m512i = _mm512_set1_epi32(x);
        fn add_i(a: __m512i, b: __m512i) -> __m512i = _mm512_add_epi32(a, b);
        fn mul_i(a: __m512i, b: __m512i) -> __m512i = _mm512_mullo_epi32(a, b);
        fn shift_right_i(x: __m512i, by: u32) -> __m512i = _mm512_sra_epi32(x, _mm_cvtsi32_si128(by as i32));
        fn widen(from: *const i8) -> __m512i = _mm512_cvtepi8_epi32(_mm_loadu_si128(from.cast()));
        fn broadcast(from: *const u8) -> __m512i = _mm512_set1_epi32(from.cast::<i32>().read_unaligned());
        fn operand(from: *const u8) -> __m512i = _mm512_loadu_si512(from.cast());
        fn weights(from: *const i8) -> __m512i = _mm512_loadu_si512(from.cast());
        fn dot(acc: __m512i, x: __m512i, w: __m512i) -> __m512i = _mm512_dpbusd_epi32(acc, x, w);
        // Rows are valid for 64 bytes, `to` for 256.
        fn interleave(rows: [*const u8; 4], to: *mut u8) = {
            let a = _mm512_loadu_si512(rows[0].cast());
            let b = _mm512_loadu_si512(rows[1].cast());
            let c = _mm512_loadu_si512(rows[2].cast());
            let d = _mm512_loadu_si512(rows[3].cast());
            let (ab, cd) = (_mm512_unpacklo_epi8(a, b), _mm512_unpacklo_epi8(c, d));
            let (first, second) = (_mm512_unpacklo_epi16(ab, cd), _mm512_unpackhi_epi16(ab, cd));
            let (ab, cd) = (_mm512_unpackhi_epi8(a, b), _mm512_unpackhi_epi8(c, d));
            let (third, fourth) = (_mm512_unpacklo_epi16(ab, cd), _mm512_unpackhi_epi16(ab, cd));
            // Each has four bytes of each quarter: their quarters are transposed.
            let (low, high) = (
                _mm512_shuffle_i32x4::<0b01_00_01_00>(first, second),
                _mm512_shuffle_i32x4::<0b11_10_11_10>(first, second),
            );
            let (low_2, high_2) = (
                _mm512_shuffle_i32x4::<0b01_00_01_00>(third, fourth),
                _mm512_shuffle_i32x4::<0b11_10_11_10>(third, fourth),
            );
            let to = to.cast::<__m512i>();
            _mm512_storeu_si512(to.cast(), _mm512_shuffle_i32x4::<0b10_00_10_00>(low, low_2));
            _mm512_storeu_si512(to.add(1).cast(), _mm512_shuffle_i32x4::<0b11_01_11_01>(low, low_2));
            _mm512_storeu_si512(to.add(2).cast(), _mm512_shuffle_i32x4::<0b10_00_10_00>(high, high_2));
            _mm512_storeu_si512(to.add(3).cast(), _mm512_shuffle_i32x4::<0b11_01_11_01>(high, high_2));
        };
        fn round_away(acc: __m512i, factor: __m512, half: __m512) -> __m512i = {
            let acc = _mm512_cvtepi32_ps(acc);
            let sign = _mm512_and_ps(acc, _mm512_set1_ps(-0.0));
            _mm512_cvttps_epi32(_mm512_add_ps(_mm512_mul_ps(acc, factor), _mm512_or_ps(half, sign)))
        };
        fn round_even(acc: __m512i, factor: __m512) -> __m512i =
            _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(acc), factor));
        fn round_nearest(acc: __m512i, factor: __m512, constant: __m512) -> __m512i = {
            let product = _mm512_mul_ps(_mm512_cvtepi32_ps(acc), factor);
            _mm512_cvtps_epi32(_mm512_add_ps(product, constant))
        };
        fn round_twice(acc: __m512i, multiplier: __m512i, shift: __m512i) -> __m512i = {
            let half = _mm512_set1_epi64(1 << 30);
            let even = _mm512_add_epi64(_mm512_mul_epi32(acc, multiplier), half);
            let (acc, multiplier) = (_mm512_srli_epi64::<32>(acc), _mm512_srli_epi64::<32>(multiplier));
            let odd = _mm512_add_epi64(_mm512_mul_epi32(acc, multiplier), half);
            // Bits 31 to 62 of each product.
            let (even, odd) = (_mm512_srli_epi64::<31>(even), _mm512_slli_epi64::<1>(odd));
            let product = _mm512_mask_blend_epi32(0b1010_1010_1010_1010, even, odd);
            let towards_zero = _mm512_add_epi32(product, _mm512_srai_epi32::<31>(product));
            let halves = _mm512_srav_epi32(towards_zero, shift);
            _mm512_srai_epi32::<1>(_mm512_add_epi32(halves, _mm512_set1_epi32(1)))
        };
        // `x` has one vector, and `to` is valid for sixteen bytes.
        fn narrow(x: &[__m512i], clamp: &Clamp, to: *mut i8) = {
            let words = _mm512_cvtsepi32_epi16(x[0]);
            let words = _mm256_adds_epi16(words, _mm256_set1_epi16(clamp.zero_point));
            let bytes = _mm256_cvtsepi16_epi8(words);
            let bytes = _mm_max_epi8(bytes, _mm_set1_epi8(clamp.lo));
            _mm_storeu_si128(to.cast(), _mm_min_epi8(bytes, _mm_set1_epi8(clamp.hi)));
        };
        fn load(from: *const f32) -> __m512 = _mm512_loadu_ps(from);
        fn store(x: __m512, to: *mut f32) = _mm512_storeu_ps(to, x);
        fn store_some(x: __m512, to: *mut f32, count: usize) =
            _mm512_mask_storeu_ps(to, ((1u32 << count) - 1) as u16, x);
        fn splat(x: f32) -> __m512 = _mm512_set1_ps(x);
        fn mul_add(acc: __m512, a: __m512, b: __m512) -> __m512 = _mm512_fmadd_ps(a, b, acc);
        fn add(a: __m512, b: __m512) -> __m512 = _mm512_add_ps(a, b);
        fn mul(a: __m512, b: __m512) -> __m512 = _mm512_mul_ps(a, b);
        fn sub(a: __m512, b: __m512) -> __m512 = _mm512_sub_ps(a, b);
        fn div(a: __m512, b: __m512) -> __m512 = _mm512_div_ps(a, b);
        // Of a NaN it gives the second operand.
        fn max(a: __m512, b: __m512) -> __m512 = _mm512_max_ps(a, b);
        fn sqrt(x: __m512) -> __m512 = _mm512_sqrt_ps(x);
        fn power(n: __m512) -> __m512 = {
            let exponent = _mm512_add_epi32(_mm512_cvtps_epi32(n), _mm512_set1_epi32(127));
            _mm512_castsi512_ps(_mm512_slli_epi32::<23>(exponent))
        };
        fn load_some(from: *const f32, count: usize, rest: f32) -> __m512 =
            _mm512_mask_loadu_ps(_mm512_set1_ps(rest), ((1u32 << count) - 1) as u16, from);
        // Of a NaN both give the second operand.
        fn clip(x: __m512, lo: __m512, hi: __m512) -> __m512 = _mm512_min_ps(hi, _mm512_max_ps(lo, x));
    }
}
