//! Sums of four channels or filters in plain Rust.

#![allow(unsafe_code)]

use crate::arch::rv32::wide::{Window, LANES};
use core::cell::Cell;

/// Sums of the products of four channels from `c` on with `w`, four weights for each row of the window.
///
/// # Safety
/// There are so many channels, and as many weights.
pub(crate) unsafe fn channels(window: &Window<'_>, c: usize, w: &[i16]) -> [i32; LANES] {
    let mut sums = [0i32; LANES];
    let rows = window.parts.iter().flat_map(|(x, _)| x.chunks_exact(window.channels.max(1)));
    for (x, w) in rows.zip(w.chunks_exact(LANES)) {
        for ((sum, x), w) in sums.iter_mut().zip(x.get(c..).unwrap_or(&[])).zip(w) {
            *sum = sum.wrapping_add(i32::from(x.get()) * i32::from(*w));
        }
    }
    sums
}

/// Sums of the products of `x` with four filters that alternate in `w`; nothing where these have another number of weights.
pub(crate) fn filters(x: &[Cell<i8>], w: &[i8]) -> [i32; LANES] {
    let mut sums = [0i32; LANES];
    if w.len() / LANES != x.len() {
        return sums;
    }
    for (x, w) in x.iter().zip(w.chunks_exact(LANES)) {
        for (sum, w) in sums.iter_mut().zip(w) {
            *sum = sum.wrapping_add(i32::from(x.get()) * i32::from(*w));
        }
    }
    sums
}
