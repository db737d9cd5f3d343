//! Stored values from real ones in plain Rust.
#![allow(unsafe_code)]

use crate::arch::portable::convert::stored_i8;
use crate::arch::portable::math::round_even;
use crate::params::QuantizeLinear;

/// By the definition.
///
/// # Safety
///
/// `n` elements may be read and written.
pub(crate) unsafe fn quantize<const LOW: bool, const EVEN: bool>(
    p: &QuantizeLinear,
    x: *const f32,
    y: *mut i8,
    n: usize,
) {
    for i in 0..n {
        // SAFETY: as the caller promises.
        let x = unsafe { *x.add(i) };
        let stored = match EVEN {
            true => round_even(x / p.scale).saturating_add(p.zero_point).clamp(-128, 127) as i8,
            false => stored_i8(x, p.scale, p.zero_point),
        };
        // SAFETY: as above.
        unsafe { *y.add(i) = stored };
    }
}
