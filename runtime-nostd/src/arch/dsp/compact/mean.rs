//! Means of windows.

use crate::arch::dsp::avg_pool::MOST_TAPS;
use crate::arch::extent::product_of;
use crate::params::{MeanLinear, Pool};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// As [`mean_pool2d_i8_dsp`](crate::kernels::mean_pool2d_i8_dsp), one element at a time, of any number of channels.
#[inline(never)]
pub fn mean_pool2d_i8_compact(p: &Pool, x: Rows<'_, i8>, mean: &MeanLinear, y: Rows<'_, i8>, band: Band) {
    let c = p.c.max(1);
    for (row, out) in y.of_band(band) {
        for (at, out) in out.iter().enumerate() {
            let (column, channel) = (at / c, at % c);
            let mut sum = 0i32;
            for tap in 0..p.k_h.min(MOST_TAPS) {
                let at = product_of([column, p.stride_w, c]).saturating_add(channel);
                let x = x.row(row.wrapping_mul(p.stride_h).wrapping_add(tap));
                let taps = x.get(at..).unwrap_or(&[]);
                sum = taps
                    .iter()
                    .step_by(c)
                    .take(p.k_w)
                    .map(Cell::get)
                    .fold(sum, |sum, x| sum.wrapping_add(x.into()));
            }
            out.set(mean.apply(sum));
        }
    }
}
