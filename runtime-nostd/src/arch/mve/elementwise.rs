//! Sums and products of tensors.
#![allow(unsafe_code)]

use super::blocks::elementwise::{add_vectors, product_vectors};
use crate::arch::extent::product;
use crate::arch::portable::elementwise::mul_i8;
use crate::arch::portable::walk::Walk;
use crate::params::{AddLinear, Broadcast, MulParams};
use crate::rows::{Read, ReadSlice};
use core::cell::Cell;

/// As [`add_i8_v6m`](crate::kernels::add_i8_v6m), for cores with Helium: two instructions an element.
#[inline(always)]
pub fn add_i8_mve<const SHIFT: u32>(p: &AddLinear, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    const { assert!(SHIFT <= 31) };
    add::<SHIFT>(p, a.slice(), b.slice(), y);
}

#[inline(never)]
fn add<const SHIFT: u32>(p: &AddLinear, a: impl ReadSlice<i8>, b: impl ReadSlice<i8>, y: &[Cell<i8>]) {
    let n = a.each().len().min(b.each().len()).min(y.len());
    if n > 0 {
        // SAFETY: each slice has `n` elements at least.
        unsafe { add_vectors::<SHIFT>(p, a.start(), b.start(), y.as_ptr().cast_mut().cast(), n) };
    }
}

/// As [`mul_i8`], for cores with Helium: about four cycles an element. Operands whose elements do not lie side by side are left to it, and products that are scaled up.
#[inline(always)]
pub fn mul_i8_mve(shape: &Broadcast, p: &MulParams, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    let ([.., a_step], [.., b_step]) = (shape.a, shape.b);
    let scales_down = (-31..=0).contains(&p.out.shift) && p.out.multiplier >= 0;
    let is_narrow = [p.x_zero, p.y_zero, p.out_zero].iter().all(|zero| (-128..=127).contains(zero));
    match (a_step, b_step) {
        _ if !scales_down || !is_narrow => mul_i8(shape, p, a, b, y),
        (1, 0) => products::<true>(shape, p, a.slice(), b.slice(), y),
        (1, 1) => products::<false>(shape, p, a.slice(), b.slice(), y),
        (0, 1) => {
            let swapped = Broadcast { a: shape.b, b: shape.a, ..*shape };
            let p = MulParams { x_zero: p.y_zero, y_zero: p.x_zero, ..*p };
            products::<true>(&swapped, &p, b.slice(), a.slice(), y);
        }
        _ => mul_i8(shape, p, a, b, y),
    }
}

/// Products of rows that are as long as both operands have them one behind the other, or have the same element again if `REPEATED`.
#[inline(never)]
fn products<const REPEATED: bool>(
    shape: &Broadcast,
    p: &MulParams,
    a: impl ReadSlice<i8>,
    b: impl ReadSlice<i8>,
    y: &[Cell<i8>],
) {
    let (dims, n) = rows::<REPEATED>(shape);
    let of_b = if REPEATED { 1 } else { n };
    if n == 0 {
        return;
    }
    let walk = Walk::new(&dims, [(&shape.a, 0), (&shape.b, 0)]);
    for (y, [at_a, at_b]) in y.chunks_exact(n).zip(walk) {
        let (Some(a), Some(b)) = (a.run(at_a, n), b.run(at_b, of_b)) else { return };
        // SAFETY: `a` and `y` have `n` elements, which is not 0; `b` has as many, or one.
        unsafe { product_vectors::<REPEATED>(p, a.start(), b.start(), y.as_ptr().cast_mut().cast(), n) };
    }
}

/// Inner axes as one, as far as steps are alike: its length, and the axes that are left to walk over.
fn rows<const REPEATED: bool>(shape: &Broadcast) -> ([usize; 6], usize) {
    let (mut dims, mut n) = (shape.dims, 1);
    for (axis, dim) in shape.dims.iter().enumerate().rev() {
        let steps = [shape.a, shape.b].map(|steps| steps.get(axis).copied().unwrap_or(0));
        let joined = [n, if REPEATED { 0 } else { n }];
        if *dim != 1 && steps != joined {
            break;
        }
        n = product(n, *dim);
        if let Some(dim) = dims.get_mut(axis) {
            *dim = 1;
        }
    }
    (dims, n)
}
