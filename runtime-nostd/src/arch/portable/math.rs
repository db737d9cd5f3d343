//! The functions that `core` does not have.
//!
//! With the feature `micromath`, `exp` and `tanh` are approximations; their error is stated at each and held to by a test.

/// eˣ, to within one unit in the last place.
#[cfg(not(feature = "micromath"))]
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    libm::expf(x)
}

/// tanh, to within two units in the last place.
#[cfg(not(feature = "micromath"))]
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    libm::tanhf(x)
}

/// eˣ, with a relative error below 0.25 %; 0 below −87, infinite above 88.
#[cfg(feature = "micromath")]
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    // Outside of these bounds the approximation leaves the range of exponents.
    if x < -87.0 {
        0.0
    } else if x > 88.0 {
        f32::INFINITY
    } else if x.is_nan() {
        x
    } else {
        micromath::F32(x).exp().0
    }
}

/// tanh, with an absolute error below 0.0011.
#[cfg(feature = "micromath")]
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    1.0 - 2.0 / (exp(2.0 * x) + 1.0)
}

/// The nearest integer, ties away from zero.
#[inline(always)]
pub(crate) fn round(x: f32) -> f32 {
    libm::roundf(x)
}

/// The nearest integer, ties to even; what is beyond ±2¹⁷ becomes that, NaN 0.
#[inline(always)]
pub(crate) fn round_even(x: f32) -> i32 {
    // Added to 1.5 · 2²³, a number loses its fraction, as the sum has one bit for each integer.
    const UNIT: f32 = 12_582_912.0;
    const MOST: f32 = 131_072.0;
    // Compared as an integer: for cores with Helium, LLVM 22 may make a vector of comparisons with NaN that is false for NaN.
    if x.to_bits() << 1 > f32::INFINITY.to_bits() << 1 {
        return 0;
    }
    let x = if x > MOST { MOST } else { x };
    let x = if x < -MOST { -MOST } else { x };
    ((x + UNIT).to_bits() as i32).wrapping_sub(UNIT.to_bits() as i32)
}

/// What the whole multiples of `b` leave of `a`, exactly, with the sign of `a`; NaN for infinite `a`, for `b` = 0 and for NaN. As C's `fmodf`; that of
/// `libm` has divisions of which the compiler cannot tell that they never panic.
#[inline(never)]
pub(crate) fn fmod(a: f32, b: f32) -> f32 {
    if !a.is_finite() || b.is_nan() || b == 0.0 {
        return f32::NAN;
    }
    if libm::fabsf(a) < libm::fabsf(b) {
        return a;
    }
    let ((mut rest, from), (divisor, to)) = (mantissa(a), mantissa(b));
    // Mantissas have 24 bits: the rest is always less than twice the divisor.
    for _ in to..from {
        rest = (if rest >= divisor { rest - divisor } else { rest }) << 1;
    }
    if rest >= divisor {
        rest -= divisor;
    }
    // Powers of two from 2⁻¹⁷² on are ordinary numbers in `f64`, and the result is one in `f32`.
    let power = f64::from_bits(((1023 + to) as u64) << 52);
    libm::copysignf((f64::from(rest) * power) as f32, a)
}

/// |x| = m · 2ᵉ for a finite number that is not 0: m of 24 bits, the first of them set, and e.
#[inline(always)]
fn mantissa(x: f32) -> (u32, i32) {
    let bits = libm::fabsf(x).to_bits();
    match (bits >> 23) as i32 {
        0 => {
            let up = bits.leading_zeros().saturating_sub(8);
            (bits << up, -149 - up as i32)
        }
        exponent => (bits & 0x7f_ffff | 0x80_0000, exponent - 150),
    }
}

#[cfg(test)]
mod tests {
    use super::fmod;

    #[test]
    fn fmod_is_that_of_the_standard_library() {
        let smallest = [1, 3, 0x7f_ffff].map(f32::from_bits);
        let others = [0.0, -0.0, 1.0, 3.0, 0.1, 1e30, f32::MAX, f32::MIN_POSITIVE, f32::INFINITY, f32::NAN];
        let mut state = 1u32;
        let random = [(); if cfg!(miri) { 2 } else { 300 }].map(|()| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from_bits(state)
        });
        let values = || smallest.iter().chain(&others).chain(&random).copied();
        for a in values() {
            for b in values() {
                for b in [b, -b] {
                    let (got, wanted) = (fmod(a, b), a % b);
                    let same = got.to_bits() == wanted.to_bits() || (got.is_nan() && wanted.is_nan());
                    assert!(same, "{a:e} % {b:e}: {got:e} instead of {wanted:e}");
                }
            }
        }
    }
}
