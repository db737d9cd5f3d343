//! Means of windows.

use crate::params::{MeanLinear, Pool};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// As [`mean_pool2d_i8_dsp`](crate::kernels::mean_pool2d_i8_dsp), one element at a time, of any number of channels.
#[inline(never)]
pub fn mean_pool2d_i8_compact(p: &Pool, x: Rows<'_, i8>, mean: &MeanLinear, y: Rows<'_, i8>, band: Band) {
    let c = p.c.max(1);
    for row in band.range() {
        let out = y.row(row);
        for (at, out) in out.iter().enumerate() {
            let (column, channel) = (at / c, at % c);
            let mut sum = 0i32;
            for tap in 0..p.k_h {
                let taps =
                    x.row(row * p.stride_h + tap).get(column * p.stride_w * c + channel..).unwrap_or(&[]);
                sum += taps.iter().step_by(c).take(p.k_w).map(Cell::get).map(i32::from).sum::<i32>();
            }
            out.set(mean.apply(sum));
        }
    }
}
