//! Products of matrices.

use super::math::round_even;
use super::sum::clip;
use super::walk::Walk;
use crate::arch::{opaque, FEW_REGISTERS, VECTOR_FLOATS};
use crate::fixed::to_i8;
use crate::params::{MatMul, MulFloat, MulParams};
use crate::rows::{Read, ReadSlice};
use core::cell::Cell;

/// Products of floats, summed in order, clamped to `lo..=hi`.
#[inline(always)]
pub fn matmul_f32(p: &MatMul, lo: f32, hi: f32, a: impl Read<f32>, b: impl Read<f32>, y: &[Cell<f32>]) {
    products(
        p,
        a.slice(),
        b.slice(),
        y,
        !FEW_REGISTERS && !VECTOR_FLOATS,
        0.0,
        |sum, a, b| sum + a * b,
        |sum| clip(sum, lo, hi),
    );
}

/// Products of `i8` operands, as TFLite's `BATCH_MATMUL`: Σ (a − x_zero) · (b − y_zero), rescaled by `out`, plus `out_zero`, clamped to `lo..=hi`.
#[inline(always)]
pub fn matmul_i8(p: &MatMul, q: &MulParams, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    let add = |sum: i32, a: i8, b: i8| {
        let product = i32::from(a).wrapping_sub(q.x_zero).wrapping_mul(i32::from(b).wrapping_sub(q.y_zero));
        sum.wrapping_add(product)
    };
    products(p, a.slice(), b.slice(), y, !FEW_REGISTERS, 0, add, |sum| {
        to_i8(q.out.apply(sum), q.out_zero, q.lo, q.hi)
    });
}

/// As [`matmul_i8`], but sums are rescaled as floats: ONNX Runtime's `QLinearMatMul`.
#[inline(always)]
pub fn matmul_i8_float(p: &MatMul, q: &MulFloat, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    let q = opaque(q);
    let add = |sum: i32, a: i8, b: i8| {
        let product = i32::from(a).wrapping_sub(q.x_zero).wrapping_mul(i32::from(b).wrapping_sub(q.y_zero));
        sum.wrapping_add(product)
    };
    let finish = |sum: i32| to_i8(round_even(sum as f32 * q.by + q.plus), q.minus.wrapping_neg(), q.lo, q.hi);
    products(p, a.slice(), b.slice(), y, !FEW_REGISTERS, 0, add, finish);
}

/// Products of `i16` operands without zero points: as [`matmul_i8`], with sums of 64 bits.
#[inline(always)]
pub fn matmul_i16(p: &MatMul, q: &MulParams, a: impl Read<i16>, b: impl Read<i16>, y: &[Cell<i16>]) {
    let add = |sum: i64, a: i16, b: i16| sum.wrapping_add((i32::from(a) * i32::from(b)).into());
    products(p, a.slice(), b.slice(), y, !FEW_REGISTERS, 0, add, |sum| {
        q.out.apply_wide(sum).max(q.lo).min(q.hi) as i16
    });
}

/// Products of rows of `a` with rows of `b`: with four at a time where `fours` says so.
#[inline(never)]
fn products<T: Copy, A: Copy>(
    p: &MatMul,
    a: impl ReadSlice<T>,
    b: impl ReadSlice<T>,
    y: &[Cell<T>],
    fours: bool,
    start: A,
    add: impl Fn(A, T, T) -> A,
    finish: impl Fn(A) -> T,
) {
    let [.., step_a] = p.a;
    let [.., step_b] = p.b;
    let [.., count] = p.dims;
    if p.m == 0 {
        return;
    }
    let mut rows = y.chunks_exact(p.n.max(1));
    for [mut at_a, mut at_b] in Walk::new(&p.dims, [(&p.a, 0), (&p.b, 0)]) {
        for _ in 0..count {
            for i in 0..p.m {
                let row = at_a.wrapping_add(i.wrapping_mul(p.k));
                let (Some(y), Some(a)) = (rows.next(), a.run(row, p.k)) else { return };
                let mut column = at_b;
                let fours = y.chunks_exact(if fours { 4 } else { usize::MAX });
                let rest = fours.remainder();
                for y in fours {
                    let columns = [0, 1, 2, 3].map(|i| b.run(column.wrapping_add(p.k.wrapping_mul(i)), p.k));
                    let [Some(b0), Some(b1), Some(b2), Some(b3)] = columns else { return };
                    let b = b0.each().zip(b1.each()).zip(b2.each()).zip(b3.each());
                    let sums =
                        a.each().zip(b).fold([start; 4], |[s0, s1, s2, s3], (a, (((b0, b1), b2), b3))| {
                            [add(s0, a, b0), add(s1, a, b1), add(s2, a, b2), add(s3, a, b3)]
                        });
                    y.iter().zip(sums).for_each(|(y, sum)| y.set(finish(sum)));
                    column = column.wrapping_add(p.k.wrapping_mul(4));
                }
                for y in rest {
                    let Some(b) = b.run(column, p.k) else { return };
                    let sum = a.each().zip(b.each()).fold(start, |sum, (a, b)| add(sum, a, b));
                    y.set(finish(sum));
                    column = column.wrapping_add(p.k);
                }
            }
            at_a = at_a.wrapping_add(step_a);
            at_b = at_b.wrapping_add(step_b);
        }
    }
}
