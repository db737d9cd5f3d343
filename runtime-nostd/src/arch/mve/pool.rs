//! Means and largest elements of windows, sixteen channels at a time.
#![allow(unsafe_code)]

use super::blocks::pool::{add_taps, largest, rescale};
use super::LANES;
use crate::arch::extent::{product, reach, sum};
use crate::arch::portable::pool::inside;
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

/// As [`max_pool2d_i8`](crate::kernels::max_pool2d_i8), for cores with Helium, of any number of channels.
///
/// Windows are computed in blocks of `K_H` rows and `K_W` columns, 1 to 3 of each. One block is the whole window if not `LARGE`; it has no more rows or columns then.
/// About a cycle an element, with windows of 2 × 2.
#[inline(never)]
pub fn max_pool2d_i8_mve<const K_H: usize, const K_W: usize, const LARGE: bool>(
    p: &Pool,
    x: Rows<'_, i8>,
    lo: i32,
    hi: i32,
    y: Rows<'_, i8>,
    band: Band,
) {
    // The assembly is written for these: others do not compile.
    const { assert!(K_H >= 1 && K_H <= 3 && K_W >= 1 && K_W <= 3) };
    let (c, stride) = (p.c.max(1), p.stride_w.max(1));
    let (k_h, k_w) = if LARGE { (p.k_h, p.k_w) } else { (p.k_h.min(K_H), p.k_w.min(K_W)) };
    if product(p.out_w, c) > y.row_len() {
        return;
    }
    let ends = [lo, hi].map(|end| end.clamp(i8::MIN.into(), i8::MAX.into()));
    let largest = Largest { columns: [0; 2], step: product(stride, c), c, clamp: ends };
    // The columns whose windows are inside of the image: the rest of them is narrower.
    let first = p.pad_left.div_ceil(stride).min(p.out_w);
    let behind = sum(p.in_w, p.pad_left).checked_sub(k_w).map_or(0, |last| last / stride + 1);
    let behind = behind.min(p.out_w).max(first);
    let Some(held) = x.held() else { return };
    for (row, out) in y.of_band(band) {
        let (top, bottom) = inside(row.wrapping_mul(p.stride_h), p.pad_top, k_h, p.in_h);
        // A window has no more rows than are held at a time.
        if bottom - top > held {
            return;
        }
        if top == bottom {
            largest.without_taps(out);
        }
        for block in (top..bottom).step_by(K_H) {
            // A row more than once is no larger than once.
            let rows: [&[Cell<i8>]; K_H] = core::array::from_fn(|tap| x.row(sum(block, tap).min(bottom - 1)));
            let more = LARGE && block > top;
            for column in (0..first).chain(behind..p.out_w) {
                let (left, right) = inside(column.wrapping_mul(stride), p.pad_left, k_w, p.in_w);
                let out = out.get(column * c..column * c + c).unwrap_or(&[]);
                largest.windows::<K_H, K_W, LARGE>(&rows, (left, right), more, out);
            }
            let left = product(first, stride).saturating_sub(p.pad_left);
            let out = out.get(first * c..behind * c).unwrap_or(&[]);
            largest.windows::<K_H, K_W, LARGE>(&rows, (left, sum(left, k_w)), more, out);
        }
    }
}

/// What windows have in common: how far the second and the third column of a block are from the first, a window from the one before, channels, smallest and largest result.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Largest {
    pub clamp: [i32; 2],
    pub columns: [usize; 2],
    pub step: usize,
    pub c: usize,
}

impl Largest {
    /// The results of windows that have no taps.
    fn without_taps(&self, out: &[Cell<i8>]) {
        let [lo, hi] = self.clamp;
        out.iter().for_each(|y| y.set(i32::from(i8::MIN).max(lo).min(hi) as i8));
    }

    /// As many windows as `out` has pixels: of the first one, the columns from `left` to `right`. What is in `out` counts as well if there was `more`.
    #[inline(always)]
    fn windows<const K_H: usize, const K_W: usize, const LARGE: bool>(
        self,
        rows: &[&[Cell<i8>]; K_H],
        (left, right): (usize, usize),
        more: bool,
        out: &[Cell<i8>],
    ) {
        let Largest { c, step, .. } = self;
        let windows = out.len().checked_div(c).unwrap_or(0);
        let taps = sum(product(left, c), reach(windows, step, product(right.saturating_sub(left), c)));
        if windows == 0 || rows.iter().any(|row| row.len() < taps) {
            return;
        }
        if left >= right {
            return self.without_taps(out);
        }
        for block in (left..right).step_by(K_W) {
            // A column more than once is no larger than once.
            let columns = [1, 2].map(|tap| (sum(block, tap).min(right - 1) - block) * c);
            let p = Largest { columns, ..self };
            let rows = rows.map(|row| row.as_ptr().cast::<i8>().wrapping_add(block * c));
            let y = out.as_ptr().cast_mut().cast();
            // SAFETY: `taps`, which no row is shorter than, ends behind the last window's last column, and no column of a block is behind `right`. `out` has `windows` times `c` results.
            unsafe {
                match LARGE && (more || block > left) {
                    true => largest::<K_H, K_W, true>(&p, rows, windows, y),
                    false => largest::<K_H, K_W, false>(&p, rows, windows, y),
                }
            }
            if !LARGE {
                return;
            }
        }
    }
}
