//! Spectra of blocks: numbers of 16 bits that share an exponent, which stands behind them. A number counts 2 to the power of it.
//!
//! Numbers are shifted right only before a step that might not have room for its sums: quiet and loud frames have the same precision, and no sum overflows.

use super::fft::{place, Point};
use crate::arch::point_block::Halves;
use core::cell::Cell;

/// The largest magnitudes before a butterfly of radix 2 or 4, and before a spectrum is taken apart, that keep its sums within 16 bits.
const RADIX_2: u32 = 16_380;
const RADIX_4: u32 = 6_240;
const APART: u32 = 11_500;

/// Complex numbers that are shifted right.
pub(crate) trait Shifted: Point<i16> {
    /// Both parts shifted right by at most 15 bits, rounded.
    #[inline(always)]
    fn shifted(self, bits: u32) -> Self {
        let half = 1i32.wrapping_shl(bits) >> 1;
        let part = |x: i16| i32::from(x).wrapping_add(half).wrapping_shr(bits) as i16;
        Self::new(part(self.re()), part(self.im()))
    }

    /// Times a number of 15 bits of fraction, shifted right by at most 15 bits, rounded once.
    #[inline(always)]
    fn times_shifted(self, other: Self, bits: u32) -> Self {
        let [a, b, c, d] = [self.re(), self.im(), other.re(), other.im()].map(i32::from);
        let re = a.wrapping_mul(c).wrapping_sub(b.wrapping_mul(d));
        let im = a.wrapping_mul(d).wrapping_add(b.wrapping_mul(c));
        Self::of_products(re, im, bits)
    }

    /// Parts of 15 bits of fraction, shifted right further, rounded once.
    #[inline(always)]
    fn of_products(re: i32, im: i32, bits: u32) -> Self {
        let half = (1i32 << 14).wrapping_shl(bits);
        let part = |x: i32| x.wrapping_add(half).wrapping_shr(bits.wrapping_add(15)) as i16;
        Self::new(part(re), part(im))
    }
}

/// Samples times a window of 15 bits of fraction: rows of as many samples as there are `weights` become blocks. The largest magnitude of a row is shifted to the upper bits before the product, and the
/// largest product behind it.
#[inline(never)]
pub fn block_window_i16(weights: &[i16], x: &[Cell<i16>], y: &[Cell<i16>]) {
    block_window(weights, x, y, 1, |x| i32::from(x) << 16);
}

/// [`block_window_i16`] for samples of 32 bits.
#[inline(never)]
pub fn block_window_i32(weights: &[i16], x: &[Cell<i32>], y: &[Cell<i16>]) {
    block_window(weights, x, y, 17, |x| x);
}

/// `exponent` is that of a block if nothing is shifted left.
#[inline(always)]
fn block_window<T: Copy>(
    weights: &[i16],
    x: &[Cell<T>],
    y: &[Cell<i16>],
    exponent: u32,
    wide: impl Fn(T) -> i32,
) {
    let row = weights.len().max(1);
    for (x, y) in x.chunks_exact(row).zip(y.chunks_exact(row.wrapping_add(1))) {
        let Some((last, y)) = y.split_last() else { return };
        let samples = || x.iter().map(|x| wide(x.get()));
        let first = room(samples());
        let products = || samples().zip(weights).map(|(x, w)| upper(x, first).wrapping_mul((*w).into()));
        let second = room(products());
        for (y, product) in y.iter().zip(products()) {
            y.set(upper(product, second) as i16);
        }
        last.set(exponent.wrapping_sub(first).wrapping_sub(second) as i16);
    }
}

/// By how many bits numbers can be shifted left.
#[inline(always)]
fn room(numbers: impl Iterator<Item = i32>) -> u32 {
    numbers.fold(0, |all, x| all | magnitude(x)).leading_zeros().wrapping_sub(1) & 31
}

/// The upper half of a number that is shifted left, rounded.
#[inline(always)]
fn upper(x: i32, bits: u32) -> i32 {
    ((x.wrapping_shl(bits) >> 15).wrapping_add(1) >> 1).min(i16::MAX.into())
}

/// That of negative numbers less 1.
#[inline(always)]
fn magnitude(x: i32) -> u32 {
    (x ^ (x >> 31)) as u32
}

/// The largest magnitude of parts.
#[derive(Clone, Copy)]
struct Peak(u32);

impl Peak {
    #[inline(always)]
    fn see(&mut self, z: Halves) {
        self.0 = self.0.max(magnitude(z.re().into())).max(magnitude(z.im().into()));
    }

    /// By how many bits numbers are shifted right so that none is larger than that.
    #[inline(always)]
    fn excess(self, most: u32) -> u32 {
        let mut bits = 0u32;
        while bits < 15 && self.0.wrapping_shr(bits) >= most {
            bits = bits.wrapping_add(1);
        }
        bits
    }
}

/// Half of the spectrum of blocks of `row` numbers, completed by zeros to `length` (a power of two, at least 4): blocks of `length` / 2 + 1 complex numbers. Tables are those of
/// [`rfft_i16`](super::fft::rfft_i16). Numbers are not divided by the length.
#[inline(never)]
pub fn block_rfft_i16(
    length: usize,
    row: usize,
    twiddles: &[i16],
    halves: &[i16],
    x: &[Cell<i16>],
    y: &[Cell<i16>],
) {
    let n = length >> 1;
    let rows = x.chunks_exact(row.saturating_add(1)).zip(y.chunks_exact(length.saturating_add(3)));
    for (x, y) in rows {
        let (Some((exponent, x)), Some((last, y))) = (x.split_last(), y.split_last()) else { return };
        let mut peak = Peak(0);
        for i in 0..n {
            let part = |at: usize| x.get(at).map_or(0, Cell::get);
            let at = i.wrapping_mul(2);
            let z = Halves::new(part(at), part(at.wrapping_add(1)));
            peak.see(z);
            z.write(y, place(i, n));
        }
        let Some(z) = y.get(..length) else { return };
        let bits = butterflies(z, n, twiddles, &mut peak);
        let last_bits = take_apart(n, halves, peak, y);
        let bits = bits.wrapping_add(last_bits);
        last.set(exponent.get().wrapping_add(bits as i16));
    }
}

/// The spectrum of the `n` complex numbers that stand at their [`place`]s, and by how many bits they were shifted right.
#[inline(always)]
fn butterflies(z: &[Cell<i16>], n: usize, twiddles: &[i16], peak: &mut Peak) -> u32 {
    let (mut all, mut width) = (0u32, 1usize);
    if n.trailing_zeros() % 2 == 1 {
        let bits = peak.excess(RADIX_2);
        *peak = Peak(0);
        for z in z.chunks_exact(4) {
            let (Some(a), Some(b)) = (Halves::read(z, 0), Halves::read(z, 1)) else { return all };
            let (a, b) = (a.shifted(bits), b.shifted(bits));
            for (at, z_at) in [a.plus(b), a.minus(b)].into_iter().enumerate() {
                peak.see(z_at);
                z_at.write(z, at);
            }
        }
        all = all.wrapping_add(bits);
        width = 2;
    }
    while width < n {
        let bits = peak.excess(RADIX_4);
        *peak = Peak(0);
        let wider = width.wrapping_mul(4);
        let stride = n.checked_div(wider).unwrap_or(0);
        for z in z.chunks_exact(wider.wrapping_mul(2).max(1)) {
            // Four parts of as many numbers, of which each butterfly has one.
            let Some((even, odd)) = z.split_at_checked(width.wrapping_mul(4)) else { return all };
            let (a, b) = even.split_at_checked(width.wrapping_mul(2)).unwrap_or_default();
            let (c, d) = odd.split_at_checked(width.wrapping_mul(2)).unwrap_or_default();
            let numbers = |part| <[Cell<i16>]>::chunks_exact(part, 2);
            let fours = numbers(a).zip(numbers(b)).zip(numbers(c).zip(numbers(d)));
            for (k, ((a, b), (c, d))) in fours.enumerate() {
                // The first of each four is turned by nothing.
                let turned = |z, q| match k {
                    0 => Some(Halves::of(z)?.shifted(bits)),
                    _ => {
                        let at = k.wrapping_mul(stride).wrapping_mul(q);
                        Some(Halves::of(z)?.times_shifted(Halves::constant(twiddles, at)?, bits))
                    }
                };
                let (Some(x), Some(second)) = (Halves::of(a), turned(b, 1)) else { return all };
                let (Some(third), Some(fourth)) = (turned(c, 2), turned(d, 3)) else { return all };
                let x = x.shifted(bits);
                let (even, odd) = (x.plus(third), second.plus(fourth));
                let (left, right) = (x.minus(third), second.minus(fourth));
                let mut put = |z: Halves, to| {
                    peak.see(z);
                    z.put(to);
                };
                put(even.plus(odd), a);
                put(left.minus_left(right), b);
                put(even.minus(odd), c);
                put(left.plus_left(right), d);
            }
        }
        all = all.wrapping_add(bits);
        width = wider;
    }
    all
}

/// The spectrum of real numbers, from that of complex ones of which they are the parts; and by how many bits it was shifted right.
#[inline(always)]
fn take_apart(n: usize, halves: &[i16], peak: Peak, y: &[Cell<i16>]) -> u32 {
    let bits = peak.excess(APART);
    let Some(first) = Halves::read(y, 0) else { return bits };
    let first = first.shifted(bits);
    let (re, im) = (first.re(), first.im());
    Halves::new(re.wrapping_add(im), 0).write(y, 0);
    Halves::new(re.wrapping_sub(im), 0).write(y, n);
    for k in 1..=n >> 1 {
        let mirror = n.wrapping_sub(k);
        let (Some(low), Some(high)) = (Halves::read(y, k), Halves::read(y, mirror)) else { return bits };
        let Some(turn) = Halves::constant(halves, k.wrapping_sub(1)) else { return bits };
        let (low, high) = (low.shifted(bits), high.shifted(bits).conjugate());
        let (sum, turned) = (low.plus(high), low.minus(high).times_shifted(turn, 0));
        let half = |a: i16, b: i32| (i32::from(a).wrapping_add(b) >> 1) as i16;
        let [re, im] = [turned.re(), turned.im()].map(i32::from);
        Halves::new(half(sum.re(), re), half(sum.im(), im)).write(y, k);
        let back = half(turned.im(), i32::from(sum.im()).wrapping_neg());
        Halves::new(half(sum.re(), re.wrapping_neg()), back).write(y, mirror);
    }
    bits
}
