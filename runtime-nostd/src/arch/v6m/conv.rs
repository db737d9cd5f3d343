//! Convolution with packed windows.

use super::blocks::single::finish;
use super::operand::{Gathered, Operand, Tap, PART, WORDS};
use super::pair::{Filters, First, Tiles, Weights, Work, MOST_FILTERS, NAMED};
use super::single;
use super::steps::HalfRequant;
use crate::arch::extent::product;
use crate::arch::pixel::{Pixel, Pixels};
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Filters whose accumulators are kept at once, where they have to be: two words each.
const BLOCK: usize = 33;

/// The same of one pixel.
pub(super) const KEPT: usize = 64;

/// Convolution of an `i8` image without groups, for at least two filters.
///
/// Rows of `x` have `in_w · in_c` elements, those of `y` `out_w · out_c`. Padding reads as `pad`.
///
/// A filter's rows of `k_w · in_c` taps are filled up to an even number; its `k_h` rows are taken in parts of `part` taps, an even number of at most 144. `first` are the
/// accumulators' first values, two per filter. Pixels are taken two by two, those of two rows together only where the result does not lie over the operand or the
/// operand is read once. Weights are ordered by *blocks* of filters (33, or 31 where 33 would leave a single one, if the
/// layer has several parts; otherwise all), parts, tiles (of three filters, and of two for what is left), taps, filters.
#[inline(never)]
pub fn conv2d_i8_v6m_pairs(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i8],
    first: &[i32],
    part: usize,
    pad: i8,
    q: &HalfRequant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    let words = [const { Cell::new(0) }; WORDS];
    in_pairs::<2>(p, x, Weights { w, rests: &[] }, first, part, pad, q, &words, y, band);
}

/// As [`conv2d_i8_v6m_pairs`] with windows of four taps, and rests.
///
/// Rows of taps are filled up to a multiple of four, as are parts. In windows, absolute weights of a filter add up to at most 255. What was taken off larger ones are *rests*. Behind the weights of a tile is the
/// number of rests of each filter. `rests` has two bytes for each, in the order of tiles and filters: the word of its tap in its part, of which a window has five, four of them for its taps; and its weight.
#[inline(never)]
pub fn conv2d_i8_v6m_pairs_wide(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i8],
    rests: &[i8],
    first: &[i32],
    part: usize,
    pad: i8,
    q: &HalfRequant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    let words = [const { Cell::new(0) }; NAMED];
    in_pairs::<4>(p, x, Weights { w, rests }, first, part, pad, q, &words, y, band);
}

#[inline(always)]
fn in_pairs<const TAPS: usize>(
    p: &Conv,
    x: Rows<'_, i8>,
    weights: Weights<'_>,
    first: &[i32],
    part: usize,
    pad: i8,
    q: &HalfRequant<'_>,
    words: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let gathered = Gathered::default();
    let operand = Operand::<TAPS> { p, x, pad, gathered: &gathered };
    let size = p.k_h.wrapping_mul(operand.row());
    let part = part.clamp(TAPS, PART) / TAPS * TAPS;
    // No more pixels than there is memory for.
    if p.out_w == 0 || p.out_c > MOST_FILTERS || !y.holds(band.rows, product(p.out_w, p.out_c.max(1))) {
        return;
    }
    let mut pixels = Pixels::new(y, band);
    if size > part {
        // Each block of filters reads the operand anew, when results of the blocks before it are written: those of the second row may lie over what the first one reads.
        let by_row = p.out_c > BLOCK && x.overlaps(&y);
        while let Some((both, out)) = next_two(&mut pixels, &operand, by_row) {
            let layer = Staged { operand: &operand, pixels: both, size, part, words };
            layer.run(weights, first, q, out);
        }
        return;
    }
    let work = Work::<TAPS> { words, windows: size / TAPS };
    let (tiles, first) = (Tiles::of(p.out_c), First::Constant(first));
    let filters = Filters { work, tiles, first, channels: q.channels, q };
    let mut weights = weights;
    let Some(mut blocks) = filters.blocks(&mut weights) else { return };
    while let Some((both, out)) = next_two(&mut pixels, &operand, false) {
        operand.all_of_two(both, size, words);
        blocks.run(out);
    }
}

/// Two pixels, and where their results are.
type Two<'a> = ([Pixel; 2], [&'a [Cell<i8>]; 2]);

/// The next two pixels, and where their results are. Where only one is left, or may be taken because the other one is in the next row (`by_row`), both are the same.
#[inline(always)]
fn next_two<'a, const TAPS: usize>(
    pixels: &mut Pixels<'a>,
    operand: &Operand<'_, TAPS>,
    by_row: bool,
) -> Option<Two<'a>> {
    let p = operand.p;
    let first_of = |row| Pixel::new(p, operand.x, row, 0);
    pixels.begin(p, first_of)?;
    let (a, out) = (pixels.pixel, pixels.place(p));
    if pixels.columns > 0 || !by_row && pixels.begin(p, first_of).is_some() {
        return Some(([a, pixels.pixel], [out, pixels.place(p)]));
    }
    Some(([a; 2], [out; 2]))
}

/// Two pixels of a layer whose accumulators are kept from part to part.
struct Staged<'a, const TAPS: usize> {
    operand: &'a Operand<'a, TAPS>,
    pixels: [Pixel; 2],
    size: usize,
    part: usize,
    words: &'a [Cell<i32>],
}

impl<const TAPS: usize> Staged<'_, TAPS> {
    #[inline(never)]
    fn run(&self, mut weights: Weights<'_>, first: &[i32], q: &HalfRequant<'_>, out: [&[Cell<i8>]; 2]) {
        let kept = [const { Cell::new(0) }; 2 * BLOCK];
        let filters = out[0].len().min(out[1].len());
        let mut o = 0;
        while o < filters {
            let block = match filters - o {
                left @ ..=BLOCK => left,
                left if left == BLOCK + 1 => BLOCK - 2,
                _ => BLOCK,
            };
            let tiles = Tiles::of(block);
            let (Some(sums), Some(first)) = (kept.get(..2 * block), first.get(2 * o..)) else { return };
            sums.iter().zip(first).for_each(|(sum, &first)| sum.set(first));
            let (mut tap, mut done) = (Tap::default(), 0);
            while done < self.size {
                let taps = self.part.min(self.size - done);
                // What is there from the block before is there still, if it is all.
                if o == 0 || taps < self.size {
                    tap = self.operand.pairs(self.pixels, tap, taps, self.words);
                }
                let work = Work::<TAPS> { words: self.words, windows: taps / TAPS };
                done += taps.max(1);
                if done < self.size {
                    if work.add(tiles, &mut weights, sums).is_none() {
                        return;
                    }
                } else {
                    let channels = q.channels.get(q.words.wrapping_mul(o)..).unwrap_or(&[]);
                    let filters = Filters { work, tiles, first: First::Kept(sums), channels, q };
                    let Some(mut blocks) = filters.blocks(&mut weights) else { return };
                    blocks.run(out.map(|out| part_of(out, o, block)));
                }
            }
            o += block;
        }
    }
}

/// `len` elements from `start` on.
fn part_of(out: &[Cell<i8>], start: usize, len: usize) -> &[Cell<i8>] {
    out.get(start..start.wrapping_add(len)).unwrap_or(&[])
}

/// Convolution as [`conv2d_i8_v6m_pairs`], pixel by pixel, for any number of filters.
///
/// Weights are ordered by blocks of 64 filters, parts, tiles of four filters (filled up), taps: one word for four filters, 0, 2, 1, 3 from the lowest byte on. `first` has
/// four values for each tile.
#[inline(never)]
pub fn conv2d_i8_v6m_singles(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    first: &[i32],
    part: usize,
    pad: i8,
    q: &HalfRequant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    let gathered = Gathered::default();
    let operand = Operand::<2> { p, x, pad, gathered: &gathered };
    let size = p.k_h.wrapping_mul(operand.row());
    let part = part.clamp(2, PART) & !1;
    let words = [const { Cell::new(0) }; WORDS];
    let kept = [const { Cell::new(0) }; KEPT];
    for (row, out) in y.of_band(band) {
        for (column, out) in out.chunks_exact(p.out_c.max(1)).take(p.out_w).enumerate() {
            let pixel = Pixel::new(p, x, row, column);
            let mut w = w;
            for (block, (out, first)) in out.chunks(KEPT).zip(first.chunks(KEPT)).enumerate() {
                let Some(sums @ [_, _, _, _, ..]) = kept.get(..first.len()) else { return };
                sums.iter().zip(first).for_each(|(sum, &first)| sum.set(first));
                let (mut tap, mut done) = (Tap::default(), 0);
                while done < size {
                    let taps = part.min(size - done);
                    // What is there from the block before is there still, if it is all.
                    if block == 0 || taps < size {
                        tap = operand.singles(pixel, tap, taps, &words);
                    }
                    // Weights that are missing end it, however many taps there are said to be.
                    let Some(behind) = w.get(taps * (sums.len() / 4)..) else { return };
                    single::add(&words, taps / 2, w, sums);
                    w = behind;
                    done += taps.max(1);
                }
                let channels = q.channels.get(product(q.words, block * KEPT)..).unwrap_or(&[]);
                finish(q, channels, sums, out);
            }
        }
    }
}
