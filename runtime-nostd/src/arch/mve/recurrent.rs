//! Long short-term memory, eight gates at a time.

use super::blocks::dense::sums_of_eight;
use super::{LANES, VECTOR_WORDS};
use crate::arch::extent::product;
use crate::arch::portable::recurrent::steps;
use crate::params::Lstm;
use core::cell::Cell;

/// As [`lstm_i8`](crate::kernels::lstm_i8), for cores with Helium. Weights are those of the gates of two units at a time, as the taps of eight filters in
/// [`dense_i8_mve`](crate::kernels::dense_i8_mve); those of a missing unit are zeros.
#[inline(never)]
pub fn lstm_i8_mve(
    p: &Lstm<'_>,
    x: &[Cell<i8>],
    h: &[Cell<i8>],
    c: &[Cell<i8>],
    wx: &[i32],
    wh: &[i32],
    bias: &[i32],
    y: &[Cell<i8>],
) {
    let (of_inputs, of_outputs) = (Cell::new([0; 4]), Cell::new([0; 4]));
    steps(
        p,
        x,
        h,
        c,
        bias,
        y,
        |x, unit, bias| gates(x, wx, unit, bias, &of_inputs),
        |h, unit, bias| gates(h, wh, unit, bias, &of_outputs),
    );
}

/// The sums of a unit's gates. Those of every other unit have been computed with the one before, and are in `next`.
#[inline(never)]
fn gates(x: &[Cell<i8>], w: &[i32], unit: usize, bias: [i32; 4], next: &Cell<[i32; 4]>) -> [i32; 4] {
    let mut sums = next.get();
    if unit % 2 == 0 {
        let eight = product(x.len().div_ceil(LANES), 8 * VECTOR_WORDS);
        let [a, b, c, d, rest @ ..] = match w.get(product(unit / 2, eight)..) {
            Some(w) => sums_of_eight(w, x),
            None => [0; 8],
        };
        sums = [a, b, c, d];
        next.set(rest);
    }
    sums.iter_mut().zip(bias).for_each(|(sum, bias)| *sum = sum.wrapping_add(bias));
    sums
}
