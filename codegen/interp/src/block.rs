//! Spectra of blocks: numbers of 16 bits that share an exponent, which stands behind them.

use super::signal::{half_twiddles, twiddles};
use kiln_ir::DType;

/// The largest magnitudes before butterflies of radix 2 to 5, and before a spectrum is taken apart, that keep sums within 16 bits. The first butterflies turn nothing.
const FIRST_RADIX_2: i64 = 16_380;
const RADICES: [i64; 4] = [13_500, 8_500, 6_240, 4_900];
const APART: i64 = 11_500;

type Complex = [i64; 2];

/// Samples times a window, as a block: `shift` brings samples to 32 bits, and `exponent` is that of the block if nothing is shifted further.
pub(super) fn window(samples: &[i64], weights: &[i64], shift: u32, exponent: i64) -> Vec<i64> {
    let (samples, first) = upper(samples.iter().map(|x| x << shift).collect());
    let (mut y, second) = upper(samples.iter().zip(weights).map(|(x, w)| x * w).collect());
    y.push(exponent - first - second);
    y
}

/// The upper 16 of 32 bits, rounded, of numbers that are shifted left as far as the largest allows, and by how much.
fn upper(numbers: Vec<i64>) -> (Vec<i64>, i64) {
    let bits = 31 - (64 - peak(numbers.iter().copied()).leading_zeros());
    let rounded = |x: i64| ((((x << bits) >> 15) + 1) >> 1).min(i16::MAX.into());
    (numbers.into_iter().map(rounded).collect(), bits.into())
}

/// The largest magnitude, that of negative numbers less 1.
fn peak(numbers: impl Iterator<Item = i64>) -> i64 {
    numbers.map(|x| x ^ (x >> 63)).max().unwrap_or(0)
}

/// Half of the spectrum of a block of at most `length` numbers.
pub(super) fn rfft(block: &[i64], length: usize) -> Vec<i64> {
    let n = length / 2;
    let (numbers, mut exponent) = block.split_last().map_or((block, 0), |(&e, numbers)| (numbers, e));
    let mut numbers = numbers.to_vec();
    numbers.resize(length, 0);
    let pairs: Vec<Complex> = numbers.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
    let radices = radices(n);
    let mut z: Vec<Complex> = reversed((0..n).collect(), &radices).into_iter().map(|i| pairs[i]).collect();
    let points = |data: kiln_ir::Data| -> Vec<Complex> {
        data.to_ints(DType::I16).chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()
    };
    let circle = points(twiddles(DType::I16, length, false));
    let mut width = 1;
    for radix in radices {
        let most = if (radix, width) == (2, 1) { FIRST_RADIX_2 } else { RADICES[radix - 2] };
        let bits = excess(&z, most);
        for z in z.chunks_exact_mut(radix * width) {
            for k in 0..width {
                let turned = |q: usize| match k * q {
                    0 => shifted(z[k + q * width], bits),
                    kq => times(z[k + q * width], circle[kq * n / (radix * width)], bits),
                };
                let turned = (0..radix).map(turned).collect();
                for (q, number) in butterfly(turned).into_iter().enumerate() {
                    z[k + q * width] = number;
                }
            }
        }
        exponent += i64::from(bits);
        width *= radix;
    }
    let bits = excess(&z, APART);
    let z: Vec<Complex> = z.into_iter().map(|z| shifted(z, bits)).collect();
    let halves = points(half_twiddles(DType::I16, length, false));
    let mut y = vec![[0; 2]; n + 1];
    y[0][0] = z[0][0] + z[0][1];
    y[n][0] = z[0][0] - z[0][1];
    for k in 1..=n / 2 {
        let (low, [re, im]) = (z[k], z[n - k]);
        let [sum, turned] = [add(low, [re, -im]), times(subtract(low, [re, -im]), halves[k - 1], 0)];
        y[k] = [(sum[0] + turned[0]) >> 1, (sum[1] + turned[1]) >> 1];
        y[n - k] = [(sum[0] - turned[0]) >> 1, (turned[1] - sum[1]) >> 1];
    }
    let mut y = y.concat();
    y.push(exponent + i64::from(bits));
    y
}

/// The radices of butterflies, the first ones first: 5, 3, 2 if there is an odd number of it, 4.
fn radices(n: usize) -> Vec<usize> {
    let (mut left, mut radices) = (n, Vec::new());
    for radix in [5, 3] {
        while left % radix == 0 {
            left /= radix;
            radices.push(radix);
        }
    }
    let twos = left.trailing_zeros() as usize;
    radices.resize(radices.len() + twos % 2, 2);
    radices.resize(radices.len() + twos / 2, 4);
    radices
}

/// Indices in the order of the first butterflies: of the last radix, every such index from each of the first ones on.
fn reversed(indices: Vec<usize>, radices: &[usize]) -> Vec<usize> {
    match radices.split_last() {
        None => indices,
        Some((&radix, others)) => (0..radix)
            .flat_map(|q| reversed(indices.iter().copied().skip(q).step_by(radix).collect(), others))
            .collect(),
    }
}

/// The spectrum of few numbers.
fn butterfly(z: Vec<Complex>) -> Vec<Complex> {
    match z[..] {
        [a, b] => vec![add(a, b), subtract(a, b)],
        [a, b, c] => {
            let (sum, apart) = (add(b, c), subtract(b, c));
            let [second, third] = mirrored(a, &[(sum, -16_384)], &[(apart, SINE)]);
            vec![add(a, sum), second, third]
        }
        [a, b, c, d] => {
            let (even, odd) = (add(a, c), add(b, d));
            let (left, [re, im]) = (subtract(a, c), subtract(b, d));
            let [second, fourth] = [[left[0] + im, left[1] - re], [left[0] - im, left[1] + re]];
            vec![add(even, odd), second, subtract(even, odd), fourth]
        }
        [a, b, c, d, e] => {
            let (near, far) = (add(b, e), add(c, d));
            let (near_apart, far_apart) = (subtract(b, e), subtract(c, d));
            let [cosine, other_cosine] = COSINES;
            let [sine, other_sine] = SINES;
            let sides = [(near_apart, sine), (far_apart, other_sine)];
            let other_sides = [(near_apart, other_sine), (far_apart, -sine)];
            let [second, fifth] = mirrored(a, &[(near, cosine), (far, other_cosine)], &sides);
            let [third, fourth] = mirrored(a, &[(near, other_cosine), (far, cosine)], &other_sides);
            vec![add(add(a, near), far), second, third, fourth, fifth]
        }
        _ => z,
    }
}

/// The sine of a third of a turn; cosines and sines of a fifth and two fifths. In 15 bits of fraction.
const SINE: i64 = 28_378;
const COSINES: [i64; 2] = [10_126, -26_510];
const SINES: [i64; 2] = [31_164, 19_261];

/// a + the sum of `middle` − i times the sum of `side`, and the same plus it, rounded once: products with factors of 15 bits of fraction.
fn mirrored(a: Complex, middle: &[(Complex, i64)], side: &[(Complex, i64)]) -> [Complex; 2] {
    let sum = |first: i64, terms: &[(Complex, i64)], part: usize| -> i64 {
        terms.iter().fold(first << 15, |sum, (z, by)| sum + z[part] * by)
    };
    let [re, im] = [sum(a[0], middle, 0), sum(a[1], middle, 1)];
    let [side_re, side_im] = [sum(0, side, 0), sum(0, side, 1)];
    let rounded = |z: Complex| z.map(|x| (x + (1 << 14)) >> 15);
    [rounded([re + side_im, im - side_re]), rounded([re - side_im, im + side_re])]
}

/// By how many bits numbers are shifted right so that none is larger than that.
fn excess(z: &[Complex], most: i64) -> u32 {
    let peak = peak(z.iter().flatten().copied());
    (0..16).find(|&bits| peak >> bits < most).unwrap_or(16)
}

/// Shifted right, rounded.
fn shifted(z: Complex, bits: u32) -> Complex {
    z.map(|x| (x + ((1 << bits) >> 1)) >> bits)
}

/// A product with a point of the unit circle in 15 bits of fraction, shifted right, rounded once.
fn times([a, b]: Complex, [c, d]: Complex, bits: u32) -> Complex {
    [a * c - b * d, a * d + b * c].map(|x| (x + (1 << 14 << bits)) >> (15 + bits))
}

fn add(a: Complex, b: Complex) -> Complex {
    [a[0] + b[0], a[1] + b[1]]
}

fn subtract(a: Complex, b: Complex) -> Complex {
    [a[0] - b[0], a[1] - b[1]]
}
