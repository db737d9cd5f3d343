//! Long short-term memory with two products at a time.

use super::dense::dot;
use crate::arch::portable::recurrent::steps;
use crate::params::Lstm;
use core::cell::Cell;

/// As [`lstm_i8`](crate::kernels::lstm_i8), with weights as bytes of words, gate after gate of each unit; zeros make the last word of a gate full.
#[inline(never)]
pub fn lstm_i8_dsp(
    p: &Lstm<'_>,
    x: &[Cell<i8>],
    h: &[Cell<i8>],
    c: &[Cell<i8>],
    wx: &[i32],
    wh: &[i32],
    bias: &[i32],
    y: &[Cell<i8>],
) {
    steps(
        p,
        x,
        h,
        c,
        bias,
        y,
        |x, unit, bias| gates(x, wx, unit, bias),
        |h, unit, bias| gates(h, wh, unit, bias),
    );
}

/// The sums of a unit's gates.
#[inline(never)]
fn gates(x: &[Cell<i8>], w: &[i32], unit: usize, bias: [i32; 4]) -> [i32; 4] {
    let words = x.len().div_ceil(4);
    let mut sums = bias;
    let w = w.get(unit.wrapping_mul(4 * words)..).unwrap_or(&[]);
    for (sum, w) in sums.iter_mut().zip(w.chunks_exact(words.max(1))) {
        *sum = dot(x, w, *sum);
    }
    sums
}
