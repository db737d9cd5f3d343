//! Convolution in tiles of two or four pixels.

use super::operand::{Operand, Pixel};
use super::pairs::finish;
use super::upper::UpperRequant;
use super::windows::Windows;
use crate::arch::extent::{product, product_of};
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Most filters of a layer: far more than any processor with these kernels has memory for.
const MOST_FILTERS: usize = u16::MAX as usize;

/// Convolution of an `i8` image without groups, for at least two filters.
///
/// Rows of `x` have `in_w · in_c` elements, those of `y` `out_w · out_c`. Padding reads as `pad`.
///
/// Filters come in tiles of three, and of two where a single one would be left. A tile in `w` is a sequence of windows. A window of `n` taps, at most 12, begins with the bytes `8·n` and
/// `2 + n · filters`. Then follow its weights, for each tap one of each filter. Behind the last window of a tile is a 0.
/// In each window of each filter, products with any bytes must add up to 16 bits with sign.
/// `work` has a word for each tap, and then two pixels are computed at once; or twice as many, and then four are.
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
    let size = product_of([p.k_h, p.k_w, p.in_c]);
    // No more pixels than there is memory for.
    if size > work.len() || p.out_c > MOST_FILTERS {
        return;
    }
    let Some(tiles) = Windows::new(w, size, p.out_c) else { return };
    if !y.holds(band.rows, product(p.out_w, p.out_c)) {
        return;
    }
    let four = product(2, size) <= work.len();
    let operand = Operand::new(p, x, pad);
    let pixels = band.range().flat_map(|row| (0..p.out_w).map(move |column| (row, column)));
    let results = |(row, column): (usize, usize)| {
        let start = column.wrapping_mul(p.out_c);
        y.row(row).get(start..start.wrapping_add(p.out_c)).unwrap_or(&[])
    };
    let mut pixels = pixels;
    while let Some(a) = pixels.next() {
        // Where there are fewer, the last one is computed several times.
        let b = pixels.next().unwrap_or(a);
        let c = if four { pixels.next() } else { None };
        let d = if c.is_some() { pixels.next() } else { None };
        let pixel = |(row, column): (usize, usize)| Pixel::new(p, x, row, column);
        match c {
            None => {
                operand.gather::<1>([pixel(a), pixel(b)], work);
                let out = [results(a), results(b)];
                if finish::<1>(tiles, work, q, [out[0], out[1], &[], &[]]).is_none() {
                    return;
                }
            }
            Some(c) => {
                let d = d.unwrap_or(c);
                operand.gather::<2>([pixel(a), pixel(b)], work);
                operand.gather::<2>([pixel(c), pixel(d)], work.get(1..).unwrap_or(&[]));
                if finish::<2>(tiles, work, q, [a, b, c, d].map(results)).is_none() {
                    return;
                }
            }
        }
    }
}
