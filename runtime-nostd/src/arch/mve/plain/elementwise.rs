//! Sums of tensors.
#![allow(unsafe_code)]

use crate::params::AddLinear;

/// `n` sums.
///
/// # Safety
///
/// All have `n` elements. Results may lie over operands at the same place or before.
pub(crate) unsafe fn add_vectors<const SHIFT: u32>(
    p: &AddLinear,
    a: *const i8,
    b: *const i8,
    y: *mut i8,
    n: usize,
) {
    for i in 0..n {
        // SAFETY: as the caller promises.
        let (a, b) = unsafe { (*a.add(i), *b.add(i)) };
        let sum = i32::from(a).wrapping_mul(p.x).wrapping_add(i32::from(b).wrapping_mul(p.y));
        // SAFETY: as above.
        unsafe { *y.add(i) = (sum.wrapping_add(p.start) >> SHIFT).clamp(-128, 127) as i8 };
    }
}
