//! Vectors of 256 bits: AVX2 with FMA.

use crate::arch::vector::{operations, Clamp, Simd};
use core::arch::x86_64::*;

/// AVX2 and FMA.
#[derive(Clone, Copy)]
pub(crate) struct Avx2;

/// What all instruction sets with vectors of 256 bits have in common: all but products of bytes.
macro_rules! vectors {
    () => {
        const LANES: usize = 8;
        const FLOAT_PIXELS: usize = 6;

        type Half = Self;
        type I = __m256i;
        type F = __m256;

        operations! {
            fn load_i(from: *const i32) -> __m256i = _mm256_loadu_si256(from.cast());
            fn store_i(x: __m256i, to: *mut i32) = _mm256_storeu_si256(to.cast(), x);
            fn splat_i(x: i32) -> __m256i = _mm256_set1_epi32(x);
            fn add_i(a: __m256i, b: __m256i) -> __m256i = _mm256_add_epi32(a, b);
            fn mul_i(a: __m256i, b: __m256i) -> __m256i = _mm256_mullo_epi32(a, b);
            fn shift_right_i(x: __m256i, by: u32) -> __m256i =
                _mm256_sra_epi32(x, _mm_cvtsi32_si128(by as i32));
            fn widen(from: *const i8) -> __m256i = _mm256_cvtepi8_epi32(_mm_loadl_epi64(from.cast()));
            // Rows are valid for 32 bytes, `to` for 128.
            fn interleave(rows: [*const u8; 4], to: *mut u8) = {
                let [a, b, c, d] = rows.map(|row| _mm256_loadu_si256(row.cast()));
                let (ab, cd) = (_mm256_unpacklo_epi8(a, b), _mm256_unpacklo_epi8(c, d));
                let (first, second) = (_mm256_unpacklo_epi16(ab, cd), _mm256_unpackhi_epi16(ab, cd));
                let (ab, cd) = (_mm256_unpackhi_epi8(a, b), _mm256_unpackhi_epi8(c, d));
                let (third, fourth) = (_mm256_unpacklo_epi16(ab, cd), _mm256_unpackhi_epi16(ab, cd));
                // Each has the bytes of one half in its low half, and those of the other in its high half.
                let to = to.cast::<__m256i>();
                _mm256_storeu_si256(to, _mm256_permute2x128_si256::<0x20>(first, second));
                _mm256_storeu_si256(to.add(1), _mm256_permute2x128_si256::<0x20>(third, fourth));
                _mm256_storeu_si256(to.add(2), _mm256_permute2x128_si256::<0x31>(first, second));
                _mm256_storeu_si256(to.add(3), _mm256_permute2x128_si256::<0x31>(third, fourth));
            };
            fn round_away(acc: __m256i, factor: __m256, half: __m256) -> __m256i = {
                let acc = _mm256_cvtepi32_ps(acc);
                let sign = _mm256_and_ps(acc, _mm256_set1_ps(-0.0));
                _mm256_cvttps_epi32(_mm256_add_ps(_mm256_mul_ps(acc, factor), _mm256_or_ps(half, sign)))
            };
            fn round_even(acc: __m256i, factor: __m256) -> __m256i =
                _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(acc), factor));
            fn round_nearest(acc: __m256i, factor: __m256, constant: __m256) -> __m256i = {
                let product = _mm256_mul_ps(_mm256_cvtepi32_ps(acc), factor);
                _mm256_cvtps_epi32(_mm256_add_ps(product, constant))
            };
            fn round_twice(acc: __m256i, multiplier: __m256i, shift: __m256i) -> __m256i = {
                let half = _mm256_set1_epi64x(1 << 30);
                let even = _mm256_add_epi64(_mm256_mul_epi32(acc, multiplier), half);
                let (acc, multiplier) = (_mm256_srli_epi64::<32>(acc), _mm256_srli_epi64::<32>(multiplier));
                let odd = _mm256_add_epi64(_mm256_mul_epi32(acc, multiplier), half);
                // Bits 31 to 62 of each product.
                let (even, odd) = (_mm256_srli_epi64::<31>(even), _mm256_slli_epi64::<1>(odd));
                let product = _mm256_blend_epi32::<0b1010_1010>(even, odd);
                let towards_zero = _mm256_add_epi32(product, _mm256_srai_epi32::<31>(product));
                let halves = _mm256_srav_epi32(towards_zero, shift);
                _mm256_srai_epi32::<1>(_mm256_add_epi32(halves, _mm256_set1_epi32(1)))
            };
            // `x` has two vectors, and `to` is valid for sixteen bytes.
            fn narrow(x: &[__m256i], clamp: &Clamp, to: *mut i8) = {
                // Of each half of both: 0 to 3, 8 to 11, 4 to 7, 12 to 15.
                let words = _mm256_packs_epi32(x[0], x[1]);
                let words = _mm256_adds_epi16(words, _mm256_set1_epi16(clamp.zero_point));
                let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(words);
                let bytes =
                    _mm_packs_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
                let bytes = _mm_max_epi8(bytes, _mm_set1_epi8(clamp.lo));
                _mm_storeu_si128(to.cast(), _mm_min_epi8(bytes, _mm_set1_epi8(clamp.hi)));
            };
            fn load(from: *const f32) -> __m256 = _mm256_loadu_ps(from);
            fn store(x: __m256, to: *mut f32) = _mm256_storeu_ps(to, x);
            fn splat(x: f32) -> __m256 = _mm256_set1_ps(x);
            fn mul_add(acc: __m256, a: __m256, b: __m256) -> __m256 = _mm256_fmadd_ps(a, b, acc);
            fn add(a: __m256, b: __m256) -> __m256 = _mm256_add_ps(a, b);
            fn mul(a: __m256, b: __m256) -> __m256 = _mm256_mul_ps(a, b);
            fn sub(a: __m256, b: __m256) -> __m256 = _mm256_sub_ps(a, b);
            fn div(a: __m256, b: __m256) -> __m256 = _mm256_div_ps(a, b);
            // Of a NaN it gives the second operand.
            fn max(a: __m256, b: __m256) -> __m256 = _mm256_max_ps(a, b);
            fn sqrt(x: __m256) -> __m256 = _mm256_sqrt_ps(x);
            fn power(n: __m256) -> __m256 = {
                let exponent = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
                _mm256_castsi256_ps(_mm256_slli_epi32::<23>(exponent))
            };
            // Of a NaN both give the second operand.
            fn clip(x: __m256, lo: __m256, hi: __m256) -> __m256 = _mm256_min_ps(hi, _mm256_max_ps(lo, x));
        }
    };
}

#[allow(unused_imports)] // by older compilers
pub(crate) use vectors;

/// Four bytes of each lane as two pairs of words: those at even places, and those at odd ones.
#[derive(Clone, Copy)]
pub(crate) struct Pairs(__m256i, __m256i);

// SAFETY: callers see to it that the processor has AVX2 and FMA.
unsafe impl Simd for Avx2 {
    // Signed words: nothing has to be made unsigned.
    const FLIP: u8 = 0;
    const PIXELS: usize = 4;

    type X = Pairs;
    type W = Pairs;

    operations! {
        fn broadcast(from: *const u8) -> Pairs = pairs(_mm256_set1_epi32(from.cast::<i32>().read_unaligned()));
        fn operand(from: *const u8) -> Pairs = pairs(_mm256_loadu_si256(from.cast()));
        fn weights(from: *const i8) -> Pairs = pairs(_mm256_loadu_si256(from.cast()));
        fn dot(acc: __m256i, x: Pairs, w: Pairs) -> __m256i = {
            let sums = _mm256_add_epi32(_mm256_madd_epi16(x.0, w.0), _mm256_madd_epi16(x.1, w.1));
            _mm256_add_epi32(acc, sums)
        };
    }

    vectors!();
}

/// Signed bytes as words.
#[inline(always)]
unsafe fn pairs(bytes: __m256i) -> Pairs {
    // SAFETY: no condition but the processor's.
    unsafe { Pairs(_mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(bytes)), _mm256_srai_epi16::<8>(bytes)) }
}

/// AVX2 and FMA, for weights of which none is −128: magnitudes of operands times weights that have taken on their signs. Sums of two products fit 16 bits.
#[derive(Clone, Copy)]
pub(crate) struct Symmetric;

/// Bytes, and their magnitudes.
#[derive(Clone, Copy)]
pub(crate) struct Signed {
    bytes: __m256i,
    magnitudes: __m256i,
}

/// Magnitudes are at most 128: unsigned bytes.
#[inline(always)]
unsafe fn signed(bytes: __m256i) -> Signed {
    // SAFETY: no condition but the processor's.
    unsafe { Signed { bytes, magnitudes: _mm256_abs_epi8(bytes) } }
}

// SAFETY: callers see to it that the processor has AVX2 and FMA.
unsafe impl Simd for Symmetric {
    const FLIP: u8 = 0;
    const PIXELS: usize = 4;

    type X = Signed;
    type W = __m256i;

    operations! {
        fn broadcast(from: *const u8) -> Signed =
            signed(_mm256_set1_epi32(from.cast::<i32>().read_unaligned()));
        fn operand(from: *const u8) -> Signed = signed(_mm256_loadu_si256(from.cast()));
        fn weights(from: *const i8) -> __m256i = _mm256_loadu_si256(from.cast());
        fn dot(acc: __m256i, x: Signed, w: __m256i) -> __m256i = {
            let pairs = _mm256_maddubs_epi16(x.magnitudes, _mm256_sign_epi8(w, x.bytes));
            _mm256_add_epi32(acc, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)))
        };
    }

    vectors!();
}
