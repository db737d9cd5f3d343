//! Tiles in plain Rust.

use core::cell::Cell;

/// Accumulators `q` and `h`: of the first filter with the first word of a tap, with the second one if there is one, of the next filter.
pub(crate) type Sums = [[i32; 2]; 6];

/// Adds the products of `FILTERS` filters with `EACH` words of each tap, in windows of so many taps.
pub(crate) fn add<const EACH: usize, const FILTERS: usize>(
    window: usize,
    words: &[Cell<i32>],
    w: &[i8],
    sums: &mut Sums,
) {
    let windows = words.chunks_exact((window * EACH).max(1)).zip(w.chunks_exact((window * FILTERS).max(1)));
    for (words, w) in windows {
        for (at, [q, h]) in sums.iter_mut().enumerate().take(EACH * FILTERS) {
            let weights = w.iter().skip(at / EACH).step_by(FILTERS);
            let words = words.iter().skip(at % EACH).step_by(EACH);
            let product = |(x, &w): (&Cell<i32>, &i8)| x.get().wrapping_mul(w.into());
            let sum = words.zip(weights).map(product).fold(0, i32::wrapping_add);
            *q = q.wrapping_add(sum);
            *h = h.wrapping_add(sum.wrapping_add(1 << 15) >> 16);
        }
    }
}
