//! Matrix products, and convolutions of images one column wide: single pixels, four or eight filters at a time.

use super::conv::exact;
use super::pixel::{results, sums, Taps};
use super::pixel_eights;
use crate::arch::extent::{product, span, sum};
use crate::params::{Conv, Requant};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Product of the rows of `x` with filters of as many elements, to rows of one result per filter, for cores with the DSP extension.
///
/// `w` holds quads of filters as for [`conv2d_i8_dsp`](crate::kernels::conv2d_i8_dsp), and `SHIFT` and `SIGNED` mean the same. Of each four taps the pairs are (0, 2)
/// and (1, 3); where one to three are left, they are (0, 1) and (2, none): a missing tap has no weight.
#[inline(never)]
pub fn dense_i8_dsp<const SHIFT: u32, const SIGNED: bool>(
    x: Rows<'_, i8>,
    w: &[i32],
    y: Rows<'_, i8>,
    band: Band,
) {
    for (row, y) in y.of_band(band) {
        let mut taps = Taps::new();
        if taps.push(x.row(row)).is_none() {
            return;
        }
        results::<SHIFT, SIGNED>(&taps, w, y);
    }
}

/// As [`dense_i8_dsp`], with eight filters at a time: more code, and less to do where there are many filters.
///
/// `w` holds eights of filters like quads, in all of which there are eight instead of four. The last one may be of five to seven, completed by zeros; fewer filters behind the eights make
/// a quad, with `REST`. Without it there are none.
#[inline(never)]
pub fn dense_i8_dsp_eights<const SHIFT: u32, const SIGNED: bool, const REST: bool>(
    x: Rows<'_, i8>,
    w: &[i32],
    y: Rows<'_, i8>,
    band: Band,
) {
    for (row, y) in y.of_band(band) {
        let mut taps = Taps::new();
        if taps.push(x.row(row)).is_none() {
            return;
        }
        results_of_many::<SHIFT, SIGNED, REST>(&taps, w, y);
    }
}

/// As [`dense_i8_dsp`], rescaled as the reference does; quads of `w` are those of [`conv2d_i8_dsp_exact`](crate::kernels::conv2d_i8_dsp_exact).
#[inline(never)]
pub fn dense_i8_dsp_exact(x: Rows<'_, i8>, w: &[i32], q: &Requant<'_>, y: Rows<'_, i8>, band: Band) {
    for (row, y) in y.of_band(band) {
        let mut taps = Taps::new();
        if taps.push(x.row(row)).is_none() {
            return;
        }
        exact_results(&taps, w, q, y);
    }
}

/// Convolution of an image one column wide, with filters one column wide, for cores with the DSP extension: `groups`, `in_w`, `out_w` and `k_w` are 1, and there is no padding to the left.
///
/// `w` is as for [`dense_i8_dsp`], with the pairs of taps of each of the `k_h` rows of a filter; rows outside of the image read as `pad`.
#[inline(never)]
pub fn conv1_i8_dsp<const SHIFT: u32, const SIGNED: bool>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    y: Rows<'_, i8>,
    band: Band,
) {
    column(p, x, pad, y, band, &|taps, y| results::<SHIFT, SIGNED>(taps, w, y));
}

/// As [`conv1_i8_dsp`], with weights as for [`dense_i8_dsp_eights`], and as many filters at a time.
#[inline(never)]
pub fn conv1_i8_dsp_eights<const SHIFT: u32, const SIGNED: bool, const REST: bool>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    y: Rows<'_, i8>,
    band: Band,
) {
    column(p, x, pad, y, band, &|taps, y| results_of_many::<SHIFT, SIGNED, REST>(taps, w, y));
}

/// As [`conv1_i8_dsp`], rescaled as the reference does; quads of `w` are those of [`conv2d_i8_dsp_exact`](crate::kernels::conv2d_i8_dsp_exact).
#[inline(never)]
pub fn conv1_i8_dsp_exact(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    q: &Requant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    column(p, x, pad, y, band, &|taps, y| exact_results(taps, w, q, y));
}

/// Elements of a row that is all padding.
const PADDING: usize = 128;

/// Collects the taps of each row of the result.
#[inline(always)]
fn column(
    p: &Conv,
    x: Rows<'_, i8>,
    pad: i8,
    y: Rows<'_, i8>,
    band: Band,
    finish: &dyn Fn(&Taps<'_>, &[Cell<i8>]),
) {
    let last = sum(product(band.range().end.saturating_sub(1), p.stride_h), span(p.k_h, p.dilation_h));
    if p.pad_top > 0 || last >= p.in_h {
        return padded_column(p, x, pad, y, band, finish);
    }
    for (oy, y) in y.of_band(band) {
        let mut taps = Taps::new();
        let Some(()) = push_rows(&mut taps, p, x, &[], oy) else { return };
        finish(&taps, y);
    }
}

/// As [`column`], where some rows are padding.
#[inline(never)]
fn padded_column(
    p: &Conv,
    x: Rows<'_, i8>,
    pad: i8,
    y: Rows<'_, i8>,
    band: Band,
    finish: &dyn Fn(&Taps<'_>, &[Cell<i8>]),
) {
    let padding = [const { Cell::new(0) }; PADDING];
    padding.iter().for_each(|cell| cell.set(pad));
    for (oy, y) in y.of_band(band) {
        let mut taps = Taps::new();
        let Some(()) = push_rows(&mut taps, p, x, &padding, oy) else { return };
        finish(&taps, y);
    }
}

/// Collects the taps of one row of the result.
#[inline(never)]
fn push_rows<'a>(
    taps: &mut Taps<'a>,
    p: &Conv,
    x: Rows<'a, i8>,
    padding: &'a [Cell<i8>],
    oy: usize,
) -> Option<()> {
    let top = oy.wrapping_mul(p.stride_h).wrapping_sub(p.pad_top);
    let joined = p.dilation_h == 1 && p.in_c % 4 == 0 && x.row_len() == p.in_c;
    let mut ky = 0;
    while ky < p.k_h {
        let iy = top.wrapping_add(ky.wrapping_mul(p.dilation_h));
        let (run, rows) = if iy >= p.in_h {
            (padding.get(..p.in_c), 1)
        } else if joined {
            x.rows_from(iy, (p.k_h - ky).min(p.in_h - iy))
        } else {
            (x.row(iy).get(..p.in_c), 1)
        };
        taps.push(run?)?;
        ky += rows;
    }
    Some(())
}

/// Results of all filters: eights, and with `REST` quads of those behind them.
#[inline(always)]
fn results_of_many<const SHIFT: u32, const SIGNED: bool, const REST: bool>(
    taps: &Taps<'_>,
    w: &[i32],
    y: &[Cell<i8>],
) {
    let (w, y) = pixel_eights::results::<SHIFT, SIGNED>(taps, w, y);
    if REST {
        results::<SHIFT, SIGNED>(taps, w, y);
    }
}

/// Results of all filters, quad by quad.
#[inline(never)]
fn exact_results(taps: &Taps<'_>, w: &[i32], q: &Requant<'_>, y: &[Cell<i8>]) {
    for (i, (y, w)) in y.chunks(4).zip(w.chunks_exact(taps.quad_words().max(1))).enumerate() {
        for (f, (y, sum)) in y.iter().zip(sums(taps, w)).enumerate() {
            let acc = if f % 2 == 1 { sum >> 8 } else { sum };
            let Some(result) = exact(q, 4 * i + f, acc) else { return };
            y.set(result);
        }
    }
}
