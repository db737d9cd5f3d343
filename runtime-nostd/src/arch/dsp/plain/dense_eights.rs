//! Eight filters of single pixels in plain Rust.

use super::dense::sums;
use crate::arch::dsp::taps::{eight_words, Taps};
use crate::arch::dsp::tile::requantised;
use core::cell::Cell;

/// Results of eights of filters, requantised.
pub(crate) unsafe fn eights<const SHIFT: u32, const SIGNED: bool>(
    taps: &Taps<'_>,
    w: &[i32],
    y: &[Cell<i8>],
) {
    for (y, w) in y.chunks_exact(8).zip(w.chunks_exact(eight_words(taps.pairs(), SIGNED))) {
        let (sums, tail) = (sums::<4>(taps, w), w.get(8 + 4 * taps.pairs()..));
        let tail = tail.unwrap_or(&[]);
        let (corrections, factors) = tail.split_at(tail.len().saturating_sub(16));
        for (half, (y, sums)) in y.chunks_exact(4).zip(sums.chunks_exact(2)).enumerate() {
            let &[[a, b], [c, d]] = sums else { break };
            // As at the end of a quad.
            let (mut end, from) = ([0; 12], if SIGNED { 0 } else { 4 });
            let quad = corrections.iter().skip(4 * half).take(4).chain(factors.iter().skip(8 * half).take(8));
            end.iter_mut().skip(from).zip(quad).for_each(|(to, word)| *to = *word);
            let results = requantised::<SHIFT, SIGNED>(0, [a, b, c, d], &end);
            y.iter().zip(results).for_each(|(y, result)| y.set(result));
        }
    }
}
