//! Stored values from real ones in plain Rust.
#![allow(unsafe_code)]

use crate::arch::portable::convert::stored_i8;
use crate::params::QuantizeLinear;

/// By the definition.
///
/// # Safety
/// `n` elements may be read and written.
#[inline(always)]
pub(crate) unsafe fn quantize<const LOW: bool>(p: &QuantizeLinear, x: *const f32, y: *mut i8, n: usize) {
    for i in 0..n {
        // SAFETY: the caller allows it.
        unsafe { *y.add(i) = stored_i8(*x.add(i), p.scale, p.zero_point) };
    }
}
