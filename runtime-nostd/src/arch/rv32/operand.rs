//! Operands of windows: what the filters read for two pixels of the result, in the words that the tiles multiply.

use super::blocks::operand::interleave;
use crate::arch::extent::product;
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

    /// Writes a word for each tap of both pixels, `EACH` words from one to the next. There are words for all taps, and at least one tap.
    #[inline(never)]
    pub(super) fn gather<const EACH: usize>(&self, pixels: [Pixel; 2], words: &[Cell<i32>]) {
        let Conv { in_w, in_c, k_h, k_w, dilation_h, dilation_w, .. } = *self.p;
        let run = product(k_w, in_c);
        let mut words = words;
        let mut put = |a: &[Cell<i8>], b: &[Cell<i8>]| {
            interleave::<EACH>(a, b, words);
            words = words.get(a.len().wrapping_mul(EACH)..).unwrap_or(&[]);
        };
        for ky in 0..k_h {
            let sides = pixels.map(|pixel| (pixel, pixel.row(self.x, ky.wrapping_mul(dilation_h))));
            // Taps that lie side by side in the operand.
            if dilation_w == 1 {
                let [a, b] = sides.map(|(pixel, image)| {
                    let left = pixel.column(0);
                    let inside = left < in_w && k_w <= in_w.wrapping_sub(left);
                    let start = left.wrapping_mul(in_c);
                    image.get(start..start.wrapping_add(run)).filter(|_| inside)
                });
                if let (Some(a), Some(b)) = (a, b) {
                    put(a, b);
                    continue;
                }
            }
            for kx in 0..k_w {
                let [a, b] = sides.map(|(pixel, image)| {
                    let ix = pixel.column(kx.wrapping_mul(dilation_w));
                    let start = ix.wrapping_mul(in_c);
                    image.get(start..start.wrapping_add(in_c)).filter(|_| ix < in_w)
                });
                if let (Some(a), Some(b)) = (a, b) {
                    put(a, b);
                    continue;
                }
                let mut c = 0;
                while c < in_c {
                    let len = PADDING.min(in_c.wrapping_sub(c));
                    let padding = self.padding.get(..len).unwrap_or(&[]);
                    let part = |x: Option<&'a [Cell<i8>]>| x.and_then(|x| x.get(c..c.wrapping_add(len)));
                    put(part(a).unwrap_or(padding), part(b).unwrap_or(padding));
                    c = c.wrapping_add(len);
                }
            }
        }
    }
}
