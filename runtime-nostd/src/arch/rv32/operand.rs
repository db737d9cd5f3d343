//! Operands of windows: what the filters read for two or four pixels of the result, in the words that the tiles multiply.

use super::blocks::operand::interleave;
use crate::arch::pixel::Pixel;
use crate::params::Conv;
use crate::rows::Rows;
use core::cell::Cell;

/// Elements of padding that are read at once.
const PADDING: usize = 32;

/// The operand of a convolution in tiles of `PIXELS` pixels: two or four.
pub(super) struct Operand<'a, const PIXELS: usize> {
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
            last: p.in_w.checked_sub(columns).filter(|_| p.dilation_w == 1),
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
                let pad = i32::from(self.padding[0].get());
                now.iter().for_each(|word| word.set(pad.wrapping_add(pad << 16)));
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
