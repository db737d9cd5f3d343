//! Pooling and means.

use super::support::{assert_same, cells, rescale, rounds, Rng};
use kiln::kernels::{
    avg_pool2d_f32, avg_pool2d_i8, max_pool2d_f32, max_pool2d_i8, mean_f32, mean_i8, Band, Pool, Reduce, Rows,
};

pub(crate) fn random_pool(rng: &mut Rng) -> (Pool, usize) {
    let [k_h, k_w, stride_h, stride_w] = [4, 4, 3, 3].map(|largest| rng.size(1, largest));
    let (in_h, in_w) = (rng.size(1, 9), rng.size(1, 9));
    // Every window has a tap inside the image.
    let (pad_top, pad_left) = (rng.size(0, k_h - 1), rng.size(0, k_w - 1));
    let out_h = rng.size(1, (in_h + pad_top).div_ceil(stride_h));
    let out_w = rng.size(1, (in_w + pad_left).div_ceil(stride_w));
    (Pool { in_h, in_w, c: rng.size(1, 7), out_w, k_h, k_w, stride_h, stride_w, pad_top, pad_left }, out_h)
}

/// The taps of each window of a whole image, in order.
fn windows<T: Copy>(p: &Pool, out_h: usize, x: &[T]) -> Vec<Vec<T>> {
    let mut windows = Vec::new();
    for oy in 0..out_h {
        for ox in 0..p.out_w {
            for c in 0..p.c {
                let mut taps = Vec::new();
                for ky in 0..p.k_h {
                    for kx in 0..p.k_w {
                        let iy = (oy * p.stride_h + ky).checked_sub(p.pad_top).filter(|&i| i < p.in_h);
                        let ix = (ox * p.stride_w + kx).checked_sub(p.pad_left).filter(|&i| i < p.in_w);
                        if let (Some(iy), Some(ix)) = (iy, ix) {
                            taps.push(x[(iy * p.in_w + ix) * p.c + c]);
                        }
                    }
                }
                windows.push(taps);
            }
        }
    }
    windows
}

#[test]
fn i8_pools_equal_the_definition() {
    let mut rng = Rng::new(10);
    for _ in 0..rounds(2000) {
        let (p, out_h) = random_pool(&mut rng);
        let x = rng.i8s(p.in_h * p.in_w * p.c);
        let lo = rng.int(-128, 20) as i32;
        let hi = rng.int(lo.into(), 127) as i32;
        let taps = windows(&p, out_h, &x);
        let mean = |taps: &Vec<i8>| {
            let (sum, n) = (taps.iter().map(|&x| f64::from(x)).sum::<f64>(), taps.len() as f64);
            // `round` takes ties away from zero; sums this small are exact.
            ((sum / n).round() as i32).clamp(lo, hi) as i8
        };
        let largest = |taps: &Vec<i8>| i32::from(*taps.iter().max().unwrap()).clamp(lo, hi) as i8;
        let expected: [Vec<i8>; 2] = [taps.iter().map(mean).collect(), taps.iter().map(largest).collect()];
        for (kernel, expected) in [avg_pool2d_i8, max_pool2d_i8].into_iter().zip(expected) {
            let (mut whole, mut y) = (x.clone(), vec![99; expected.len()]);
            let (rows_x, rows_y) =
                (Rows::whole(cells(&mut whole), p.in_w * p.c), Rows::whole(cells(&mut y), p.out_w * p.c));
            kernel(&p, rows_x, lo, hi, rows_y, Band { first: 0, rows: out_h });
            assert_same(&y, &expected, p);
            // Row by row from a ring.
            let row = p.in_w * p.c;
            let mut ring = vec![0; p.k_h * row];
            let ring = cells(&mut ring);
            let mut y = vec![99; expected.len()];
            let y_rows = Rows::whole(cells(&mut y), p.out_w * p.c);
            for oy in 0..out_h {
                let first = (oy * p.stride_h).saturating_sub(p.pad_top);
                for iy in first..(oy * p.stride_h + p.k_h).saturating_sub(p.pad_top).min(p.in_h) {
                    for i in 0..row {
                        ring[iy % p.k_h * row + i].set(x[iy * row + i]);
                    }
                }
                kernel(&p, Rows::ring(ring, row, p.k_h), lo, hi, y_rows, Band { first: oy, rows: 1 });
            }
            assert_same(&y, &expected, p);
        }
    }
}

#[test]
fn f32_pools_equal_the_definition() {
    let mut rng = Rng::new(11);
    for _ in 0..rounds(500) {
        let (p, out_h) = random_pool(&mut rng);
        let mut x = rng.f32s(p.in_h * p.in_w * p.c);
        let (lo, hi) = (-0.5, 1.0);
        let taps = windows(&p, out_h, &x);
        let mean =
            |taps: &Vec<f32>| (taps.iter().fold(0.0, |sum, x| sum + x) / taps.len() as f32).clamp(lo, hi);
        let largest = |taps: &Vec<f32>| taps.iter().fold(f32::MIN, |max, &x| max.max(x)).clamp(lo, hi);
        let expected: [Vec<f32>; 2] = [taps.iter().map(mean).collect(), taps.iter().map(largest).collect()];
        for (kernel, expected) in [avg_pool2d_f32, max_pool2d_f32].into_iter().zip(expected) {
            let mut y = vec![9e9; expected.len()];
            let (rows_x, rows_y) =
                (Rows::whole(cells(&mut x), p.in_w * p.c), Rows::whole(cells(&mut y), p.out_w * p.c));
            kernel(&p, rows_x, lo, hi, rows_y, Band { first: 0, rows: out_h });
            assert_same(&y, &expected, p);
        }
    }
}

/// Random dimensions, which of them are reduced, and the parameters that say so.
fn random_reduction(rng: &mut Rng) -> ([usize; 4], [bool; 4], Reduce) {
    let dims = [0; 4].map(|_| rng.size(1, 5));
    let reduced = [0; 4].map(|_| rng.int(0, 1) == 1);
    let mut p = Reduce { outer: [1; 6], outer_strides: [0; 6], inner: [1; 6], inner_strides: [0; 6] };
    for axis in 0..4 {
        let stride = dims[axis + 1..].iter().product();
        let (sizes, strides) = if reduced[axis] {
            (&mut p.inner, &mut p.inner_strides)
        } else {
            (&mut p.outer, &mut p.outer_strides)
        };
        (sizes[2 + axis], strides[2 + axis]) = (dims[axis], stride);
    }
    (dims, reduced, p)
}

/// The reduced elements of each result, in order.
fn groups<T: Copy>(dims: [usize; 4], reduced: [bool; 4], x: &[T]) -> Vec<Vec<T>> {
    let mut groups = std::collections::BTreeMap::<[usize; 4], Vec<T>>::new();
    for (i, &x) in x.iter().enumerate() {
        let index = [
            i / (dims[1] * dims[2] * dims[3]),
            i / (dims[2] * dims[3]) % dims[1],
            i / dims[3] % dims[2],
            i % dims[3],
        ];
        let key = [0, 1, 2, 3].map(|axis| if reduced[axis] { 0 } else { index[axis] });
        groups.entry(key).or_default().push(x);
    }
    groups.into_values().collect()
}

#[test]
fn means_equal_the_definition() {
    let mut rng = Rng::new(12);
    for _ in 0..rounds(1000) {
        let (dims, reduced, p) = random_reduction(&mut rng);
        let n = dims.iter().product();
        let mut x = rng.i8s(n);
        let groups_i8 = groups(dims, reduced, &x);
        let (x_zero, out_zero) = (i32::from(rng.zero_point()), i32::from(rng.zero_point()));
        let scale = rng.scale(128.0 * n as f64);
        let expected: Vec<i8> = groups_i8
            .iter()
            .map(|group| {
                let sum: i64 = group.iter().map(|&x| i64::from(x) - i64::from(x_zero)).sum();
                (rescale(sum, scale) + i64::from(out_zero)).clamp(-128, 120) as i8
            })
            .collect();
        let mut y = vec![99; expected.len()];
        mean_i8(&p, x_zero, &scale, out_zero, -128, 120, cells(&mut x), cells(&mut y));
        assert_same(&y, &expected, p);

        let mut x = rng.f32s(n);
        let expected: Vec<f32> = groups(dims, reduced, &x)
            .iter()
            .map(|group| (group.iter().fold(0.0, |sum, x| sum + x) / group.len() as f32).max(0.0))
            .collect();
        let mut y = vec![9e9; expected.len()];
        mean_f32(&p, 0.0, f32::INFINITY, cells(&mut x), cells(&mut y));
        assert_same(&y, &expected, p);
    }
}
