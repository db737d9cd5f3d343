//! Rows of a softmax in plain Rust.
#![allow(unsafe_code)]

use crate::fixed::{high_mul, round_shift};

/// The largest of `n` elements.
///
/// # Safety
///
/// `n` elements may be read.
pub(crate) unsafe fn largest(x: *const i8, n: usize) -> i8 {
    // SAFETY: as the caller promises.
    (0..n).map(|i| unsafe { *x.add(i) }).max().unwrap_or(i8::MIN)
}

/// The sum of the exponentials of `n` elements, in Q12.19: each one is rounded half up.
///
/// # Safety
///
/// `n` elements may be read.
pub(crate) unsafe fn sum(exps: &[i32; 256], largest: i8, x: *const i8, n: usize) -> i64 {
    // SAFETY: as the caller promises.
    let exps = (0..n).map(|i| exponential(exps, largest, unsafe { *x.add(i) }));
    exps.fold(0i64, |sum, exp| sum.wrapping_add((i64::from(exp) + (1 << 11)) >> 12))
}

/// `n` results of 8 or 16 bits: exponentials times `by` in Q0.31, divided by a power of two, both rounded as the reference does it, plus `least`.
///
/// # Safety
///
/// `n` elements may be read, and `n` results written: of 16 bits if `WIDE`.
pub(crate) unsafe fn shares<const WIDE: bool>(
    exps: &[i32; 256],
    largest: i8,
    [by, shift, least]: [i32; 3],
    x: *const i8,
    y: *mut u8,
    n: usize,
) {
    for i in 0..n {
        // SAFETY: as the caller promises.
        let exp = exponential(exps, largest, unsafe { *x.add(i) });
        let result = round_shift(high_mul(exp, by), shift.unsigned_abs()).wrapping_add(least);
        // SAFETY: as above. Results have any address.
        unsafe {
            match WIDE {
                true => y.cast::<i16>().add(i).write_unaligned(result.clamp(-1 << 15, (1 << 15) - 1) as i16),
                false => y.add(i).write(result.clamp(-128, 127) as u8),
            }
        }
    }
}

fn exponential(exps: &[i32; 256], largest: i8, x: i8) -> i32 {
    exps.get(usize::from(largest.abs_diff(x))).copied().unwrap_or(0)
}
