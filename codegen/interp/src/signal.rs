//! Audio front ends: what TensorFlow Lite Micro's signal library computes, and KISS FFT for it.

use super::{block, Evaluated, InterpError, Tensor};
use kiln_ir::{DType, Data, Op, Signal, Type};
use std::f64::consts::PI;

/// See `signal` in the op table.
pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    let Op::Signal { function } = *op else { return Ok(None) };
    let missing = || InterpError::new("an operand is missing");
    let x = operands.first().ok_or_else(missing)?;
    let ints = |k: usize| operands.get(k).map(|(ty, data)| data.to_ints(ty.dtype)).ok_or_else(missing);
    let i16s = |values: Vec<i64>| Data::from_ints(DType::I16, values);
    let u32s = |values: Vec<u32>| Data::from_ints(DType::I32, values.into_iter().map(i64::from));
    let unsigned =
        |k: usize| Ok::<_, InterpError>(ints(k)?.into_iter().map(|v| v as u32).collect::<Vec<_>>());
    let bits = |k: usize| Ok::<_, InterpError>(ints(k)?.first().copied().unwrap_or(0) as u32);
    Ok(Some(match function {
        Signal::Window { shift } => {
            let weights = ints(1)?;
            let product = |(x, w): (i64, &i64)| ((x * w) >> shift).clamp(i16::MIN.into(), i16::MAX.into());
            i16s(ints(0)?.into_iter().zip(weights.iter().cycle()).map(product).collect())
        }
        Signal::Headroom {} => Data::from_i32(&[headroom(&ints(0)?)]),
        Signal::ShiftLeft {} => {
            let by = bits(1)?;
            i16s(ints(0)?.into_iter().map(|x| (x as i32).wrapping_shl(by).into()).collect())
        }
        Signal::Rfft { length } => {
            let row = x.0.shape.last();
            transformed(*x, row, |x: &[Number], arithmetic| rfft(x, length as usize, arithmetic))
        }
        Signal::Irfft { length } => {
            let row = x.0.shape.last();
            transformed(*x, row, |x: &[Number], arithmetic| irfft(x, length as usize, arithmetic))
        }
        Signal::BlockWindow {} => {
            // The upper 16 bits of an i32 have the exponent 16.
            let (shift, exponent) = if x.0.dtype == DType::I16 { (16, 1) } else { (0, 17) };
            let (samples, weights) = (ints(0)?, ints(1)?);
            let rows = samples.chunks(weights.len().max(1));
            i16s(rows.flat_map(|row| block::window(row, &weights, shift, exponent)).collect())
        }
        Signal::BlockRfft { length } => {
            let (numbers, row) = (ints(0)?, x.0.shape.last());
            i16s(numbers.chunks(row.max(1)).flat_map(|x| block::rfft(x, length as usize)).collect())
        }
        Signal::Energy { start, end } => {
            let energy = |(i, z): (usize, &[i64])| match (start..end).contains(&(i as i64)) {
                true => (z[0] * z[0] + z[1] * z[1]) as u32,
                false => 0,
            };
            u32s(ints(0)?.chunks_exact(2).enumerate().map(energy).collect())
        }
        Signal::FilterBank {} => {
            let tables = [ints(1)?, ints(2)?, ints(3)?, ints(4)?, ints(5)?];
            let sums = filter_bank(&unsigned(0)?, &tables);
            Data::new(sums.iter().flat_map(|sum| sum.to_le_bytes()).collect::<Vec<u8>>())
        }
        Signal::SquareRoot {} => {
            let by = bits(1)?;
            u32s(ints(0)?.into_iter().map(|x| square_root(x as u64).wrapping_shr(by)).collect())
        }
        Signal::NoiseEstimate {
            smoothing,
            one_minus_smoothing,
            alternate_smoothing,
            alternate_one_minus_smoothing,
            smoothing_bits,
            bits,
            clamping,
        } => {
            let weights =
                [[smoothing, one_minus_smoothing], [alternate_smoothing, alternate_one_minus_smoothing]];
            let estimate = |(i, (x, before)): (usize, (u32, u32))| {
                let [new, old] = weights[i % 2].map(|w| w as u64);
                let signal = x.wrapping_shl(smoothing_bits as u32);
                let sum = (u64::from(signal) * new).wrapping_add(u64::from(before) * old);
                let estimate = (sum >> bits) as u32;
                if clamping == 1 {
                    estimate.min(signal)
                } else {
                    estimate
                }
            };
            u32s(unsigned(0)?.into_iter().zip(unsigned(1)?).enumerate().map(estimate).collect())
        }
        Signal::SubtractNoise { min_signal_remaining, smoothing_bits, bits } => {
            let subtract = |(x, estimate): (u32, u32)| {
                let signal = x.wrapping_shl(smoothing_bits as u32);
                let floor = ((u64::from(x) * min_signal_remaining as u64) >> bits) as u32;
                (signal.saturating_sub(estimate) >> smoothing_bits).max(floor)
            };
            u32s(unsigned(0)?.into_iter().zip(unsigned(1)?).map(subtract).collect())
        }
        Signal::Pcan { snr_shift } => {
            let table = ints(2)?;
            let controlled = |(x, noise): (u32, u32)| {
                // Negative gains would count as what their bits say.
                let gain = u64::from(gain(noise, &table) as u32);
                compressed((u64::from(x).wrapping_mul(gain) >> snr_shift) as u32)
            };
            u32s(unsigned(0)?.into_iter().zip(unsigned(1)?).map(controlled).collect())
        }
        Signal::Log { scale, correction_bits } => {
            let log = |x: u32| match x.wrapping_shl(correction_bits as u32) {
                0 | 1 => 0,
                x => i64::from(log(x, scale as u32).min(i16::MAX as u32)),
            };
            i16s(unsigned(0)?.into_iter().map(log).collect())
        }
        Signal::OverlapAdd { step } => {
            let row = result.shape.last();
            let (size, frames) =
                (x.0.shape.last(), x.0.shape.dims().iter().rev().nth(1).copied().unwrap_or(1));
            let step = step as usize;
            match x.0.dtype {
                DType::F32 => {
                    let left = operands.get(1).ok_or_else(missing)?.1.to_f32();
                    let sum = |a: f32, b: f32| a + b;
                    Data::from_f32(&overlapped(&x.1.to_f32(), &left, [frames, size, step, row], 0.0, sum))
                }
                _ => {
                    let sum = |a: i64, b: i64| (a + b).clamp(i16::MIN.into(), i16::MAX.into());
                    i16s(overlapped(&ints(0)?, &ints(1)?, [frames, size, step, row], 0, sum))
                }
            }
        }
    }))
}

/// Bits in front of the largest magnitude, without the sign. The magnitude of −32768 has a sign in 16 bits, too: then the next element is larger.
fn headroom(x: &[i64]) -> i32 {
    let mut largest = 0i16;
    for &x in x {
        if x > largest.into() {
            largest = x as i16;
        } else if -x > largest.into() {
            largest = -x as i16;
        }
    }
    match largest {
        i16::MIN..=0 => 0,
        _ => 14 - largest.ilog2() as i32,
    }
}

/// Sums of each channel: of weights over its own frequencies, and of complements over those of the channel below.
fn filter_bank(x: &[u32], [weights, complements, frequencies, starts, widths]: &[Vec<i64>; 5]) -> Vec<u64> {
    let sum = |channel: usize, weights: &[i64]| {
        let mut sum = 0u64;
        for j in 0..widths[channel] {
            // What lies outside counts nothing.
            let at = |from: i64| usize::try_from(from + j).ok();
            let w = at(starts[channel]).and_then(|i| weights.get(i)).copied().unwrap_or(0);
            let x = at(frequencies[channel]).and_then(|i| x.get(i)).copied().unwrap_or(0);
            sum = sum.wrapping_add((w as u64).wrapping_mul(x.into()));
        }
        sum
    };
    (1..widths.len()).map(|c| sum(c, weights).wrapping_add(sum(c - 1, complements))).collect()
}

/// √x rounded to the nearest, where the result of 32 (or of 16) bits has room for it.
fn square_root(x: u64) -> u32 {
    let mut root = x.isqrt();
    let largest = if x >> 32 == 0 { 0xffff } else { 0xffff_ffff };
    if x - root * root > root && root != largest {
        root += 1;
    }
    root as u32
}

/// The gain of a noise: exact at 0, 1 and 2, otherwise on a parabola for all numbers of as many bits.
fn gain(noise: u32, table: &[i64]) -> i64 {
    if noise <= 2 {
        return table[noise as usize];
    }
    let count = noise.ilog2() as usize + 1;
    let [y, slope, curve] = [0, 1, 2].map(|k| table[4 * count - 6 + k]);
    // The bits behind the first one, ten of them.
    let fraction = ((u64::from(noise) << 11 >> count) & 0x3ff) as i64;
    let polynomial = (((curve * fraction) >> 5) + (slope << 5)) * fraction;
    ((i64::from((polynomial as i32).wrapping_add(1 << 14)) >> 15) + y) as i16 as i64
}

/// x² / 4 below 2, x − 1 from there on: 12 bits of fraction become 6.
fn compressed(x: u32) -> u32 {
    match x < 2 << 12 {
        true => (x * x) >> 20,
        false => (x >> 6) - (1 << 6),
    }
}

/// ln x · scale: log₂ x in 16 bits of fraction, between 128 points, times ln 2.
fn log(x: u32, scale: u32) -> u32 {
    let integer = x.ilog2();
    let fraction = (((u64::from(x) << 16) >> integer) & 0xffff) as i64;
    let point = |i: i64| (((1.0 + i as f64 / 128.0).log2() - i as f64 / 128.0) * 65536.0).round() as i64;
    let (segment, rest) = (fraction / 512, fraction % 512);
    let (low, high) = (point(segment), point(segment + 1));
    let log2 = (i64::from(integer) << 16) + fraction + low + (((high - low) * rest) >> 16);
    let natural = (45426 * log2 + 32768) >> 16;
    scale.wrapping_mul(natural as u32).wrapping_add(32768) >> 16
}

fn overlapped<T: Copy>(
    frames: &[T],
    left: &[T],
    [count, size, step, row]: [usize; 4],
    zero: T,
    sum: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut all = Vec::new();
    for (frames, left) in frames.chunks(count * size).zip(left.chunks(size - step)) {
        let mut y = left.to_vec();
        y.resize(row, zero);
        for (f, frame) in frames.chunks(size).enumerate() {
            for (y, &x) in y[f * step..].iter_mut().zip(frame) {
                *y = sum(*y, x);
            }
        }
        all.extend(y);
    }
    all
}

// ---- Transforms

/// A number of either kind: integers are exact in it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Int(i64),
    Float(f32),
}

type Complex = [Number; 2];

/// How a transform computes: with integers of 16 or 32 bits, whose products keep the upper ones, or with floats.
#[derive(Clone, Copy)]
enum Arithmetic {
    /// Bits without the sign.
    Fixed(u32),
    Real,
}

impl Arithmetic {
    fn wrapped(self, x: i64) -> Number {
        match self {
            Arithmetic::Fixed(15) => Number::Int(x as i16 as i64),
            _ => Number::Int(x as i32 as i64),
        }
    }

    /// a·b + c·d, of integers the upper bits, rounded.
    fn products(self, [a, b, c, d]: [Number; 4]) -> Number {
        match (self, [a, b, c, d]) {
            (Arithmetic::Fixed(bits), [Number::Int(a), Number::Int(b), Number::Int(c), Number::Int(d)]) => {
                self.wrapped((a * b + c * d + (1 << (bits - 1))) >> bits)
            }
            (_, [Number::Float(a), Number::Float(b), Number::Float(c), Number::Float(d)]) => {
                Number::Float(a * b + c * d)
            }
            _ => a,
        }
    }

    fn sum(self, a: Number, b: Number) -> Number {
        match (a, b) {
            (Number::Int(a), Number::Int(b)) => self.wrapped(a + b),
            (Number::Float(a), Number::Float(b)) => Number::Float(a + b),
            _ => a,
        }
    }

    fn negated(self, a: Number) -> Number {
        match a {
            Number::Int(a) => self.wrapped(-a),
            Number::Float(a) => Number::Float(-a),
        }
    }

    fn zero(self) -> Number {
        match self {
            Arithmetic::Fixed(_) => Number::Int(0),
            Arithmetic::Real => Number::Float(0.0),
        }
    }

    fn times(self, [a, b]: Complex, [c, d]: Complex) -> Complex {
        let minus_b = self.unwrapped_negation(b);
        [self.products([a, c, minus_b, d]), self.products([a, d, b, c])]
    }

    /// In a product even the negation of the least integer is exact.
    fn unwrapped_negation(self, a: Number) -> Number {
        match a {
            Number::Int(a) => Number::Int(-a),
            Number::Float(a) => Number::Float(-a),
        }
    }

    fn add(self, [a, b]: Complex, [c, d]: Complex) -> Complex {
        [self.sum(a, c), self.sum(b, d)]
    }

    fn subtract(self, [a, b]: Complex, [c, d]: Complex) -> Complex {
        [self.difference(a, c), self.difference(b, d)]
    }

    fn difference(self, a: Number, b: Number) -> Number {
        match (a, b) {
            (Number::Int(a), Number::Int(b)) => self.wrapped(a - b),
            (Number::Float(a), Number::Float(b)) => Number::Float(a - b),
            _ => a,
        }
    }

    /// Integers divided by 2 or 4, floats as they are.
    fn scaled(self, z: Complex, divisor: i64) -> Complex {
        let Arithmetic::Fixed(bits) = self else { return z };
        let one = Number::Int(((1i64 << bits) - 1) / divisor);
        z.map(|x| self.products([x, one, Number::Int(0), Number::Int(0)]))
    }

    /// Half of a sum. (Sums of 16 bits do not wrap before they are halved, those of 32 bits do.)
    fn half(self, a: Number, b: Number) -> Number {
        match (self, a, b) {
            (Arithmetic::Fixed(15), Number::Int(a), Number::Int(b)) => self.wrapped((a + b) >> 1),
            (_, Number::Int(a), Number::Int(b)) => Number::Int(i64::from((a + b) as i32) >> 1),
            (_, Number::Float(a), Number::Float(b)) => Number::Float((a + b) * 0.5),
            _ => a,
        }
    }

    /// A point on the unit circle.
    fn point(self, phase: f64) -> Complex {
        match self {
            Arithmetic::Fixed(bits) => [phase.cos(), phase.sin()]
                .map(|x| Number::Int((0.5 + ((1i64 << bits) - 1) as f64 * x).floor() as i64)),
            // Of libm, the same wherever the compiler runs.
            Arithmetic::Real => [libm::cos(phase), libm::sin(phase)].map(|x| Number::Float(x as f32)),
        }
    }

    /// The i-th of `n` points around it.
    fn twiddle(self, i: usize, n: usize, inverse: bool) -> Complex {
        let phase = -2.0 * PI * i as f64 / n as f64;
        self.point(if inverse { -phase } else { phase })
    }

    /// That of the spectrum of real numbers, from `n` complex ones.
    fn half_twiddle(self, k: usize, n: usize, inverse: bool) -> Complex {
        let phase = -PI * (k as f64 / n as f64 + 0.5);
        self.point(if inverse { -phase } else { phase })
    }
}

/// Points of the unit circle that butterflies of a transform of `length` real numbers multiply by: three quarters of length / 2.
pub fn twiddles(dtype: DType, length: usize, inverse: bool) -> Data {
    let (arithmetic, n) = (arithmetic(dtype), length / 2);
    stored(dtype, (0..n - n / if n % 5 == 0 { 5 } else { 4 }).flat_map(|i| arithmetic.twiddle(i, n, inverse)))
}

/// Those that make the spectrum of real numbers of one of half as many complex ones, from the one of index 1 on.
pub fn half_twiddles(dtype: DType, length: usize, inverse: bool) -> Data {
    let (arithmetic, n) = (arithmetic(dtype), length / 2);
    stored(dtype, (1..=n / 2).flat_map(|k| arithmetic.half_twiddle(k, n, inverse)))
}

fn arithmetic(dtype: DType) -> Arithmetic {
    match dtype {
        DType::I16 => Arithmetic::Fixed(15),
        DType::F32 => Arithmetic::Real,
        _ => Arithmetic::Fixed(31),
    }
}

fn stored(dtype: DType, numbers: impl Iterator<Item = Number>) -> Data {
    let bytes = |x: Number| match (x, dtype) {
        (Number::Float(x), _) => x.to_le_bytes().to_vec(),
        (Number::Int(x), DType::I16) => (x as i16).to_le_bytes().to_vec(),
        (Number::Int(x), _) => (x as i32).to_le_bytes().to_vec(),
    };
    Data::new(numbers.flat_map(bytes).collect::<Vec<u8>>())
}

fn transformed(
    (ty, data): Tensor<'_>,
    row: usize,
    transform: impl Fn(&[Number], Arithmetic) -> Vec<Number>,
) -> Data {
    let numbers: Vec<Number> = match ty.dtype {
        DType::F32 => data.to_f32().into_iter().map(Number::Float).collect(),
        dtype => data.to_ints(dtype).into_iter().map(Number::Int).collect(),
    };
    let arithmetic = arithmetic(ty.dtype);
    stored(ty.dtype, numbers.chunks(row.max(1)).flat_map(|x| transform(x, arithmetic)))
}

/// KISS FFT's `kiss_fftr`: even and odd numbers are the parts of complex ones, whose spectrum is then taken apart.
fn rfft(x: &[Number], length: usize, a: Arithmetic) -> Vec<Number> {
    let n = length / 2;
    let mut x = x.to_vec();
    x.resize(length, a.zero());
    let pairs: Vec<Complex> = x.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
    let z = fft(&pairs, n, 1, false, a);
    let mut y = vec![[a.zero(); 2]; n + 1];
    let [even, odd] = a.scaled(z[0], 2);
    y[0][0] = a.sum(even, odd);
    y[n][0] = a.difference(even, odd);
    for k in 1..=n / 2 {
        let [re, im] = z[n - k];
        let (low, high) = (a.scaled(z[k], 2), a.scaled([re, a.negated(im)], 2));
        let (sum, difference) = (a.add(low, high), a.subtract(low, high));
        let turned = a.times(difference, a.half_twiddle(k, n, false));
        let minus = |x| a.unwrapped_negation(x);
        y[k] = [a.half(sum[0], turned[0]), a.half(sum[1], turned[1])];
        y[n - k] = [a.half(sum[0], minus(turned[0])), a.half(turned[1], minus(sum[1]))];
    }
    y.concat()
}

/// KISS FFT's `kiss_fftri`, and for floats the division by the length.
fn irfft(x: &[Number], length: usize, a: Arithmetic) -> Vec<Number> {
    let n = length / 2;
    let x: Vec<Complex> = x.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect();
    let mut z = vec![[a.zero(); 2]; n];
    z[0] = a.scaled([a.sum(x[0][0], x[n][0]), a.difference(x[0][0], x[n][0])], 2);
    for k in 1..=n / 2 {
        let [re, im] = x[n - k];
        let (low, high) = (a.scaled(x[k], 2), a.scaled([re, a.negated(im)], 2));
        let (even, difference) = (a.add(low, high), a.subtract(low, high));
        let odd = a.times(difference, a.half_twiddle(k, n, true));
        z[k] = a.add(even, odd);
        let [re, im] = a.subtract(even, odd);
        z[n - k] = [re, a.negated(im)];
    }
    let divided = |x: Number| match x {
        Number::Float(x) => Number::Float(x / length as f32),
        x => x,
    };
    fft(&z, n, 1, true, a).concat().into_iter().map(divided).collect()
}

/// KISS FFT's `kf_work`: the spectrum of the `n` numbers that stand `stride` apart in `x`, by radix 4 as long as it divides.
fn fft(x: &[Complex], n: usize, stride: usize, inverse: bool, a: Arithmetic) -> Vec<Complex> {
    if n == 1 {
        return vec![x[0]];
    }
    let radix = if n % 4 == 0 { 4 } else { 2 };
    let m = n / radix;
    let parts: Vec<Vec<Complex>> =
        (0..radix).map(|q| fft(&x[q * stride..], m, stride * radix, inverse, a)).collect();
    let mut y = vec![[a.zero(); 2]; n];
    for k in 0..m {
        let part = |q: usize| {
            let z = a.scaled(parts[q][k], radix as i64);
            if q == 0 {
                z
            } else {
                a.times(z, a.twiddle(q * k * stride, n * stride, inverse))
            }
        };
        let z: Vec<Complex> = (0..radix).map(part).collect();
        if radix == 2 {
            (y[k], y[k + m]) = (a.add(z[0], z[1]), a.subtract(z[0], z[1]));
            continue;
        }
        let (sum, difference) = (a.add(z[0], z[2]), a.subtract(z[0], z[2]));
        let (odd, [re, im]) = (a.add(z[1], z[3]), a.subtract(z[1], z[3]));
        // Times −i or i.
        let plus = [a.sum(difference[0], im), a.difference(difference[1], re)];
        let minus = [a.difference(difference[0], im), a.sum(difference[1], re)];
        let (second, fourth) = if inverse { (minus, plus) } else { (plus, minus) };
        (y[k], y[k + m], y[k + 2 * m], y[k + 3 * m]) =
            (a.add(sum, odd), second, a.subtract(sum, odd), fourth);
    }
    y
}
