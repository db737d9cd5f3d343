//! Softmax.

use super::support::{assert_same, cells, nearest_away, nearest_up, rounds, Rng};
use kiln::kernels::{softmax_f32, softmax_i8};

/// Exponentials of the differences 0, −1, … times `step`, in Q0.31; none from `cut` on.
fn exponentials(step: f64, cut: usize) -> [i32; 256] {
    std::array::from_fn(|d| {
        let exp = ((-(d as f64) * step).exp() * 2f64.powi(31)).round().min(f64::from(i32::MAX));
        if d < cut {
            exp as i32
        } else {
            0
        }
    })
}

/// A fixed-point product of two 32-bit numbers with 31 fraction bits more than the result has.
fn product(a: i128, b: i128) -> i128 {
    nearest_up(a * b, 31)
}

fn saturate(x: i128) -> i128 {
    x.clamp(i32::MIN.into(), i32::MAX.into())
}

/// gemmlowp's fixed-point division, in exact arithmetic.
fn row(exps: &[i32; 256], x: &[i8]) -> Vec<i8> {
    let max = *x.iter().max().unwrap();
    let exp = |x: i8| i128::from(exps[usize::from(max.abs_diff(x))]);
    // Q12.19
    let sum: i128 = x.iter().map(|&x| nearest_away(exp(x), 12)).sum();
    // The sum as (1 + fraction) · 2^bits.
    let bits = sum.ilog2() as i32 - 19;
    let fraction = if bits + 19 <= 31 { (sum << (31 - (bits + 19))) - (1 << 31) } else { unreachable!() };
    // Newton's method for 1 / ((1 + fraction) / 2) in Q2.29.
    let half = (fraction + i128::from(i32::MAX) + 1) / 2;
    let constant = |x: f64| (x * 2f64.powi(29)).round() as i128;
    let mut y = constant(48.0 / 17.0) + product(half, constant(-32.0 / 17.0));
    for _ in 0..3 {
        y += saturate(4 * product(y, (1 << 29) - product(half, y)));
    }
    let reciprocal = saturate(2 * y);
    x.iter()
        .map(|&x| {
            let share = nearest_away(product(reciprocal, exp(x)), (bits + 23) as u32);
            (share - 128).clamp(-128, 127) as i8
        })
        .collect()
}

#[test]
fn i8_equals_the_definition() {
    let mut rng = Rng::new(50);
    for case in 0..rounds(3000) {
        let depth = match case {
            0 => 600,
            _ => rng.size(1, 40),
        };
        let rows = rng.size(1, 3);
        let step = rng.int(1, 4000) as f64 / 4000.0;
        let exps = exponentials(step, rng.size(1, 256));
        let mut x = if case == 0 { vec![5; depth * rows] } else { rng.i8s(depth * rows) };
        let expected: Vec<i8> = x.chunks(depth).flat_map(|x| row(&exps, x)).collect();
        for (x, stored) in x.chunks(depth).zip(expected.chunks(depth)) {
            // Within one step and a half of the true value, the cut aside.
            let max = *x.iter().max().unwrap();
            let sum: f64 = x.iter().map(|&x| f64::from(exps[usize::from(max.abs_diff(x))])).sum();
            for (&x, &stored) in x.iter().zip(stored) {
                let share = f64::from(exps[usize::from(max.abs_diff(x))]) / sum * 256.0;
                assert!((share.min(255.0) - f64::from(stored) - 128.0).abs() < 1.5);
            }
        }
        let mut y = vec![99; x.len()];
        softmax_i8(depth, &exps, cells(&mut x), cells(&mut y));
        assert_same(&y, &expected, (depth, step));
        // In place.
        let x_cells = cells(&mut x);
        softmax_i8(depth, &exps, x_cells, x_cells);
        assert_same(&x, &expected, (depth, step));
    }
}

#[test]
fn impossible_tables_do_no_harm() {
    let mut x = [1i8, 2, 3, 4];
    let mut y = [0; 4];
    softmax_i8(2, &[], cells(&mut x), cells(&mut y));
    softmax_i8(4, &[i32::MIN; 256], cells(&mut x), cells(&mut y));
    softmax_i8(0, &[i32::MAX; 256], cells(&mut x), cells(&mut y));
}

#[test]
fn f32_sums_to_one() {
    let mut rng = Rng::new(51);
    let bound = if cfg!(feature = "micromath") { 3e-3 } else { 1e-6 };
    for _ in 0..rounds(300) {
        let depth = rng.size(1, 20);
        let beta = rng.int(1, 30) as f32 / 10.0;
        let mut x: Vec<f32> = rng.f32s(depth * 2).iter().map(|x| x * 8.0).collect();
        let mut y = vec![9e9; x.len()];
        softmax_f32(depth, beta, cells(&mut x), cells(&mut y));
        for (x, y) in x.chunks(depth).zip(y.chunks(depth)) {
            let max = x.iter().fold(f32::MIN, |max, &x| max.max(x));
            let exp = |x: f32| f64::from(beta * (x - max)).exp();
            let sum: f64 = x.iter().map(|&x| exp(x)).sum();
            for (&x, &y) in x.iter().zip(y) {
                assert!((f64::from(y) - exp(x) / sum).abs() < bound, "{y} instead of {}", exp(x) / sum);
            }
        }
    }
}
