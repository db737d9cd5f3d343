//! Sums of products: the arithmetic that convolutions and matrix products share.

use crate::fixed::to_i8;
use crate::params::{Requant, Scale};
use core::cell::Cell;

/// How products are summed and how a sum becomes a result.
pub(crate) trait Sum: Copy {
    /// Elements of operand, weights and result.
    type T: Copy + 'static;
    /// Any element.
    const ZERO: Self::T;
    /// Accumulator.
    type Acc: Copy;

    /// What is particular to an output channel.
    type Channel: Copy;

    /// Output channel `o`.
    fn channel(self, o: usize) -> Self::Channel;

    /// The accumulator of a channel before its first product.
    fn start(channel: Self::Channel) -> Self::Acc;

    /// Adds one product.
    fn add(acc: Self::Acc, x: Self::T, w: Self::T) -> Self::Acc;

    /// What taps in the padding read as.
    fn pad(self) -> Self::T;

    /// The result of a channel.
    fn finish(self, channel: Self::Channel, acc: Self::Acc) -> Self::T;
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
    const ZERO: i8 = 0;
    type Acc = i32;
    type Channel = (i32, Scale);

    #[inline(always)]
    fn channel(self, o: usize) -> (i32, Scale) {
        (self.bias.get(o).copied().unwrap_or(0), self.requant.scale(o))
    }

    #[inline(always)]
    fn start((bias, _): (i32, Scale)) -> i32 {
        bias
    }

    #[inline(always)]
    fn add(acc: i32, x: i8, w: i8) -> i32 {
        acc.wrapping_add(i32::from(x) * i32::from(w))
    }

    #[inline(always)]
    fn pad(self) -> i8 {
        self.pad
    }

    #[inline(always)]
    fn finish(self, (_, scale): (i32, Scale), acc: i32) -> i8 {
        let Requant { zero_point, lo, hi, .. } = *self.requant;
        to_i8(scale.apply(acc), zero_point, lo, hi)
    }
}

/// `f32`: one addition after the other in the order of the taps, then the bias; padding reads as 0.
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
    const ZERO: f32 = 0.0;
    type Acc = f32;
    type Channel = f32;

    #[inline(always)]
    fn channel(self, o: usize) -> f32 {
        self.bias.get(o).copied().unwrap_or(0.0)
    }

    #[inline(always)]
    fn start(_: f32) -> f32 {
        0.0
    }

    #[inline(always)]
    fn add(acc: f32, x: f32, w: f32) -> f32 {
        acc + x * w
    }

    #[inline(always)]
    fn pad(self) -> f32 {
        0.0
    }

    #[inline(always)]
    fn finish(self, bias: f32, acc: f32) -> f32 {
        clip(acc + bias, self.lo, self.hi)
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

/// Adds the products of `x` with the `N` filters that begin `size` apart in `w`.
#[inline(never)]
pub(crate) fn dot<S: Sum, const N: usize>(x: &[Cell<S::T>], w: &[S::T], size: usize, acc: &mut [S::Acc; N]) {
    let mut filters = [w; N];
    for (lane, filter) in filters.iter_mut().enumerate() {
        let Some(w) = w.get(lane.wrapping_mul(size)..) else { return };
        let Some(w) = w.get(..x.len()) else { return };
        *filter = w;
    }
    let mut sums = *acc;
    for (i, x) in x.iter().enumerate() {
        let x = x.get();
        for (sum, w) in sums.iter_mut().zip(filters) {
            if let Some(&w) = w.get(i) {
                *sum = S::add(*sum, x, w);
            }
        }
    }
    *acc = sums;
}
