//! Elementwise operations with two operands.

use super::support::{assert_same, cells, rescale, rounds, Rng};
use kiln::kernels::{
    add_f32, add_i8, mul_f32, mul_i8, sub_f32, sub_i8, AddParams, Broadcast, MulParams, Scale,
};

/// Random dimensions, an operand that is repeated along some of them, and its strides.
fn random_broadcast(rng: &mut Rng) -> Broadcast {
    let rank = rng.size(0, 6);
    let mut shape = Broadcast { dims: [1; 6], a: [0; 6], b: [0; 6] };
    let (mut size_a, mut size_b) = (1, 1);
    for axis in (6 - rank..6).rev() {
        let dim = rng.size(1, if rank > 4 { 3 } else { 5 });
        shape.dims[axis] = dim;
        let repeated = rng.int(0, 5);
        if repeated != 0 {
            shape.a[axis] = size_a;
            size_a *= dim;
        }
        if repeated != 1 {
            shape.b[axis] = size_b;
            size_b *= dim;
        }
    }
    shape
}

/// Elements of an operand with those strides.
fn size(dims: [usize; 6], strides: [usize; 6]) -> usize {
    1 + dims.iter().zip(strides).map(|(dim, stride)| (dim - 1) * stride).sum::<usize>()
}

/// Indices of the operands of each result element.
fn pairs(shape: &Broadcast) -> Vec<(usize, usize)> {
    let n = shape.dims.iter().product::<usize>();
    let offset = |i: usize, strides: [usize; 6]| {
        let mut rest = i;
        (0..6)
            .rev()
            .map(|axis| {
                let index = rest % shape.dims[axis];
                rest /= shape.dims[axis];
                index * strides[axis]
            })
            .sum()
    };
    (0..n).map(|i| (offset(i, shape.a), offset(i, shape.b))).collect()
}

/// Factors below one, as TFLite makes them for sums.
fn small_scale(rng: &mut Rng, lowest: i64) -> Scale {
    Scale { multiplier: rng.int(1 << 30, i32::MAX.into()) as i32, shift: rng.int(lowest, 0) as i32 }
}

#[test]
fn i8_equals_the_definition() {
    let mut rng = Rng::new(20);
    for _ in 0..rounds(3000) {
        let shape = random_broadcast(&mut rng);
        let (a, b) = (rng.i8s(size(shape.dims, shape.a)), rng.i8s(size(shape.dims, shape.b)));
        let zeros = [0; 3].map(|_| i32::from(rng.zero_point()));
        let lo = rng.int(-128, 0) as i32;
        let hi = rng.int(lo.into(), 127) as i32;
        let add = AddParams {
            left_shift: 20,
            x_zero: zeros[0],
            x: small_scale(&mut rng, -8),
            y_zero: zeros[1],
            y: small_scale(&mut rng, -8),
            out_zero: zeros[2],
            out: small_scale(&mut rng, -22),
            lo,
            hi,
        };
        let mul = MulParams {
            x_zero: zeros[0],
            y_zero: zeros[1],
            out_zero: zeros[2],
            out: rng.scale(16384.0),
            lo,
            hi,
        };
        let zeroed = |value: i8, zero: i32| i64::from(value) - i64::from(zero);
        let sum = |x: i8, y: i8, sign: i64| {
            let x = rescale(zeroed(x, zeros[0]) << 20, add.x);
            let y = rescale(zeroed(y, zeros[1]) << 20, add.y);
            rescale(x + sign * y, add.out)
        };
        let product = |x: i8, y: i8| rescale(zeroed(x, zeros[0]) * zeroed(y, zeros[1]), mul.out);
        let stored = |value: i64| (value + i64::from(zeros[2])).clamp(lo.into(), hi.into()) as i8;
        let pairs = pairs(&shape);
        for op in 0..3 {
            let expected: Vec<i8> = pairs
                .iter()
                .map(|&(i, j)| {
                    stored(match op {
                        0 => sum(a[i], b[j], 1),
                        1 => sum(a[i], b[j], -1),
                        _ => product(a[i], b[j]),
                    })
                })
                .collect();
            let (mut a_copy, mut y) = (a.clone(), vec![99; expected.len()]);
            let (a_cells, y_cells) = (cells(&mut a_copy), cells(&mut y));
            match op {
                0 => add_i8(&shape, &add, a_cells, &b[..], y_cells),
                1 => sub_i8(&shape, &add, &a[..], &b[..], y_cells),
                _ => mul_i8(&shape, &mul, a_cells, &b[..], y_cells),
            }
            assert_same(&y, &expected, shape);
            // In place, where the operand is as large as the result.
            if a.len() == expected.len() {
                let a_cells = cells(&mut a_copy);
                match op {
                    0 => add_i8(&shape, &add, a_cells, &b[..], a_cells),
                    1 => sub_i8(&shape, &add, a_cells, &b[..], a_cells),
                    _ => mul_i8(&shape, &mul, a_cells, &b[..], a_cells),
                }
                assert_same(&a_copy, &expected, shape);
            }
        }
    }
}

#[test]
fn f32_equals_the_definition() {
    let mut rng = Rng::new(21);
    for _ in 0..rounds(1000) {
        let shape = random_broadcast(&mut rng);
        let (a, mut b) = (rng.f32s(size(shape.dims, shape.a)), rng.f32s(size(shape.dims, shape.b)));
        let (lo, hi) = (-1.5, 2.5);
        let pairs = pairs(&shape);
        let results = |f: fn(f32, f32) -> f32| -> Vec<f32> {
            pairs.iter().map(|&(i, j)| f(a[i], b[j]).clamp(lo, hi)).collect()
        };
        let expected = [results(|a, b| a + b), results(|a, b| a - b), results(|a, b| a * b)];
        for (op, expected) in expected.iter().enumerate() {
            let mut y = vec![9e9; expected.len()];
            let (b, y_cells) = (cells(&mut b), cells(&mut y));
            match op {
                0 => add_f32(&shape, lo, hi, &a[..], b, y_cells),
                1 => sub_f32(&shape, lo, hi, &a[..], b, y_cells),
                _ => mul_f32(&shape, lo, hi, &a[..], b, y_cells),
            }
            assert_same(&y, expected, shape);
        }
    }
}

#[test]
fn results_may_lie_below_their_operand() {
    // The result starts two elements before the operand: every element is read before it is overwritten.
    let mut memory: Vec<i8> = (0..22).collect();
    let cells = cells(&mut memory);
    let shape = Broadcast { dims: [1, 1, 1, 1, 1, 20], a: [0, 0, 0, 0, 0, 1], b: [0; 6] };
    let p = MulParams {
        x_zero: 0,
        y_zero: 0,
        out_zero: 0,
        out: Scale { multiplier: 1 << 30, shift: 1 },
        lo: -128,
        hi: 127,
    };
    mul_i8(&shape, &p, &cells[2..], &[3i8], &cells[..20]);
    let expected: Vec<i8> = (2..22).map(|x| x * 3).collect();
    assert_same(&memory[..20], &expected, shape);
}

#[test]
fn impossible_strides_end_early() {
    let mut y = [1i8; 4];
    let shape = Broadcast { dims: [1, 1, 1, 1, 2, 2], a: [0, 0, 0, 0, usize::MAX, 1], b: [0; 6] };
    let p =
        MulParams { x_zero: 0, y_zero: 0, out_zero: 0, out: Scale { multiplier: 0, shift: 0 }, lo: 0, hi: 0 };
    mul_i8(&shape, &p, &[1i8; 2], &[1i8], cells(&mut y));
    assert_eq!(y, [0, 0, 1, 1]);
}
