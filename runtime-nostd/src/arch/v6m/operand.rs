//! Operands of windows: what the filters read for a pixel of the result, or for two, in the words that the tiles multiply.

use super::blocks::operand::interleave;
use crate::arch::extent::product;
use crate::arch::pixel::Pixel;
use crate::params::Conv;
use crate::rows::Rows;
use core::cell::Cell;

/// Most taps whose operands are held at once: the taps of a filter are taken in parts of at most that many.
pub(crate) const PART: usize = 144;

/// Words for them: one for each tap, and one for each window.
pub(crate) const WORDS: usize = PART / 2 * 3;

/// The operand of a convolution, whose windows have so many taps.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a, const TAPS: usize> {
    pub p: &'a Conv,
    pub x: Rows<'a, i8>,
    /// What padding reads as.
    pub pad: i8,
    /// For taps that do not lie side by side.
    pub gathered: &'a Gathered,
}

/// Taps of two pixels.
pub(super) struct Gathered([[Cell<i8>; PART]; 2]);

impl Default for Gathered {
    fn default() -> Self {
        Gathered([const { [const { Cell::new(0) }; PART] }; 2])
    }
}

/// A tap: row of the filter, and element within the row. Rows are counted as long as their windows, whose last taps may be none.
#[derive(Clone, Copy, Default)]
pub(super) struct Tap {
    pub ky: usize,
    pub at: usize,
}

impl<const TAPS: usize> Operand<'_, TAPS> {
    /// Writes the words of `taps` taps from `from` on, for both pixels, and returns the tap behind them.
    pub(super) fn pairs(&self, pixels: [Pixel; 2], from: Tap, taps: usize, words: &[Cell<i32>]) -> Tap {
        self.parts(from, taps, words, |at, len, buffers, words| {
            let ([a, b], [buffer_a, buffer_b]) = (pixels, buffers);
            interleave::<TAPS>(self.run(a, at, len, buffer_a), self.run(b, at, len, buffer_b), words);
        })
    }

    /// As [`Operand::pairs`] for all taps, of which there are so many.
    #[inline(always)]
    pub(super) fn all_of_two(&self, [a, b]: [Pixel; 2], size: usize, words: &[Cell<i32>]) {
        let Conv { in_w, k_w, stride_w, dilation_w, .. } = *self.p;
        let right = in_w.checked_sub(a.left).and_then(|columns| columns.checked_sub(stride_w));
        let is_inside =
            dilation_w == 1 && right.is_some_and(|right| k_w <= right) && b == a.further(stride_w);
        if !is_inside || self.side_by_side(a, words).is_none() {
            self.pairs([a, b], Tap::default(), size, words);
        }
    }

    /// The same of two pixels side by side that read no padding to the left or right, of which this is the first one; `None` where elements are missing.
    #[inline(never)]
    fn side_by_side(&self, first: Pixel, words: &[Cell<i32>]) -> Option<()> {
        let Conv { in_c, k_h, stride_w, dilation_h, .. } = *self.p;
        let (row, step) = (self.row(), stride_w.wrapping_mul(in_c));
        let start = first.left.wrapping_mul(in_c);
        let (mut words, mut below) = (words, 0usize);
        for _ in 0..k_h {
            let image = first.row(self.x, below);
            let (now, behind) = words.split_at_checked(words_of::<TAPS>(row))?;
            if image.is_empty() {
                fill::<TAPS>(self.pad, now);
            } else {
                let a = image.get(start..)?;
                let b = a.get(step..).filter(|b| b.len() >= row)?;
                interleave::<TAPS>(a.get(..row)?, b, now);
            }
            words = behind;
            below = below.wrapping_add(dilation_h);
        }
        Some(())
    }

    /// Taps of a row, filled up to whole windows.
    #[inline(always)]
    pub(super) fn row(&self) -> usize {
        let row = self.p.k_w.wrapping_mul(self.p.in_c);
        row.wrapping_add(row.wrapping_neg() % TAPS.max(1))
    }

    /// As [`Operand::pairs`] for one pixel.
    pub(super) fn singles(&self, pixel: Pixel, from: Tap, taps: usize, words: &[Cell<i32>]) -> Tap {
        self.parts(from, taps, words, |at, len, [buffer, _], words| {
            single(self.run(pixel, at, len, buffer), words);
        })
    }

    /// Calls `write` for the taps of each row of the filter, with the words to write.
    #[inline(always)]
    fn parts(
        &self,
        from: Tap,
        taps: usize,
        words: &[Cell<i32>],
        write: impl Fn(Tap, usize, [&[Cell<i8>]; 2], &[Cell<i32>]),
    ) -> Tap {
        let row = self.row();
        let (mut at, mut done) = (from, 0);
        while done < taps {
            let len = row.saturating_sub(at.at).min(taps - done);
            let Some(words) = words.get(words_of::<TAPS>(done)..) else { break };
            let [a, b] = &self.gathered.0;
            write(at, len, [a, b], words);
            at.at += len;
            if at.at >= row {
                at = Tap { ky: at.ky.wrapping_add(1), at: 0 };
            }
            done += len.max(1);
        }
        at
    }

    /// `len` elements of one row of taps: where they are, or gathered. What a row is filled up with may be anything.
    #[inline(never)]
    fn run<'b>(&'b self, pixel: Pixel, tap: Tap, len: usize, buffer: &'b [Cell<i8>]) -> &'b [Cell<i8>] {
        let Conv { in_w, in_c, k_w, dilation_h, dilation_w, .. } = *self.p;
        let image = pixel.row(self.x, tap.ky.wrapping_mul(dilation_h));
        if dilation_w == 1 {
            // Taps lie side by side. What a row is filled up with has no weight, and may be anything.
            let start = pixel.left.wrapping_mul(in_c).wrapping_add(tap.at);
            if pixel.left < in_w && k_w <= in_w.wrapping_sub(pixel.left) {
                if let Some(x) = image.get(start..start.wrapping_add(len)) {
                    return x;
                }
            }
            return self.clipped(image, start, buffer.get(..len).unwrap_or(&[]));
        }
        let buffer = buffer.get(..len).unwrap_or(&[]);
        let (mut kx, mut c) = (0, tap.at);
        while c >= in_c && kx < k_w {
            (kx, c) = (kx + 1, c - in_c);
        }
        let mut done = 0;
        while let Some(cells @ [_, ..]) = buffer.get(done..) {
            let ix = pixel.column(kx.wrapping_mul(dilation_w));
            let start = ix.wrapping_mul(in_c).wrapping_add(c);
            let count = if kx < k_w { in_c.saturating_sub(c).min(cells.len()) } else { cells.len() };
            let x = if kx < k_w && ix < in_w { image.get(start..start.wrapping_add(count)) } else { None };
            match x {
                Some(x) => cells.iter().zip(x).for_each(|(cell, x)| cell.set(x.get())),
                None => cells.iter().take(count).for_each(|cell| cell.set(self.pad)),
            }
            (kx, c) = (kx + 1, 0);
            done += count.max(1);
        }
        buffer
    }

    /// Elements of a row side by side, from element `start` on. Those left of the row, whose `start` is wrapped, and right of it are padding.
    #[inline(never)]
    fn clipped<'b>(&self, image: &[Cell<i8>], start: usize, buffer: &'b [Cell<i8>]) -> &'b [Cell<i8>] {
        buffer.iter().for_each(|cell| cell.set(self.pad));
        let (first, skipped) = if (start as isize) < 0 { (0, start.wrapping_neg()) } else { (start, 0) };
        let columns = image.get(..product(self.p.in_w, self.p.in_c)).unwrap_or(image);
        let cells = buffer.get(skipped..).unwrap_or(&[]);
        for (cell, x) in cells.iter().zip(columns.get(first..).unwrap_or(&[])) {
            cell.set(x.get());
        }
        buffer
    }
}

/// Words of the windows of so many taps.
#[inline(always)]
const fn words_of<const TAPS: usize>(taps: usize) -> usize {
    (taps / if TAPS > 0 { TAPS } else { 1 }).wrapping_mul(TAPS + 1)
}

/// The words of windows of two pixels whose taps are all the same.
#[inline(never)]
fn fill<const TAPS: usize>(pad: i8, words: &[Cell<i32>]) {
    let both = i32::from(pad).wrapping_mul(0x1_0001);
    let correction = 255i32.wrapping_sub(both.wrapping_mul(TAPS as i32)).wrapping_shl(7);
    for words in words.chunks_exact(TAPS + 1) {
        words.iter().for_each(|word| word.set(both));
        if let Some(word) = words.last() {
            word.set(correction);
        }
    }
}

/// The words of windows of one pixel: for each two taps their elements, and (1 + 2¹⁶) · 128 · (255 − their sum).
fn single(a: &[Cell<i8>], words: &[Cell<i32>]) {
    for (a, words) in a.chunks_exact(2).zip(words.chunks_exact(3)) {
        let ([a0, a1], [first, second, correction]) = (a, words) else { return };
        let (x0, x1) = (i32::from(a0.get()), i32::from(a1.get()));
        first.set(x0);
        second.set(x1);
        let low = (255 - x0 - x1) << 7;
        correction.set(low.wrapping_add(low.wrapping_shl(16)));
    }
}
