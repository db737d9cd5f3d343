//! Means of windows.

use super::dispatch::kernel;
use super::{Simd, BLOCK};
use crate::arch::extent::{product_of, reach, sum};
use crate::params::{MeanLinear, Pool};
use crate::rows::{Band, Rows};

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
    if !x.holds(p.k_h, 0) {
        return;
    }
    // What sixteen channels of all pixels in a row of a window reach.
    let pixels = reach(p.k_w, p.c, BLOCK);
    for (row, y) in y.of_band(band) {
        for (column, out) in y.chunks_exact(p.c.max(1)).take(p.out_w).enumerate() {
            for first in (0..p.c).step_by(BLOCK) {
                let channels = (p.c - first).min(BLOCK);
                let mut sums = [0i32; BLOCK];
                for ky in 0..p.k_h {
                    let at = sum(product_of([column, p.stride_w, p.c]), first);
                    let Some(x) = x.row(row.wrapping_mul(p.stride_h).wrapping_add(ky)).get(at..) else {
                        return;
                    };
                    if channels == BLOCK && x.len() >= pixels {
                        // SAFETY: the sixteen channels of each of the `k_w` pixels, `c` elements apart, end within `pixels`.
                        unsafe { add_pixels::<S>(x.as_ptr().cast(), p.c, p.k_w, &mut sums) };
                        continue;
                    }
                    for pixel in x.chunks(p.c.max(1)).take(p.k_w) {
                        for (sum, x) in sums.iter_mut().zip(pixel).take(channels) {
                            *sum = sum.wrapping_add(i32::from(x.get()));
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
