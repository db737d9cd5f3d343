//! Products of many pixels with many filters of floats: tiles.

use crate::arch::simd::tiles::{with_pixels, Even};
use crate::arch::simd::{Simd, BLOCK};

/// Products as their tiles see them.
#[derive(Clone, Copy)]
pub(crate) struct Tiles<'a> {
    /// Where the operand's runs begin for the first pixel.
    pub(crate) runs: &'a [*const f32],
    /// Taps of a run.
    pub(crate) taps: usize,
    /// Elements of the operand from one pixel of the result to the next.
    pub(crate) step: usize,
    /// Blocks of filters, of each sixteen biases, then sixteen weights for each tap.
    pub(crate) blocks: *const f32,
    /// Channels of the result.
    pub(crate) channels: usize,
    /// The first pixel of the result.
    pub(crate) y: *mut f32,
    /// Pixels.
    pub(crate) pixels: usize,
    /// Smallest result.
    pub(crate) lo: f32,
    /// Largest result.
    pub(crate) hi: f32,
}

impl Tiles<'_> {
    /// Elements of a block.
    #[inline(always)]
    fn block(&self) -> usize {
        BLOCK * (1 + self.runs.len() * self.taps)
    }

    /// All filters of all pixels.
    ///
    /// # Safety
    ///
    /// The processor has what `S` needs; runs are valid for all pixels, `blocks` for all filters (completed to blocks), and `y` for all results, which lie where no run
    /// does.
    #[inline(always)]
    pub(crate) unsafe fn all<S: Simd>(&self) {
        let mut first = 0;
        // SAFETY: there are as many blocks as channels ask for.
        unsafe {
            while first < self.channels {
                // Tiles of two vectors, or of one block; of the last one, of the vectors that have filters.
                let left = self.channels - first;
                first += match S::LANES {
                    16 if left > 16 => self.all_pixels::<S, 2>(first),
                    8 if left > 8 => self.all_pixels::<S, 2>(first),
                    8 | 16 => self.all_pixels::<S, 1>(first),
                    _ if left > 8 => self.all_pixels::<S, 4>(first),
                    _ => self.all_pixels::<S, 2>(first),
                };
            }
        }
    }

    /// `N` vectors of filters, from the channel `first` on, of all pixels: in tiles that are as even as can be. Returns the number of filters.
    #[inline(always)]
    unsafe fn all_pixels<S: Simd, const N: usize>(&self, first: usize) -> usize {
        for (pixel, count) in Even::new(self.pixels, S::FLOAT_PIXELS) {
            // SAFETY: the pixels are there; so is the room for their results.
            unsafe { with_pixels!(count, P if P <= S::FLOAT_PIXELS => self.tile::<S, P, N>(first, pixel)) }
        }
        N * S::LANES
    }

    /// `N` vectors of filters, from the channel `first` on, of `P` pixels.
    #[inline(always)]
    unsafe fn tile<S: Simd, const P: usize, const N: usize>(&self, first: usize, pixel: usize) {
        // SAFETY: as the caller's.
        unsafe {
            let block = self.blocks.add(first / BLOCK * self.block());
            let at = |n: usize| n * S::LANES / BLOCK * self.block() + n * S::LANES % BLOCK;
            let mut sums = [[S::splat(0.0); N]; P];
            let mut w = block.add(BLOCK);
            for run in self.runs {
                let mut x = run.add(pixel * self.step);
                for _ in 0..self.taps {
                    let mut weights = [S::splat(0.0); N];
                    for n in 0..N {
                        weights[n] = S::load(w.add(at(n)));
                    }
                    for p in 0..P {
                        let x = S::splat(*x.add(p * self.step));
                        for n in 0..N {
                            sums[p][n] = S::mul_add(sums[p][n], x, weights[n]);
                        }
                    }
                    x = x.add(1);
                    w = w.add(BLOCK);
                }
            }
            let (lo, hi) = (S::splat(self.lo), S::splat(self.hi));
            let mut biases = [lo; N];
            for n in 0..N {
                biases[n] = S::load(block.add(at(n)));
            }
            // Another array: sums that nothing points to stay in registers.
            let mut results = [[lo; N]; P];
            for p in 0..P {
                for n in 0..N {
                    results[p][n] = S::clip(S::add(sums[p][n], biases[n]), lo, hi);
                }
            }
            let y = self.y.add(pixel * self.channels + first);
            if first + N * S::LANES <= self.channels {
                for p in 0..P {
                    for n in 0..N {
                        S::store(results[p][n], y.add(p * self.channels + n * S::LANES));
                    }
                }
                return;
            }
            for p in 0..P {
                let y = y.add(p * self.channels);
                for n in 0..N {
                    let lane = n * S::LANES;
                    if first + lane < self.channels {
                        put::<S>(results[p][n], y.add(lane), self.channels - first - lane);
                    }
                }
            }
        }
    }
}

/// Stores the first `len` lanes, or all of them if there are fewer.
///
/// # Safety
///
/// `to` is valid for so many.
#[inline(always)]
pub(crate) unsafe fn put<S: Simd>(x: S::F, to: *mut f32, len: usize) {
    // SAFETY: whole vectors are written where there is room for one.
    unsafe {
        match len >= S::LANES {
            true => S::store(x, to),
            false => S::store_some(x, to, len),
        }
    }
}

/// As many of the next `left` elements as there are lanes; what is behind the last one is `rest`.
#[inline(always)]
pub(super) unsafe fn some<S: Simd>(x: *const f32, left: usize, rest: f32) -> S::F {
    // SAFETY: the caller's pointer is valid for so many elements.
    unsafe {
        match left >= S::LANES {
            true => S::load(x),
            false => S::load_some(x, left, rest),
        }
    }
}

/// All lanes made one.
#[inline(always)]
pub(super) unsafe fn fold<S: Simd>(x: S::F, f: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [0.0; BLOCK];
    // SAFETY: no vector has more lanes than a block.
    unsafe { S::store(x, lanes.as_mut_ptr()) };
    let mut half = S::LANES / 2;
    while half > 0 {
        for i in 0..half {
            lanes[i] = f(lanes[i], lanes[half + i]);
        }
        half /= 2;
    }
    lanes[0]
}
