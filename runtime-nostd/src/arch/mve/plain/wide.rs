//! Channels of 16-bit elements in plain Rust.
#![allow(unsafe_code)]

use crate::fixed::high_mul;
use core::cell::Cell;

/// A result for each channel, from `k_h` rows of elements and as many weights, four channels after the other. The sums become results by a multiplier, a shift, a constant and a clamp.
///
/// # Safety
///
/// None: the assembly needs what its caller compares.
pub(crate) unsafe fn fours_of_channels(
    k_h: usize,
    x: &[Cell<i16>],
    w: &[i16],
    bias: &[i32],
    [multiplier, shift, constant, lo, hi]: [i32; 5],
    y: &[Cell<i8>],
) {
    let channels = y.len().max(1);
    for (c, (y, &bias)) in y.iter().zip(bias).enumerate() {
        let rows = x.chunks_exact(channels).take(k_h).zip(w.iter().skip(c / 4 * 4 * k_h + c % 4).step_by(4));
        let products =
            rows.map(|(row, &w)| row.get(c).map_or(0, |x| i32::from(x.get())).wrapping_mul(w.into()));
        let sum = products.fold(bias, i32::wrapping_add);
        let scaled = high_mul(sum, multiplier);
        let result = scaled.saturating_add(scaled >> 31).saturating_add(constant) >> -shift;
        y.set(result.max(lo).min(hi) as i8);
    }
}
