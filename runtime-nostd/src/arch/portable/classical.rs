//! What support-vector machines compute.

use crate::rows::{Read, ReadSlice};
use core::cell::Cell;

/// Squares of distances: Σ (x − v)² of each row of `width` numbers of `x` and each one of `v`.
#[inline(always)]
pub fn squared_distances_f32(width: usize, x: impl Read<f32>, v: impl Read<f32>, y: &[Cell<f32>]) {
    squared_distances(width, x.slice(), v.slice(), y);
}

#[inline(never)]
fn squared_distances(width: usize, x: impl ReadSlice<f32>, v: impl ReadSlice<f32>, y: &[Cell<f32>]) {
    let count = v.each().len().checked_div(width).unwrap_or(0);
    let mut start = 0usize;
    for y in y.chunks_exact(count.max(1)) {
        let Some(x) = x.run(start, width) else { return };
        start = start.wrapping_add(width);
        let mut from = 0usize;
        for y in y {
            let Some(v) = v.run(from, width) else { return };
            from = from.wrapping_add(width);
            y.set(x.each().zip(v.each()).fold(0.0, |sum, (x, v)| sum + (x - v) * (x - v)));
        }
    }
}

/// Most rounds of [`couple_f32`].
const ROUNDS: usize = 100;

/// Probabilities of `classes` from those of pairs: Wu, Lin, Weng, *Probability Estimates for Multi-class Classification by Pairwise Coupling* (2004), algorithm 2, with the bounds of libsvm and ONNX
/// Runtime.
///
/// Each row of `x` has the probability of the first class of each pair: (0, 1), (0, 2), …, (1, 2), …
#[inline(never)]
pub fn couple_f32(classes: usize, x: &[Cell<f32>], y: &[Cell<f32>]) {
    let pairs = classes.wrapping_mul(classes.wrapping_sub(1)) / 2;
    let bound = 0.005 / classes as f32;
    for (shares, y) in x.chunks_exact(pairs.max(1)).zip(y.chunks_exact(classes.max(1))) {
        for y in y {
            y.set(1.0 / classes as f32);
        }
        let row = |i| row(classes, shares, y, i);
        for _ in 0..ROUNDS {
            let mut total = 0.0;
            for (i, y) in y.iter().enumerate() {
                total += y.get() * row(i).1;
            }
            let mut worst = 0.0;
            for i in 0..classes {
                let error = libm::fabsf(row(i).1 - total);
                worst = if error > worst { error } else { worst };
            }
            if worst < bound {
                break;
            }
            for (i, y_i) in y.iter().enumerate() {
                let (own, sum) = row(i);
                let step = (total - sum) / own;
                y_i.set(y_i.get() + step);
                total = (total + step * (step * own + 2.0 * sum)) / (1.0 + step) / (1.0 + step);
                for y in y {
                    y.set(y.get() / (1.0 + step));
                }
            }
        }
    }
}

/// Of the matrix of equations, element (`i`, `i`), and row `i` times the probabilities.
fn row(classes: usize, shares: &[Cell<f32>], probabilities: &[Cell<f32>], i: usize) -> (f32, f32) {
    // The probability of class `i` against class `j`.
    let share = |i: usize, j: usize| {
        let (first, second) = if i < j { (i, j) } else { (j, i) };
        // As many pairs begin with classes before the first one.
        let before = first.wrapping_mul(classes.wrapping_mul(2).wrapping_sub(first).wrapping_sub(1)) / 2;
        let at = before.wrapping_add(second.wrapping_sub(first).wrapping_sub(1));
        let share = shares.get(at).map_or(0.5, Cell::get);
        if i < j {
            share
        } else {
            1.0 - share
        }
    };
    let mut own = 0.0;
    for j in 0..classes {
        if j != i {
            let other = share(j, i);
            own += other * other;
        }
    }
    let mut sum = 0.0;
    for (j, y) in probabilities.iter().enumerate() {
        let element = if j == i { own } else { -share(j, i) * share(i, j) };
        sum += element * y.get();
    }
    (own, sum)
}
