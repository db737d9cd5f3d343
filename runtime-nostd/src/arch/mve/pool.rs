//! Means of windows, sixteen channels at a time.
#![allow(unsafe_code)]

use super::blocks::pool::{add_taps, rescale};
use super::LANES;
use crate::arch::extent::{product, reach};
use crate::params::{MeanLinear, Pool};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// As [`mean_pool2d_i8_dsp`](crate::kernels::mean_pool2d_i8_dsp), for cores with Helium, of any number of channels.
#[inline(never)]
pub fn mean_pool2d_i8_mve(p: &Pool, x: Rows<'_, i8>, mean: &MeanLinear, y: Rows<'_, i8>, band: Band) {
    let c = p.c.max(1);
    // Windows of all columns are one run of taps.
    let runs = p.k_w == p.in_w;
    for (row, out) in y.of_band(band) {
        let top = row.wrapping_mul(p.stride_h);
        let whole = if runs { x.run(top, p.k_h) } else { None };
        for (column, out) in out.chunks_exact(c).take(p.out_w).enumerate() {
            let left = column.wrapping_mul(p.stride_w).wrapping_mul(c);
            for (channel, out) in (0..c).step_by(LANES).zip(out.chunks(LANES)) {
                let mut sums = Sums([0; LANES]);
                if let Some(whole) = whole {
                    sums.add(whole, channel, c, product(p.k_h, p.k_w), out.len());
                } else {
                    for tap in 0..p.k_h.min(MOST_TAPS) {
                        let x = x.row(top.wrapping_add(tap));
                        sums.add(x, left.wrapping_add(channel), c, p.k_w, out.len());
                    }
                }
                // SAFETY: it asks for nothing.
                unsafe { rescale(mean, &sums, out) };
            }
        }
    }
}

/// Taps of a window at most: sums of so many elements fit 16 bits.
const MOST_TAPS: usize = 256;

/// The sums of sixteen channels.
#[repr(C, align(16))]
pub(crate) struct Sums(pub [i16; LANES]);

impl Sums {
    /// Adds the taps of so many channels from `first` on, `c` elements from one to the next.
    #[inline(always)]
    fn add(&mut self, x: &[Cell<i8>], first: usize, c: usize, taps: usize, channels: usize) {
        if let Some(x) = x.get(first..).filter(|x| taps > 0 && x.len() >= reach(taps, c, channels)) {
            // SAFETY: there is a tap, and the channels of the last one end inside of the slice, as `reach` has just said, which no size makes wrap.
            unsafe { add_taps(x, c, taps, channels, self) }
        }
    }
}
