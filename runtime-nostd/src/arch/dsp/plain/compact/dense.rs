//! Products of matrices and vectors in plain Rust.

use crate::arch::dsp::affine::{quad, requant_words};
use crate::arch::dsp::tile::FIRST_WORDS;
use crate::params::CompactDense;
use core::cell::Cell;

/// Results of all filters for one row.
pub(crate) unsafe fn block(p: &CompactDense<'_>, x: &[Cell<i8>], y: &[Cell<i8>]) {
    let words = FIRST_WORDS + x.len() + requant_words(p.signed);
    for (y, w) in y.chunks(4).zip(p.weights.chunks_exact(words)) {
        let (first, taps) = w.split_at(FIRST_WORDS);
        let mut sums = [0; 4];
        for (half, (sums, first)) in sums.chunks_exact_mut(2).zip(first.chunks_exact(2)).enumerate() {
            let (&mut [ref mut low, ref mut high], &[a, ab]) = (sums, first) else { return };
            let (mut even, mut both) = (a, ab);
            for (i, w) in taps.iter().take(x.len()).skip(half).step_by(2).enumerate() {
                // Of each four elements the first and the third, then the second and the fourth.
                for (tap, w) in [(i / 2 * 4 + i % 2, *w), (i / 2 * 4 + i % 2 + 2, w >> 16)] {
                    let x = x.get(tap).map_or(0, |x| i32::from(x.get()));
                    even = even.wrapping_add(x * i32::from(w as i8));
                    both = both.wrapping_add(x * i32::from(w as i16));
                }
            }
            (*low, *high) = (even, both.wrapping_sub(even));
        }
        let results = quad(sums, 8, w, p.shift, p.signed);
        y.iter().zip(results).for_each(|(y, result)| y.set(result));
    }
}
