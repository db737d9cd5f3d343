//! One pixel and eight filters.

use super::sum;
use crate::arch::mve::affine::End;
use crate::arch::mve::dense::{eight_words, Eights};
use crate::arch::mve::VECTOR_WORDS;

/// All eights for a pixel with so many taps. Nothing happens where the slices are too short.
pub(crate) fn eights_of<const TAPS: usize, const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(
    t: Eights<'_>,
) {
    if t.x.len() == TAPS {
        eights_of_any::<SHIFT, EXACT, CLAMPED>(t);
    }
}

/// As [`eights_of`], for any number of taps.
pub(crate) fn eights_of_any<const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(t: Eights<'_>) {
    let end = End::of(SHIFT, EXACT, CLAMPED);
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
