//! Results that overlay the part of an operand that has been read: rows come in ascending order, and when row `r` is written all that it and later
//! rows read is intact. The result lies below the operand in one memory, as far up as that allows.

use super::pooling::random_pool;
use super::support::{assert_same, cells, rounds, Rng};
use super::table::random_convolution;
use kiln::kernels::{
    add_i8, avg_pool2d_i8, conv2d_i8, depthwise2d_i8, dequantize_i8_f32, max_pool2d_i8, quantize_f32_i8,
    softmax_i8, AddParams, Band, Broadcast, Requant, Rows, Scale,
};
use std::cell::Cell;

/// Sizes of a kernel's operand and result.
struct Sizes {
    in_h: usize,
    in_row: usize,
    out_h: usize,
    out_row: usize,
}

impl Sizes {
    /// How many elements the operand has to begin behind the result. `first` is the lowest row of the operand that a row of the result reads.
    fn gap(&self, first: impl Fn(usize) -> usize) -> usize {
        let needed = |row: usize| (row..self.out_h).map(&first).min().unwrap_or(0) * self.in_row;
        let written = |row: usize| (row + 1) * self.out_row;
        (0..self.out_h).map(|row| written(row).saturating_sub(needed(row))).max().unwrap_or(0)
    }

    /// The result between two tensors of their own, and the result that overlays the operand.
    #[track_caller]
    fn check(
        &self,
        x: &[i8],
        first: impl Fn(usize) -> usize,
        what: impl std::fmt::Debug,
        run: impl Fn(Rows<'_, i8>, Rows<'_, i8>, Band),
    ) {
        let band = Band { first: 0, rows: self.out_h };
        let (mut apart, mut expected) = (x.to_vec(), vec![99; self.out_h * self.out_row]);
        run(
            Rows::whole(cells(&mut apart), self.in_row),
            Rows::whole(cells(&mut expected), self.out_row),
            band,
        );
        let gap = self.gap(first);
        let mut memory = vec![77; (gap + x.len()).max(expected.len())];
        memory[gap..gap + x.len()].copy_from_slice(x);
        let memory = cells(&mut memory);
        let (x, y) = (&memory[gap..gap + self.in_h * self.in_row], &memory[..expected.len()]);
        run(Rows::whole(x, self.in_row), Rows::whole(y, self.out_row), band);
        let got: Vec<i8> = y.iter().map(Cell::get).collect();
        assert_same(&got, &expected, (gap, what));
    }
}

#[test]
fn convolutions() {
    let mut rng = Rng::new(30);
    for case in 0..rounds(1500) {
        let depthwise = case % 2 == 0;
        let shape = random_convolution(&mut rng, depthwise);
        let p = shape.conv;
        let weights = rng.i8s(p.out_c * p.k_h * p.k_w * p.in_c / p.groups);
        let bias: Vec<i32> = (0..p.out_c).map(|_| rng.int(-20_000, 20_000) as i32).collect();
        let scale = rng.scale(weights.len() as f64 * 8192.0 / p.out_c as f64);
        let (multipliers, shifts) = ([scale.multiplier], [scale.shift as i8]);
        let q = Requant { multipliers: &multipliers, shifts: &shifts, zero_point: 3, lo: -128, hi: 127 };
        let kernel = if depthwise { depthwise2d_i8 } else { conv2d_i8 };
        let sizes =
            Sizes { in_h: p.in_h, in_row: shape.in_row(), out_h: shape.out_h, out_row: shape.out_row() };
        let first = |row: usize| (row * p.stride_h).saturating_sub(p.pad_top).min(p.in_h);
        let x = rng.i8s(p.in_h * shape.in_row());
        sizes.check(&x, first, shape, |x, y, band| kernel(&p, x, &weights, &bias, 5, &q, y, band));
    }
}

#[test]
fn poolings() {
    let mut rng = Rng::new(31);
    for _ in 0..rounds(1000) {
        let (p, out_h) = random_pool(&mut rng);
        let sizes = Sizes { in_h: p.in_h, in_row: p.in_w * p.c, out_h, out_row: p.out_w * p.c };
        let first = |row: usize| (row * p.stride_h).saturating_sub(p.pad_top).min(p.in_h);
        let x = rng.i8s(p.in_h * p.in_w * p.c);
        for kernel in [avg_pool2d_i8, max_pool2d_i8] {
            sizes.check(&x, first, p, |x, y, band| kernel(&p, x, -100, 90, y, band));
        }
    }
}

/// Each row of the result takes the place of the row of the operand before.
#[test]
fn softmax() {
    let mut rng = Rng::new(32);
    let exps: Vec<i32> = (0..256).map(|d| i32::MAX >> (d / 3).min(31)).collect();
    for _ in 0..rounds(300) {
        let (rows, depth) = (rng.size(1, 7), rng.size(1, 9));
        let n = rows * depth;
        let mut x = rng.i8s(n);
        let mut memory = [vec![0; depth], x.clone()].concat();
        let mut expected = vec![99; n];
        softmax_i8(depth, &exps, cells(&mut x), cells(&mut expected));
        let memory = cells(&mut memory);
        softmax_i8(depth, &exps, &memory[depth..], &memory[..n]);
        let got: Vec<i8> = memory[..n].iter().map(Cell::get).collect();
        assert_same(&got, &expected, (rows, depth));
    }
}

/// Elements of equal size: element `i` is read before element `i` is written, so that the result may lie in place or anywhere below.
#[test]
fn elementwise() {
    let mut rng = Rng::new(33);
    let one = Scale { multiplier: 1 << 30, shift: 1 };
    let p = AddParams {
        left_shift: 0,
        x_zero: 0,
        x: one,
        y_zero: 0,
        y: one,
        out_zero: 0,
        out: one,
        lo: -128,
        hi: 127,
    };
    for _ in 0..rounds(300) {
        let n = rng.size(1, 40);
        let shape = Broadcast { dims: [1, 1, 1, 1, 1, n], a: [0, 0, 0, 0, 0, 1], b: [0, 0, 0, 0, 0, 1] };
        let (x, z, gap) = (rng.i8s(n), rng.i8s(n), rng.size(0, n));
        let mut memory = [vec![0; gap], x.clone()].concat();
        let memory = cells(&mut memory);
        add_i8(&shape, &p, &memory[gap..], &z[..], &memory[..n]);
        let expected: Vec<i8> = x.iter().zip(&z).map(|(x, z)| x.saturating_add(*z)).collect();
        let got: Vec<i8> = memory[..n].iter().map(Cell::get).collect();
        assert_same(&got, &expected, gap);
    }
}

/// A smaller element at or below the larger one it is made from; a larger one as far below as its size asks for.
#[test]
fn elements_of_other_sizes() {
    let mut rng = Rng::new(34);
    for _ in 0..rounds(300) {
        let n = rng.size(1, 20);
        let values = rng.i8s(n);
        let mut arena = kiln::Arena::<128>::new();
        let memory = arena.memory();
        let (floats, bytes) = (memory.cells::<f32, 0, 20>(), memory.cells::<i8, 0, 20>());
        values.iter().zip(floats).for_each(|(&value, cell)| cell.set(f32::from(value)));
        quantize_f32_i8(1.0, 0, &floats[..n], &bytes[..n]);
        let got: Vec<i8> = bytes[..n].iter().map(Cell::get).collect();
        assert_same(&got, &values, n);

        let behind = memory.cells::<i8, 60, 20>();
        values.iter().zip(behind).for_each(|(&value, cell)| cell.set(value));
        // Float i ends at 4·i + 4, and byte i + 1 is at 60 + i + 1.
        dequantize_i8_f32(1.0, 0, &behind[..n], &floats[..n]);
        let got: Vec<f32> = floats[..n].iter().map(Cell::get).collect();
        assert_same(&got, &values.iter().map(|&value| f32::from(value)).collect::<Vec<_>>(), n);
    }
}
