//! Decision trees and what support-vector machines compute.

use super::support::{cells, rounds, Rng};
use kiln::kernels::*;

#[test]
fn distances_are_sums_of_squares() {
    let mut rng = Rng::new(21);
    for _ in 0..rounds(200) {
        let [rows, vectors, width] = [0; 3].map(|_| rng.size(1, 5));
        let mut numbers =
            |len: usize| -> Vec<f32> { (0..len).map(|_| rng.int(-40, 40) as f32 / 8.0).collect() };
        let (x, v) = (numbers(rows * width), numbers(vectors * width));
        let mut y = vec![0.0; rows * vectors];
        squared_distances_f32(width, &x[..], &v[..], cells(&mut y));
        for (k, &y) in y.iter().enumerate() {
            let (x, v) = (&x[k / vectors * width..][..width], &v[k % vectors * width..][..width]);
            // All of these are exact.
            assert_eq!(y, x.iter().zip(v).map(|(x, v)| (x - v) * (x - v)).sum::<f32>());
        }
    }
}

/// Shares of pairs that come from probabilities of classes lead back to them, as near as the rounds go.
#[test]
fn consistent_pairs_are_coupled() {
    let mut rng = Rng::new(22);
    for _ in 0..rounds(200) {
        let classes = rng.size(2, 7);
        let weights: Vec<f32> = (0..classes).map(|_| rng.int(1, 30) as f32).collect();
        let total: f32 = weights.iter().sum();
        let mut shares = Vec::new();
        for (i, a) in weights.iter().enumerate() {
            shares.extend(weights[i + 1..].iter().map(|b| a / (a + b)));
        }
        let mut y = vec![0.0; classes];
        couple_f32(classes, cells(&mut shares), cells(&mut y));
        assert!((y.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{y:?}");
        for (y, weight) in y.iter().zip(&weights) {
            assert!((y - weight / total).abs() < 0.05, "{y} for {weight} of {total}");
        }
    }
}

/// A tree of one branch, `x <= 0.5`, and one that is a leaf of the second target.
const TABLE: [(f32, u32); 5] =
    [(0.5, 2 << 16), (-1.0, 1 << 15), (3.0, 1 << 15), (7.0, 1 << 15 | 1), (2.0, 1 << 15 | 1 << 16)];

#[test]
fn trees_are_added_or_the_least_is_taken() {
    let table: Vec<i32> =
        TABLE.iter().flat_map(|&(number, what)| [number.to_bits() as i32, what as i32]).collect();
    let mut x = [0.0, 1.0, f32::NAN];
    let mut y = [0.0; 9];
    trees_f32(1, 3, &table, &[0, 3], cells(&mut x), cells(&mut y));
    assert_eq!(y, [6.0, 2.0, 0.0, 10.0, 2.0, 0.0, 10.0, 2.0, 0.0]);
    trees_least_f32(1, 3, &table, &[0, 3], cells(&mut x), cells(&mut y));
    assert_eq!(y, [-1.0, 2.0, 0.0, 3.0, 2.0, 0.0, 3.0, 2.0, 0.0]);
    // What leads out of the table ends a tree.
    trees_f32(1, 3, &table[..2], &[0, 9], cells(&mut x), cells(&mut y));
    assert_eq!(y, [0.0; 9]);
}
