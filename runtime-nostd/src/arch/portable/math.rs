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

/// eˣ.
#[cfg(feature = "micromath")]
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    micromath::F32(x).exp().0
}

/// tanh.
#[cfg(feature = "micromath")]
#[inline(always)]
pub(crate) fn tanh(x: f32) -> f32 {
    micromath::F32(x).tanh().0
}

/// The nearest integer, ties away from zero.
#[inline(always)]
pub(crate) fn round(x: f32) -> f32 {
    libm::roundf(x)
}
