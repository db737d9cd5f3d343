//! Softmax, four elements at a time.
#![allow(unsafe_code)]

use super::blocks::softmax::{largest, shares, sum};
use crate::arch::portable::softmax::reciprocal;
use core::cell::Cell;

/// As [`softmax_i8`](crate::kernels::softmax_i8), for cores with Helium. `exps` has 256 elements, none of them negative.
#[inline(never)]
pub fn softmax_i8_mve(depth: usize, exps: &[i32], x: &[Cell<i8>], y: &[Cell<i8>]) {
    rows::<i8, false>(depth, exps, x, y, i8::BITS, i8::MIN);
}

/// As [`softmax_i8_i16`](crate::kernels::softmax_i8_i16), for cores with Helium. `exps` has 256 elements, none of them negative.
#[inline(never)]
pub fn softmax_i8_i16_mve(depth: usize, exps: &[i32], x: &[Cell<i8>], y: &[Cell<i16>]) {
    rows::<i16, true>(depth, exps, x, y, i16::BITS, i16::MIN);
}

/// Rows whose results have so many bits, as fractions of one, above the least one.
#[inline(always)]
fn rows<T: Copy + Into<i32>, const WIDE: bool>(
    depth: usize,
    exps: &[i32],
    x: &[Cell<i8>],
    y: &[Cell<T>],
    bits_of_result: u32,
    least: T,
) {
    let depth = depth.max(1);
    let Some(exps) = exps.first_chunk() else { return };
    for (x, y) in x.chunks_exact(depth).zip(y.chunks_exact(depth)) {
        let (from, to) = (x.as_ptr().cast::<i8>(), y.as_ptr().cast_mut().cast::<u8>());
        // SAFETY: there are `depth` elements, one at least.
        let largest = unsafe { largest(from, depth) };
        // SAFETY: as above, and none is above the largest.
        let sum = unsafe { sum(exps, largest, from, depth) }.min(i32::MAX.into()) as i32;
        // The sum is (1 + fraction) · 2^bits, with the fraction in Q0.31.
        let zeros = sum.leading_zeros();
        let shift = 12u32.wrapping_sub(zeros).wrapping_add(31 - bits_of_result);
        if shift > 31 {
            // Less than half a step of the result.
            y.iter().for_each(|y| y.set(least));
            continue;
        }
        let by = reciprocal(sum.wrapping_shl(zeros).wrapping_sub(i32::MIN));
        // SAFETY: as above, and there are `depth` results of that size.
        unsafe { shares::<WIDE>(exps, largest, [by, shift as i32, least.into()], from, to, depth) };
    }
}
