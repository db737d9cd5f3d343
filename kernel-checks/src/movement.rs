//! Copies and padding.

use crate::{cells, Case, Check, Mismatch, Rng, Scratch};
use core::cell::Cell;
use kiln::kernels::{copy_dsp, copy_mve};

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "copy_dsp", run: |rng, scratch| words(rng, scratch, |x, y| copy_dsp(x, y)) },
    Check { name: "copy_mve", run: |rng, scratch| words(rng, scratch, |x, y| copy_mve(x, y)) },
    Check { name: "copy_mve, bytes", run: bytes },
];

/// From a place of its own, or from some words behind the result's first, so that both overlap.
fn words(
    rng: &mut Rng,
    mut scratch: Scratch<'_>,
    copy: impl Fn(&[Cell<i32>], &[Cell<i32>]),
) -> Result<(), Mismatch> {
    let n = if rng.one_in(8) { rng.size(100, 400) } else { rng.size(0, 80) };
    let distance = if rng.one_in(3) { 0 } else { rng.size(1, 20) };
    let from = scratch.words.take(n);
    rng.fill_i32(from, i32::MIN, i32::MAX);
    let from = cells(from);
    let y = scratch.words.twins(n + distance, rng.size(0, 3), -1);
    for memory in [y.got(), y.expected()] {
        memory[distance..].iter().zip(from).for_each(|(to, x)| to.set(x.get()));
    }
    y.expected().iter().zip(from).for_each(|(to, x)| to.set(x.get()));
    if distance > 0 {
        copy(&y.got()[distance..], &y.got()[..n]);
    } else {
        y.got().iter().for_each(|to| to.set(-1));
        copy(from, y.got());
    }
    y.compare(Case::new().with("n", n).with("distance", distance))
}

/// From any address to any other one.
fn bytes(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let n = rng.size(0, 70);
    let from = scratch.bytes.take_at(n, rng.size(0, 3));
    rng.fill_i8(from);
    let from = cells(from);
    let y = scratch.bytes.twins(n, rng.size(0, 3), rng.i8());
    y.expected().iter().zip(from).for_each(|(to, x)| to.set(x.get()));
    copy_mve(from, y.got());
    y.compare(Case::new().with("n", n))
}
