//! Functions that no processor has, from sums and products.

use crate::arch::simd::Simd;

/// 1.5 · 2²³: added to numbers below 2²², it leaves them no fraction.
const WHOLE: f32 = 12_582_912.0;

/// ln 2 in two parts, of which the first has few enough bits for its multiples to be exact.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];

/// 1/2 and on to 1/7!: of the remainder, which is at most ln 2 / 2, the next term is below 2⁻²⁸.
const TERMS: [f32; 6] = [1.984_127e-4, 1.388_888_9e-3, 8.333_334e-3, 4.166_666_8e-2, 1.666_666_7e-1, 0.5];

/// eˣ to within three units in the last place; also of NaN and infinities.
///
/// # Safety
///
/// The processor has what `S` needs.
#[inline(always)]
pub(crate) unsafe fn exp<S: Simd>(x: S::F) -> S::F {
    // SAFETY: the caller's.
    unsafe {
        // Outside, eˣ is 0 or infinite, and the powers below would not be ones.
        let (n, sum) = parts::<S>(S::clip(x, S::splat(-110.0), S::splat(90.0)));
        // In two steps, so that the least and the greatest powers are reached.
        let half = whole::<S>(S::mul(n, S::splat(0.5)));
        S::mul(S::mul(sum, S::power(half)), S::power(S::sub(n, half)))
    }
}

/// As [`exp`] for x ≤ 0, with the least result 2⁻¹²⁶ instead of those below it and 0.
///
/// # Safety
///
/// As above.
#[inline(always)]
pub(crate) unsafe fn exp_of_negative<S: Simd>(x: S::F) -> S::F {
    // SAFETY: the caller's.
    unsafe {
        // 126 · ln 2, and no more.
        let (n, sum) = parts::<S>(S::clip(x, S::splat(-87.336_54), S::splat(0.0)));
        S::mul(sum, S::power(n))
    }
}

/// A whole number n, and eˣ / 2ⁿ.
#[inline(always)]
unsafe fn parts<S: Simd>(x: S::F) -> (S::F, S::F) {
    // SAFETY: the caller's.
    unsafe {
        let n = whole::<S>(S::mul(x, S::splat(core::f32::consts::LOG2_E)));
        let r = S::mul_add(x, n, S::splat(-LN_2[0]));
        let r = S::mul_add(r, n, S::splat(-LN_2[1]));
        let [first, rest @ ..] = TERMS;
        let mut sum = S::splat(first);
        for term in rest {
            sum = S::mul_add(S::splat(term), sum, r);
        }
        (n, S::add(S::mul_add(r, S::mul(r, r), sum), S::splat(1.0)))
    }
}

/// The nearest whole number; beyond 2²² another one.
#[inline(always)]
unsafe fn whole<S: Simd>(x: S::F) -> S::F {
    // SAFETY: the caller's.
    unsafe { S::sub(S::add(x, S::splat(WHOLE)), S::splat(WHOLE)) }
}

/// erf(|x|) to within 3·10⁻⁷: Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26.
///
/// # Safety
///
/// As above.
#[inline(always)]
pub(crate) unsafe fn erf_of_magnitude<S: Simd>(x: S::F) -> S::F {
    const A: [f32; 5] = [1.061_405_4, -1.453_152_1, 1.421_413_8, -0.284_496_72, 0.254_829_6];
    // SAFETY: the caller's.
    unsafe {
        let (zero, one) = (S::splat(0.0), S::splat(1.0));
        let x = S::max(x, S::sub(zero, x));
        let t = S::div(one, S::mul_add(one, x, S::splat(0.327_591_1)));
        let [first, rest @ ..] = A;
        let mut sum = S::splat(first);
        for a in rest {
            sum = S::mul_add(S::splat(a), sum, t);
        }
        let tail = S::mul(S::mul(sum, t), exp::<S>(S::sub(zero, S::mul(x, x))));
        S::sub(one, tail)
    }
}
