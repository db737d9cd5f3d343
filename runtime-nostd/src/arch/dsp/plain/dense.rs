//! Four filters of single pixels in plain Rust.

use super::conv::{smlad, sxtb16};
use crate::arch::dsp::affine::requant_words;
use crate::arch::dsp::taps::{Run, Taps};
use crate::arch::dsp::tile::requantised;
use core::cell::Cell;

impl<'a> Taps<'a> {
    /// The runs, in the order in which they were added.
    fn runs(&self) -> impl Iterator<Item = &'a [Cell<i8>]> + '_ {
        self.runs.iter().take(self.len).map(|run| {
            // SAFETY: as many have been written, one after the other: each of them is what a slice holds.
            unsafe {
                let Run { x, end, .. } = run.assume_init_ref();
                core::slice::from_raw_parts(*x, end.offset_from(*x) as usize + self.rest)
            }
        })
    }
}

/// Results of all filters, requantised.
pub(crate) unsafe fn quads<const SHIFT: u32, const SIGNED: bool>(taps: &Taps<'_>, w: &[i32], y: &[Cell<i8>]) {
    for (y, w) in y.chunks(4).zip(w.chunks_exact(taps.quad_words() + requant_words(SIGNED))) {
        let [[a, b], [c, d]] = sums::<2>(taps, w);
        let results = requantised::<SHIFT, SIGNED>(0, [a, b, c, d], w);
        y.iter().zip(results).for_each(|(y, result)| y.set(result));
    }
}

/// Sums of the filters of one quad.
pub(crate) unsafe fn sums_of_quad(taps: &Taps<'_>, w: &[i32], quad: &mut [i32; 4]) {
    let [[a, b], [c, d]] = sums::<2>(taps, w);
    *quad = [a, b, c, d];
}

/// Sums of as many pairs of filters as there are words for a pair of taps: A and 256 · B of each.
pub(super) fn sums<const WORDS: usize>(taps: &Taps<'_>, w: &[i32]) -> [[i32; 2]; WORDS] {
    let (first, w) = w.split_at_checked(2 * WORDS).unwrap_or_default();
    let mut sums = [[0; 2]; WORDS];
    sums.iter_mut().flatten().zip(first).for_each(|(sum, first)| *sum = *first);
    let mut w = w.chunks_exact(WORDS);
    let mut add = |i: i8, j: i8| {
        let x = (i16::from(i) as u16 as u32 | (i16::from(j) as u16 as u32) << 16) as i32;
        for ([a, ab], h) in sums.iter_mut().zip(w.next().unwrap_or(&[])) {
            (*a, *ab) = (smlad(x, sxtb16(*h), *a), smlad(x, *h, *ab));
        }
    };
    for run in taps.runs() {
        let words = run.chunks_exact(4);
        let rest = words.remainder();
        for word in words {
            let [x0, x1, x2, x3] = word else { break };
            add(x0.get(), x2.get());
            add(x1.get(), x3.get());
        }
        for pair in rest.chunks(2) {
            if let [x0, behind @ ..] = pair {
                add(x0.get(), behind.first().map_or(0, Cell::get));
            }
        }
    }
    sums.map(|[a, ab]| [a, ab.wrapping_sub(a)])
}
