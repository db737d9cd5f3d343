//! Stored values from real ones, eight at a time.
#![allow(unsafe_code)]

use super::blocks::convert::quantize;
use crate::params::QuantizeLinear;
use core::cell::Cell;

/// As [`quantize_f32_i8`](crate::kernels::quantize_f32_i8), for cores with Helium; if `EVEN`, as [`quantize_f32_i8_even`](crate::kernels::quantize_f32_i8_even). `LOW` says whether `p.low` is
/// needed.
///
/// About two cycles an element.
#[inline(never)]
pub fn quantize_f32_i8_mve<const LOW: bool, const EVEN: bool>(
    p: &QuantizeLinear,
    x: &[Cell<f32>],
    y: &[Cell<i8>],
) {
    let n = x.len().min(y.len());
    // SAFETY: `n` is the length of the shorter slice, and cells may be written through a shared reference.
    unsafe { quantize::<LOW, EVEN>(p, x.as_ptr().cast(), y.as_ptr().cast_mut().cast(), n) };
}
