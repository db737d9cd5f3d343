//! Sums of two integers, and means and maxima of windows.

use super::dispatch::kernel;
use super::{Clamp, Simd, BLOCK};
use crate::params::{AddLinear, MeanLinear, Pool};
use crate::rows::{Band, Read, ReadSlice, Rows};
use core::cell::Cell;

/// As [`add_i8_linear`](crate::kernels::add_i8_linear) in vectors: `clamp((start + a·x + b·y) >> shift, −128, 127)`, modulo 2³².
pub fn add_i8_simd(p: &AddLinear, shift: u32, a: impl Read<i8>, b: impl Read<i8>, y: &[Cell<i8>]) {
    let (a, b) = (a.slice(), b.slice());
    if a.each().len() < y.len() || b.each().len() < y.len() {
        return;
    }
    sums(p, shift, a.start(), b.start(), y);
}

kernel! {
    /// [`add_i8_simd`] of operands that have as many elements as the result.
    fn sums(p: &AddLinear, shift: u32, a: *const i8, b: *const i8, y: &[Cell<i8>]) = add
}

const WHOLE: Clamp = Clamp { zero_point: 0, lo: i8::MIN, hi: i8::MAX };

#[inline(always)]
unsafe fn add<S: Simd>(p: &AddLinear, shift: u32, a: *const i8, b: *const i8, y: &[Cell<i8>]) {
    // SAFETY: the operands have as many elements as the result.
    unsafe {
        match S::LANES {
            16 => blocks::<S, 1>(p, shift, a, b, y),
            8 => blocks::<S, 2>(p, shift, a, b, y),
            _ => blocks::<S, 4>(p, shift, a, b, y),
        }
    }
}

#[inline(always)]
unsafe fn blocks<S: Simd, const N: usize>(
    p: &AddLinear,
    shift: u32,
    a: *const i8,
    b: *const i8,
    y: &[Cell<i8>],
) {
    let to = y.as_ptr().cast_mut().cast::<i8>();
    // SAFETY: whole blocks are within the operands; the last elements are copied.
    unsafe {
        let mut done = 0;
        while done + BLOCK <= y.len() {
            block::<S, N>(p, shift, a.add(done), b.add(done), to.add(done));
            done += BLOCK;
        }
        let (mut last_a, mut last_b, mut last) = ([0; BLOCK], [0; BLOCK], [0; BLOCK]);
        for i in 0..y.len() - done {
            (last_a[i], last_b[i]) = (*a.add(done + i), *b.add(done + i));
        }
        block::<S, N>(p, shift, last_a.as_ptr(), last_b.as_ptr(), last.as_mut_ptr());
        for i in 0..y.len() - done {
            *to.add(done + i) = last[i];
        }
    }
}

#[inline(always)]
unsafe fn block<S: Simd, const N: usize>(p: &AddLinear, shift: u32, a: *const i8, b: *const i8, to: *mut i8) {
    // SAFETY: all are valid for a block.
    unsafe {
        let start = S::splat_i(p.start);
        let mut sums = [start; N];
        for n in 0..N {
            let (a, b) = (S::widen(a.add(n * S::LANES)), S::widen(b.add(n * S::LANES)));
            let products = S::add_i(S::mul_i(a, S::splat_i(p.x)), S::mul_i(b, S::splat_i(p.y)));
            sums[n] = S::shift_right_i(S::add_i(start, products), shift & 31);
        }
        S::narrow(&sums, &WHOLE, to);
    }
}

kernel! {
    /// As [`mean_pool2d_i8_dsp`](crate::kernels::mean_pool2d_i8_dsp) in vectors: means of windows that lie within the image.
    pub fn mean_pool2d_i8_simd(
        p: &Pool,
        x: Rows<'_, i8>,
        mean: &MeanLinear,
        y: Rows<'_, i8>,
        band: Band,
    ) = means
}

#[inline(always)]
unsafe fn means<S: Simd>(p: &Pool, x: Rows<'_, i8>, mean: &MeanLinear, y: Rows<'_, i8>, band: Band) {
    for row in band.range() {
        let y = y.row(row);
        for column in 0..p.out_w {
            let Some(out) = y.get(column * p.c..(column + 1) * p.c) else { return };
            for first in (0..p.c).step_by(BLOCK) {
                let channels = (p.c - first).min(BLOCK);
                let mut sums = [0i32; BLOCK];
                for ky in 0..p.k_h {
                    let at = column * p.stride_w * p.c + first;
                    let Some(x) = x.row(row * p.stride_h + ky).get(at..) else { return };
                    if channels == BLOCK && x.len() >= p.k_w.saturating_sub(1) * p.c + BLOCK {
                        // SAFETY: the sixteen channels of each pixel are there.
                        unsafe { add_pixels::<S>(x.as_ptr().cast(), p.c, p.k_w, &mut sums) };
                        continue;
                    }
                    for pixel in x.chunks(p.c.max(1)).take(p.k_w) {
                        for (sum, x) in sums.iter_mut().zip(pixel).take(channels) {
                            *sum += i32::from(x.get());
                        }
                    }
                }
                for (sum, out) in sums.into_iter().zip(&out[first..first + channels]) {
                    out.set(mean.apply(sum));
                }
            }
        }
    }
}

/// Adds the sixteen elements of so many pixels, which are `step` apart.
#[inline(always)]
unsafe fn add_pixels<S: Simd>(x: *const i8, step: usize, pixels: usize, sums: &mut [i32; BLOCK]) {
    for lane in (0..BLOCK).step_by(S::LANES) {
        // SAFETY: as the caller's.
        unsafe {
            let to = sums.as_mut_ptr().add(lane);
            let mut sum = S::load_i(to);
            for pixel in 0..pixels {
                sum = S::add_i(sum, S::widen(x.add(pixel * step + lane)));
            }
            S::store_i(sum, to);
        }
    }
}
