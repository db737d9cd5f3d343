//! Stored values from real ones, without a division for each.
#![allow(unsafe_code)]

use crate::arch::dsp_floats::quantize;
use crate::params::QuantizeLinear;
use core::cell::Cell;

/// As [`quantize_f32_i8`](crate::kernels::quantize_f32_i8), about eleven cycles an element on cores with a floating-point unit, and eight if not
/// `LOW`: if `p.low` is not needed.
#[inline(never)]
pub fn quantize_f32_i8_dsp<const LOW: bool>(p: &QuantizeLinear, x: &[Cell<f32>], y: &[Cell<i8>]) {
    let n = x.len().min(y.len());
    // SAFETY: `n` is the length of the shorter slice.
    unsafe { quantize::<LOW>(p, x.as_ptr().cast(), y.as_ptr().cast_mut().cast(), n) };
}
