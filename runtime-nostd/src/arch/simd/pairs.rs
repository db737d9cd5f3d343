//! Functions of two bytes.

use super::tiles::with_block;
use super::{Clamp, Simd, BLOCK};
use core::cell::Cell;

/// A function of two bytes.
pub(crate) trait Pair {
    /// Its values, before they become bytes.
    ///
    /// # Safety
    ///
    /// The processor has what `S` needs.
    unsafe fn of<S: Simd>(&self, a: S::I, b: S::I) -> S::I;

    /// How they become bytes.
    fn clamp(&self) -> Clamp;
}

/// An operand: where it begins, and the step from an element to the next, which is 1, or 0 where one is repeated.
pub(crate) type Operand = (*const i8, usize);

/// A function's values of all elements, in order.
///
/// # Safety
///
/// The processor has what `S` needs; the operands have as many elements as the result, or one that is repeated.
#[inline(always)]
pub(crate) unsafe fn pairs<S: Simd>(pair: &impl Pair, operands: [Operand; 2], y: &[Cell<i8>]) {
    // SAFETY: the caller's.
    unsafe { with_block!(S, N => blocks::<S, N>(pair, operands, y)) }
}

/// All blocks, each of `N` vectors.
#[inline(always)]
unsafe fn blocks<S: Simd, const N: usize>(pair: &impl Pair, operands: [Operand; 2], y: &[Cell<i8>]) {
    let [(a, a_step), (b, b_step)] = operands;
    let to = y.as_ptr().cast_mut().cast::<i8>();
    // SAFETY: whole blocks are within the operands; the last elements are copied.
    unsafe {
        let mut done = 0;
        while done + BLOCK <= y.len() {
            let operands = [(a.add(done * a_step), a_step), (b.add(done * b_step), b_step)];
            block::<S, N>(pair, operands, to.add(done));
            done += BLOCK;
        }
        if done == y.len() {
            return;
        }
        let (mut last_a, mut last_b, mut last) = ([0; BLOCK], [0; BLOCK], [0; BLOCK]);
        for i in 0..y.len() - done {
            (last_a[i], last_b[i]) = (*a.add((done + i) * a_step), *b.add((done + i) * b_step));
        }
        block::<S, N>(pair, [(last_a.as_ptr(), 1), (last_b.as_ptr(), 1)], last.as_mut_ptr());
        for i in 0..y.len() - done {
            *to.add(done + i) = last[i];
        }
    }
}

/// One block.
#[inline(always)]
unsafe fn block<S: Simd, const N: usize>(pair: &impl Pair, operands: [Operand; 2], to: *mut i8) {
    // SAFETY: operands are valid for a block, or one element where they are repeated; `to` is valid for a block.
    unsafe {
        let mut results = [S::splat_i(0); N];
        for n in 0..N {
            let mut lanes = [S::splat_i(0); 2];
            for which in 0..2 {
                let (from, step) = operands[which];
                lanes[which] = match step {
                    0 => S::splat_i(i32::from(*from)),
                    _ => S::widen(from.add(n * S::LANES)),
                };
            }
            let [a, b] = lanes;
            results[n] = pair.of::<S>(a, b);
        }
        S::narrow(&results, &pair.clamp(), to);
    }
}
