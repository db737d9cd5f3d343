//! Means of windows.

use crate::arch::dsp::pool::MOST_TAPS;
use crate::params::{MeanLinear, Pool};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// As [`mean_pool2d_i8_dsp`](crate::kernels::mean_pool2d_i8_dsp), one element at a time, of any number of channels.
#[inline(never)]
pub fn mean_pool2d_i8_dsp_compact(p: &Pool, x: Rows<'_, i8>, mean: &MeanLinear, y: Rows<'_, i8>, band: Band) {
    let c = p.c.max(1);
    for (row, out) in y.of_band(band) {
        for (at, out) in out.iter().enumerate() {
            let (column, channel) = (at / c, at % c);
            let first = column.wrapping_mul(p.stride_w).wrapping_mul(c).wrapping_add(channel);
            let mut sum = 0i32;
            for tap in 0..p.k_h.min(MOST_TAPS) {
                let x = x.row(row.wrapping_mul(p.stride_h).wrapping_add(tap));
                let taps = x.get(first..).unwrap_or(&[]);
                let taps = taps.iter().step_by(c).take(p.k_w).map(Cell::get).map(i32::from);
                sum = sum.wrapping_add(taps.fold(0, i32::wrapping_add));
            }
            out.set(mean.apply(sum));
        }
    }
}
