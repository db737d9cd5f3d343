//! Long short-term memory, four units at a time.

use super::blocks::dense::sums_of_eight;
use super::blocks::recurrent::{update, Prepared};
use super::{LANES, VECTOR_WORDS};
use crate::arch::extent::{product, sum};
use crate::params::Lstm;
use core::cell::Cell;

/// As [`lstm_i8`](crate::kernels::lstm_i8), for cores with Helium.
///
/// Units go in fours; those that the last four lacks have zeros. Of each four, weights are those of two eights of filters, as the taps of filters in
/// [`dense_i8_mve`](crate::kernels::dense_i8_mve): input gates and forget gates, then cell gates and output gates. Biases are those of the inputs' sums and then those of the outputs', gate by gate.
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
    let Some(prepared) = Prepared::of(p) else { return };
    let Some((cells, outputs)) = y.split_at_checked(product(2, p.units)) else { return };
    cells.iter().zip(c).for_each(|(to, from)| to.set(from.get()));
    let (mut before, mut after) = (h, outputs);
    for x in x.chunks_exact(p.inputs.max(1)) {
        let Some((out, rest)) = after.split_at_checked(p.units) else { return };
        let (mut wx, mut wh) = (wx, wh);
        let fours = out.chunks(FOUR).zip(cells.chunks(2 * FOUR)).zip(bias.chunks_exact(GATES * FOUR));
        for ((out, cells), bias) in fours {
            let mut sums = Sums([0; GATES * FOUR]);
            let (of_inputs, of_outputs) = sums.0.split_at_mut(GATES * FOUR / 2);
            wx = gates(x, wx, of_inputs);
            wh = gates(before, wh, of_outputs);
            sums.0.iter_mut().zip(bias).for_each(|(sum, bias)| *sum = sum.wrapping_add(*bias));
            let mut states = Four([0; FOUR]);
            for (state, cell) in states.0.iter_mut().zip(cells.chunks_exact(2)) {
                let [low, high] = cell else { return };
                *state = i16::from_le_bytes([low.get() as u8, high.get() as u8]).into();
            }
            let results = update(&prepared, &mut sums, &mut states);
            for (state, cell) in states.0.iter().zip(cells.chunks_exact(2)) {
                let [low, high] = cell else { return };
                let [new_low, new_high] = (*state as i16).to_le_bytes();
                low.set(new_low as i8);
                high.set(new_high as i8);
            }
            out.iter().zip(results).for_each(|(out, result)| out.set(result));
        }
        (before, after) = (out, rest);
    }
}

/// The sums of four units' gates, without biases. Returns the weights behind theirs.
#[inline(always)]
fn gates<'w>(x: &[Cell<i8>], w: &'w [i32], sums: &mut [i32]) -> &'w [i32] {
    let eight = product(x.len().div_ceil(LANES), 8 * VECTOR_WORDS);
    for (at, sums) in sums.chunks_exact_mut(8).enumerate() {
        let w = w.get(product(at, eight)..).unwrap_or(&[]);
        sums.copy_from_slice(&sums_of_eight(w, x));
    }
    w.get(sum(eight, eight)..).unwrap_or(&[])
}

/// Units at a time.
pub(crate) const FOUR: usize = VECTOR_WORDS;

/// Sums of a unit: of its four gates, from inputs and from outputs before.
const GATES: usize = 8;

/// A vector.
#[repr(C, align(16))]
pub(crate) struct Four(pub [i32; FOUR]);

/// Sums of four units, gate by gate: input, forget, cell and output gate from inputs, then from outputs before.
#[repr(C, align(16))]
pub(crate) struct Sums(pub [i32; GATES * FOUR]);
