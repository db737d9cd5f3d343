//! Sums and products of tensors.
#![allow(unsafe_code)]

use crate::fixed::to_i8;
use crate::params::{AddLinear, MulParams};

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

/// `n` products with a second operand of as many elements, or of one if `REPEATED`.
///
/// # Safety
///
/// All have `n` elements. Results may lie over operands at the same place or before.
pub(crate) unsafe fn product_vectors<const REPEATED: bool>(
    p: &MulParams,
    a: *const i8,
    b: *const i8,
    y: *mut i8,
    n: usize,
) {
    // SAFETY: as the caller promises.
    let first = unsafe { *b };
    for i in 0..n {
        // SAFETY: as above.
        let (a, b) = unsafe { (*a.add(i), if REPEATED { first } else { *b.add(i) }) };
        let product = i32::from(a).wrapping_sub(p.x_zero).wrapping_mul(i32::from(b).wrapping_sub(p.y_zero));
        // SAFETY: as above.
        unsafe { *y.add(i) = to_i8(p.out.apply(product), p.out_zero, p.lo, p.hi) };
    }
}
