//! Sums of products: the arithmetic that convolutions and matrix products share.

use super::depthwise::Taps;
use super::math::round_even;
use crate::arch::extent::product;
use crate::arch::{opaque, sum_f32, sum_i8};
use crate::fixed::to_i8;
use crate::params::{FloatRequant, Requant, Scale};
use core::cell::Cell;
use core::marker::PhantomData;

/// How products are summed and how sums become results.
pub(crate) trait Sum: Copy {
    /// Elements of the operand.
    type T: Copy + 'static;
    /// Elements of weights.
    type W: Copy + 'static;
    /// Elements of the result.
    type Y: Copy + 'static;
    /// A sum of products.
    type Acc: Copy;

    /// Any element.
    const ANY: Self::T;
    /// The empty sum.
    const EMPTY: Self::Acc;

    /// Adds one product.
    fn add(acc: Self::Acc, x: Self::T, w: Self::W) -> Self::Acc;

    /// Adds the products of `x` with four filters whose elements alternate in `w`, if the core does that at once; otherwise false.
    #[inline(always)]
    fn four(_x: &[Cell<Self::T>], _w: &[Self::W], _acc: &mut [Self::Acc; LANES]) -> bool {
        false
    }

    /// Results of the output channels from `o` on, of one pixel that reads `x`: filters of which four alternate in `w`. How many are written, if the core computes four at once; otherwise 0.
    #[inline(always)]
    fn pixel(self, _x: &[Cell<Self::T>], _w: &[Self::W], _o: usize, _out: &[Cell<Self::Y>]) -> usize {
        0
    }

    /// Results of one pixel, if padding does not count and the core computes eight at once. How many are written; otherwise 0.
    #[inline(always)]
    fn window(self, _taps: &Taps<'_, Self::T>, _w: &[Self::W], _out: &[Cell<Self::Y>]) -> usize {
        0
    }

    /// Adds the products of the taps inside of the image to the sums of the channels from `first` on. For how many of them, if the core computes four at once; otherwise 0.
    #[inline(always)]
    fn inside(_taps: &Taps<'_, Self::T>, _w: &[Self::W], _first: usize, _acc: &mut [Self::Acc]) -> usize {
        0
    }

    /// What taps in the padding read as.
    fn pad(self) -> Self::T;

    /// Writes the results of the output channels from `o` on.
    fn finish(self, o: usize, acc: &[Self::Acc], out: &[Cell<Self::Y>]);
}

/// `i8`, with weights of type `W`: exact sums modulo 2³², which become results by `R`; padding counts as a stored value.
#[derive(Clone, Copy)]
pub(crate) struct Int8<'a, W, R> {
    /// Bias of each output channel, zero points folded in.
    bias: &'a [i32],
    /// Stored value of padding.
    pad: i8,
    requant: R,
    weights: PhantomData<W>,
}

/// With weights of 8 bits, and sums rescaled as TensorFlow Lite Micro does it.
pub(crate) type Int8Twice<'a> = Int8<'a, i8, &'a Requant<'a>>;

impl<'a, W, R> Int8<'a, W, R> {
    #[inline(always)]
    pub(crate) fn new(bias: &'a [i32], pad: i8, requant: R) -> Self {
        Int8 { bias, pad, requant, weights: PhantomData }
    }
}

/// How sums of a layer are rescaled.
pub(crate) trait Rescaling: Copy {
    /// Adds biases to the sums of the channels from `o` on, and rescales them.
    fn results(self, bias: &[i32], o: usize, acc: &[i32], out: &[Cell<i8>]);
}

/// With two roundings.
impl Rescaling for &Requant<'_> {
    #[inline(always)]
    fn results(self, bias: &[i32], o: usize, acc: &[i32], out: &[Cell<i8>]) {
        requantize(bias, self, o, acc, out);
    }
}

/// With one rounding.
#[derive(Clone, Copy)]
pub(crate) struct Once<'a>(pub &'a Requant<'a>);

impl Rescaling for Once<'_> {
    #[inline(always)]
    fn results(self, bias: &[i32], o: usize, acc: &[i32], out: &[Cell<i8>]) {
        rescale(bias, self.0, o, acc, out, Scale::apply_once);
    }
}

/// As floats.
impl Rescaling for &FloatRequant<'_> {
    #[inline(always)]
    fn results(self, bias: &[i32], o: usize, acc: &[i32], out: &[Cell<i8>]) {
        rescale_float(bias, self, o, acc, out);
    }
}

/// Weights of 8 bits or 16.
pub(crate) trait Weight: Copy + Into<i32> + 'static {
    /// [`Sum::four`].
    fn four(x: &[Cell<i8>], w: &[Self], acc: &mut [i32; LANES]) -> bool;

    /// [`Sum::inside`].
    fn inside(taps: &Taps<'_, i8>, w: &[Self], first: usize, acc: &mut [i32]) -> usize;
}

impl Weight for i8 {
    #[inline(always)]
    fn four(x: &[Cell<i8>], w: &[i8], acc: &mut [i32; LANES]) -> bool {
        sum_i8::four(x, w, acc)
    }

    #[inline(always)]
    fn inside(taps: &Taps<'_, i8>, w: &[i8], first: usize, acc: &mut [i32]) -> usize {
        sum_i8::window(taps, w, first, acc)
    }
}

impl Weight for i16 {
    #[inline(always)]
    fn four(x: &[Cell<i8>], w: &[i16], acc: &mut [i32; LANES]) -> bool {
        sum_i8::four_wide(x, w, acc)
    }

    #[inline(always)]
    fn inside(taps: &Taps<'_, i8>, w: &[i16], first: usize, acc: &mut [i32]) -> usize {
        sum_i8::window_wide(taps, w, first, acc)
    }
}

/// Sums that become results together.
const TOGETHER: usize = 32;

/// As [`Sum::pixel`], by [`Sum::four`] and [`Sum::finish`].
#[inline(always)]
pub(crate) fn pixel_by_fours<S: Sum>(
    sum: S,
    x: &[Cell<S::T>],
    w: &[S::W],
    o: usize,
    out: &[Cell<S::Y>],
) -> usize {
    let mut filters = w.chunks_exact(product(LANES, x.len()).max(1));
    let mut done = 0;
    for out in out.chunks(TOGETHER) {
        let mut acc = [S::EMPTY; TOGETHER];
        let mut summed = 0;
        for acc in acc.chunks_exact_mut(LANES).take(out.len() / LANES) {
            let (Some(w), Ok(acc)) = (filters.next(), acc.try_into()) else { break };
            if !S::four(x, w, acc) {
                break;
            }
            summed += LANES;
        }
        let Some(acc) = acc.get(..summed).filter(|acc| !acc.is_empty()) else { break };
        sum.finish(o.wrapping_add(done), acc, out);
        done += summed;
    }
    done
}

impl<W: Weight, R: Rescaling> Sum for Int8<'_, W, R> {
    type T = i8;
    type W = W;
    type Y = i8;
    type Acc = i32;

    const ANY: i8 = 0;
    const EMPTY: i32 = 0;

    #[inline(always)]
    fn four(x: &[Cell<i8>], w: &[W], acc: &mut [i32; LANES]) -> bool {
        W::four(x, w, acc)
    }

    #[inline(always)]
    fn pixel(self, x: &[Cell<i8>], w: &[W], o: usize, out: &[Cell<i8>]) -> usize {
        pixel_by_fours(self, x, w, o, out)
    }

    #[inline(always)]
    fn inside(taps: &Taps<'_, i8>, w: &[W], first: usize, acc: &mut [i32]) -> usize {
        W::inside(taps, w, first, acc)
    }

    #[inline(always)]
    fn add(acc: i32, x: i8, w: W) -> i32 {
        acc.wrapping_add(i32::from(x).wrapping_mul(w.into()))
    }

    #[inline(always)]
    fn pad(self) -> i8 {
        self.pad
    }

    #[inline(always)]
    fn finish(self, o: usize, acc: &[i32], out: &[Cell<i8>]) {
        self.requant.results(self.bias, o, acc, out);
    }
}

/// Adds biases to the sums of the channels from `o` on, and rescales them as floats.
#[inline(never)]
fn rescale_float(bias: &[i32], q: &FloatRequant<'_>, o: usize, acc: &[i32], out: &[Cell<i8>]) {
    let q = opaque(q);
    let (factors, step) = if q.factors.len() == 1 { (q.factors, 0) } else { (from(q.factors, o), 1) };
    for (i, ((acc, out), bias)) in acc.iter().zip(out).zip(from(bias, o)).enumerate() {
        let Some(&factor) = factors.get(i * step) else { return };
        let scaled = round_even(acc.wrapping_add(*bias) as f32 * factor);
        out.set(to_i8(scaled, q.zero_point, q.lo, q.hi));
    }
}

/// Adds biases to the sums of the channels from `o` on, and rescales them.
#[inline(never)]
fn requantize(bias: &[i32], q: &Requant<'_>, o: usize, acc: &[i32], out: &[Cell<i8>]) {
    match sum_i8::RESCALES {
        true => Results::at_once(bias, q, o, acc, out),
        false => rescale(bias, q, o, acc, out, Scale::apply),
    }
}

/// What a block rescales: as many sums and biases as results, one at least, and as many factors, or one.
#[allow(dead_code)] // Not every core has a block that reads them.
pub(crate) struct Results<'a> {
    pub(crate) sums: &'a [i32],
    pub(crate) bias: &'a [i32],
    pub(crate) multipliers: &'a [i32],
    pub(crate) shifts: &'a [i8],
    pub(crate) out: &'a [Cell<i8>],
    pub(crate) q: &'a Requant<'a>,
}

#[allow(unsafe_code)]
#[allow(dead_code)] // as above
impl Results<'_> {
    /// Bounds of results, without the zero point.
    #[inline(always)]
    pub(crate) fn bounds(&self) -> [i32; 2] {
        [self.q.lo, self.q.hi].map(|bound| bound.wrapping_sub(self.q.zero_point))
    }

    /// As [`rescale`], by the block.
    #[inline(always)]
    fn at_once(bias: &[i32], q: &Requant<'_>, o: usize, sums: &[i32], out: &[Cell<i8>]) {
        let one = q.multipliers.len() == 1;
        let first = if one { 0 } else { o };
        let (multipliers, shifts) = (from(q.multipliers, first), from(q.shifts, first));
        let factors = multipliers.len().min(shifts.len());
        let factors = if one && factors > 0 { usize::MAX } else { factors };
        let bias = from(bias, o);
        let Some(out) = out.get(..sums.len().min(out.len()).min(bias.len()).min(factors)) else { return };
        let results = Results { sums, bias, multipliers, shifts, out, q };
        // SAFETY: `out` is no longer than any of them.
        unsafe {
            match (out.is_empty(), one) {
                (true, _) => {}
                (_, true) => sum_i8::rescale::<0>(&results),
                (_, false) => sum_i8::rescale::<1>(&results),
            }
        }
    }
}

#[inline(always)]
fn rescale(
    bias: &[i32],
    q: &Requant<'_>,
    o: usize,
    acc: &[i32],
    out: &[Cell<i8>],
    apply: impl Fn(Scale, i32) -> i32,
) {
    let Requant { multipliers, shifts, zero_point, lo, hi } = *q;
    // One factor for all channels, or one for each.
    let (multipliers, step) =
        if multipliers.len() == 1 { (multipliers, 0) } else { (from(multipliers, o), 1) };
    let shifts = if step == 0 { shifts } else { from(shifts, o) };
    for (i, ((acc, out), bias)) in acc.iter().zip(out).zip(from(bias, o)).enumerate() {
        let (Some(&multiplier), Some(&shift)) = (multipliers.get(i * step), shifts.get(i * step)) else {
            return;
        };
        let acc = apply(Scale { multiplier, shift: shift.into() }, acc.wrapping_add(*bias));
        out.set(to_i8(acc, zero_point, lo, hi));
    }
}

/// The elements from `start` on.
fn from<T>(all: &[T], start: usize) -> &[T] {
    all.get(start..).unwrap_or(&[])
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
    type W = f32;
    type Y = f32;
    type Acc = f32;

    const ANY: f32 = 0.0;
    const EMPTY: f32 = 0.0;

    #[inline(always)]
    fn four(x: &[Cell<f32>], w: &[f32], acc: &mut [f32; LANES]) -> bool {
        sum_f32::four(x, w, acc)
    }

    #[inline(always)]
    fn pixel(self, x: &[Cell<f32>], w: &[f32], o: usize, out: &[Cell<f32>]) -> usize {
        sum_f32::pixel(x, w, from(self.bias, o), [self.lo, self.hi], out)
    }

    #[inline(always)]
    fn window(self, taps: &Taps<'_, f32>, w: &[f32], out: &[Cell<f32>]) -> usize {
        sum_f32::window(taps, w, self.bias, [self.lo, self.hi], out)
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
    fn finish(self, o: usize, acc: &[f32], out: &[Cell<f32>]) {
        let done = sum_f32::finish(acc, from(self.bias, o), [self.lo, self.hi], out);
        let bias = from(self.bias, o.wrapping_add(done));
        for ((acc, out), bias) in acc.iter().zip(out).skip(done).zip(bias) {
            out.set(clip(acc + bias, self.lo, self.hi));
        }
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

/// How many filters alternate.
pub(crate) const LANES: usize = 4;

/// Adds the products of `x` with one filter per accumulator: with [`LANES`] whose elements alternate in `w`, or with a single one.
#[inline(never)]
pub(crate) fn dot<S: Sum>(x: &[Cell<S::T>], w: &[S::W], acc: &mut [S::Acc]) {
    if <&mut [S::Acc; LANES]>::try_from(&mut *acc).is_ok_and(|acc| S::four(x, w, acc)) {
        return;
    }
    match acc {
        [a, b, c, d] => {
            let (mut x, mut w) = (x, w);
            let mut sums = (*a, *b, *c, *d);
            // Slices that shrink together become two pointers, and two taps at a time fit the registers of small cores.
            while let [x0, x1, more_x @ ..] = x {
                let Some(([a0, b0, c0, d0], more_w)) = w.split_first_chunk() else { break };
                let Some(([a1, b1, c1, d1], more_w)) = more_w.split_first_chunk() else { break };
                let (x0, x1) = (x0.get(), x1.get());
                sums.0 = S::add(S::add(sums.0, x0, *a0), x1, *a1);
                sums.1 = S::add(S::add(sums.1, x0, *b0), x1, *b1);
                sums.2 = S::add(S::add(sums.2, x0, *c0), x1, *c1);
                sums.3 = S::add(S::add(sums.3, x0, *d0), x1, *d1);
                (x, w) = (more_x, more_w);
            }
            if let ([x], [a, b, c, d, ..]) = (x, w) {
                let x = x.get();
                sums.0 = S::add(sums.0, x, *a);
                sums.1 = S::add(sums.1, x, *b);
                sums.2 = S::add(sums.2, x, *c);
                sums.3 = S::add(sums.3, x, *d);
            }
            (*a, *b, *c, *d) = sums;
        }
        [sum] => *sum = x.iter().zip(w).fold(*sum, |sum, (x, &w)| S::add(sum, x.get(), w)),
        _ => {}
    }
}

/// Kernels of a layer that differ in the weights, which `$unpack` unpacks where they are packed, and in how sums become results: of bytes by `$q`, of floats by clamping; of 16 bits
/// with sums of type `$acc`; and to floats by a [`DynamicLayer`](crate::params::DynamicLayer).
macro_rules! layers {
    ($layer:ident; $( $(#[doc = $doc:literal])+ $vis:vis fn $name:ident($($kind:tt)+); )+) => {
        $( layers! { @ $layer, $vis $name, [$($doc)+], $($kind)+ } )+
    };
    (@ $layer:ident, $vis:vis $name:ident, [$($doc:literal)+], $w:ty, f32 $(, $unpack:ident)?) => {
        $(#[doc = $doc])+
        #[inline(never)]
        $vis fn $name(
            p: &Conv,
            x: Rows<'_, f32>,
            w: $w,
            bias: &[f32],
            lo: f32,
            hi: f32,
            y: Rows<'_, f32>,
            band: Band,
        ) {
            #[allow(unused_parens)] // as below
            $layer(p, x, $($unpack)?(w), Float { bias, lo, hi }, y, band);
        }
    };
    (@ $layer:ident, $vis:vis $name:ident, [$($doc:literal)+], $w:ty, once) => {
        $(#[doc = $doc])+
        #[inline(never)]
        $vis fn $name(
            p: &Conv,
            x: Rows<'_, i8>,
            w: $w,
            bias: &[i32],
            pad: i8,
            q: &Requant<'_>,
            y: Rows<'_, i8>,
            band: Band,
        ) {
            $layer(p, x, w, Int8::new(bias, pad, Once(q)), y, band);
        }
    };
    (@ $layer:ident, $vis:vis $name:ident, [$($doc:literal)+], $w:ty, sums of $acc:ty) => {
        $(#[doc = $doc])+
        #[inline(never)]
        $vis fn $name(
            p: &Conv,
            x: Rows<'_, i16>,
            w: $w,
            bias: &[$acc],
            q: &Requant<'_>,
            y: Rows<'_, i16>,
            band: Band,
        ) {
            $layer(p, x, w, Int16 { bias, requant: q }, y, band);
        }
    };
    (@ $layer:ident, $vis:vis $name:ident, [$($doc:literal)+], $w:ty, dynamic $(, $unpack:ident)?) => {
        $(#[doc = $doc])+
        #[inline(never)]
        $vis fn $name(
            p: &Conv,
            x: Rows<'_, i8>,
            w: $w,
            layer: &DynamicLayer<'_>,
            scale: &[Cell<f32>],
            y: Rows<'_, f32>,
            band: Band,
        ) {
            let Some(sum) = Dynamic::new(layer, scale) else { return };
            #[allow(unused_parens)] // as below
            $layer(p, x, $($unpack)?(w), sum, y, band);
        }
    };
    (@ $layer:ident, $vis:vis $name:ident, [$($doc:literal)+], $w:ty, $q:ty $(, $unpack:ident)?) => {
        $(#[doc = $doc])+
        #[inline(never)]
        $vis fn $name(
            p: &Conv,
            x: Rows<'_, i8>,
            w: $w,
            bias: &[i32],
            pad: i8,
            q: $q,
            y: Rows<'_, i8>,
            band: Band,
        ) {
            #[allow(unused_parens)] // around weights that are not packed
            $layer(p, x, $($unpack)?(w), Int8::new(bias, pad, q), y, band);
        }
    };
}
pub(super) use layers;
