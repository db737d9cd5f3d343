//! Sums and products of two integers.

use super::dispatch::kernel;
use super::tiles::with_block;
use super::{Clamp, Simd, BLOCK};
use crate::arch::portable::elementwise::mul_i8;
use crate::arch::portable::walk::Walk;
use crate::params::{AddLinear, Broadcast, MulParams};
use crate::rows::{Read, ReadSlice};
use core::cell::Cell;

/// As [`add_i8_v6m`](crate::kernels::add_i8_v6m) in vectors: `clamp((start + a·x + b·y) >> shift, −128, 127)`, modulo 2³².
pub fn add_i8_simd(p: &AddLinear, shift: u32, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    let (a, b) = (a.slice(), b.slice());
    if a.each().len() < y.len() || b.each().len() < y.len() {
        return;
    }
    sums(p, shift, a.start(), b.start(), y);
}

kernel! {
    /// [`add_i8_simd`] of operands that have as many elements as the result.
    fn sums(p: &AddLinear, shift: u32, a: *const i8, b: *const i8, y: &[Cell<i8>])
        = pairs(&Sum { p: *p, shift }, [(a, 1), (b, 1)], y)
}

/// A sum and the shift behind it.
struct Sum {
    p: AddLinear,
    shift: u32,
}

impl Pair for Sum {
    #[inline(always)]
    unsafe fn of<S: Simd>(&self, a: S::I, b: S::I) -> S::I {
        // SAFETY: the caller's.
        unsafe {
            let products = S::add_i(S::mul_i(a, S::splat_i(self.p.x)), S::mul_i(b, S::splat_i(self.p.y)));
            S::shift_right_i(S::add_i(S::splat_i(self.p.start), products), self.shift & 31)
        }
    }

    #[inline(always)]
    fn clamp(&self) -> Clamp {
        Clamp { zero_point: 0, lo: i8::MIN, hi: i8::MAX }
    }
}

/// As [`mul_i8`], in vectors where the last axis is as long as a block, operands lie side by side or are repeated there, and the product is scaled down.
pub fn mul_i8_simd(shape: &Broadcast, p: &MulParams, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    let ([.., n], [.., a_step], [.., b_step]) = (shape.dims, shape.a, shape.b);
    let scales_down = (-31..=-1).contains(&p.out.shift) && p.out.multiplier >= 0;
    if n < BLOCK || a_step > 1 || b_step > 1 || !scales_down {
        return mul_i8(shape, p, a, b, y);
    }
    let (a, b) = (a.slice(), b.slice());
    let len = |step: usize| if step == 0 { 1 } else { n };
    let mut rest = y;
    for [from_a, from_b] in Walk::new(&shape.dims, [(&shape.a, 0), (&shape.b, 0)]) {
        let (Some(a), Some(b)) = (a.run(from_a, len(a_step)), b.run(from_b, len(b_step))) else { return };
        let Some((y, behind)) = rest.split_at_checked(n) else { return };
        products(p, [(a.start(), a_step), (b.start(), b_step)], y);
        rest = behind;
    }
}

kernel! {
    /// Products of operands with as many elements as the result, or one, whose step is 0.
    fn products(p: &MulParams, operands: [Operand; 2], y: &[Cell<i8>]) = pairs
}

impl Pair for MulParams {
    #[inline(always)]
    unsafe fn of<S: Simd>(&self, a: S::I, b: S::I) -> S::I {
        // SAFETY: the caller's.
        unsafe {
            let a = S::add_i(a, S::splat_i(self.x_zero.wrapping_neg()));
            let b = S::add_i(b, S::splat_i(self.y_zero.wrapping_neg()));
            let (multiplier, shift) = (S::splat_i(self.out.multiplier), S::splat_i(-1 - self.out.shift));
            S::round_twice(S::mul_i(a, b), multiplier, shift)
        }
    }

    #[inline(always)]
    fn clamp(&self) -> Clamp {
        Clamp { zero_point: self.out_zero as i16, lo: self.lo as i8, hi: self.hi as i8 }
    }
}

/// A function of two bytes.
trait Pair {
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
type Operand = (*const i8, usize);

/// A function's values of all elements, in order.
///
/// # Safety
///
/// The processor has what `S` needs; the operands have as many elements as the result, or one that is repeated.
#[inline(always)]
unsafe fn pairs<S: Simd>(pair: &impl Pair, operands: [Operand; 2], y: &[Cell<i8>]) {
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
