//! Sums and products of tensors.
#![allow(unsafe_code)]

use crate::arch::mve::elementwise::{Extreme, Floats, Pairs};
use crate::arch::portable::sum::clip;
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

impl Pairs<i8> for MulParams {
    unsafe fn vectors<const REPEATED: bool>(
        &self,
        a: *const i8,
        b: *const i8,
        y: *mut i8,
        n: usize,
        times: usize,
    ) {
        let of = |a: i8, b: i8| {
            let (a, b) = (i32::from(a).wrapping_sub(self.x_zero), i32::from(b).wrapping_sub(self.y_zero));
            to_i8(self.out.apply(a.wrapping_mul(b)), self.out_zero, self.lo, self.hi)
        };
        // SAFETY: as the caller promises.
        unsafe { each::<REPEATED, i8>(a, b, y, n, times, of) };
    }
}

impl<const MAX: bool> Pairs<i8> for Extreme<MAX> {
    unsafe fn vectors<const REPEATED: bool>(
        &self,
        a: *const i8,
        b: *const i8,
        y: *mut i8,
        n: usize,
        times: usize,
    ) {
        let of = |a: i8, b: i8| if MAX { a.max(b) } else { a.min(b) }.max(self.lo).min(self.hi);
        // SAFETY: as the caller promises.
        unsafe { each::<REPEATED, i8>(a, b, y, n, times, of) };
    }
}

impl<const OP: u32> Pairs<f32> for Floats<OP> {
    unsafe fn vectors<const REPEATED: bool>(
        &self,
        a: *const f32,
        b: *const f32,
        y: *mut f32,
        n: usize,
        times: usize,
    ) {
        let of = |a: f32, b: f32| {
            let result = match OP {
                0 => a + b,
                1 => a - b,
                2 => b - a,
                _ => a * b,
            };
            clip(result, self.lo, self.hi)
        };
        // SAFETY: as the caller promises.
        unsafe { each::<REPEATED, f32>(a, b, y, n, times, of) };
    }
}

/// One result after the other.
///
/// # Safety
///
/// As for [`Pairs::vectors`].
unsafe fn each<const REPEATED: bool, T: Copy>(
    a: *const T,
    b: *const T,
    y: *mut T,
    n: usize,
    times: usize,
    of: impl Fn(T, T) -> T,
) {
    // SAFETY: as the caller promises.
    let first = unsafe { *b };
    for i in 0..n * times {
        // SAFETY: as above.
        let (a, b) = unsafe { (*a.add(i), if REPEATED { first } else { *b.add(i % n) }) };
        // SAFETY: as above.
        unsafe { *y.add(i) = of(a, b) };
    }
}
