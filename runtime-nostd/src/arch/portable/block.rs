//! Spectra of blocks: numbers of 16 bits that share an exponent, which stands behind them. A number counts 2 to the power of it.
//!
//! Numbers are shifted right only before a step that might not have room for its sums: quiet and loud frames have the same precision, and no sum overflows.

use super::fft::{place, Point};
use crate::arch::point_block::Halves;
use core::cell::Cell;

/// The largest magnitudes before butterflies of a radix, and before a spectrum is taken apart, that keep sums within 16 bits. The first butterflies turn nothing.
const FIRST_RADIX_2: u32 = 16_380;
const RADIX_2: u32 = 13_500;
const RADIX_3: u32 = 8_500;
const RADIX_4: u32 = 6_240;
const RADIX_5: u32 = 4_900;
const APART: u32 = 11_500;

/// The sine of a third of a turn, in 15 bits of fraction.
const SINE: i32 = 28_378;

/// Cosines and sines of a fifth and two fifths of a turn, in 15 bits of fraction.
const COSINES: [i32; 2] = [10_126, -26_510];
const SINES: [i32; 2] = [31_164, 19_261];

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
    block_rfft::<false>(length, row, twiddles, halves, x, y);
}

/// [`block_rfft_i16`] for lengths whose half is a product of 2, 3 and 5.
#[inline(never)]
pub fn block_rfft_mixed_i16(
    length: usize,
    row: usize,
    twiddles: &[i16],
    halves: &[i16],
    x: &[Cell<i16>],
    y: &[Cell<i16>],
) {
    block_rfft::<true>(length, row, twiddles, halves, x, y);
}

#[inline(always)]
fn block_rfft<const MIXED: bool>(
    length: usize,
    row: usize,
    twiddles: &[i16],
    halves: &[i16],
    x: &[Cell<i16>],
    y: &[Cell<i16>],
) {
    let n = length >> 1;
    let power = if MIXED { 1usize.wrapping_shl(n.trailing_zeros()) } else { n };
    let odd = if MIXED { n.checked_div(power).unwrap_or(0) } else { 1 };
    let rows = x.chunks_exact(row.saturating_add(1)).zip(y.chunks_exact(length.saturating_add(3)));
    for (x, y) in rows {
        let (Some((exponent, x)), Some((last, y))) = (x.split_last(), y.split_last()) else { return };
        let mut peak = Peak(0);
        let mut parts = x.iter().map(Cell::get);
        let mut next = || parts.next().unwrap_or(0);
        for quotient in 0..odd {
            let first = if MIXED { odd_place(quotient, odd) } else { 0 };
            for rest in 0..power {
                let z = Halves::new(next(), next());
                peak.see(z);
                z.write(y, place(rest, power).wrapping_mul(odd).wrapping_add(first));
            }
        }
        let Some(z) = y.get(..length) else { return };
        let mut stages = Stages { z, twiddles, n, width: 1, peak, bits: 0 };
        if MIXED {
            stages.of_radix(5, odd, RADIX_5, five);
            stages.of_radix(3, odd, RADIX_3, three);
        }
        if n.trailing_zeros() % 2 == 1 {
            let most = if stages.width == 1 { FIRST_RADIX_2 } else { RADIX_2 };
            stages.next(most, |[a, b]| [a.plus(b), a.minus(b)]);
        }
        while stages.width < n {
            stages.fours();
        }
        let bits = take_apart(n, halves, stages.peak, y).wrapping_add(stages.bits);
        last.set(exponent.get().wrapping_add(bits as i16));
    }
}

/// Where the number of that index stands before the first butterflies of radix 5 and 3, of `odd` numbers: its digits, the last radix first, reversed.
#[inline(never)]
fn odd_place(index: usize, odd: usize) -> usize {
    let (mut left, mut size, mut at) = (index, odd.max(1), 0usize);
    for radix in [3, 5] {
        while size % radix == 0 {
            size /= radix;
            at = at.wrapping_add((left % radix).wrapping_mul(size));
            left /= radix;
        }
    }
    at
}

/// A transform of `n` complex numbers, as far as it has come: the spectra of `width` of them each.
struct Stages<'a> {
    z: &'a [Cell<i16>],
    twiddles: &'a [i16],
    n: usize,
    width: usize,
    peak: Peak,
    /// By how many bits numbers were shifted right.
    bits: u32,
}

impl Stages<'_> {
    /// One stage for each time that the radix divides `odd`.
    #[inline(always)]
    fn of_radix<const R: usize>(
        &mut self,
        radix: usize,
        odd: usize,
        most: u32,
        butterfly: impl Fn([Halves; R]) -> [Halves; R],
    ) {
        let mut left = odd.max(1);
        while left % radix == 0 {
            left /= radix;
            self.next(most, &butterfly);
        }
    }

    /// Begins a stage; says by how many bits numbers are shifted right, and how far the twiddles of two butterflies are apart.
    #[inline(always)]
    fn begin(&mut self, radix: usize, most: u32) -> (u32, usize) {
        let bits = self.peak.excess(most);
        self.peak = Peak(0);
        self.bits = self.bits.wrapping_add(bits);
        self.width = self.width.wrapping_mul(radix);
        (bits, self.n.checked_div(self.width).unwrap_or(0))
    }

    /// Butterflies of four numbers: all but one or two stages of most transforms.
    #[inline(always)]
    fn fours(&mut self) {
        let width = self.width;
        let (bits, stride) = self.begin(4, RADIX_4);
        for z in self.z.chunks_exact(self.width.wrapping_mul(2).max(1)) {
            // Four parts of as many numbers, of which each butterfly has one.
            let Some((even, odd)) = z.split_at_checked(width.wrapping_mul(4)) else { return };
            let (a, b) = even.split_at_checked(width.wrapping_mul(2)).unwrap_or_default();
            let (c, d) = odd.split_at_checked(width.wrapping_mul(2)).unwrap_or_default();
            let numbers = |part| <[Cell<i16>]>::chunks_exact(part, 2);
            let fours = numbers(a).zip(numbers(b)).zip(numbers(c).zip(numbers(d)));
            for (k, ((a, b), (c, d))) in fours.enumerate() {
                let turned = |z, q| {
                    turned(Halves::of(z)?, self.twiddles, k.wrapping_mul(stride).wrapping_mul(q), bits)
                };
                let (Some(x), Some(second)) = (Halves::of(a), turned(b, 1)) else { return };
                let (Some(third), Some(fourth)) = (turned(c, 2), turned(d, 3)) else { return };
                let x = x.shifted(bits);
                let (even, odd) = (x.plus(third), second.plus(fourth));
                let (left, right) = (x.minus(third), second.minus(fourth));
                let mut put = |z: Halves, to| {
                    self.peak.see(z);
                    z.put(to);
                };
                put(even.plus(odd), a);
                put(left.minus_left(right), b);
                put(even.minus(odd), c);
                put(left.plus_left(right), d);
            }
        }
    }

    /// Butterflies of `R` numbers.
    #[inline(always)]
    fn next<const R: usize>(&mut self, most: u32, butterfly: impl Fn([Halves; R]) -> [Halves; R]) {
        let width = self.width;
        let (bits, stride) = self.begin(R, most);
        for z in self.z.chunks_exact(self.width.wrapping_mul(2).max(1)) {
            for k in 0..width {
                let at = |q: usize| width.wrapping_mul(q).wrapping_add(k);
                let mut numbers = [Halves::new(0, 0); R];
                for (q, number) in numbers.iter_mut().enumerate() {
                    let Some(z) = Halves::read(z, at(q)) else { return };
                    let turn = k.wrapping_mul(stride).wrapping_mul(q);
                    let Some(turned) = turned(z, self.twiddles, turn, bits) else { return };
                    *number = turned;
                }
                for (q, number) in butterfly(numbers).into_iter().enumerate() {
                    self.peak.see(number);
                    number.write(z, at(q));
                }
            }
        }
    }
}

/// Times a twiddle, shifted right. The first number of a butterfly, and all of the first one, are turned by nothing.
#[inline(always)]
fn turned(z: Halves, twiddles: &[i16], turn: usize, bits: u32) -> Option<Halves> {
    match turn {
        0 => Some(z.shifted(bits)),
        _ => Some(z.times_shifted(Halves::constant(twiddles, turn)?, bits)),
    }
}

#[inline(always)]
fn three([a, b, c]: [Halves; 3]) -> [Halves; 3] {
    let (sum, apart) = (b.plus(c), b.minus(c));
    let (second, third) = mirrored(a, [(sum, -16_384)], [(apart, SINE)]);
    [a.plus(sum), second, third]
}

#[inline(always)]
fn five([a, b, c, d, e]: [Halves; 5]) -> [Halves; 5] {
    let (near, far, near_apart, far_apart) = (b.plus(e), c.plus(d), b.minus(e), c.minus(d));
    let ([cosine, other_cosine], [sine, other_sine]) = (COSINES, SINES);
    let sides = [(near_apart, sine), (far_apart, other_sine)];
    let other_sides = [(near_apart, other_sine), (far_apart, sine.wrapping_neg())];
    let (second, fifth) = mirrored(a, [(near, cosine), (far, other_cosine)], sides);
    let (third, fourth) = mirrored(a, [(near, other_cosine), (far, cosine)], other_sides);
    [a.plus(near).plus(far), second, third, fourth, fifth]
}

/// a + the sum of `middle` − i times the sum of `side`, and the same plus it, rounded once: products with factors of 15 bits of fraction.
#[inline(always)]
fn mirrored<const N: usize>(
    a: Halves,
    middle: [(Halves, i32); N],
    side: [(Halves, i32); N],
) -> (Halves, Halves) {
    let sum = |first: i16, terms: [(i16, i32); N]| {
        let first = i32::from(first).wrapping_shl(15);
        terms.iter().fold(first, |sum, &(x, by)| sum.wrapping_add(i32::from(x).wrapping_mul(by)))
    };
    let re = sum(a.re(), middle.map(|(z, by)| (z.re(), by)));
    let im = sum(a.im(), middle.map(|(z, by)| (z.im(), by)));
    let side_re = sum(0, side.map(|(z, by)| (z.re(), by)));
    let side_im = sum(0, side.map(|(z, by)| (z.im(), by)));
    let left = Halves::of_products(re.wrapping_add(side_im), im.wrapping_sub(side_re), 0);
    let right = Halves::of_products(re.wrapping_sub(side_im), im.wrapping_add(side_re), 0);
    (left, right)
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
