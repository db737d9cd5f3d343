//! Sums of tensors.
#![allow(unsafe_code)]

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
    let sum = |a: i8, b: i8| {
        let sum = i32::from(a).wrapping_mul(by_a).wrapping_add(i32::from(b).wrapping_mul(by_b));
        let z = sum.wrapping_add(start).wrapping_shr(shift);
        // One comparison finds all that is beyond 8 bits.
        let is_beyond = z.wrapping_add(128) as u32 > 255;
        if is_beyond {
            (z >> 31) as i8 ^ i8::MAX
        } else {
            z as i8
        }
    };
    let len = a.each().len().min(b.each().len()).min(y.len());
    let (mut a, mut b, mut y) = (a.start(), b.start(), y.as_ptr());
    let end = y.wrapping_add(len);
    let fours = y.wrapping_add(len & !3);
    // SAFETY: all three have `len` elements.
    unsafe {
        while y != fours {
            for at in 0..4 {
                (*y.add(at)).set(sum(*a.add(at), *b.add(at)));
            }
            (a, b, y) = (a.add(4), b.add(4), y.add(4));
        }
        while y != end {
            (*y).set(sum(*a, *b));
            (a, b, y) = (a.add(1), b.add(1), y.add(1));
        }
    }
}
