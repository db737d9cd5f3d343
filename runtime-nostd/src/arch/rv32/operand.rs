//! Operands of windows: what the filters read for two or four pixels of the result, in the words that the tiles multiply.

use super::blocks::operand::interleave;
use crate::arch::extent::{product, reach};
use crate::arch::pixel::Pixel;
use crate::params::Conv;
use crate::rows::Rows;
use core::cell::Cell;

/// Elements of padding that are read at once.
const PADDING: usize = 32;

/// Most rows of filters whose tiles of four pixels are gathered one behind the other.
pub(crate) const ROWS: usize = 16;

/// Tiles side by side, which read no padding to the left or right.
pub(crate) struct Run<'o, 'a, const PIXELS: usize> {
    operand: &'o Operand<'a, PIXELS>,
    first: Pixel,
    /// How many: at least one.
    pub(crate) tiles: usize,
}

// Plain Rust goes from tile to tile.
#[allow(dead_code)]
impl<'a, const PIXELS: usize> Run<'_, 'a, PIXELS> {
    /// Rows of the filters.
    #[inline(always)]
    pub(crate) fn rows(&self) -> usize {
        self.operand.p.k_h
    }

    /// Elements of a row that a pixel reads, and from those of a pixel to those of the next one.
    #[inline(always)]
    pub(crate) fn lengths(&self) -> [usize; 2] {
        [self.operand.run, self.operand.step]
    }

    /// Writes the words of the first tile.
    #[inline(always)]
    pub(crate) fn gather(&self, words: &[Cell<i32>]) -> Option<()> {
        self.operand.gather_inside(self.first, words)
    }

    /// Goes on to the next tile.
    #[inline(always)]
    pub(crate) fn next(self) -> Option<Self> {
        let tiles = self.tiles.checked_sub(1).filter(|&tiles| tiles > 0)?;
        let first = self.first.further(PIXELS.wrapping_mul(self.operand.p.stride_w));
        Some(Run { tiles, first, ..self })
    }

    /// What all tiles read of a row of the filters. Where that is padding, it is empty, and `words` are those of the row in each tile. `None` where elements or words are missing.
    #[inline(always)]
    pub(crate) fn row(&self, row: usize, words: &[Cell<i32>]) -> Option<&'a [Cell<i8>]> {
        let Operand { p, x, run, step, .. } = *self.operand;
        let image = self.first.row(x, row.wrapping_mul(p.dilation_h));
        if image.is_empty() {
            let each = run.checked_mul(PIXELS / 2)?;
            let start = row.checked_mul(each)?;
            let words = words.get(start..start.checked_add(each)?)?;
            words.iter().for_each(|word| word.set(self.operand.pad()));
            return Some(image);
        }
        let from = image.get(self.first.column(0).checked_mul(p.in_c)?..)?;
        (from.len() >= reach(product(self.tiles, PIXELS), step, run)).then_some(from)
    }
}

/// The operand of a convolution in tiles of `PIXELS` pixels: two or four.
pub(crate) struct Operand<'a, const PIXELS: usize> {
    pub(super) p: &'a Conv,
    x: Rows<'a, i8>,
    padding: [Cell<i8>; PADDING],
    /// The last column from which on all taps of a tile's pixels are in a row of the operand, side by side; `None` if there is none.
    last: Option<usize>,
    /// Elements of a row that a pixel reads.
    run: usize,
    /// From those of a pixel to those of the next one.
    step: usize,
    /// Those of all pixels.
    elements: usize,
}

impl<'a, const PIXELS: usize> Operand<'a, PIXELS> {
    /// An operand whose padding reads as `pad`.
    #[inline(always)]
    pub(super) fn new(p: &'a Conv, x: Rows<'a, i8>, pad: i8) -> Self {
        let padding = [const { Cell::new(0) }; PADDING];
        padding.iter().for_each(|cell| cell.set(pad));
        // Sizes may be anything: slices are compared with what is made of them before they are read.
        let others = PIXELS.wrapping_sub(1);
        let columns = others.wrapping_mul(p.stride_w).wrapping_add(p.k_w);
        let (run, step) = (p.k_w.wrapping_mul(p.in_c), p.stride_w.wrapping_mul(p.in_c));
        Operand {
            p,
            x,
            padding,
            last: p.in_w.checked_sub(columns).filter(|_| p.dilation_w == 1 && (PIXELS == 2 || p.k_h <= ROWS)),
            run,
            step,
            elements: others.wrapping_mul(step).wrapping_add(run),
        }
    }

    /// The first pixel of a row of the result.
    #[inline(always)]
    pub(super) fn first_of(&self, row: usize) -> Pixel {
        Pixel::new(self.p, self.x, row, 0)
    }

    /// Whether a tile whose first pixel this is reads no padding to the left or right.
    #[inline(always)]
    pub(super) fn is_inside(&self, first: Pixel) -> bool {
        self.last.is_some_and(|last| first.column(0) <= last)
    }

    /// Tiles side by side from such a tile on, at most so many.
    #[inline(always)]
    pub(super) fn run(&self, first: Pixel, most: usize) -> Run<'_, 'a, PIXELS> {
        let left = self.last.unwrap_or(0).wrapping_sub(first.column(0));
        let others = left.checked_div(PIXELS.wrapping_mul(self.p.stride_w)).unwrap_or(most);
        Run { operand: self, first, tiles: most.min(others.saturating_add(1)) }
    }

    /// A word of padding.
    #[inline(always)]
    fn pad(&self) -> i32 {
        let pad = i32::from(self.padding[0].get());
        pad.wrapping_add(pad << 16)
    }

    /// Writes a word for each tap of each two pixels of such a tile, which are side by side. `None` where there is no memory for them.
    #[inline(never)]
    pub(super) fn gather_inside(&self, first: Pixel, words: &[Cell<i32>]) -> Option<()> {
        let Conv { in_c, k_h, dilation_h, .. } = *self.p;
        let start = first.column(0).wrapping_mul(in_c);
        let mut words = words;
        let mut below = 0usize;
        for _ in 0..k_h {
            let image = first.row(self.x, below);
            let (now, behind) = words.split_at_checked(self.run.wrapping_mul(PIXELS / 2))?;
            if image.is_empty() {
                now.iter().for_each(|word| word.set(self.pad()));
            } else {
                let all = image.get(start..start.wrapping_add(self.elements))?;
                let (mut sides, mut from): ([&[_]; PIXELS], _) = ([&[]; PIXELS], 0);
                for side in &mut sides {
                    *side = all.get(from..)?;
                    from = from.wrapping_add(self.step);
                }
                interleave(&sides, self.run, now);
            }
            words = behind;
            below = below.wrapping_add(dilation_h);
        }
        Some(())
    }

    /// The same for any `SOME` pixels, of which there are two or four. There are words for all taps, and at least one tap.
    #[inline(always)]
    pub(super) fn gather<const SOME: usize>(&self, pixels: &[Pixel; SOME], words: &[Cell<i32>]) {
        let Conv { in_w, in_c, k_h, k_w, dilation_h, dilation_w, .. } = *self.p;
        let mut words = words;
        let mut images: [&[Cell<i8>]; SOME] = [&[]; SOME];
        for ky in 0..k_h {
            let below = ky.wrapping_mul(dilation_h);
            for (image, pixel) in images.iter_mut().zip(pixels) {
                *image = pixel.row(self.x, below);
            }
            let mut kx = 0usize;
            while kx < k_w {
                let behind = kx.wrapping_mul(dilation_w);
                // Columns that are side by side, and inside for all pixels.
                let mut columns = if dilation_w == 1 { k_w.wrapping_sub(kx) } else { 1 };
                for (image, pixel) in images.iter().zip(pixels) {
                    let inside = if image.is_empty() { 0 } else { in_w.saturating_sub(pixel.column(behind)) };
                    columns = columns.min(inside);
                }
                // One with padding is written as far as there is padding at once.
                let most = if columns == 0 { PADDING } else { usize::MAX };
                columns = columns.max(1);
                let all = columns.wrapping_mul(in_c);
                let mut c = 0;
                while c < all {
                    let len = most.min(all.wrapping_sub(c));
                    let mut elements = [self.padding.get(..len).unwrap_or(&[]); SOME];
                    for ((elements, image), pixel) in elements.iter_mut().zip(&images).zip(pixels) {
                        let ix = pixel.column(behind);
                        let start = ix.wrapping_mul(in_c).wrapping_add(c);
                        if let (true, Some(there)) = (ix < in_w, image.get(start..start.wrapping_add(len))) {
                            *elements = there;
                        }
                    }
                    interleave(&elements, len, words);
                    words = words.get(len.wrapping_mul(SOME / 2)..).unwrap_or(&[]);
                    c = c.wrapping_add(len);
                }
                kx = kx.wrapping_add(columns);
            }
        }
    }
}
