//! One pixel and eight filters.

use super::sum;
use crate::arch::extent::product;
use crate::arch::mve::affine::{End, Stored};
use crate::arch::mve::dense::{eight_words, Eights};
use crate::arch::mve::{LANES, VECTOR_WORDS};
use core::cell::Cell;

/// All eights for a pixel with so many taps. Nothing happens where the slices are too short.
pub(crate) fn eights_of<const TAPS: usize, const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(
    t: Eights<'_, i8>,
) {
    if t.x.len() == TAPS {
        eights_of_any::<i8, SHIFT, EXACT, CLAMPED, false>(t);
    }
}

/// As [`eights_of`], for any number of taps.
pub(crate) fn eights_of_any<
    T: Stored,
    const SHIFT: u32,
    const EXACT: bool,
    const CLAMPED: bool,
    const LEFT: bool,
>(
    t: Eights<'_, T>,
) {
    let end = if LEFT { End::Exact { clamped: CLAMPED, left: true } } else { End::of(SHIFT, EXACT, CLAMPED) };
    let eight = eight_words(t.x.len(), end);
    if !t.fit(eight) {
        return;
    }
    for (results, w) in t.y.chunks_exact(8).zip(t.w.chunks_exact(eight)) {
        let (w, words) = w.split_at(eight - 2 * VECTOR_WORDS * end.words());
        for (f, y) in results.iter().enumerate() {
            // Even filters, then odd ones.
            let word =
                |what: usize| words.get(VECTOR_WORDS * (2 * what + f % 2) + f / 2).copied().unwrap_or(0);
            y.set(end.result(sum(w, t.x, 8, f), word));
        }
    }
}

/// The sums of eight filters without first values; zeros where there are fewer weights.
pub(crate) fn sums_of_eight(w: &[i32], x: &[Cell<i8>]) -> [i32; 8] {
    let mut sums = [0; 8];
    if w.len() >= product(x.len().div_ceil(LANES), 8 * VECTOR_WORDS) {
        sums.iter_mut().enumerate().for_each(|(f, of)| *of = sum(w, x, 8, f));
    }
    sums
}
