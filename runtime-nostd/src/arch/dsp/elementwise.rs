//! Sums of tensors.
#![allow(unsafe_code)]

use super::blocks::elementwise::add_blocks;
use crate::params::AddLinear;
use crate::rows::{Read, ReadSlice};
use core::cell::Cell;

/// Sum or difference of `i8` operands of the same shape: [`AddLinear`] with that shift, 1 to 31.
///
/// About six cycles an element.
#[inline(always)]
pub fn add_i8_dsp<const SHIFT: u32>(p: &AddLinear, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    const { assert!(SHIFT >= 1 && SHIFT <= 31) };
    add::<SHIFT>(p, a.slice(), b.slice(), y);
}

#[inline(never)]
fn add<const SHIFT: u32>(p: &AddLinear, a: impl ReadSlice<i8>, b: impl ReadSlice<i8>, y: &[Cell<i8>]) {
    let n = a.each().len().min(b.each().len()).min(y.len());
    let blocks = n / 4;
    // SAFETY: each slice has `n` elements at least, which are no fewer than 4 · blocks.
    unsafe { add_blocks::<SHIFT>(p, a.start(), b.start(), y.as_ptr().cast_mut().cast(), blocks) };
    for i in blocks * 4..n {
        let (Some(a), Some(b), Some(y)) = (a.at(i), b.at(i), y.get(i)) else { return };
        y.set(sum::<SHIFT>(p, a, b));
    }
}

/// One element.
#[inline(always)]
pub(crate) fn sum<const SHIFT: u32>(p: &AddLinear, a: i8, b: i8) -> i8 {
    let part = |factor: i32, x: i8| ((i64::from(factor) * i64::from(x) * 256) >> 16) as i32;
    let sum = p.start.wrapping_add(part(p.x, a)).wrapping_add(part(p.y, b));
    (sum >> SHIFT).clamp(-128, 127) as i8
}
