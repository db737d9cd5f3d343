//! Operands of windows: what the filters read for two or four pixels of the result, in the words that the tiles multiply.

use super::blocks::operand::interleave;
use crate::arch::extent::{product, span, sum};
use crate::arch::pixel::Pixel;
use crate::params::Conv;
use crate::rows::Rows;
use core::cell::Cell;

/// Elements of padding that are read at once.
const PADDING: usize = 32;

/// The operand of a convolution.
pub(super) struct Operand<'a> {
    p: &'a Conv,
    x: Rows<'a, i8>,
    padding: [Cell<i8>; PADDING],
}

impl<'a> Operand<'a> {
    /// An operand whose padding reads as `pad`.
    pub(super) fn new(p: &'a Conv, x: Rows<'a, i8>, pad: i8) -> Self {
        let padding = [const { Cell::new(0) }; PADDING];
        padding.iter().for_each(|cell| cell.set(pad));
        Operand { p, x, padding }
    }

    /// Writes a word for each tap of each two pixels, of which there are two or four. There are words for all taps, and at least one tap.
    #[inline(never)]
    pub(super) fn gather<const PIXELS: usize>(&self, pixels: [Pixel; PIXELS], words: &[Cell<i32>]) {
        let Conv { in_w, in_c, k_h, k_w, dilation_h, dilation_w, .. } = *self.p;
        if self.gather_inside(&pixels, words).is_some() {
            return;
        }
        let mut words = words;
        for ky in 0..k_h {
            let below = ky.wrapping_mul(dilation_h);
            let mut last: (Pixel, &[Cell<i8>]) = (Pixel::default(), &[]);
            let sides = pixels.map(|pixel| {
                // Pixels side by side share a row.
                let image = match pixel.shares_rows(&last.0) {
                    true => last.1,
                    false => pixel.row(self.x, below),
                };
                last = (pixel, image);
                last
            });
            for kx in 0..k_w {
                let elements = sides.map(|(pixel, image)| {
                    let ix = pixel.column(kx.wrapping_mul(dilation_w));
                    let start = ix.wrapping_mul(in_c);
                    image.get(start..start.wrapping_add(in_c)).filter(|_| ix < in_w)
                });
                // Padding is no longer than it has to be.
                let most = if elements.iter().all(Option::is_some) { in_c } else { PADDING };
                let mut c = 0;
                while c < in_c {
                    let len = most.min(in_c.wrapping_sub(c));
                    let padding = self.padding.get(..len).unwrap_or(&[]);
                    let part = |x: Option<&'a [Cell<i8>]>| x.and_then(|x| x.get(c..c.wrapping_add(len)));
                    interleave(elements.map(|x| part(x).unwrap_or(padding)), len, words);
                    words = words.get(len.wrapping_mul(PIXELS / 2)..).unwrap_or(&[]);
                    c = c.wrapping_add(len);
                }
            }
        }
    }

    /// The same for pixels side by side whose taps are all in the operand: those of each pixel lie so many elements behind those of the one before. `None` for other pixels.
    #[inline(always)]
    fn gather_inside<const PIXELS: usize>(
        &self,
        pixels: &[Pixel; PIXELS],
        words: &[Cell<i32>],
    ) -> Option<()> {
        let Conv { in_w, in_c, k_h, k_w, dilation_h, dilation_w, stride_w, .. } = *self.p;
        let (first, last) = (pixels.first()?, pixels.last()?);
        // Pixels come in order: if the last one is as far from the first as it should be, so are those between them.
        let apart = (PIXELS - 1).wrapping_mul(stride_w);
        let columns = sum(apart, k_w);
        let left = first.column(0);
        if dilation_w != 1 || !last.is_behind(first, apart) || columns > in_w || left > in_w - columns {
            return None;
        }
        let (run, step) = (product(k_w, in_c), product(stride_w, in_c));
        let elements = sum(span(PIXELS, step), run);
        let start = left.wrapping_mul(in_c);
        let mut words = words;
        for ky in 0..k_h {
            let image = first.row(self.x, ky.wrapping_mul(dilation_h));
            let all = image.get(start..start.wrapping_add(elements))?;
            let sides = core::array::from_fn(|at| all.get(at.wrapping_mul(step)..).unwrap_or(&[]));
            interleave::<PIXELS>(sides, run, words);
            words = words.get(run.wrapping_mul(PIXELS / 2)..)?;
        }
        Some(())
    }
}
