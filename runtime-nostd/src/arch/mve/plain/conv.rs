//! Tiles of two pixels and four filters.

use super::sum;
use crate::arch::mve::affine::End;
use crate::arch::mve::conv::{quad_words, Tiles};
use crate::arch::mve::VECTOR_WORDS;

/// All quads for pairs of pixels with so many taps. Nothing happens where the slices are too short.
pub(crate) fn pairs_of_pixels<const TAPS: usize, const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(
    t: Tiles<'_>,
) {
    pairs_of_any::<SHIFT, EXACT, CLAMPED>(t, TAPS);
}

/// As [`pairs_of_pixels`], for any number of taps.
pub(crate) fn pairs_of_any<const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(
    t: Tiles<'_>,
    taps: usize,
) {
    quads(t, taps, End::of(SHIFT, EXACT, CLAMPED), 2 * t.pairs);
}

/// All quads for so many pixels.
pub(super) fn quads(t: Tiles<'_>, taps: usize, end: End, pixels: usize) {
    let quad = quad_words(taps, end);
    if !t.fit(taps, quad) {
        return;
    }
    for pixel in 0..pixels {
        let Some(x) = t.x.get(pixel * t.x_step..pixel * t.x_step + taps) else { return };
        for (q, w) in t.w.chunks_exact(quad).enumerate().take(t.quads) {
            let (w, words) = w.split_at(quad - VECTOR_WORDS * end.words());
            for f in 0..4 {
                let word = |what: usize| words.get(VECTOR_WORDS * what + f).copied().unwrap_or(0);
                let result = end.result(sum(w, x, 4, f), word);
                if let Some(y) = t.y.get(pixel * t.y_step + 4 * q + f) {
                    y.set(result);
                }
            }
        }
    }
}
