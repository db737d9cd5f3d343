//! Sums and products of tensors.
#![allow(unsafe_code)]

use super::blocks::elementwise::add_vectors;
use crate::arch::extent::product;
use crate::arch::portable::elementwise::{max_i8, min_i8, mul_i8};
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

/// As [`mul_i8`], for cores with Helium: about three cycles an element. Operands whose elements do not lie side by side are left to it, and products that are scaled up.
#[inline(always)]
pub fn mul_i8_mve(shape: &Broadcast, p: &MulParams, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    let ([.., a_step], [.., b_step]) = (shape.a, shape.b);
    let scales_down = (-31..=0).contains(&p.out.shift) && p.out.multiplier >= 0;
    let is_narrow = [p.x_zero, p.y_zero, p.out_zero].iter().all(|zero| (-128..=127).contains(zero));
    match (a_step, b_step) {
        _ if !scales_down || !is_narrow => mul_i8(shape, p, a, b, y),
        (1, 0) => runs::<true, _>(shape, p, a.slice(), b.slice(), y),
        (1, 1) if is_repeated(shape) => {
            runs::<false, _>(&swapped(shape), &p.swapped(), b.slice(), a.slice(), y);
        }
        (1, 1) => runs::<false, _>(shape, p, a.slice(), b.slice(), y),
        (0, 1) => runs::<true, _>(&swapped(shape), &p.swapped(), b.slice(), a.slice(), y),
        _ => mul_i8(shape, p, a, b, y),
    }
}

macro_rules! extremes {
    ($($(#[doc = $doc:literal])+ $vis:vis fn $name:ident = $max:literal, $portable:ident;)+) => {$(
        $(#[doc = $doc])+
        #[inline(always)]
        $vis fn $name(shape: &Broadcast, lo: i8, hi: i8, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
            let (p, [.., a_step], [.., b_step]) = (Extreme::<$max> { lo, hi }, shape.a, shape.b);
            match (a_step, b_step) {
                (1, 0) => runs::<true, _>(shape, &p, a.slice(), b.slice(), y),
                (1, 1) if is_repeated(shape) => {
                    runs::<false, _>(&swapped(shape), &p, b.slice(), a.slice(), y);
                }
                (1, 1) => runs::<false, _>(shape, &p, a.slice(), b.slice(), y),
                (0, 1) => runs::<true, _>(&swapped(shape), &p, b.slice(), a.slice(), y),
                _ => $portable(shape, lo, hi, a, b, y),
            }
        }
    )+};
}

extremes! {
    /// As [`max_i8`], for cores with Helium: half a cycle an element. Operands whose elements do not lie side by side are left to it.
    pub fn max_i8_mve = true, max_i8;
    /// As [`min_i8`], in the same way.
    pub fn min_i8_mve = false, min_i8;
}

/// Smallest and largest result of a maximum, or of a minimum if not `MAX`.
#[derive(Clone, Copy)]
pub(crate) struct Extreme<const MAX: bool> {
    pub lo: i8,
    pub hi: i8,
}

/// Whether the first operand is repeated along an axis.
fn is_repeated(shape: &Broadcast) -> bool {
    shape.dims.iter().zip(shape.a).any(|(&dim, step)| dim > 1 && step == 0)
}

/// The same with the operands in the other order.
fn swapped(shape: &Broadcast) -> Broadcast {
    Broadcast { a: shape.b, b: shape.a, ..*shape }
}

impl MulParams {
    fn swapped(&self) -> Self {
        MulParams { x_zero: self.y_zero, y_zero: self.x_zero, ..*self }
    }
}

/// A function of two elements that vectors compute.
pub(crate) trait Pairs {
    /// `times` times `n` results, of as many elements of the first operand, and of `n` of the second one again and again, or of one if `REPEATED`.
    ///
    /// # Safety
    ///
    /// Operands and results have so many elements; neither number is 0. Results may lie over operands at the same place or before.
    unsafe fn vectors<const REPEATED: bool>(
        &self,
        a: *const i8,
        b: *const i8,
        y: *mut i8,
        n: usize,
        times: usize,
    );
}

/// Runs that are as long as both operands have them one behind the other, or have the same element again if `REPEATED`.
#[inline(never)]
fn runs<const REPEATED: bool, P: Pairs>(
    shape: &Broadcast,
    p: &P,
    a: impl ReadSlice<i8>,
    b: impl ReadSlice<i8>,
    y: &[Cell<i8>],
) {
    let Runs { dims, n, times } = Runs::of(shape, REPEATED);
    let (all, of_b) = (product(n, times), if REPEATED { 1 } else { n });
    if all == 0 {
        return;
    }
    let walk = Walk::new(&dims, [(&shape.a, 0), (&shape.b, 0)]);
    for (y, [at_a, at_b]) in y.chunks_exact(all).zip(walk) {
        let (Some(a), Some(b)) = (a.run(at_a, all), b.run(at_b, of_b)) else { return };
        let y = y.as_ptr().cast_mut().cast();
        // SAFETY: `a` and `y` have `n` times `times` elements, which is not 0; `b` has `n`, or one.
        unsafe { p.vectors::<REPEATED>(a.start(), b.start(), y, n, times) };
    }
}

/// Elements that lie side by side in both operands, and how often the second one's come again while the first one's go on.
struct Runs {
    /// The axes that are left to walk over.
    dims: [usize; 6],
    n: usize,
    times: usize,
}

impl Runs {
    fn of(shape: &Broadcast, repeated: bool) -> Self {
        let mut runs = Runs { dims: shape.dims, n: 1, times: 1 };
        for (axis, &dim) in shape.dims.iter().enumerate().rev() {
            let steps = [shape.a, shape.b].map(|steps| steps.get(axis).copied().unwrap_or(0));
            let all = product(runs.n, runs.times);
            let goes_on = runs.times == 1 && steps == [all, if repeated { 0 } else { all }];
            if dim == 1 || goes_on {
                runs.n = product(runs.n, dim);
            } else if steps == [all, 0] {
                runs.times = product(runs.times, dim);
            } else {
                break;
            }
            if let Some(dim) = runs.dims.get_mut(axis) {
                *dim = 1;
            }
        }
        runs
    }
}
