//! Sums of tensors.
#![allow(unsafe_code)]

use super::blocks::elementwise::add_vectors;
use crate::params::AddLinear;
use crate::rows::{Read, ReadSlice};
use core::cell::Cell;

/// As [`add_i8_v6m`](crate::kernels::add_i8_v6m), for cores with Helium: two instructions an element.
#[inline(always)]
pub fn add_i8_mve<const SHIFT: u32>(p: &AddLinear, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    const { assert!(SHIFT <= 31) };
    add::<SHIFT>(p, a.slice(), b.slice(), y);
}

#[inline(never)]
fn add<const SHIFT: u32>(p: &AddLinear, a: impl ReadSlice<i8>, b: impl ReadSlice<i8>, y: &[Cell<i8>]) {
    let n = a.each().len().min(b.each().len()).min(y.len());
    if n > 0 {
        // SAFETY: each slice has `n` elements at least.
        unsafe { add_vectors::<SHIFT>(p, a.start(), b.start(), y.as_ptr().cast_mut().cast(), n) };
    }
}
