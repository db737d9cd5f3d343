//! Products of two integers.

use super::dispatch::kernel;
use super::pairs::{pairs, Operand, Pair};
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
