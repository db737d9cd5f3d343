//! Elementwise operations with one operand, and conversions.

use super::support::{assert_same, cells, rounds, Rng};
use kiln::kernels::{
    clip_f32, dequantize_i8_f32, dequantize_u8_f32, leaky_relu_f32, logistic_f32, lookup_8, quantize_f32_i8,
    quantize_f32_u8, tanh_f32,
};
use std::cell::Cell;

/// Floats over the range in which the functions are interesting, with the special ones.
fn floats(rng: &mut Rng) -> Vec<f32> {
    let mut x = vec![
        0.0,
        -0.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        88.9,
        -104.5,
    ];
    x.extend((0..4000).map(|_| rng.int(-40_000, 40_000) as f32 / 2000.0));
    x
}

fn apply(kernel: impl Fn(&[Cell<f32>], &[Cell<f32>]), x: &[f32]) -> Vec<f32> {
    let (mut x, mut y) = (x.to_vec(), vec![9e9; x.len()]);
    let (x, y_cells) = (cells(&mut x), cells(&mut y));
    kernel(x, y_cells);
    kernel(x, x);
    let in_place: Vec<f32> = x.iter().map(Cell::get).collect();
    assert_same(&in_place, &y, "in place");
    y
}

/// Bounds of the float functions' errors: relative to the result, plus an absolute one.
const TOLERANCE: (f64, f64) = if cfg!(feature = "micromath") { (2.5e-3, 1.1e-3) } else { (3e-7, 1e-45) };

fn assert_close(got: &[f32], expected: impl Fn(f64) -> f64, x: &[f32]) {
    for (&got, &x) in got.iter().zip(x) {
        let expected = expected(x.into());
        let bound = expected.abs() * TOLERANCE.0 + TOLERANCE.1;
        assert!((f64::from(got) - expected).abs() <= bound, "f({x}) is {got} instead of {expected}");
    }
}

#[test]
fn float_functions() {
    let x = floats(&mut Rng::new(40));
    assert_close(&apply(tanh_f32, &x), f64::tanh, &x);
    // TFLite's definition: exp(x) below −9, which is 0.01 % larger.
    let logistic = |x: f64| if x < -9.0 { x.exp() } else { 1.0 / (1.0 + (-x).exp()) };
    assert_close(&apply(logistic_f32, &x), logistic, &x);
    let clipped = apply(|x, y| clip_f32(-1.0, 6.0, x, y), &x);
    assert_same(&clipped, &x.iter().map(|x| x.clamp(-1.0, 6.0)).collect::<Vec<_>>(), "clip");
    let leaky = apply(|x, y| leaky_relu_f32(0.3, x, y), &x);
    assert_same(&leaky, &x.iter().map(|&x| if x >= 0.0 { x } else { 0.3 * x }).collect::<Vec<_>>(), "leaky");
}

#[test]
fn nan_passes_through() {
    for y in [
        apply_nan(|x, y| clip_f32(0.0, 6.0, x, y)),
        apply_nan(|x, y| leaky_relu_f32(0.5, x, y)),
        apply_nan(tanh_f32),
        apply_nan(logistic_f32),
    ] {
        assert!(y.is_nan());
    }
}

fn apply_nan(kernel: impl Fn(&[Cell<f32>], &[Cell<f32>])) -> f32 {
    let (x, y) = ([Cell::new(f32::NAN)], [Cell::new(0.0)]);
    kernel(&x, &y);
    y[0].get()
}

#[test]
fn tables_are_indexed_by_the_byte() {
    let mut rng = Rng::new(41);
    let table: [u8; 256] = std::array::from_fn(|_| rng.next() as u8);
    let mut x: Vec<u8> = (0..=255).rev().collect();
    let expected: Vec<u8> = x.iter().map(|&x| table[usize::from(x)]).collect();
    let x_cells = cells(&mut x);
    lookup_8(&table, x_cells, x_cells);
    assert_same(&x, &expected, "lookup");
}

#[test]
fn conversions_round_half_away_from_zero() {
    let (scale, zero) = (0.5f32, 3);
    let mut x = [0.25f32, -0.25, 0.2499, -0.75, 1.0, 1e30, -1e30, f32::INFINITY, f32::NAN, 63.0, -66.0, 0.0];
    let expected = [4, 2, 3, 1, 5, 127, -128, 127, 3, 127, -128, 3];
    let mut y = [99i8; 12];
    quantize_f32_i8(scale, zero, cells(&mut x), cells(&mut y));
    assert_eq!(y, expected);
    let mut y = [99u8; 12];
    quantize_f32_u8(scale, zero, cells(&mut x), cells(&mut y));
    assert_eq!(y, [4, 2, 3, 1, 5, 255, 0, 255, 3, 129, 0, 3]);
}

#[test]
fn conversions_equal_the_definition() {
    let mut rng = Rng::new(42);
    for _ in 0..rounds(200) {
        let scale = rng.int(1, 1 << 24) as f32 / (1 << 27) as f32;
        let zero = i32::from(rng.zero_point());
        let mut stored = rng.i8s(50);
        let expected: Vec<f32> =
            stored.iter().map(|&x| (f64::from(scale) * (f64::from(x) - f64::from(zero))) as f32).collect();
        let mut real = vec![9e9; 50];
        dequantize_i8_f32(scale, zero, cells(&mut stored), cells(&mut real));
        assert_same(&real, &expected, (scale, zero));
        let mut back = vec![99i8; 50];
        quantize_f32_i8(scale, zero, cells(&mut real), cells(&mut back));
        assert_same(&back, &stored, (scale, zero));

        let mut bytes: Vec<u8> = stored.iter().map(|&x| x as u8).collect();
        let zero = zero + 128;
        dequantize_u8_f32(scale, zero, cells(&mut bytes), cells(&mut real));
        let expected: Vec<f32> =
            bytes.iter().map(|&x| (f64::from(scale) * (f64::from(x) - f64::from(zero))) as f32).collect();
        assert_same(&real, &expected, (scale, zero));
    }
}
