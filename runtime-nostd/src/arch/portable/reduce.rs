//! Means over some axes.

use super::sum::clip;
use super::walk::Walk;
use crate::fixed::to_i8;
use crate::params::{Reduce, Scale};
use core::cell::Cell;

/// Mean of `i8` elements, as TFLite Micro's `MEAN` computes it: `Σ (x − x_zero)` rescaled by `scale`, which contains 1 / count, plus `out_zero`, clamped to `lo..=hi`.
#[inline(never)]
pub fn mean_i8(
    p: &Reduce,
    x_zero: i32,
    scale: &Scale,
    out_zero: i32,
    lo: i32,
    hi: i32,
    x: &[Cell<i8>],
    y: &[Cell<i8>],
) {
    let add = |sum: i32, x: i8| sum.wrapping_add(x.into()).wrapping_sub(x_zero);
    reduce(p, x, y, 0, add, |sum| to_i8(scale.apply(sum), out_zero, lo, hi));
}

/// Mean of floats, summed in the operand's order, clamped to `lo..=hi`.
#[inline(never)]
pub fn mean_f32(p: &Reduce, lo: f32, hi: f32, x: &[Cell<f32>], y: &[Cell<f32>]) {
    let count = p.inner.iter().fold(1usize, |n, &dim| n.wrapping_mul(dim));
    reduce(p, x, y, 0.0, |sum: f32, x: f32| sum + x, |sum| clip(sum / count as f32, lo, hi));
}

/// Folds the reduced elements of each index of the kept axes.
#[inline(always)]
fn reduce<T: Copy, A: Copy>(
    p: &Reduce,
    x: &[Cell<T>],
    y: &[Cell<T>],
    start: A,
    fold: impl Fn(A, T) -> A,
    finish: impl Fn(A) -> T,
) {
    let [.., outer_n] = p.outer;
    let [.., outer_step] = p.outer_strides;
    let [.., inner_n] = p.inner;
    let [.., inner_step] = p.inner_strides;
    let kept = Walk::new(&p.outer, [(&p.outer_strides, 0)]);
    for (y, [mut first]) in y.chunks_exact(outer_n.max(1)).zip(kept) {
        for y in y {
            let mut acc = start;
            for [mut at] in Walk::new(&p.inner, [(&p.inner_strides, first)]) {
                for _ in 0..inner_n {
                    let Some(x) = x.get(at) else { return };
                    acc = fold(acc, x.get());
                    at = at.wrapping_add(inner_step);
                }
            }
            y.set(finish(acc));
            first = first.wrapping_add(outer_step);
        }
    }
}
