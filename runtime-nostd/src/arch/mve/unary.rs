//! Tables, sixteen bytes at a time.
#![allow(unsafe_code)]

use super::blocks::unary::entries;
use core::cell::Cell;

/// As [`lookup_8`](crate::kernels::lookup_8), for cores with Helium: about a cycle an element.
#[inline(never)]
pub fn lookup_8_mve(table: &[u8; 256], x: &[Cell<u8>], y: &[Cell<u8>]) {
    let n = x.len().min(y.len());
    if n > 0 {
        // SAFETY: `n` is the length of the shorter slice, and cells may be written through a shared reference.
        unsafe { entries(table, x.as_ptr().cast(), y.as_ptr().cast_mut().cast(), n) };
    }
}
