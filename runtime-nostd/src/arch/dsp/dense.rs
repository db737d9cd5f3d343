//! Matrix products: four or eight filters at a time, or one after the other.
#![allow(unsafe_code)]

use super::affine::{affine, corrected, rescaled};
use super::taps::{exact_results, results, results_of_many, Taps};
use crate::arch::dot_block::dot_of_words;
use crate::params::{Requant, Rescale};
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

/// As [`dense_i8_dsp`](crate::kernels::dense_i8_dsp), for one or two filters. Those of more are quads: a tap of one filter takes 2.4 cycles here, and 5 there, whatever is in the quad.
///
/// `w` holds for each filter: its first value, its taps as bytes (zeros make the last word full), with `SIGNED` the correction, the multiplier M and the constant C. They mean what
/// they mean for filter a of a quad.
#[inline(never)]
pub fn dense_i8_dsp_dot<const SHIFT: u32, const SIGNED: bool>(
    x: Rows<'_, i8>,
    w: &[i32],
    y: Rows<'_, i8>,
    band: Band,
) {
    for (row, y) in y.of_band(band) {
        let x = x.row(row);
        let mut w = w;
        for y in y {
            let Some((&first, behind)) = w.split_first() else { return };
            let Some((taps, behind)) = behind.split_at_checked(x.len().div_ceil(4)) else { return };
            let acc = dot(x, taps, first);
            let (d, shift, behind) = match behind.split_first() {
                Some((&k, behind)) if SIGNED => (corrected(acc, 8, k), SHIFT.saturating_add(8), behind),
                _ => (acc, SHIFT, behind),
            };
            let &[m, c, ref behind @ ..] = behind else { return };
            y.set(affine(d, [m, c], shift));
            w = behind;
        }
    }
}

/// As [`dense_i8_i16`](crate::kernels::dense_i8_i16), one filter after the other. `w` holds for each filter its taps as bytes; zeros make the last word full.
#[inline(never)]
pub fn dense_i8_i16_dsp(
    x: Rows<'_, i8>,
    w: &[i32],
    bias: &[i32],
    by: &Rescale,
    y: Rows<'_, i16>,
    band: Band,
) {
    for (row, y) in y.of_band(band) {
        let (x, rescaled) = (x.row(row), rescaled(by));
        let filters = w.chunks_exact(x.len().div_ceil(4).max(1));
        for ((y, w), bias) in y.iter().zip(filters).zip(bias) {
            y.set(rescaled(dot(x, w, *bias)) as i16);
        }
    }
}

/// `acc`, and the products of elements and bytes of `w`. Nothing is added where it has fewer words than the elements need.
#[inline(always)]
pub(super) fn dot(x: &[Cell<i8>], w: &[i32], acc: i32) -> i32 {
    let words = x.len() / 4;
    let (x, rest) = x.split_at_checked(words * 4).unwrap_or_default();
    let Some((w, last)) = w.split_at_checked(words) else { return acc };
    // SAFETY: both hold so many words: they are what was split off.
    let mut acc = unsafe { dot_of_words(x, w, acc) };
    if let Some(last) = last.first() {
        acc = add(rest, *last, acc);
    }
    acc
}

/// Adds the products of up to four elements and the bytes of a word.
#[inline(always)]
pub(crate) fn add(x: &[Cell<i8>], w: i32, acc: i32) -> i32 {
    let products = x.iter().zip(w.to_le_bytes()).map(|(x, w)| i32::from(x.get()) * i32::from(w as i8));
    products.fold(acc, i32::wrapping_add)
}
