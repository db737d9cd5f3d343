//! Sums and products of tensors.
#![allow(unsafe_code)]

use super::blocks::elementwise::add_vectors;
use crate::arch::extent::product;
use crate::arch::portable::elementwise::{add_f32, max_i8, min_i8, mul_f32, mul_i8, sub_f32};
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
    let scales_down = (-31..=0).contains(&p.out.shift) && p.out.multiplier >= 0;
    let is_narrow = [p.x_zero, p.y_zero, p.out_zero].iter().all(|zero| (-128..=127).contains(zero));
    if !scales_down || !is_narrow || !pairs(shape, p, a.slice(), b.slice(), y) {
        mul_i8(shape, p, a, b, y);
    }
}

macro_rules! pairs {
    ($t:ident: $($(#[doc = $doc:literal])+ $vis:vis fn $name:ident = $by:ident<$what:literal>, $portable:ident;)+) => {$(
        $(#[doc = $doc])+
        #[inline(always)]
        $vis fn $name(shape: &Broadcast, lo: $t, hi: $t, a: impl Read<$t>, b: impl Read<$t>, y: &[Cell<$t>]) {
            if !pairs(shape, &$by::<$what> { lo, hi }, a.slice(), b.slice(), y) {
                $portable(shape, lo, hi, a, b, y);
            }
        }
    )+};
}

pairs! {
    i8:
    /// As [`max_i8`], for cores with Helium: half a cycle an element. Operands whose elements do not lie side by side are left to it.
    pub fn max_i8_mve = Extreme<true>, max_i8;
    /// As [`min_i8`], in the same way.
    pub fn min_i8_mve = Extreme<false>, min_i8;
}

pairs! {
    f32:
    /// As [`add_f32`], for cores with Helium: about four cycles an element. Operands whose elements do not lie side by side are left to it.
    pub fn add_f32_mve = Floats<0>, add_f32;
    /// As [`sub_f32`], in the same way.
    pub fn sub_f32_mve = Floats<1>, sub_f32;
    /// As [`mul_f32`], in the same way.
    pub fn mul_f32_mve = Floats<3>, mul_f32;
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

/// Sums of floats, differences (1), differences the other way round (2) or products (3), within these bounds.
#[derive(Clone, Copy)]
pub(crate) struct Floats<const OP: u32> {
    pub lo: f32,
    pub hi: f32,
}

/// A function of two elements that vectors compute.
pub(crate) trait Pairs<T> {
    /// `times` times `n` results, of as many elements of the first operand, and of `n` of the second one again and again, or of one if `REPEATED`.
    ///
    /// # Safety
    ///
    /// Operands and results have so many elements; neither number is 0. Results may lie over operands at the same place or before.
    unsafe fn vectors<const REPEATED: bool>(
        &self,
        a: *const T,
        b: *const T,
        y: *mut T,
        n: usize,
        times: usize,
    );
}

/// A function of two elements that has one for them in the other order.
trait Swap {
    type Swapped;

    fn swapped(&self) -> Self::Swapped;
}

impl Swap for MulParams {
    type Swapped = Self;

    fn swapped(&self) -> Self {
        MulParams { x_zero: self.y_zero, y_zero: self.x_zero, ..*self }
    }
}

impl<const MAX: bool> Swap for Extreme<MAX> {
    type Swapped = Self;

    fn swapped(&self) -> Self {
        *self
    }
}

macro_rules! swapped {
    ($($op:literal: $swapped:literal),+) => {$(
        impl Swap for Floats<$op> {
            type Swapped = Floats<$swapped>;

            fn swapped(&self) -> Self::Swapped {
                Floats { lo: self.lo, hi: self.hi }
            }
        }
    )+};
}

swapped!(0: 0, 1: 2, 3: 3);

/// Computes the pairs, if the elements of operands lie side by side or are repeated.
#[inline(always)]
fn pairs<T, P: Pairs<T> + Swap>(
    shape: &Broadcast,
    p: &P,
    a: impl ReadSlice<T>,
    b: impl ReadSlice<T>,
    y: &[Cell<T>],
) -> bool
where
    P::Swapped: Pairs<T>,
{
    let ([.., a_step], [.., b_step]) = (shape.a, shape.b);
    match (a_step, b_step) {
        (1, 0) => runs::<true, T, P>(shape, p, a, b, y),
        (1, 1) if is_repeated(shape) => {
            runs::<false, T, P::Swapped>(&swapped(shape), &p.swapped(), b, a, y);
        }
        (1, 1) => runs::<false, T, P>(shape, p, a, b, y),
        (0, 1) => runs::<true, T, P::Swapped>(&swapped(shape), &p.swapped(), b, a, y),
        _ => return false,
    }
    true
}

/// Runs that are as long as both operands have them one behind the other, or have the same element again if `REPEATED`.
#[inline(never)]
fn runs<const REPEATED: bool, T, P: Pairs<T>>(
    shape: &Broadcast,
    p: &P,
    a: impl ReadSlice<T>,
    b: impl ReadSlice<T>,
    y: &[Cell<T>],
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
