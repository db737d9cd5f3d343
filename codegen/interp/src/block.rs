//! Spectra of blocks: numbers of 16 bits that share an exponent, which stands behind them.

use super::signal::{half_twiddles, twiddles};
use kiln_ir::DType;

/// The largest magnitudes before a butterfly of radix 2 or 4, and before a spectrum is taken apart, that keep its sums within 16 bits.
const RADIX_2: i64 = 16_380;
const RADIX_4: i64 = 6_240;
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
    let mut z: Vec<Complex> = reversed((0..n).collect()).into_iter().map(|i| pairs[i]).collect();
    let points = |data: kiln_ir::Data| -> Vec<Complex> {
        data.to_ints(DType::I16).chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect()
    };
    let circle = points(twiddles(DType::I16, length, false));
    let mut width = 1;
    if n.trailing_zeros() % 2 == 1 {
        let bits = excess(&z, RADIX_2);
        for pair in z.chunks_exact_mut(2) {
            let [a, b] = [shifted(pair[0], bits), shifted(pair[1], bits)];
            pair.copy_from_slice(&[add(a, b), subtract(a, b)]);
        }
        exponent += i64::from(bits);
        width = 2;
    }
    while width < n {
        let bits = excess(&z, RADIX_4);
        for z in z.chunks_exact_mut(4 * width) {
            for k in 0..width {
                let part = |q: usize| match k * q {
                    0 => shifted(z[k + q * width], bits),
                    kq => times(z[k + q * width], circle[kq * n / (4 * width)], bits),
                };
                let [a, b, c, d] = [part(0), part(1), part(2), part(3)];
                let (even, odd) = (add(a, c), add(b, d));
                let (left, [re, im]) = (subtract(a, c), subtract(b, d));
                z[k] = add(even, odd);
                z[k + width] = [left[0] + im, left[1] - re];
                z[k + 2 * width] = subtract(even, odd);
                z[k + 3 * width] = [left[0] - im, left[1] + re];
            }
        }
        exponent += i64::from(bits);
        width *= 4;
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

/// Indices in the order of the first butterflies: every fourth of them, from each of the first four on.
fn reversed(indices: Vec<usize>) -> Vec<usize> {
    match indices.len() {
        0..=2 => indices,
        _ => (0..4).flat_map(|q| reversed(indices.iter().copied().skip(q).step_by(4).collect())).collect(),
    }
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
