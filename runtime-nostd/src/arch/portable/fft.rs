//! Transforms of real numbers into half of a spectrum, and back. The arithmetic is that of KISS FFT, which TensorFlow Lite Micro computes with: radix 4, and radix 2 first
//! where the length asks for it. Integers are scaled down at every step, and rounded there.
//!
//! Tables are what [`rfft_i16`] says. They are computed when a model is compiled.

use crate::arch::point_block::Halves;
use crate::Element;
use core::cell::Cell;

/// Numbers of a transform.
pub(crate) trait Number: Element {
    const ZERO: Self;

    /// Complex numbers of them.
    type Point: Point<Self>;

    /// a·b + c·d; of integers the upper half, rounded.
    fn products(a: Self, b: Self, c: Self, d: Self) -> Self;

    /// a·b − c·d; of integers the upper half, rounded.
    fn difference_of_products(a: Self, b: Self, c: Self, d: Self) -> Self;

    /// Wrapping.
    fn plus(self, other: Self) -> Self;

    /// Wrapping.
    fn minus(self, other: Self) -> Self;

    /// (a + b) / 2, rounded down.
    fn half_sum(self, other: Self) -> Self;

    /// (a − b) / 2, rounded down.
    fn half_difference(self, other: Self) -> Self;

    /// Integers divided by 2, floats as they are.
    fn halved(self) -> Self;

    /// Integers divided by 4, floats as they are.
    fn quartered(self) -> Self;
}

/// Integers with a wider type for products, whose upper bits are `$bits` of fraction; sums that are halved are of type `$sum`.
macro_rules! fixed {
    ($($t:ident $wide:ident $sum:ident $bits:literal $point:ty)+) => { $(
        impl Number for $t {
            const ZERO: $t = 0;

            type Point = $point;

            #[inline(always)]
            fn products(a: $t, b: $t, c: $t, d: $t) -> $t {
                let sum = $wide::from(a).wrapping_mul(b.into()).wrapping_add($wide::from(c).wrapping_mul(d.into()));
                (sum.wrapping_add(1 << ($bits - 1)) >> $bits) as $t
            }

            #[inline(always)]
            fn difference_of_products(a: $t, b: $t, c: $t, d: $t) -> $t {
                let sum = $wide::from(a).wrapping_mul(b.into()).wrapping_sub($wide::from(c).wrapping_mul(d.into()));
                (sum.wrapping_add(1 << ($bits - 1)) >> $bits) as $t
            }

            #[inline(always)]
            fn plus(self, other: $t) -> $t {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn minus(self, other: $t) -> $t {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn half_sum(self, other: $t) -> $t {
                ($sum::from(self).wrapping_add(other.into()) >> 1) as $t
            }

            #[inline(always)]
            fn half_difference(self, other: $t) -> $t {
                ($sum::from(self).wrapping_sub(other.into()) >> 1) as $t
            }

            #[inline(always)]
            fn halved(self) -> $t {
                $t::products(self, $t::MAX / 2, 0, 0)
            }

            #[inline(always)]
            fn quartered(self) -> $t {
                $t::products(self, $t::MAX / 4, 0, 0)
            }
        }
    )+ };
}
fixed! { i16 i32 i32 15 Halves i32 i64 i32 31 Complex<i32> }

impl Number for f32 {
    const ZERO: f32 = 0.0;

    type Point = Complex<f32>;

    #[inline(always)]
    fn products(a: f32, b: f32, c: f32, d: f32) -> f32 {
        a * b + c * d
    }

    #[inline(always)]
    fn difference_of_products(a: f32, b: f32, c: f32, d: f32) -> f32 {
        a * b - c * d
    }

    #[inline(always)]
    fn plus(self, other: f32) -> f32 {
        self + other
    }

    #[inline(always)]
    fn minus(self, other: f32) -> f32 {
        self - other
    }

    #[inline(always)]
    fn half_sum(self, other: f32) -> f32 {
        (self + other) * 0.5
    }

    #[inline(always)]
    fn half_difference(self, other: f32) -> f32 {
        (self - other) * 0.5
    }

    #[inline(always)]
    fn halved(self) -> f32 {
        self
    }

    #[inline(always)]
    fn quartered(self) -> f32 {
        self
    }
}

/// A complex number.
pub(crate) trait Point<T: Element>: Copy {
    fn new(re: T, im: T) -> Self;

    fn re(self) -> T;

    fn im(self) -> T;

    fn plus(self, other: Self) -> Self;

    fn minus(self, other: Self) -> Self;

    /// Plus i times the other.
    fn plus_left(self, other: Self) -> Self;

    /// Minus i times the other.
    fn minus_left(self, other: Self) -> Self;

    fn times(self, other: Self) -> Self;

    fn conjugate(self) -> Self;

    /// Both parts as [`Number::halved`].
    fn halved(self) -> Self;

    /// Both parts as [`Number::quartered`].
    fn quartered(self) -> Self;

    /// The number of a real and an imaginary part.
    #[inline(always)]
    fn of(parts: &[Cell<T>]) -> Option<Self> {
        match parts {
            [re, im] => Some(Self::new(re.get(), im.get())),
            _ => None,
        }
    }

    #[inline(always)]
    fn put(self, parts: &[Cell<T>]) {
        if let [re, im] = parts {
            re.set(self.re());
            im.set(self.im());
        }
    }

    /// The number of that index in a list of real and imaginary parts.
    #[inline(always)]
    fn read(list: &[Cell<T>], index: usize) -> Option<Self> {
        let at = index.wrapping_mul(2);
        Self::of(list.get(at..at.wrapping_add(2))?)
    }

    #[inline(always)]
    fn write(self, list: &[Cell<T>], index: usize) {
        let at = index.wrapping_mul(2);
        self.put(list.get(at..at.wrapping_add(2)).unwrap_or_default());
    }

    #[inline(always)]
    fn constant(list: &[T], index: usize) -> Option<Self> {
        let at = index.wrapping_mul(2);
        match *list.get(at..at.wrapping_add(2))? {
            [re, im] => Some(Self::new(re, im)),
            _ => None,
        }
    }
}

/// One part after the other.
#[derive(Clone, Copy)]
pub(crate) struct Complex<T> {
    re: T,
    im: T,
}

impl<T: Number> Point<T> for Complex<T> {
    #[inline(always)]
    fn new(re: T, im: T) -> Self {
        Complex { re, im }
    }

    #[inline(always)]
    fn re(self) -> T {
        self.re
    }

    #[inline(always)]
    fn im(self) -> T {
        self.im
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        Complex { re: self.re.plus(other.re), im: self.im.plus(other.im) }
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        Complex { re: self.re.minus(other.re), im: self.im.minus(other.im) }
    }

    #[inline(always)]
    fn plus_left(self, other: Self) -> Self {
        Complex { re: self.re.minus(other.im), im: self.im.plus(other.re) }
    }

    #[inline(always)]
    fn minus_left(self, other: Self) -> Self {
        Complex { re: self.re.plus(other.im), im: self.im.minus(other.re) }
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        Complex {
            re: T::difference_of_products(self.re, other.re, self.im, other.im),
            im: T::products(self.re, other.im, self.im, other.re),
        }
    }

    #[inline(always)]
    fn conjugate(self) -> Self {
        Complex { re: self.re, im: T::ZERO.minus(self.im) }
    }

    #[inline(always)]
    fn halved(self) -> Self {
        Complex { re: self.re.halved(), im: self.im.halved() }
    }

    #[inline(always)]
    fn quartered(self) -> Self {
        Complex { re: self.re.quartered(), im: self.im.quartered() }
    }
}

/// Where the number of that index stands before the first butterflies of a transform of `n` complex numbers: its digits, the radix 4 first, reversed.
#[inline(always)]
pub(super) fn place(index: usize, n: usize) -> usize {
    let bits = n.trailing_zeros();
    // Bits in reverse are digits in reverse whose own bits are reversed: those of radix 4 are turned again. A digit of radix 2 is the lowest bit, and left as it is.
    let reversed = index.reverse_bits().wrapping_shr(usize::BITS.wrapping_sub(bits));
    let low = if bits % 2 == 1 { 1 } else { 0 };
    let (first, rest) = (reversed & low, reversed >> low);
    let turned = (rest & EVEN_BITS) << 1 | (rest >> 1) & EVEN_BITS;
    (turned << low | first) & n.wrapping_sub(1)
}

/// The lower bit of each digit of radix 4.
const EVEN_BITS: usize = usize::MAX / 3;

/// The spectrum of the `n` complex numbers that stand at their [`place`]s, with points of the unit circle.
#[inline(always)]
fn butterflies<T: Number>(z: &[Cell<T>], n: usize, twiddles: &[T], inverse: bool) {
    let mut width = 1usize;
    if n.trailing_zeros() % 2 == 1 {
        let Some(one) = T::Point::constant(twiddles, 0) else { return };
        for z in z.chunks_exact(4) {
            let (Some(a), Some(b)) = (T::Point::read(z, 0), T::Point::read(z, 1)) else { return };
            let (a, b) = (a.halved(), b.halved().times(one));
            a.plus(b).write(z, 0);
            a.minus(b).write(z, 1);
        }
        width = 2;
    }
    while width < n {
        let wider = width.wrapping_mul(4);
        let stride = n.checked_div(wider).unwrap_or(0);
        for z in z.chunks_exact(wider.wrapping_mul(2).max(1)) {
            // Four parts of as many numbers, of which each butterfly has one.
            let Some((even, odd)) = z.split_at_checked(width.wrapping_mul(4)) else { return };
            let (a, b) = even.split_at_checked(width.wrapping_mul(2)).unwrap_or_default();
            let (c, d) = odd.split_at_checked(width.wrapping_mul(2)).unwrap_or_default();
            let numbers = |part| <[Cell<T>]>::chunks_exact(part, 2);
            let fours = numbers(a).zip(numbers(b)).zip(numbers(c).zip(numbers(d)));
            for (k, ((a, b), (c, d))) in fours.enumerate() {
                let turned = |z, q| {
                    let twiddle = T::Point::constant(twiddles, k.wrapping_mul(stride).wrapping_mul(q))?;
                    Some(T::Point::of(z)?.quartered().times(twiddle))
                };
                let (Some(x), Some(second)) = (T::Point::of(a), turned(b, 1)) else { return };
                let (Some(third), Some(fourth)) = (turned(c, 2), turned(d, 3)) else { return };
                let x = x.quartered();
                let (even, odd) = (x.plus(third), second.plus(fourth));
                let (left, right) = (x.minus(third), second.minus(fourth));
                let (second, fourth) = match inverse {
                    true => (left.plus_left(right), left.minus_left(right)),
                    false => (left.minus_left(right), left.plus_left(right)),
                };
                even.plus(odd).put(a);
                second.put(b);
                even.minus(odd).put(c);
                fourth.put(d);
            }
        }
        width = wider;
    }
}

#[inline(always)]
fn rfft<T: Number>(length: usize, row: usize, twiddles: &[T], halves: &[T], x: &[Cell<T>], y: &[Cell<T>]) {
    let n = length >> 1;
    for (x, y) in x.chunks_exact(row.max(1)).zip(y.chunks_exact(length.saturating_add(2))) {
        for i in 0..n {
            let part = |at: usize| x.get(at).map_or(T::ZERO, Cell::get);
            let at = i.wrapping_mul(2);
            T::Point::new(part(at), part(at.wrapping_add(1))).write(y, place(i, n));
        }
        spectrum(length, twiddles, halves, y);
    }
}

/// Half of the spectrum of `length` numbers, two of which stand at the [`place`] of their complex number in `y`; in their place, [`rfft`]'s numbers.
#[inline(always)]
pub(super) fn spectrum<T: Number>(length: usize, twiddles: &[T], halves: &[T], y: &[Cell<T>]) {
    let n = length >> 1;
    let Some(z) = y.get(..length) else { return };
    butterflies(z, n, twiddles, false);
    let Some(first) = T::Point::read(y, 0) else { return };
    let (re, im) = (first.halved().re(), first.halved().im());
    T::Point::new(re.plus(im), T::ZERO).write(y, 0);
    T::Point::new(re.minus(im), T::ZERO).write(y, n);
    for k in 1..=n >> 1 {
        let mirror = n.wrapping_sub(k);
        let (Some(low), Some(high)) = (T::Point::read(y, k), T::Point::read(y, mirror)) else { return };
        let Some(turn) = T::Point::constant(halves, k.wrapping_sub(1)) else { return };
        let (low, high) = (low.halved(), high.conjugate().halved());
        let (sum, turned) = (low.plus(high), low.minus(high).times(turn));
        let ((re, im), (turned_re, turned_im)) = ((sum.re(), sum.im()), (turned.re(), turned.im()));
        T::Point::new(re.half_sum(turned_re), im.half_sum(turned_im)).write(y, k);
        T::Point::new(re.half_difference(turned_re), turned_im.half_difference(im)).write(y, mirror);
    }
}

#[inline(always)]
fn irfft<T: Number>(length: usize, twiddles: &[T], halves: &[T], x: &[Cell<T>], y: &[Cell<T>]) {
    let n = length >> 1;
    for (x, y) in x.chunks_exact(length.saturating_add(2)).zip(y.chunks_exact(length.max(1))) {
        let (Some(first), Some(last)) = (T::Point::read(x, 0), T::Point::read(x, n)) else { return };
        let (first, last) = (first.re(), last.re());
        T::Point::new(first.plus(last), first.minus(last)).halved().write(y, 0);
        for k in 1..=n >> 1 {
            let mirror = n.wrapping_sub(k);
            let (Some(low), Some(high)) = (T::Point::read(x, k), T::Point::read(x, mirror)) else { return };
            let Some(turn) = T::Point::constant(halves, k.wrapping_sub(1)) else { return };
            let (low, high) = (low.halved(), high.conjugate().halved());
            let (even, odd) = (low.plus(high), low.minus(high).times(turn));
            even.plus(odd).write(y, place(k, n));
            even.minus(odd).conjugate().write(y, place(mirror, n));
        }
        butterflies(y, n, twiddles, true);
    }
}

/// Half of the spectrum of each row of `row` numbers, completed by zeros to `length` (a power of two, at least 4): `length` / 2 + 1 complex numbers. `twiddles` are points e^(−2πi·k/n) of the unit circle,
/// n = `length` / 2, for k < 3n/4; `halves` points e^(−πi·(k/n + 1/2)) for k from 1 to n / 2; both as real and imaginary parts, in 15 bits of fraction. In the result, 15 bits of fraction are those of the operand
/// divided by the length.
#[inline(never)]
pub fn rfft_i16(
    length: usize,
    row: usize,
    twiddles: &[i16],
    halves: &[i16],
    x: &[Cell<i16>],
    y: &[Cell<i16>],
) {
    rfft(length, row, twiddles, halves, x, y);
}

/// [`rfft_i16`] with 31 bits of fraction.
#[inline(never)]
pub fn rfft_i32(
    length: usize,
    row: usize,
    twiddles: &[i32],
    halves: &[i32],
    x: &[Cell<i32>],
    y: &[Cell<i32>],
) {
    rfft(length, row, twiddles, halves, x, y);
}

/// [`rfft_i16`] of floats, which are not divided by the length.
#[inline(never)]
pub fn rfft_f32(
    length: usize,
    row: usize,
    twiddles: &[f32],
    halves: &[f32],
    x: &[Cell<f32>],
    y: &[Cell<f32>],
) {
    rfft(length, row, twiddles, halves, x, y);
}

/// The `length` numbers of which each row is half of the spectrum. Tables are the conjugates of those of [`rfft_i16`].
#[inline(never)]
pub fn irfft_i16(length: usize, twiddles: &[i16], halves: &[i16], x: &[Cell<i16>], y: &[Cell<i16>]) {
    irfft(length, twiddles, halves, x, y);
}

/// [`irfft_i16`] with 31 bits of fraction.
#[inline(never)]
pub fn irfft_i32(length: usize, twiddles: &[i32], halves: &[i32], x: &[Cell<i32>], y: &[Cell<i32>]) {
    irfft(length, twiddles, halves, x, y);
}

/// [`irfft_i16`] of floats, divided by the length.
#[inline(never)]
pub fn irfft_f32(length: usize, twiddles: &[f32], halves: &[f32], x: &[Cell<f32>], y: &[Cell<f32>]) {
    irfft(length, twiddles, halves, x, y);
    for y in y {
        y.set(y.get() / length as f32);
    }
}
