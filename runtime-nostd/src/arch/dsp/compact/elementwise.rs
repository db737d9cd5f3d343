//! Sums of tensors.

use crate::params::AddLinear;
use crate::rows::{Read, ReadSlice};
use core::cell::Cell;

/// As [`add_i8_dsp`](crate::kernels::add_i8_dsp), with a shift that is told at run time: 1 to 31.
#[inline(always)]
pub fn add_i8_dsp_compact(p: &AddLinear, shift: u32, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    add(p, shift, a.slice(), b.slice(), y);
}

#[inline(never)]
fn add(p: &AddLinear, shift: u32, a: impl ReadSlice<i8>, b: impl ReadSlice<i8>, y: &[Cell<i8>]) {
    let AddLinear { x: by_a, y: by_b, start } = *p;
    let part = |factor: i32, x: i8| ((i64::from(factor) * i64::from(i16::from(x) << 8)) >> 16) as i32;
    for ((a, b), y) in a.each().zip(b.each()).zip(y) {
        let sum = start.wrapping_add(part(by_a, a)).wrapping_add(part(by_b, b));
        y.set((sum >> shift.min(31)).clamp(-128, 127) as i8);
    }
}
