//! Means and maxima of windows.

use super::tile::put;
use crate::arch::extent::product;
use crate::arch::portable::pool::inside;
use crate::arch::simd::dispatch::kernel;
use crate::arch::simd::Simd;
use crate::params::Pool;
use crate::rows::{Band, Rows};

/// What becomes of the taps of a window.
pub(crate) trait Fold {
    /// What it begins with.
    const START: f32;

    /// One more tap.
    ///
    /// # Safety
    ///
    /// The processor has what `S` needs.
    unsafe fn add<S: Simd>(all: S::F, x: S::F) -> S::F;

    /// The result of so many taps.
    ///
    /// # Safety
    ///
    /// As above.
    unsafe fn finish<S: Simd>(all: S::F, taps: usize) -> S::F;
}

/// As [`avg_pool2d_f32`](crate::kernels::avg_pool2d_f32) in vectors, with the same results.
pub fn avg_pool2d_f32_simd(p: &Pool, x: Rows<'_, f32>, lo: f32, hi: f32, y: Rows<'_, f32>, band: Band) {
    windows::<Mean>(p, x, lo, hi, y, band);
}

/// As [`max_pool2d_f32`](crate::kernels::max_pool2d_f32) in vectors, with the same results.
pub fn max_pool2d_f32_simd(p: &Pool, x: Rows<'_, f32>, lo: f32, hi: f32, y: Rows<'_, f32>, band: Band) {
    windows::<Largest>(p, x, lo, hi, y, band);
}

struct Mean;

impl Fold for Mean {
    const START: f32 = 0.0;

    #[inline(always)]
    unsafe fn add<S: Simd>(all: S::F, x: S::F) -> S::F {
        // SAFETY: the caller's.
        unsafe { S::add(all, x) }
    }

    #[inline(always)]
    unsafe fn finish<S: Simd>(all: S::F, taps: usize) -> S::F {
        // SAFETY: the caller's.
        unsafe { S::div(all, S::splat(taps as f32)) }
    }
}

struct Largest;

impl Fold for Largest {
    const START: f32 = f32::MIN;

    #[inline(always)]
    unsafe fn add<S: Simd>(all: S::F, x: S::F) -> S::F {
        // SAFETY: the caller's.
        unsafe { S::max(x, all) }
    }

    #[inline(always)]
    unsafe fn finish<S: Simd>(all: S::F, _: usize) -> S::F {
        all
    }
}

kernel! {
    /// Folds the taps of each window.
    fn windows<F: Fold>(p: &Pool, x: Rows<'_, f32>, lo: f32, hi: f32, y: Rows<'_, f32>, band: Band) = pool
}

#[inline(always)]
unsafe fn pool<S: Simd, F: Fold>(p: &Pool, x: Rows<'_, f32>, lo: f32, hi: f32, y: Rows<'_, f32>, band: Band) {
    for (row, y) in y.of_band(band) {
        let (top, bottom) = inside(row.wrapping_mul(p.stride_h), p.pad_top, p.k_h, p.in_h);
        let skipped = x.laps_before(top);
        let (top, bottom) = (top.wrapping_sub(skipped), bottom.wrapping_sub(skipped));
        if y.len() < product(p.out_w, p.c.max(1)) || !x.holds(bottom.wrapping_sub(top), p.in_row()) {
            return;
        }
        let y = y.as_ptr().cast_mut().cast::<f32>();
        for column in 0..p.out_w {
            let (left, right) = inside(column.wrapping_mul(p.stride_w), p.pad_left, p.k_w, p.in_w);
            let window = Window { x, rows: [top, bottom], columns: [left, right], pitch: p.c, lo, hi };
            let mut c = 0;
            while c < p.c {
                // SAFETY: columns of the window end at `in_w`, its rows were found to be held with `in_w · c` elements each, and the row of results to have `out_w · c`.
                unsafe {
                    let y = y.add(column * p.c + c);
                    c += match p.c - c >= 4 * S::LANES {
                        true => window.fold::<S, F, 4>(c, y),
                        false => window.fold::<S, F, 1>(c, y),
                    };
                }
            }
        }
    }
}

/// The taps of a window that are inside the image.
struct Window<'a> {
    x: Rows<'a, f32>,
    rows: [usize; 2],
    columns: [usize; 2],
    pitch: usize,
    lo: f32,
    hi: f32,
}

impl Window<'_> {
    /// The results of `N` vectors of channels from channel `c` on, or of fewer. Returns how many these may be.
    #[inline(always)]
    unsafe fn fold<S: Simd, F: Fold, const N: usize>(&self, c: usize, y: *mut f32) -> usize {
        let ([top, bottom], [left, right], left_over) = (self.rows, self.columns, self.pitch - c);
        // SAFETY: the caller's.
        unsafe {
            let mut all = [S::splat(F::START); N];
            for iy in top..bottom {
                let mut x = self.x.row(iy).as_ptr().cast::<f32>().add(left * self.pitch + c);
                for _ in left..right {
                    for n in 0..N {
                        let tap = match N > 1 || left_over >= S::LANES {
                            true => S::load(x.add(n * S::LANES)),
                            false => S::load_some(x, left_over, 0.0),
                        };
                        all[n] = F::add::<S>(all[n], tap);
                    }
                    x = x.add(self.pitch);
                }
            }
            let taps = (bottom - top) * (right - left);
            for n in 0..N {
                let result = F::finish::<S>(all[n], taps);
                let result = S::clip(result, S::splat(self.lo), S::splat(self.hi));
                put::<S>(result, y.add(n * S::LANES), left_over - n * S::LANES);
            }
        }
        N * S::LANES
    }
}
