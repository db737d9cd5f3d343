//! Softmax.

use crate::{cells, Case, Check, Mismatch, Rng, Scratch};
use kiln::kernels::{softmax_i8, softmax_i8_i16, softmax_i8_i16_mve, softmax_i8_mve};

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "softmax_i8_mve", run: softmax_i8_mve_against_portable },
    Check { name: "softmax_i8_i16_mve", run: softmax_i8_i16_mve_against_portable },
];

/// Exponentials that fall by about a constant factor from element to element, some to 0; sometimes any.
fn exponentials<'a>(rng: &mut Rng, scratch: &mut Scratch<'a>) -> &'a [i32] {
    let exps = scratch.words.take(256);
    let (any, factor, mut exp) = (rng.one_in(4), rng.int(1, i32::MAX), i32::MAX);
    for entry in exps.iter_mut() {
        *entry = exp;
        exp = if any { rng.int(0, i32::MAX) } else { ((i64::from(exp) * i64::from(factor)) >> 31) as i32 };
    }
    exps
}

/// Rows, and how many; sometimes of elements that are nearly the same, so that the sum is large.
fn operand(rng: &mut Rng, x: &mut [i8]) {
    rng.fill_i8(x);
    if rng.one_in(3) {
        x.iter_mut().for_each(|x| *x >>= 6);
    }
}

fn softmax_i8_mve_against_portable(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let exps = exponentials(rng, &mut scratch);
    let depth = if rng.one_in(16) { 5000 } else { rng.size(1, 40) };
    let rows = if depth > 40 { 1 } else { rng.size(1, 3) };
    let y = scratch.bytes.twins(rows * depth, rng.size(0, 3), rng.i8());
    let x = scratch.bytes.take_at(rows * depth, rng.size(0, 3));
    operand(rng, x);
    let x = cells(x);
    softmax_i8(depth, exps, x, y.expected());
    if rng.one_in(2) {
        y.got().iter().zip(x).for_each(|(y, x)| y.set(x.get()));
        softmax_i8_mve(depth, exps, y.got(), y.got());
    } else {
        softmax_i8_mve(depth, exps, x, y.got());
    }
    y.compare(Case::new().with("depth", depth).with("rows", rows))
}

fn softmax_i8_i16_mve_against_portable(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let exps = exponentials(rng, &mut scratch);
    let (depth, rows) = (rng.size(1, 40), rng.size(1, 3));
    let y = scratch.halves.twins(rows * depth, rng.size(0, 3), -1);
    let x = scratch.bytes.take_at(rows * depth, rng.size(0, 3));
    operand(rng, x);
    let x = cells(x);
    softmax_i8_i16(depth, exps, x, y.expected());
    softmax_i8_i16_mve(depth, exps, x, y.got());
    y.compare(Case::new().with("depth", depth).with("rows", rows))
}
