//! Sums of tensors.

use crate::params::AddLinear;
use crate::rows::{Read, ReadSlice};
use core::cell::Cell;

/// Sum or difference of `i8` operands of the same shape, with products of 32 bits: `clamp((start + a·x + b·y) >> SHIFT, −128, 127)`.
#[inline(always)]
pub fn add_i8_v6m<const SHIFT: u32>(p: &AddLinear, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    const { assert!(SHIFT <= 31) };
    add::<SHIFT>(p, a.slice(), b.slice(), y);
}

#[inline(never)]
fn add<const SHIFT: u32>(p: &AddLinear, a: impl ReadSlice<i8>, b: impl ReadSlice<i8>, y: &[Cell<i8>]) {
    let AddLinear { x: by_a, y: by_b, start } = *p;
    for ((a, b), y) in a.each().zip(b.each()).zip(y) {
        let sum = i32::from(a).wrapping_mul(by_a).wrapping_add(i32::from(b).wrapping_mul(by_b));
        y.set((sum.wrapping_add(start) >> SHIFT).clamp(-128, 127) as i8);
    }
}
