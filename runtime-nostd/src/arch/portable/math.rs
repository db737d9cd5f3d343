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
