//! Tiles of one pixel and four filters in plain Rust.

use core::cell::Cell;

/// The products of `windows` windows, at least one, for so many tiles.
pub(crate) fn run(words: &[Cell<i32>], windows: usize, w: &[i32], sums: &[Cell<i32>], tiles: usize) {
    for (w, sums) in w.chunks_exact(2 * windows).zip(sums.chunks_exact(4)).take(tiles) {
        for (words, w) in words.chunks_exact(3).zip(w.chunks_exact(2)) {
            let ([x0, x1, correction], [w0, w1], [q0, h0, q1, h1]) = (words, w, sums) else { return };
            for (shift, q, h) in [(0, q0, h0), (8, q1, h1)] {
                let product = |x: &Cell<i32>, w: i32| x.get().wrapping_mul(w >> shift & 0x00ff_00ff);
                let window = product(x0, *w0).wrapping_add(product(x1, *w1)).wrapping_add(correction.get());
                q.set(q.get().wrapping_add(window));
                h.set(h.get().wrapping_add((window as u32 >> 16) as i32));
            }
        }
    }
}
