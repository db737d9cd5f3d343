//! Convolution in tiles of two or four pixels.

use super::operand::Operand;
use super::pairs::finish;
use super::upper::UpperRequant;
use super::windows::Windows;
use crate::arch::extent::{product, product_of};
use crate::arch::pixel::Pixel;
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Most filters of a layer: far more than any processor with these kernels has memory for.
const MOST_FILTERS: usize = u16::MAX as usize;

/// Convolution of an `i8` image without groups, for at least two filters, in tiles of two pixels.
///
/// Rows of `x` have `in_w · in_c` elements, those of `y` `out_w · out_c`. Padding reads as `pad`.
///
/// Filters come in tiles of three, and of two where a single one would be left. A tile in `w` is a sequence of windows. A window of `n` taps, at most 12, begins with the bytes `8·n` and
/// `2 + n · filters`. Then follow its weights, for each tap one of each filter. Behind the last window of a tile is a 0.
/// In each window of each filter, products with any bytes must add up to 16 bits with sign.
/// `work` has a word for each tap.
#[inline(never)]
pub fn conv2d_i8_rv32_pairs(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i8],
    pad: i8,
    q: &UpperRequant<'_>,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    convolve::<1>(p, x, w, pad, q, work, y, band);
}

/// As [`conv2d_i8_rv32_pairs`], in tiles of four pixels. `work` has two words for each tap.
#[inline(never)]
pub fn conv2d_i8_rv32_quads(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i8],
    pad: i8,
    q: &UpperRequant<'_>,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    convolve::<2>(p, x, w, pad, q, work, y, band);
}

/// Convolution in tiles of `EACH` words, each of which is two pixels.
#[inline(always)]
fn convolve<const EACH: usize>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i8],
    pad: i8,
    q: &UpperRequant<'_>,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let size = product_of([p.k_h, p.k_w, p.in_c]);
    // No more pixels than there is memory for.
    if product(EACH, size) > work.len() || p.out_c > MOST_FILTERS {
        return;
    }
    let Some(tiles) = Windows::new(w, size, p.out_c) else { return };
    if !y.holds(band.rows, product(p.out_w, p.out_c)) {
        return;
    }
    let operand = Operand::new(p, x, pad);
    let mut pixels = band.range().flat_map(|row| (0..p.out_w).map(move |column| (row, column)));
    while let Some(first) = pixels.next() {
        let mut last = first;
        let mut out: [&[Cell<i8>]; 4] = [&[]; 4];
        for word in 0..EACH {
            let both = [0, 1].map(|at| {
                // Where there are fewer, the last one is computed several times.
                if word + at > 0 {
                    last = pixels.next().unwrap_or(last);
                }
                let (row, column) = last;
                let start = column.wrapping_mul(p.out_c);
                if let Some(out) = out.get_mut(2 * word + at) {
                    *out = y.row(row).get(start..start.wrapping_add(p.out_c)).unwrap_or(&[]);
                }
                Pixel::new(p, x, row, column)
            });
            operand.gather::<EACH>(both, work.get(word..).unwrap_or(&[]));
        }
        if finish::<EACH>(tiles, work, q, out).is_none() {
            return;
        }
    }
}
