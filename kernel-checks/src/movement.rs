//! Copies and padding.

use crate::{cells, Case, Check, Mismatch, Rng, Scratch};
use kiln::kernels::copy_dsp;

pub(crate) const CHECKS: &[Check] = &[Check { name: "copy_dsp", run: words }];

/// From a place of its own, or from some words behind the result's first, so that both overlap.
fn words(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
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
        copy_dsp(&y.got()[distance..], &y.got()[..n]);
    } else {
        y.got().iter().for_each(|to| to.set(-1));
        copy_dsp(from, y.got());
    }
    y.compare(Case::new().with("n", n).with("distance", distance))
}
