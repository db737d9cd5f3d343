//! Convolution in tiles of two or four pixels.

use super::blocks::pairs::Pairs;
use super::blocks::quads::{Quads, SmallQuads};
use super::operand::{Operand, Run};
use super::upper::UpperRequant;
use super::windows::Windows;
use crate::arch::extent::{product, product_of, sum};
use crate::arch::pixel::{Pixel, Pixels};
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

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
    convolve::<2, Pairs<'_>>(p, x, w, pad, q, work, y, band, false);
}

/// As [`conv2d_i8_rv32_pairs`], in tiles of four pixels, with little code. `work` has two words for each tap.
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
    convolve::<4, SmallQuads<'_>>(p, x, w, pad, q, work, y, band, false);
}

/// As [`conv2d_i8_rv32_quads`], with more code. One or two pixels that are left of a band are a tile of two.
#[inline(never)]
pub fn conv2d_i8_rv32_mixed(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i8],
    pad: i8,
    q: &UpperRequant<'_>,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    convolve::<4, Quads<'_>>(p, x, w, pad, q, work, y, band, true);
}

/// Tiles of `PIXELS` pixels and some filters each.
pub(crate) trait Blocks<'a, const PIXELS: usize>: Sized {
    /// All tiles of a layer, of half as many words of operands for each tap. `None` where something is missing.
    fn new(tiles: Windows<'a>, words: &'a [Cell<i32>], q: &'a UpperRequant<'a>) -> Option<Self>;

    /// Results of all filters for tiles side by side, for whose words there is `work`. `None` where something is missing.
    fn run(&mut self, run: Run<'_, '_, PIXELS>, work: &[Cell<i32>], out: &[Cell<i8>]) -> Option<()>;

    /// Results of all filters for pixels, some of which may be the same. `None` where there is no memory for them.
    fn finish(&mut self, out: &[&[Cell<i8>]; PIXELS]) -> Option<()>;
}

/// As [`Blocks::run`], tile by tile.
// Only one block of assembly computes tiles side by side.
#[inline(always)]
pub(crate) fn run_by_tiles<'a, const PIXELS: usize, B: Blocks<'a, PIXELS>>(
    blocks: &mut B,
    run: Run<'_, '_, PIXELS>,
    work: &[Cell<i32>],
    out: &[Cell<i8>],
) -> Option<()> {
    let (mut next, mut out) = (Some(run), out);
    while let Some(run) = next {
        run.gather(work)?;
        let filters = out.len().checked_div(product(run.tiles, PIXELS))?;
        let mut places = [&[][..]; PIXELS];
        for place in &mut places {
            (*place, out) = out.split_at_checked(filters)?;
        }
        blocks.finish(&places)?;
        next = run.next();
    }
    Some(())
}

/// Convolution in tiles of `PIXELS`: two or four. One or two pixels that are left are a tile of two, if that is asked for (`mixed`).
#[inline(always)]
fn convolve<'a, const PIXELS: usize, B: Blocks<'a, PIXELS>>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &'a [i8],
    pad: i8,
    q: &'a UpperRequant<'a>,
    work: &'a [Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
    mixed: bool,
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
    // More code: for the faster tiles.
    let row = if mixed { as_one_row(p, x, y, band) } else { None };
    let (p, x, y, band) = match &row {
        Some((p, x, y)) => (p, *x, *y, Band { first: 0, rows: 1 }),
        None => (p, x, y, band),
    };
    let Some(mut blocks) = B::new(tiles, work, q) else { return };
    let operand = Operand::<PIXELS>::new(p, x, pad);
    let mut pixels = Pixels::new(y, band);
    while pixels.begin(p, |row| operand.first_of(row)).is_some() {
        if mixed && pixels.rows.is_empty() && pixels.columns <= 2 {
            let mut out = [&[][..]; 2];
            some(&operand, &mut pixels, work, &mut out);
            Pairs::new(tiles, work, q).and_then(|mut pairs| pairs.finish(&out));
            return;
        }
        let done = if pixels.columns >= PIXELS && operand.is_inside(pixels.pixel) {
            let run = operand.run(pixels.pixel, pixels.columns / PIXELS);
            let out = pixels.places(p, product(run.tiles, PIXELS));
            blocks.run(run, work, out)
        } else {
            let mut out = [&[][..]; PIXELS];
            some(&operand, &mut pixels, work, &mut out);
            blocks.finish(&out)
        };
        if done.is_none() {
            return;
        }
    }
}

/// The band as a single row, where each pixel reads the one at the same place, and the rows lie one behind the other.
#[inline(never)]
fn as_one_row<'x, 'y>(
    p: &Conv,
    x: Rows<'x, i8>,
    y: Rows<'y, i8>,
    Band { first, rows }: Band,
) -> Option<(Conv, Rows<'x, i8>, Rows<'y, i8>)> {
    let Conv { in_w, in_c, out_w, out_c, .. } = *p;
    let is_point = [p.k_h, p.k_w, p.stride_h, p.stride_w, p.pad_top, p.pad_left] == [1, 1, 1, 1, 0, 0];
    let is_whole = [product(in_w, in_c), product(out_w, out_c)] == [x.row_len(), y.row_len()];
    let is_inside = rows > 1 && sum(first, rows) <= p.in_h && in_w == out_w;
    let is_there = rows <= x.run_from(first) && rows <= y.run_from(first);
    if !(is_point && is_whole && is_inside && is_there) {
        return None;
    }
    let (x, y) = (x.run(first, rows)?, y.run(first, rows)?);
    let width = product(rows, in_w);
    let row = Conv { in_h: 1, in_w: width, out_w: width, ..*p };
    Some((row, Rows::whole(x, x.len()), Rows::whole(y, y.len())))
}

/// Gathers the operands of the next pixels, of which there is at least one, and says where their results are. Where there are fewer, the last one is computed several times.
#[inline(never)]
fn some<'a, const SOME: usize, const PIXELS: usize>(
    operand: &Operand<'a, PIXELS>,
    pixels: &mut Pixels<'a>,
    work: &[Cell<i32>],
    out: &mut [&'a [Cell<i8>]; SOME],
) {
    let mut tile = [pixels.pixel; SOME];
    let mut last: (Pixel, &[Cell<i8>]) = (pixels.pixel, &[]);
    for (pixel, out) in tile.iter_mut().zip(out) {
        if pixels.begin(operand.p, |row| operand.first_of(row)).is_some() {
            last = (pixels.pixel, pixels.place(operand.p));
        }
        (*pixel, *out) = last;
    }
    operand.gather(&tile, work);
}
