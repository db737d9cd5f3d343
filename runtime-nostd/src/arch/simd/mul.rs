//! Products of two integers.

use super::dispatch::kernel;
use super::{Clamp, Simd, BLOCK};
use crate::arch::portable::elementwise::mul_i8;
use crate::arch::portable::walk::Walk;
use crate::params::{Broadcast, MulParams};
use crate::rows::{Read, ReadSlice};
use core::cell::Cell;

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
        products(p, (a.start(), a_step), (b.start(), b_step), y);
        rest = behind;
    }
}

kernel! {
    /// Products of operands with as many elements as the result, or one, whose step is 0.
    fn products(p: &MulParams, a: (*const i8, usize), b: (*const i8, usize), y: &[Cell<i8>]) = multiply
}

#[inline(always)]
unsafe fn multiply<S: Simd>(p: &MulParams, a: (*const i8, usize), b: (*const i8, usize), y: &[Cell<i8>]) {
    // SAFETY: the operands have as many elements as the result, or one.
    unsafe {
        match S::LANES {
            16 => blocks::<S, 1>(p, a, b, y),
            8 => blocks::<S, 2>(p, a, b, y),
            _ => blocks::<S, 4>(p, a, b, y),
        }
    }
}

#[inline(always)]
unsafe fn blocks<S: Simd, const N: usize>(
    p: &MulParams,
    (a, a_step): (*const i8, usize),
    (b, b_step): (*const i8, usize),
    y: &[Cell<i8>],
) {
    let to = y.as_ptr().cast_mut().cast::<i8>();
    // SAFETY: whole blocks are within the operands; the last elements are copied.
    unsafe {
        let mut done = 0;
        while done + BLOCK <= y.len() {
            let operands = [(a.add(done * a_step), a_step), (b.add(done * b_step), b_step)];
            block::<S, N>(p, operands, to.add(done));
            done += BLOCK;
        }
        if done == y.len() {
            return;
        }
        let (mut last_a, mut last_b, mut last) = ([0; BLOCK], [0; BLOCK], [0; BLOCK]);
        for i in 0..y.len() - done {
            (last_a[i], last_b[i]) = (*a.add((done + i) * a_step), *b.add((done + i) * b_step));
        }
        block::<S, N>(p, [(last_a.as_ptr(), 1), (last_b.as_ptr(), 1)], last.as_mut_ptr());
        for i in 0..y.len() - done {
            *to.add(done + i) = last[i];
        }
    }
}

#[inline(always)]
unsafe fn block<S: Simd, const N: usize>(p: &MulParams, operands: [(*const i8, usize); 2], to: *mut i8) {
    let clamp = Clamp { zero_point: p.out_zero as i16, lo: p.lo as i8, hi: p.hi as i8 };
    let zeros = [p.x_zero, p.y_zero];
    // SAFETY: operands are valid for a block, or one element where they are repeated; `to` is valid for a block.
    unsafe {
        let mut results = [S::splat_i(0); N];
        for n in 0..N {
            let mut factors = [S::splat_i(0); 2];
            for which in 0..2 {
                let (from, step) = operands[which];
                let stored = match step {
                    0 => S::splat_i(i32::from(*from)),
                    _ => S::widen(from.add(n * S::LANES)),
                };
                factors[which] = S::add_i(stored, S::splat_i(zeros[which].wrapping_neg()));
            }
            let product = S::mul_i(factors[0], factors[1]);
            let (multiplier, shift) = (S::splat_i(p.out.multiplier), S::splat_i(-1 - p.out.shift));
            results[n] = S::round_twice(product, multiplier, shift);
        }
        S::narrow(&results, &clamp, to);
    }
}
