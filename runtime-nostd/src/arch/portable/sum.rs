//! Sums of products: the arithmetic that convolutions and matrix products share.

use crate::params::Requant;
use core::cell::Cell;

/// How products are summed and how a sum becomes a result.
pub(crate) trait Sum: Copy {
    /// Elements of operand, weights and result.
    type T: Copy + 'static;
    /// Accumulator.
    type Acc: Copy;

    /// The accumulator before the first product of output channel `o`.
    fn start(self, o: usize) -> Self::Acc;

    /// Adds one product.
    fn add(acc: Self::Acc, x: Self::T, w: Self::T) -> Self::Acc;

    /// Adds the products of padding with the weights `w`.
    fn add_padding(self, acc: Self::Acc, w: &[Self::T]) -> Self::Acc;

    /// The result of output channel `o`.
    fn finish(self, o: usize, acc: Self::Acc) -> Self::T;
}

/// `i8`: exact sums modulo 2³², from the bias on; padding counts as a stored value.
#[derive(Clone, Copy)]
pub(crate) struct Int8<'a> {
    /// Bias of each output channel, zero points folded in.
    pub bias: &'a [i32],
    /// Stored value of padding.
    pub pad: i8,
    /// Accumulator to result.
    pub requant: &'a Requant<'a>,
}

impl Sum for Int8<'_> {
    type T = i8;
    type Acc = i32;

    #[inline(always)]
    fn start(self, o: usize) -> i32 {
        self.bias.get(o).copied().unwrap_or(0)
    }

    #[inline(always)]
    fn add(acc: i32, x: i8, w: i8) -> i32 {
        acc.wrapping_add(i32::from(x) * i32::from(w))
    }

    #[inline(always)]
    fn add_padding(self, acc: i32, w: &[i8]) -> i32 {
        acc.wrapping_add(sum(w).wrapping_mul(self.pad.into()))
    }

    #[inline(always)]
    fn finish(self, o: usize, acc: i32) -> i8 {
        self.requant.apply(o, acc)
    }
}

/// `f32`: one addition after the other in the order of the taps, then the bias; padding does not count.
#[derive(Clone, Copy)]
pub(crate) struct Float<'a> {
    /// Bias of each output channel.
    pub bias: &'a [f32],
    /// Smallest result.
    pub lo: f32,
    /// Largest result.
    pub hi: f32,
}

impl Sum for Float<'_> {
    type T = f32;
    type Acc = f32;

    #[inline(always)]
    fn start(self, _: usize) -> f32 {
        0.0
    }

    #[inline(always)]
    fn add(acc: f32, x: f32, w: f32) -> f32 {
        acc + x * w
    }

    #[inline(always)]
    fn add_padding(self, acc: f32, _: &[f32]) -> f32 {
        acc
    }

    #[inline(always)]
    fn finish(self, o: usize, acc: f32) -> f32 {
        clip(acc + self.bias.get(o).copied().unwrap_or(0.0), self.lo, self.hi)
    }
}

/// `x` clamped to `lo..=hi`; NaN stays NaN.
#[inline(always)]
pub(crate) fn clip(x: f32, lo: f32, hi: f32) -> f32 {
    let x = if x < lo { lo } else { x };
    if x > hi {
        hi
    } else {
        x
    }
}

/// Adds the products of `x` with `N` filters of the same length to `N` accumulators.
#[inline(always)]
pub(crate) fn dot<S: Sum, const N: usize>(
    acc: [S::Acc; N],
    x: &[Cell<S::T>],
    filters: [&[S::T]; N],
) -> [S::Acc; N] {
    let mut acc = acc;
    let filters = filters.map(|w| w.get(..x.len()).unwrap_or(&[]));
    for (i, x) in x.iter().enumerate() {
        let x = x.get();
        for (acc, w) in acc.iter_mut().zip(filters) {
            if let Some(&w) = w.get(i) {
                *acc = S::add(*acc, x, w);
            }
        }
    }
    acc
}

/// Padding is rare: a call costs less than copies of the loop.
#[inline(never)]
fn sum(w: &[i8]) -> i32 {
    w.iter().fold(0i32, |sum, &w| sum.wrapping_add(w.into()))
}
