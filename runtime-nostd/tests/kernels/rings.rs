//! Kernels that take bands, band by band between rings as small as can be, against one call for everything between whole tensors.

use super::pooling::random_pool;
use super::support::{assert_same, cells, rounds, Rng};
use super::table::random_convolution;
use kiln::kernels::{
    avg_pool2d_f32, avg_pool2d_i16, avg_pool2d_i8, avg_pool_rows_f32, avg_pool_rows_i16, avg_pool_rows_i8,
    conv2d_f32, conv2d_i8, dense_f32, dense_i8, dense_i8_float, dense_i8_once, dense_rows_f32, dense_rows_i8,
    dense_rows_i8_float, dense_rows_i8_once, depthwise2d_f32, depthwise2d_i8, max_pool2d_f32, max_pool2d_i8,
    mean_f32, mean_i16, mean_i8, mean_rows_f32, mean_rows_i16, mean_rows_i8, pad_rows, Band, Copy,
    FloatRequant, MeanRows, Pad, Pool, Reduce, Requant, Rows,
};
use std::cell::Cell;

/// An operand of which rows are read, and a result of which rows are written.
struct Streamed<'a, T> {
    x: &'a [T],
    in_row: usize,
    out_row: usize,
    out_h: usize,
    /// Rows of the operand that come before a row of the result: they have been read when it is written.
    done: &'a dyn Fn(usize) -> usize,
    /// Rows of the operand that are there when a row of the result is written.
    loaded: &'a dyn Fn(usize) -> usize,
}

impl<T: std::marker::Copy> Streamed<'_, T> {
    /// Rows that the ring of the operand has to hold for bands of so many rows.
    fn reach(&self, band: usize) -> usize {
        let span = |first: usize| {
            let last = (first + band).min(self.out_h) - 1;
            (self.loaded)(last).saturating_sub((self.done)(first))
        };
        (0..self.out_h).step_by(band).map(span).max().unwrap_or(0).max(1)
    }

    /// The result, computed in bands of so many rows, of which a ring holds no more.
    fn in_bands(&self, band: usize, other: T, run: impl Fn(Rows<'_, T>, Rows<'_, T>, Band)) -> Vec<T> {
        let ring = self.reach(band);
        let (mut x, mut y) = (vec![other; ring * self.in_row], vec![other; band * self.out_row]);
        let (x, y) = (cells(&mut x), cells(&mut y));
        let (mut next, mut result) = (0, Vec::new());
        for first in (0..self.out_h).step_by(band) {
            let rows = band.min(self.out_h - first);
            while next < (self.loaded)(first + rows - 1) {
                set(&x[next % ring * self.in_row..], &self.x[next * self.in_row..][..self.in_row]);
                next += 1;
            }
            let (x, y) = (Rows::ring(x, self.in_row, ring), Rows::ring(y, self.out_row, band));
            run(x, y, Band { first, rows });
            result.extend((first..first + rows).flat_map(|row| y.row(row).iter().map(Cell::get)));
        }
        result
    }

    fn whole(&self, other: T, run: impl Fn(Rows<'_, T>, Rows<'_, T>, Band)) -> Vec<T> {
        let (mut x, mut y) = (self.x.to_vec(), vec![other; self.out_h * self.out_row]);
        let rows = (Rows::whole(cells(&mut x), self.in_row), Rows::whole(cells(&mut y), self.out_row));
        run(rows.0, rows.1, Band { first: 0, rows: self.out_h });
        y
    }

    #[track_caller]
    fn check(
        &self,
        rng: &mut Rng,
        other: T,
        what: impl std::fmt::Debug,
        run: impl Fn(Rows<'_, T>, Rows<'_, T>, Band),
    ) where
        T: PartialEq + std::fmt::Debug,
    {
        let expected = self.whole(other, &run);
        for band in [1, rng.size(1, self.out_h)] {
            assert_same(&self.in_bands(band, other, &run), &expected, (band, &what));
        }
    }
}

/// Floats whose sums depend on the order of the additions.
fn fractions(rng: &mut Rng, n: usize) -> Vec<f32> {
    rng.f32s(n).into_iter().map(|x| x / 3.0).collect()
}

fn set<T: std::marker::Copy>(to: &[Cell<T>], from: &[T]) {
    to.iter().zip(from).for_each(|(to, &from)| to.set(from));
}

#[test]
fn convolutions() {
    let mut rng = Rng::new(20);
    for case in 0..rounds(1500) {
        let depthwise = case % 2 == 0;
        let shape = random_convolution(&mut rng, depthwise);
        let p = shape.conv;
        let before = |row: usize| (row * p.stride_h).saturating_sub(p.pad_top).min(p.in_h);
        let reached = |row: usize| (row * p.stride_h + shape.reach()).saturating_sub(p.pad_top).min(p.in_h);
        let weights = p.out_c * p.k_h * p.k_w * p.in_c / p.groups;

        let (w, x) = (rng.i8s(weights), rng.i8s(p.in_h * shape.in_row()));
        let bias: Vec<i32> = (0..p.out_c).map(|_| rng.int(-20_000, 20_000) as i32).collect();
        let scale = rng.scale(weights as f64 * 8192.0 / p.out_c as f64);
        let (multipliers, shifts) = ([scale.multiplier], [scale.shift as i8]);
        let q = Requant { multipliers: &multipliers, shifts: &shifts, zero_point: 3, lo: -128, hi: 127 };
        let (in_row, out_row, out_h) = (shape.in_row(), shape.out_row(), shape.out_h);
        let kernel = if depthwise { depthwise2d_i8 } else { conv2d_i8 };
        let pad = rng.zero_point();
        let streamed = Streamed { x: &x, in_row, out_row, out_h, done: &before, loaded: &reached };
        streamed.check(&mut rng, 99, shape, |x, y, band| kernel(&p, x, &w, &bias, pad, &q, y, band));

        let (w, x, bias) = (
            fractions(&mut rng, weights),
            fractions(&mut rng, p.in_h * in_row),
            fractions(&mut rng, p.out_c),
        );
        let kernel = if depthwise { depthwise2d_f32 } else { conv2d_f32 };
        let streamed = Streamed { x: &x, in_row, out_row, out_h, done: &before, loaded: &reached };
        streamed.check(&mut rng, 9e9, shape, |x, y, band| kernel(&p, x, &w, &bias, -3.0, 3.0, y, band));
    }
}

#[test]
fn poolings() {
    let mut rng = Rng::new(21);
    for _ in 0..rounds(1000) {
        let (p, out_h) = random_pool(&mut rng);
        let before = |row: usize| (row * p.stride_h).saturating_sub(p.pad_top).min(p.in_h);
        let reached = |row: usize| (row * p.stride_h + p.k_h).saturating_sub(p.pad_top).min(p.in_h);
        let (in_row, out_row) = (p.in_w * p.c, p.out_w * p.c);
        let (ints, floats) = (rng.i8s(p.in_h * in_row), fractions(&mut rng, p.in_h * in_row));
        for kernel in [avg_pool2d_i8, max_pool2d_i8] {
            let streamed = Streamed { x: &ints, in_row, out_row, out_h, done: &before, loaded: &reached };
            streamed.check(&mut rng, 99, p, |x, y, band| kernel(&p, x, -100, 90, y, band));
        }
        for kernel in [avg_pool2d_f32, max_pool2d_f32] {
            let streamed = Streamed { x: &floats, in_row, out_row, out_h, done: &before, loaded: &reached };
            streamed.check(&mut rng, 9e9, p, |x, y, band| kernel(&p, x, -0.5, 1.0, y, band));
        }
    }
}

#[test]
fn paddings() {
    let mut rng = Rng::new(22);
    for _ in 0..rounds(500) {
        let [top, bottom, left, right] = [0; 4].map(|_| rng.size(0, 3));
        let (h, w, c, out_c) = (rng.size(1, 7), rng.size(1, 5), rng.size(1, 4), rng.size(4, 6));
        let (in_row, out_row, out_h) = (w * c, (left + w + right) * out_c, top + h + bottom);
        let first_c = rng.size(0, out_c - c);
        let row = Copy {
            dims: [1, 1, 1, 1, w, c],
            src: [0, 0, 0, 0, c as isize, 1],
            src_offset: 0,
            dst: [0, 0, 0, 0, out_c, 1],
            dst_offset: left * out_c + first_c,
        };
        let p = Pad { before: top, rows: h, row };
        let x: Vec<u8> = rng.i8s(h * in_row).into_iter().map(|x| x as u8).collect();
        let mut expected = vec![77; out_h * out_row];
        for (i, &value) in x.iter().enumerate() {
            let (y, x, c) = (i / in_row + top, i / c % w + left, i % c + first_c);
            expected[y * out_row + x * out_c + c] = value;
        }
        let before = |row: usize| row.saturating_sub(top).min(h);
        let reached = |row: usize| (row + 1).saturating_sub(top).min(h);
        let streamed = Streamed { x: &x, in_row, out_row, out_h, done: &before, loaded: &reached };
        for band in [1, rng.size(1, out_h)] {
            let got = streamed.in_bands(band, 99, |x, y, band| pad_rows(&p, 77, x, y, band));
            assert_same(&got, &expected, (p, band));
        }
    }
}

/// Calls `absorb` with bands of a ring until all rows are absorbed.
fn absorbed<T: std::marker::Copy, A>(
    x: &[T],
    in_row: usize,
    band: usize,
    mut sums: Vec<A>,
    mut y: Vec<T>,
    absorb: impl Fn(Rows<'_, T>, &[Cell<A>], &[Cell<T>], Band),
) -> Vec<T> {
    let mut ring = x[..in_row].repeat(band);
    let rows = x.len() / in_row;
    for first in (0..rows).step_by(band) {
        let due = Band { first, rows: band.min(rows - first) };
        for row in due.range() {
            set(&cells(&mut ring)[row % band * in_row..], &x[row * in_row..][..in_row]);
        }
        absorb(Rows::ring(cells(&mut ring), in_row, band), cells(&mut sums), cells(&mut y), due);
    }
    y
}

#[test]
fn poolings_over_all_rows() {
    let mut rng = Rng::new(23);
    for _ in 0..rounds(1000) {
        let (p, _) = random_pool(&mut rng);
        // Rows are all in the one window; columns are in several, which may overlap.
        let p = Pool { k_h: p.in_h + rng.size(0, 1), pad_top: 0, ..p };
        let (in_row, n) = (p.in_w * p.c, p.out_w * p.c);
        let (ints, floats) = (rng.i8s(p.in_h * in_row), fractions(&mut rng, p.in_h * in_row));
        let (none, one) = (|_| 0, |_| p.in_h);
        let whole = Streamed { x: &ints, in_row, out_row: n, out_h: 1, done: &none, loaded: &one };
        let expected = whole.whole(99, |x, y, band| avg_pool2d_i8(&p, x, -100, 90, y, band));
        let whole = Streamed { x: &floats, in_row, out_row: n, out_h: 1, done: &none, loaded: &one };
        let halves = widened(&ints);
        let of_halves = Streamed { x: &halves, in_row, out_row: n, out_h: 1, done: &none, loaded: &one };
        let expected_i16 = of_halves.whole(99, |x, y, band| avg_pool2d_i16(&p, x, -9000, 9000, y, band));
        let expected_f32 = whole.whole(9e9, |x, y, band| avg_pool2d_f32(&p, x, -0.5, 1.0, y, band));
        for band in 1..=p.in_h {
            let got = absorbed(&ints, in_row, band, vec![-1; n], vec![99; n], |x, sums, y, band| {
                avg_pool_rows_i8(&p, -100, 90, x, sums, y, band);
            });
            assert_same(&got, &expected, (p, band));
            let got = absorbed(&halves, in_row, band, vec![-1; n], vec![99; n], |x, sums, y, band| {
                avg_pool_rows_i16(&p, -9000, 9000, x, sums, y, band);
            });
            assert_same(&got, &expected_i16, (p, band));
            let got = absorbed(&floats, in_row, band, vec![5.0; n], vec![9e9; n], |x, sums, y, band| {
                avg_pool_rows_f32(&p, -0.5, 1.0, x, sums, y, band);
            });
            assert_same(&got, &expected_f32, (p, band));
        }
    }
}

/// Elements of 16 bits.
fn widened(bytes: &[i8]) -> Vec<i16> {
    bytes.iter().map(|&x| i16::from(x) * 251).collect()
}

#[test]
fn means_over_all_rows() {
    let mut rng = Rng::new(24);
    for _ in 0..rounds(1000) {
        let [h, w, c] = [8, 6, 9].map(|largest| rng.size(1, largest));
        let p = Reduce {
            outer: [1, 1, 1, 1, 1, c],
            outer_strides: [0, 0, 0, 0, 0, 1],
            inner: [1, 1, 1, 1, h, w],
            inner_strides: [0, 0, 0, 0, w * c, c],
        };
        let (mut ints, mut floats) = (rng.i8s(h * w * c), fractions(&mut rng, h * w * c));
        let (x_zero, out_zero) = (i32::from(rng.zero_point()), i32::from(rng.zero_point()));
        let scale = rng.scale(128.0 * (h * w) as f64);
        let (mut expected, mut expected_f32) = (vec![99; c], vec![9e9; c]);
        mean_i8(&p, x_zero, &scale, out_zero, -128, 120, cells(&mut ints), cells(&mut expected));
        mean_f32(&p, -0.5, 1.0, cells(&mut floats), cells(&mut expected_f32));
        let (mut halves, mut expected_i16) = (widened(&ints), vec![99; c]);
        let of_halves = cells(&mut halves);
        mean_i16(&p, x_zero, &scale, out_zero, -9000, 9000, of_halves, cells(&mut expected_i16));
        let rows = MeanRows { rows: h, x_zero, scale, out_zero };
        for band in 1..=h {
            let got = absorbed(&ints, w * c, band, vec![-1; c], vec![99; c], |x, sums, y, band| {
                mean_rows_i8(&rows, -128, 120, x, sums, y, band);
            });
            assert_same(&got, &expected, (rows, band));
            let got = absorbed(&halves, w * c, band, vec![-1; c], vec![99; c], |x, sums, y, band| {
                mean_rows_i16(&rows, -9000, 9000, x, sums, y, band);
            });
            assert_same(&got, &expected_i16, (rows, band));
            let got = absorbed(&floats, w * c, band, vec![5.0; c], vec![9e9; c], |x, sums, y, band| {
                mean_rows_f32(h, -0.5, 1.0, x, sums, y, band);
            });
            assert_same(&got, &expected_f32, (rows, band));
        }
    }
}

/// A matrix product that takes a band of rows into sums.
type Multiply<'a> = dyn Fn(Rows<'_, i8>, &[Cell<i32>], &[Cell<i8>], Band) + 'a;

#[test]
fn products_of_all_rows() {
    let mut rng = Rng::new(25);
    for _ in 0..rounds(1000) {
        let [rows, len, n] = [8, 20, 13].map(|largest| rng.size(1, largest));
        let size = rows * len;
        let (mut ints, w) = (rng.i8s(size), rng.i8s(size * n));
        let bias: Vec<i32> = (0..n).map(|_| rng.int(-5000, 5000) as i32).collect();
        let scale = rng.scale(size as f64 * 512.0);
        let (multipliers, shifts, factors) = ([scale.multiplier], [scale.shift as i8], [0.001]);
        let q = Requant { multipliers: &multipliers, shifts: &shifts, zero_point: -3, lo: -128, hi: 120 };
        let by = FloatRequant { factors: &factors, zero_point: -3, lo: -128, hi: 120 };
        let one = Band { first: 0, rows: 1 };
        let whole = |run: &dyn Fn(Rows<'_, i8>, Rows<'_, i8>), x: &mut [i8]| {
            let mut y = vec![99; n];
            run(Rows::whole(cells(x), size), Rows::whole(cells(&mut y), n));
            y
        };
        let twice = whole(&|x, y| dense_i8(x, &w, &bias, &q, y, one), &mut ints);
        let once = whole(&|x, y| dense_i8_once(x, &w, &bias, &q, y, one), &mut ints);
        let float = whole(&|x, y| dense_i8_float(x, &w, &bias, &by, y, one), &mut ints);
        let (mut x, weights, biases) = (rng.f32s(size), rng.f32s(size * n), rng.f32s(n));
        let mut floats = vec![9e9; n];
        let (operand, result) = (Rows::whole(cells(&mut x), size), Rows::whole(cells(&mut floats), n));
        dense_f32(operand, &weights, &biases, -50.0, 60.0, result, one);
        for band in 1..=rows {
            let what = (rows, len, n, band);
            let ints = |run: &Multiply<'_>| absorbed(&ints, len, band, vec![-1; n], vec![99; n], run);
            let got = ints(&|x, sums, y, band| dense_rows_i8(rows, x, &w, &bias, &q, sums, y, band));
            assert_same(&got, &twice, what);
            let got = ints(&|x, sums, y, band| dense_rows_i8_once(rows, x, &w, &bias, &q, sums, y, band));
            assert_same(&got, &once, what);
            let got = ints(&|x, sums, y, band| dense_rows_i8_float(rows, x, &w, &bias, &by, sums, y, band));
            assert_same(&got, &float, what);
            let got = absorbed(&x, len, band, vec![5.0; n], vec![9e9; n], |x, sums, y, band| {
                dense_rows_f32(rows, x, &weights, &biases, -50.0, 60.0, sums, y, band);
            });
            assert_same(&got, &floats, what);
        }
    }
}
