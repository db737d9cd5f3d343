//! Layers with packed weights against the same layers with whole ones.

use super::support::{assert_same, cells, rounds, Rng};
use super::table::{impossible_convolutions, random_convolution};
use kiln::kernels::{
    conv2d_f32, conv2d_f32xf16, conv2d_f32xi4, conv2d_f32xi8, conv2d_i8, conv2d_i8xi4, dense_f32,
    dense_f32xf16, dense_f32xi4, dense_f32xi8, dense_i8, dense_i8xi4, depthwise2d_f32, depthwise2d_f32xf16,
    depthwise2d_f32xi4, depthwise2d_f32xi8, depthwise2d_i8, depthwise2d_i8xi4, Band, Requant, Rows,
    ScaledWeights,
};

/// Weights of 4 bits, whole and two to a byte.
fn nibbles(rng: &mut Rng, count: usize) -> (Vec<i8>, Vec<u8>) {
    let whole: Vec<i8> = (0..count).map(|_| rng.int(-8, 7) as i8).collect();
    let pair = |pair: &[i8]| (pair[0] as u8 & 15) | pair.get(1).map_or(0, |&w| (w as u8) << 4);
    let packed = whole.chunks(2).map(pair).collect();
    (whole, packed)
}

/// Multiples of 2⁻⁸ between −8 and 8, whole and as halves.
fn halves(rng: &mut Rng, count: usize) -> (Vec<f32>, Vec<u16>) {
    let steps: Vec<i64> = (0..count).map(|_| rng.int(-2047, 2047)).collect();
    let half = |&n: &i64| {
        let magnitude = n.unsigned_abs() as u32;
        let sign = if n < 0 { 0x8000 } else { 0 };
        if magnitude == 0 {
            return sign;
        }
        let log = magnitude.ilog2();
        sign | ((log as u16 + 15 - 8) << 10) | (((magnitude << 10 >> log) & 1023) as u16)
    };
    (steps.iter().map(|&n| n as f32 / 256.0).collect(), steps.iter().map(half).collect())
}

#[test]
fn layers_unpack_what_they_read() {
    let mut rng = Rng::new(61);
    for depthwise in [false, true] {
        for _ in 0..rounds(400) {
            let shape = random_convolution(&mut rng, depthwise);
            let p = shape.conv;
            let count = p.out_c * p.k_h * p.k_w * p.in_c / p.groups;
            let band = Band { first: 0, rows: shape.out_h };
            let size = shape.out_h * shape.out_row();

            let (w, packed) = nibbles(&mut rng, count);
            let mut x = rng.i8s(p.in_h * shape.in_row());
            let bias: Vec<i32> = (0..p.out_c).map(|_| rng.int(-5000, 5000) as i32).collect();
            let scale = rng.scale(count as f64 * 64.0);
            let (multipliers, shifts) = ([scale.multiplier], [scale.shift as i8]);
            let q = Requant { multipliers: &multipliers, shifts: &shifts, zero_point: 3, lo: -128, hi: 127 };
            let (mut whole, mut y) = (vec![99i8; size], vec![-99i8; size]);
            let x = Rows::whole(cells(&mut x), shape.in_row());
            let result = Rows::whole(cells(&mut whole), shape.out_row());
            let kernel = if depthwise { depthwise2d_i8 } else { conv2d_i8 };
            kernel(&p, x, &w, &bias, 5, &q, result, band);
            let result = Rows::whole(cells(&mut y), shape.out_row());
            let kernel = if depthwise { depthwise2d_i8xi4 } else { conv2d_i8xi4 };
            kernel(&p, x, &packed, &bias, 5, &q, result, band);
            assert_same(&y, &whole, shape);

            let (w, packed) = halves(&mut rng, count);
            let (mut x, bias) = (rng.f32s(p.in_h * shape.in_row()), rng.f32s(p.out_c));
            let (mut whole, mut y) = (vec![9e9f32; size], vec![-9e9f32; size]);
            let x = Rows::whole(cells(&mut x), shape.in_row());
            let result = Rows::whole(cells(&mut whole), shape.out_row());
            let kernel = if depthwise { depthwise2d_f32 } else { conv2d_f32 };
            kernel(&p, x, &w, &bias, -6.0, 6.0, result, band);
            let result = Rows::whole(cells(&mut y), shape.out_row());
            let kernel = if depthwise { depthwise2d_f32xf16 } else { conv2d_f32xf16 };
            kernel(&p, x, &packed, &bias, -6.0, 6.0, result, band);
            assert_same(&y, &whole, shape);
        }
    }
}

#[test]
fn products_unpack_what_they_read() {
    let mut rng = Rng::new(62);
    for _ in 0..rounds(200) {
        let (k, n, rows) = (rng.size(1, 90), rng.size(1, 13), rng.size(1, 4));
        let band = Band { first: 0, rows };
        let (w, packed) = nibbles(&mut rng, k * n);
        let mut x = rng.i8s(rows * k);
        let bias = vec![7; n];
        let scale = rng.scale(k as f64 * 512.0);
        let (multipliers, shifts) = ([scale.multiplier], [scale.shift as i8]);
        let q = Requant { multipliers: &multipliers, shifts: &shifts, zero_point: -3, lo: -128, hi: 127 };
        let (mut whole, mut y) = (vec![99i8; rows * n], vec![-99i8; rows * n]);
        let x = Rows::whole(cells(&mut x), k);
        dense_i8(x, &w, &bias, &q, Rows::whole(cells(&mut whole), n), band);
        dense_i8xi4(x, &packed, &bias, &q, Rows::whole(cells(&mut y), n), band);
        assert_same(&y, &whole, (k, n));

        let (w, packed) = halves(&mut rng, k * n);
        let (mut x, bias) = (rng.f32s(rows * k), rng.f32s(n));
        let (mut whole, mut y) = (vec![9e9f32; rows * n], vec![-9e9f32; rows * n]);
        let x = Rows::whole(cells(&mut x), k);
        dense_f32(x, &w, &bias, -9.0, 9.0, Rows::whole(cells(&mut whole), n), band);
        dense_f32xf16(x, &packed, &bias, -9.0, 9.0, Rows::whole(cells(&mut y), n), band);
        assert_same(&y, &whole, (k, n));
    }
}

/// Weights that are integers with scales: the floats, and how flash holds them. `size` is that of a filter.
struct Scaled {
    floats: Vec<f32>,
    ints: Vec<i8>,
    scales: Vec<f32>,
    zero_points: Vec<i8>,
    group: usize,
}

impl Scaled {
    fn weights(&self) -> ScaledWeights<'_> {
        let Scaled { ints, scales, zero_points, group, .. } = self;
        ScaledWeights { ints, scales, zero_points, group: *group }
    }
}

/// Random weights with groups of so many, in the order that `at` gives of a weight's index among those of one filter after the other.
fn scaled(rng: &mut Rng, count: usize, group: usize, nibbles: bool, at: impl Fn(usize) -> usize) -> Scaled {
    let groups = count.div_ceil(group);
    let (lo, hi) = if nibbles { (-8, 7) } else { (-128, 127) };
    let scales: Vec<f32> = (0..groups).map(|_| rng.int(1, 100_000) as f32 / 1e6).collect();
    let zeros = rng.int(0, 1) as usize * groups;
    let zero_points: Vec<i8> = (0..zeros).map(|_| rng.int(lo, hi) as i8).collect();
    let (mut floats, mut ints) = (vec![0.0; count], vec![0i8; count]);
    for i in 0..count {
        let int = rng.int(lo, hi) as i8;
        let zero = zero_points.get(i / group).copied().unwrap_or(0);
        ints[at(i)] = int;
        floats[at(i)] = scales[i / group] * (i32::from(int) - i32::from(zero)) as f32;
    }
    if nibbles {
        ints = ints.chunks(2).map(|pair| (pair[0] & 15) | pair.get(1).map_or(0, |&w| w << 4)).collect();
    }
    Scaled { floats, ints, scales, zero_points, group }
}

/// Where the weights of filters lie, of which four alternate in each group of the layer.
fn alternating(size: usize, per_group: usize) -> impl Fn(usize) -> usize {
    move |i| {
        let (o, tap) = (i / size, i % size);
        let (first, lane) = (o / per_group * per_group, o % per_group);
        let four = lane / 4 * 4;
        if four + 4 <= per_group {
            (first + four) * size + tap * 4 + lane - four
        } else {
            i
        }
    }
}

/// A size of groups that a filter or all of them consist of.
fn group(rng: &mut Rng, size: usize, count: usize) -> usize {
    let parts: Vec<usize> = (1..=size).filter(|&group| size % group == 0).chain([count, size]).collect();
    parts[rng.size(0, parts.len() - 1)]
}

#[test]
fn layers_dequantise_what_they_read() {
    let mut rng = Rng::new(64);
    for (depthwise, nibbles) in [(false, false), (false, true), (true, false), (true, true)] {
        for _ in 0..rounds(300) {
            let shape = random_convolution(&mut rng, depthwise);
            let p = shape.conv;
            let size = p.k_h * p.k_w * p.in_c / p.groups;
            let count = p.out_c * size;
            let w = if depthwise {
                let group = if rng.int(0, 1) == 0 { size } else { count };
                scaled(&mut rng, count, group, nibbles, |i| i % size * p.out_c + i / size)
            } else {
                let group = group(&mut rng, size, count);
                scaled(&mut rng, count, group, nibbles, alternating(size, p.out_c / p.groups))
            };
            let (mut x, bias) = (rng.f32s(p.in_h * shape.in_row()), rng.f32s(p.out_c));
            let len = shape.out_h * shape.out_row();
            let (mut whole, mut y) = (vec![9e9f32; len], vec![-9e9f32; len]);
            let x = Rows::whole(cells(&mut x), shape.in_row());
            let band = Band { first: 0, rows: shape.out_h };
            let result = Rows::whole(cells(&mut whole), shape.out_row());
            let kernel = if depthwise { depthwise2d_f32 } else { conv2d_f32 };
            kernel(&p, x, &w.floats, &bias, -6.0, 6.0, result, band);
            let result = Rows::whole(cells(&mut y), shape.out_row());
            let kernel = match (depthwise, nibbles) {
                (false, false) => conv2d_f32xi8,
                (false, true) => conv2d_f32xi4,
                (true, false) => depthwise2d_f32xi8,
                (true, true) => depthwise2d_f32xi4,
            };
            kernel(&p, x, &w.weights(), &bias, -6.0, 6.0, result, band);
            assert_same(&y, &whole, (shape, w.group));
        }
    }
}

#[test]
fn products_dequantise_what_they_read() {
    let mut rng = Rng::new(65);
    for round in 0..rounds(200) {
        let (k, n, rows) = (rng.size(1, 300), rng.size(1, 13), rng.size(1, 4));
        let band = Band { first: 0, rows };
        let group = group(&mut rng, k, k * n);
        let w = scaled(&mut rng, k * n, group, round % 2 == 0, alternating(k, n));
        let (mut x, bias) = (rng.f32s(rows * k), rng.f32s(n));
        let (mut whole, mut y) = (vec![9e9f32; rows * n], vec![-9e9f32; rows * n]);
        let x = Rows::whole(cells(&mut x), k);
        dense_f32(x, &w.floats, &bias, -9.0, 9.0, Rows::whole(cells(&mut whole), n), band);
        let kernel = if round % 2 == 0 { dense_f32xi4 } else { dense_f32xi8 };
        kernel(x, &w.weights(), &bias, -9.0, 9.0, Rows::whole(cells(&mut y), n), band);
        assert_same(&y, &whole, (k, n, group));
    }
}

#[test]
fn impossible_parameters_end_early() {
    let q = Requant { multipliers: &[1 << 30], shifts: &[0], zero_point: 0, lo: -128, hi: 127 };
    impossible_convolutions(&mut Rng::new(63), 5_000, |p, x, y, band| {
        conv2d_i8xi4(p, x, &[0x21; 8], &[0; 2], 3, &q, y, band);
        depthwise2d_i8xi4(p, x, &[0x21; 8], &[0; 2], 3, &q, y, band);
    });
}
