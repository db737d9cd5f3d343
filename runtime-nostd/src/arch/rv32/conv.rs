//! Convolution in tiles of two or four pixels.

use super::blocks::{pairs, quads};
use super::operand::Operand;
use super::upper::UpperRequant;
use super::windows::Windows;
use crate::arch::extent::{product, product_of};
use crate::arch::pixel::Pixel;
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;
use core::ops::Range;

/// Most filters of a layer: far more than any processor with these kernels has memory for.
const MOST_FILTERS: usize = u16::MAX as usize;

/// Convolution of an `i8` image without groups, for at least two filters, in tiles of two pixels.
///
/// Rows of `x` have `in_w · in_c` elements, those of `y` `out_w · out_c`. Padding reads as `pad`.
///
/// Filters come in tiles of three, and of two where a single one would be left. A tile in `w` is a sequence of windows. A window of `n` taps, at most 8, begins with the bytes `8·n` and
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
    convolve::<2>(p, x, w, pad, q, work, y, band);
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
    convolve::<4>(p, x, w, pad, q, work, y, band);
}

/// Convolution in tiles of `PIXELS`: two or four.
#[inline(always)]
fn convolve<const PIXELS: usize>(
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
    if product(PIXELS / 2, size) > work.len() || p.out_c > MOST_FILTERS {
        return;
    }
    let Some(tiles) = Windows::new(w, size, p.out_c) else { return };
    if p.out_w == 0 || !y.holds(band.rows, product(p.out_w, p.out_c)) {
        return;
    }
    let operand = Operand::new(p, x, pad);
    let mut pixels = Pixels { p, x, y, rows: band.range(), columns: 0, pixel: Pixel::default(), out: &[] };
    while let Some(first) = pixels.next() {
        let mut last = first;
        // Where there are fewer, the last one is computed several times.
        let tile: [_; PIXELS] = core::array::from_fn(|at| {
            if at > 0 {
                last = pixels.next().unwrap_or(last);
            }
            last
        });
        operand.gather(tile.map(|(pixel, _)| pixel), work);
        let [a, b, c, d] = core::array::from_fn(|at| tile.get(at).map_or(&[][..], |&(_, out)| out));
        let done = match PIXELS {
            2 => pairs::finish(tiles, work, q, [a, b]),
            _ => quads::finish(tiles, work, q, [a, b, c, d]),
        };
        if done.is_none() {
            return;
        }
    }
}

/// The pixels of a band, and where the results of each are.
struct Pixels<'a> {
    p: &'a Conv,
    x: Rows<'a, i8>,
    y: Rows<'a, i8>,
    rows: Range<usize>,
    /// Pixels that are left in this row.
    columns: usize,
    pixel: Pixel,
    out: &'a [Cell<i8>],
}

impl<'a> Pixels<'a> {
    #[inline(always)]
    fn next(&mut self) -> Option<(Pixel, &'a [Cell<i8>])> {
        let Conv { out_w, out_c, stride_w, .. } = *self.p;
        if self.columns == 0 {
            let row = self.rows.next()?;
            (self.columns, self.out) = (out_w, self.y.row(row));
            self.pixel = Pixel::new(self.p, self.x, row, 0);
        }
        let (out, behind) = self.out.split_at_checked(out_c)?;
        let pixel = self.pixel;
        self.pixel = pixel.further(stride_w);
        (self.columns, self.out) = (self.columns.wrapping_sub(1), behind);
        Some((pixel, out))
    }
}
