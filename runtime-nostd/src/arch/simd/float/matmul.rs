//! Products of matrices of floats.

use super::tile::Tiles;
use crate::arch::portable::matmul::matmul_f32;
use crate::arch::portable::walk::{last, Walk};
use crate::arch::simd::dispatch::kernel;
use crate::arch::simd::work::aligned;
use crate::arch::simd::{Simd, BLOCK};
use crate::params::MatMul;
use crate::rows::{Read, ReadSlice};
use core::cell::Cell;

/// As [`matmul_f32`](crate::kernels::matmul_f32) in vectors: products may be added with one rounding.
///
/// `work` has room for the second operand's rows, their number rounded up to a multiple of 16, of one element more than they have, and for 16 elements.
#[inline(always)]
pub fn matmul_f32_simd(
    p: &MatMul,
    lo: f32,
    hi: f32,
    a: impl Read<f32>,
    b: impl Read<f32>,
    y: &[Cell<f32>],
    work: &[Cell<f32>],
) {
    with_operands(p, lo, hi, a, b, y, work, matrices);
}

/// Computes all products: range of results, operands, result and workspace.
type Matrices = fn(&MatMul, [f32; 2], [*const f32; 2], &[Cell<f32>], &[Cell<f32>]);

/// Calls `matrices` with what is as long as it has to be, or else the portable kernel.
#[inline(always)]
pub(super) fn with_operands(
    p: &MatMul,
    lo: f32,
    hi: f32,
    a: impl Read<f32>,
    b: impl Read<f32>,
    y: &[Cell<f32>],
    work: &[Cell<f32>],
    matrices: Matrices,
) {
    let (first, second) = (a.slice(), b.slice());
    let operands = [(first.start(), first.each().len()), (second.start(), second.each().len())];
    if is_whole(p, operands[0].1, operands[1].1, y.len(), work.len()) {
        matrices(p, [lo, hi], [operands[0].0, operands[1].0], y, work);
    } else {
        matmul_f32(p, lo, hi, a, b, y);
    }
}

/// Whether all is as long as the kernel takes it to be.
fn is_whole(p: &MatMul, a: usize, b: usize, y: usize, work: usize) -> bool {
    let count = p.dims.iter().fold(1usize, |n, &dim| n.saturating_mul(dim));
    let blocks = p.n.div_ceil(BLOCK).saturating_mul(BLOCK);
    // Without rows, any number of products fits.
    p.m > 0
        && p.n > 0
        && count > 0
        && last(&p.dims, &p.a).saturating_add(p.m.saturating_mul(p.k)) <= a
        && last(&p.dims, &p.b).saturating_add(p.n.saturating_mul(p.k)) <= b
        && count.saturating_mul(p.m).saturating_mul(p.n) <= y
        && blocks.saturating_mul(p.k.saturating_add(1)).saturating_add(BLOCK) <= work
}

kernel! {
    /// All products; operands, result and workspace are as long as they have to be.
    fn matrices(p: &MatMul, range: [f32; 2], operands: [*const f32; 2], y: &[Cell<f32>], work: &[Cell<f32>]) = products
}

#[inline(always)]
pub(super) unsafe fn products<S: Simd>(
    p: &MatMul,
    [lo, hi]: [f32; 2],
    [a, b]: [*const f32; 2],
    y: &[Cell<f32>],
    work: &[Cell<f32>],
) {
    let blocks = aligned(work);
    let mut y = y.as_ptr().cast_mut().cast::<f32>();
    let [.., step_a] = p.a;
    let [.., step_b] = p.b;
    let [.., count] = p.dims;
    let mut packed = None;
    for [mut at_a, mut at_b] in Walk::new(&p.dims, [(&p.a, 0), (&p.b, 0)]) {
        for _ in 0..count {
            // SAFETY: operands, result and workspace are as long as they have to be.
            unsafe {
                if packed != Some(at_b) {
                    pack(p, b.add(at_b), blocks);
                    packed = Some(at_b);
                }
                let tiles = Tiles {
                    runs: &[a.add(at_a)],
                    taps: p.k,
                    step: p.k,
                    blocks,
                    channels: p.n,
                    y,
                    pixels: p.m,
                    lo,
                    hi,
                };
                tiles.all::<S>();
                y = y.add(p.m * p.n);
            }
            (at_a, at_b) = (at_a.wrapping_add(step_a), at_b.wrapping_add(step_b));
        }
    }
}

/// Rows as filters: in blocks of sixteen, with biases of zero.
#[inline(always)]
unsafe fn pack(p: &MatMul, rows: *const f32, mut to: *mut f32) {
    let mut first = 0;
    // SAFETY: the caller's.
    unsafe {
        while first < p.n {
            let filters = (p.n - first).min(BLOCK);
            // Behind the last filter it is repeated: results of these are not stored.
            for lane in 0..BLOCK {
                *to.add(lane) = 0.0;
                let row = rows.add((first + lane.min(filters - 1)) * p.k);
                for tap in 0..p.k {
                    *to.add((tap + 1) * BLOCK + lane) = *row.add(tap);
                }
            }
            to = to.add(BLOCK * (p.k + 1));
            first += BLOCK;
        }
    }
}
