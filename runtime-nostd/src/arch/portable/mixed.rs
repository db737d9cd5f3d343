//! Fourier transforms of real floats whose length has the factors 2, 3 and 5: butterflies of radix 5, 4, 3 and 2, decimation in time (C. Van Loan, "Computational Frameworks for the Fast Fourier
//! Transform", 1992).
//!
//! Two real numbers are one complex number. So a transform of 2·n real numbers is one of n complex numbers, from which `split` makes half of the spectrum.

use crate::params::Waves;
use core::cell::Cell;

/// A complex number: real and imaginary part.
type Complex = (f32, f32);

/// Half of the spectrum of twice the `length` numbers: `length` / 2 + 1 complex ones. Each two of the numbers are where [`Waves::places`] says.
#[inline(always)]
pub(super) fn spectrum(waves: &Waves<'_>, y: &[Cell<f32>]) {
    let n = waves.length >> 1;
    let Some(z) = y.get(..n.wrapping_mul(2)) else { return };
    let (mut width, mut twiddles) = (1usize, waves.twiddles);
    for &radix in waves.radices {
        // The first butterflies have no factors.
        let factors = match width {
            1 => &[][..],
            _ => {
                let count = width.wrapping_mul(usize::from(radix).wrapping_sub(1)).wrapping_mul(2);
                let Some((factors, rest)) = twiddles.split_at_checked(count) else { return };
                twiddles = rest;
                factors
            }
        };
        match radix {
            2 => stage(z, width, factors, two),
            3 => stage(z, width, factors, three),
            4 => stage(z, width, factors, four),
            5 => stage(z, width, factors, five),
            _ => return,
        }
        width = width.wrapping_mul(radix.into());
    }
    split(n, waves.halves, y);
}

/// Butterflies of `R` numbers, `width` complex numbers apart. `factors` has the R − 1 factors of each butterfly of a block; without any they are 1.
#[inline(never)]
fn stage<const R: usize>(
    z: &[Cell<f32>],
    width: usize,
    factors: &[f32],
    butterfly: impl Fn([Complex; R]) -> [Complex; R],
) {
    if factors.is_empty() {
        // Its numbers lie side by side.
        for block in z.chunks_exact(2 * R) {
            let mut numbers = [(0.0, 0.0); R];
            numbers.iter_mut().zip(block.chunks_exact(2)).for_each(|(number, z)| *number = read(z));
            block.chunks_exact(2).zip(butterfly(numbers)).for_each(|(z, number)| write(z, number));
        }
        return;
    }
    let part = width.wrapping_mul(2).max(2);
    for block in z.chunks_exact(part.wrapping_mul(R).max(1)) {
        for (k, factors) in factors.chunks_exact(2 * R - 2).enumerate() {
            let Some(block) = block.get(k.wrapping_mul(2)..) else { return };
            let cells = |q: usize| block.get(part.wrapping_mul(q)..).and_then(<[_]>::first_chunk::<2>);
            let mut numbers = [(0.0, 0.0); R];
            for (q, number) in numbers.iter_mut().enumerate() {
                let Some(z) = cells(q) else { return };
                *number = read(z);
                let factor = q.wrapping_sub(1).wrapping_mul(2);
                if let Some(&[re, im]) = factors.get(factor..factor.wrapping_add(2)) {
                    *number = times(*number, (re, im));
                }
            }
            for (q, number) in butterfly(numbers).into_iter().enumerate() {
                let Some(z) = cells(q) else { return };
                write(z, number);
            }
        }
    }
}

#[inline(always)]
fn read(z: &[Cell<f32>]) -> Complex {
    match z {
        [re, im] => (re.get(), im.get()),
        _ => (0.0, 0.0),
    }
}

#[inline(always)]
fn write(z: &[Cell<f32>], number: Complex) {
    if let [re, im] = z {
        re.set(number.0);
        im.set(number.1);
    }
}

#[inline(always)]
fn plus(a: Complex, b: Complex) -> Complex {
    (a.0 + b.0, a.1 + b.1)
}

#[inline(always)]
fn minus(a: Complex, b: Complex) -> Complex {
    (a.0 - b.0, a.1 - b.1)
}

#[inline(always)]
fn times(a: Complex, b: Complex) -> Complex {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// a + `by` · b.
#[inline(always)]
fn plus_times(a: Complex, by: f32, b: Complex) -> Complex {
    (a.0 + by * b.0, a.1 + by * b.1)
}

/// a − i·b.
#[inline(always)]
fn minus_turned(a: Complex, b: Complex) -> Complex {
    (a.0 + b.1, a.1 - b.0)
}

/// a + i·b.
#[inline(always)]
fn plus_turned(a: Complex, b: Complex) -> Complex {
    (a.0 - b.1, a.1 + b.0)
}

#[inline(always)]
fn two([a, b]: [Complex; 2]) -> [Complex; 2] {
    [plus(a, b), minus(a, b)]
}

#[inline(always)]
fn three([a, b, c]: [Complex; 3]) -> [Complex; 3] {
    const SINE: f32 = 0.866_025_4;
    let (sum, difference) = (plus(b, c), minus(b, c));
    let (middle, side) = (plus_times(a, -0.5, sum), (SINE * difference.0, SINE * difference.1));
    [plus(a, sum), minus_turned(middle, side), plus_turned(middle, side)]
}

#[inline(always)]
fn four([a, b, c, d]: [Complex; 4]) -> [Complex; 4] {
    let (even, odd) = (plus(a, c), plus(b, d));
    let (left, right) = (minus(a, c), minus(b, d));
    [plus(even, odd), minus_turned(left, right), minus(even, odd), plus_turned(left, right)]
}

#[inline(always)]
fn five([a, b, c, d, e]: [Complex; 5]) -> [Complex; 5] {
    /// Cosines and sines of a fifth and two fifths of a turn.
    const COSINES: [f32; 2] = [0.309_017, -0.809_017];
    const SINES: [f32; 2] = [0.951_056_5, 0.587_785_25];
    let ((near, far), (near_apart, far_apart)) = ((plus(b, e), plus(c, d)), (minus(b, e), minus(c, d)));
    let [cosine, other_cosine] = COSINES;
    let [sine, other_sine] = SINES;
    let middle = plus_times(plus_times(a, cosine, near), other_cosine, far);
    let other_middle = plus_times(plus_times(a, other_cosine, near), cosine, far);
    let side = plus_times((sine * near_apart.0, sine * near_apart.1), other_sine, far_apart);
    let other_side = plus_times((other_sine * near_apart.0, other_sine * near_apart.1), -sine, far_apart);
    [
        plus(a, plus(near, far)),
        minus_turned(middle, side),
        minus_turned(other_middle, other_side),
        plus_turned(other_middle, other_side),
        plus_turned(middle, side),
    ]
}

/// The spectrum of 2·`n` real numbers, times two, from that of `n` complex ones. `halves` has e^(−πi·(k/n + 1/2)) for k from 1 to `n` / 2.
#[inline(never)]
fn split(n: usize, halves: &[f32], y: &[Cell<f32>]) {
    let (Some([re, im]), Some(rest)) = (y.first_chunk(), y.get(2..)) else { return };
    let (a, b) = (re.get(), im.get());
    re.set(2.0 * (a + b));
    im.set(0.0);
    let end = n.wrapping_sub(1).wrapping_mul(2);
    if let Some([re, im]) = rest.get(end..).and_then(|rest| rest.first_chunk()) {
        re.set(2.0 * (a - b));
        im.set(0.0);
    }
    let rest = rest.get(..end).unwrap_or(&[]);
    for ((low, high), turn) in rest.chunks_exact(2).zip(rest.rchunks_exact(2)).zip(halves.chunks_exact(2)) {
        let ((a, b), (c, d)) = (read(low), read(high));
        let turn = match *turn {
            [re, im] => (re, im),
            _ => return,
        };
        let (sum, turned) = ((a + c, b - d), times((a - c, b + d), turn));
        write(low, plus(sum, turned));
        write(high, (sum.0 - turned.0, turned.1 - sum.1));
    }
}
