//! What tests of convolutions in vectors have in common.

use super::simd::Random;
use kiln::kernels::{Band, Conv};

/// Filters \[o\]\[k\] as the portable kernel reads them.
pub(crate) fn alternating<T: Copy>(w: &[T], k: usize) -> Vec<T> {
    let four = |four: &[T]| match four.len() == 4 * k {
        true => (0..4 * k).map(|i| four[i % 4 * k + i / 4]).collect(),
        false => four.to_vec(),
    };
    w.chunks(4 * k).flat_map(four).collect()
}

/// Elements of rows in a workspace, in so many phases, and how many rows a filter covers: as the kernels' documentation has it.
pub(crate) fn ring(p: &Conv, phases: usize) -> (usize, usize) {
    let columns = ((p.out_w - 1) * p.stride_w + (p.k_w - 1) * p.dilation_w + 1).max(p.in_w + p.pad_left);
    let row = (columns.div_ceil(phases) * phases * p.in_c).next_multiple_of(64);
    (row, (p.k_h - 1) * p.dilation_h + 1)
}

/// A ring of the rows of `x` that a band reads, each of so many elements, copied to their places; the others are what `any` returns of as many elements.
pub(crate) fn held<T: Copy>(
    random: &mut Random,
    p: &Conv,
    band: Band,
    x: &[T],
    row: usize,
    any: impl Fn(&mut Random, usize) -> Vec<T>,
) -> Vec<T> {
    let reach = (p.k_h - 1) * p.dilation_h + 1;
    let last = (band.first + band.rows - 1) * p.stride_h + reach;
    let rows = reach + (band.rows - 1) * p.stride_h + random.below(2);
    let mut held = any(random, rows * row);
    let first = (band.first * p.stride_h).saturating_sub(p.pad_top);
    for r in first..last.saturating_sub(p.pad_top).min(p.in_h) {
        held[r % rows * row..][..row].copy_from_slice(&x[r * row..][..row]);
    }
    held
}
