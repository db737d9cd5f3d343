//! Sums of tensors.

use crate::params::AddLinear;
use crate::rows::{Read, ReadSlice};
use core::cell::Cell;

/// Sum or difference of `i8` operands of the same shape: `clamp((start + a·x + b·y) >> shift, −128, 127)`, with products of 32 bits.
#[inline(always)]
pub fn add_i8_rv32(p: &AddLinear, shift: u32, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    add(p, shift, a.slice(), b.slice(), y);
}

#[inline(never)]
fn add(p: &AddLinear, shift: u32, a: impl ReadSlice<i8>, b: impl ReadSlice<i8>, y: &[Cell<i8>]) {
    let AddLinear { x: by_a, y: by_b, start } = *p;
    for ((a, b), y) in a.each().zip(b.each()).zip(y) {
        let sum = i32::from(a).wrapping_mul(by_a).wrapping_add(i32::from(b).wrapping_mul(by_b));
        let z = sum.wrapping_add(start).wrapping_shr(shift);
        // One comparison finds all that is beyond 8 bits.
        let is_beyond = z.wrapping_add(128) as u32 > 255;
        y.set(if is_beyond { (z >> 31) as i8 ^ i8::MAX } else { z as i8 });
    }
}
