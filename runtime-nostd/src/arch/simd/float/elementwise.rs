//! Functions of two floats.

use crate::arch::portable::walk::{behind_one, last, Walk};
use crate::arch::simd::dispatch::kernel;
use crate::arch::simd::Simd;
use crate::params::Broadcast;
use crate::rows::{Read, ReadSlice};
use core::cell::Cell;

/// A function of two floats.
pub(crate) trait Pair {
    /// Its values.
    ///
    /// # Safety
    ///
    /// The processor has what `S` needs.
    unsafe fn of<S: Simd>(a: S::F, b: S::F) -> S::F;

    /// The portable kernel.
    fn portable(shape: &Broadcast, lo: f32, hi: f32, a: impl Read<f32>, b: impl Read<f32>, y: &[Cell<f32>]);
}

macro_rules! functions {
    ($( $(#[doc = $doc:literal])+ $vis:vis fn $name:ident = $portable:ident $pair:ident |$a:ident, $b:ident| $body:expr; )+) => {$(
        struct $pair;

        impl Pair for $pair {
            #[inline(always)]
            unsafe fn of<S: Simd>($a: S::F, $b: S::F) -> S::F {
                // SAFETY: the caller's.
                unsafe { $body }
            }

            #[inline(always)]
            fn portable(
                shape: &Broadcast,
                lo: f32,
                hi: f32,
                a: impl Read<f32>,
                b: impl Read<f32>,
                y: &[Cell<f32>],
            ) {
                crate::arch::portable::elementwise::$portable(shape, lo, hi, a, b, y);
            }
        }

        $(#[doc = $doc])+
        #[inline(always)]
        $vis fn $name(shape: &Broadcast, lo: f32, hi: f32, a: impl Read<f32>, b: impl Read<f32>, y: &[Cell<f32>]) {
            let (first, second) = (a.slice(), b.slice());
            let operands = [(first.start(), first.each().len()), (second.start(), second.each().len())];
            if !vectors::<$pair>(shape, lo, hi, operands, y) {
                $pair::portable(shape, lo, hi, a, b, y);
            }
        }
    )+};
}

functions! {
    /// As [`add_f32`](crate::kernels::add_f32) in vectors, with the same results.
    pub fn add_f32_simd = add_f32 Sum |a, b| S::add(a, b);
    /// As [`sub_f32`](crate::kernels::sub_f32) in vectors, with the same results.
    pub fn sub_f32_simd = sub_f32 Difference |a, b| S::sub(a, b);
    /// As [`mul_f32`](crate::kernels::mul_f32) in vectors, with the same results.
    pub fn mul_f32_simd = mul_f32 Product |a, b| S::mul(a, b);
    /// As [`div_f32`](crate::kernels::div_f32) in vectors, with the same results.
    pub fn div_f32_simd = div_f32 Quotient |a, b| S::div(a, b);
}

/// Results in runs, of which each operand has consecutive elements or a single one.
struct Runs {
    shape: Broadcast,
    lo: f32,
    hi: f32,
    a: *const f32,
    b: *const f32,
}

/// `false` where operands are no runs, or not all there.
fn vectors<O: Pair>(
    shape: &Broadcast,
    lo: f32,
    hi: f32,
    operands: [(*const f32, usize); 2],
    y: &[Cell<f32>],
) -> bool {
    let shape = joined(shape);
    let steps = [shape.a[5], shape.b[5]];
    let [(a, len_a), (b, len_b)] = operands;
    let count = shape.dims.iter().fold(1usize, |n, &dim| n.saturating_mul(dim));
    if steps.iter().any(|&step| step > 1)
        || last(&shape.dims, &shape.a) >= len_a
        || last(&shape.dims, &shape.b) >= len_b
        || count > y.len()
        || count == 0
    {
        return false;
    }
    // As the portable one, no more than there is room for.
    runs::<O>(&Runs { shape, lo, hi, a, b }, y);
    true
}

/// The same elements with as few axes as can be: an axis goes into the one behind it where both operands go on as it does.
fn joined(shape: &Broadcast) -> Broadcast {
    let mut all = *shape;
    for _ in 0..5 {
        let continues = |strides: &[usize; 6]| strides[4] == strides[5].saturating_mul(all.dims[5]);
        let single = all.dims[5] == 1;
        if !(all.dims[4] == 1 || single || continues(&all.a) && continues(&all.b)) {
            break;
        }
        for strides in [&mut all.a, &mut all.b] {
            if single {
                strides[5] = strides[4];
            }
            strides.copy_within(..4, 1);
            strides[0] = 0;
        }
        all.dims[5] = all.dims[5].saturating_mul(all.dims[4]);
        all.dims.copy_within(..4, 1);
        all.dims[0] = 1;
    }
    all
}

kernel! {
    /// All runs; operands and result are as long as the shape says.
    fn runs<O: Pair>(runs: &Runs, y: &[Cell<f32>]) = suited
}

/// Short runs fill shorter vectors.
#[inline(always)]
unsafe fn suited<S: Simd, O: Pair>(runs: &Runs, y: &[Cell<f32>]) {
    let is_short = S::Half::LANES < S::LANES && runs.shape.dims[5] < S::LANES;
    // SAFETY: the caller's; who has vectors has halves of them.
    unsafe {
        match is_short {
            true => each::<S::Half, O>(runs, y),
            false => each::<S, O>(runs, y),
        }
    }
}

#[inline(always)]
unsafe fn each<S: Simd, O: Pair>(runs: &Runs, y: &[Cell<f32>]) {
    let Broadcast { dims, a: strides_a, b: strides_b } = runs.shape;
    let ([.., count, len], [.., next_a, step_a], [.., next_b, step_b]) = (dims, strides_a, strides_b);
    let tensors = [(&behind_one(strides_a, 0), 0), (&behind_one(strides_b, 0), 0)];
    let mut y = y.as_ptr().cast_mut().cast::<f32>();
    for [mut a, mut b] in Walk::new(&behind_one(dims, 1), tensors) {
        for _ in 0..count {
            // SAFETY: operands and result are as long as the shape says.
            unsafe {
                let (a, b) = (runs.a.add(a), runs.b.add(b));
                match (step_a, step_b) {
                    (1, 1) => run::<S, O, true, true>(runs, a, b, y, len),
                    (1, _) => run::<S, O, true, false>(runs, a, b, y, len),
                    (_, 1) => run::<S, O, false, true>(runs, a, b, y, len),
                    _ => run::<S, O, false, false>(runs, a, b, y, len),
                }
                y = y.add(len);
            }
            (a, b) = (a.wrapping_add(next_a), b.wrapping_add(next_b));
        }
    }
}

/// One run: of each operand consecutive elements, or always the same one.
#[inline(always)]
unsafe fn run<S: Simd, O: Pair, const A: bool, const B: bool>(
    runs: &Runs,
    a: *const f32,
    b: *const f32,
    y: *mut f32,
    len: usize,
) {
    // SAFETY: the caller's.
    unsafe {
        let (lo, hi) = (S::splat(runs.lo), S::splat(runs.hi));
        let (one_a, one_b) = (S::splat(*a), S::splat(*b));
        let mut done = 0;
        while done + S::LANES <= len {
            let a = if A { S::load(a.add(done)) } else { one_a };
            let b = if B { S::load(b.add(done)) } else { one_b };
            S::store(S::clip(O::of::<S>(a, b), lo, hi), y.add(done));
            done += S::LANES;
        }
        let left = len - done;
        if left > 0 {
            let a = if A { S::load_some(a.add(done), left, 0.0) } else { one_a };
            let b = if B { S::load_some(b.add(done), left, 1.0) } else { one_b };
            S::store_some(S::clip(O::of::<S>(a, b), lo, hi), y.add(done), left);
        }
    }
}
