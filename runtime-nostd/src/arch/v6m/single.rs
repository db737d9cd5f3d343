//! Tiles of one pixel and four filters.
//!
//! A tap has one word of weights, 128 more than they are: filters 0, 2, 1, 3 from the lowest byte on. With every second byte taken out, the word is
//! weights 1 · 2¹⁶ + 0, or 3 · 2¹⁶ + 2, of which one multiplication makes two products.

use super::blocks::single::run;
use core::cell::Cell;

/// Adds the products of `windows` windows to the accumulators of tiles: `q` and `h` of filters 0 and 1, then those of 2 and 3. Weights that are missing end it.
pub(crate) fn add(words: &[Cell<i32>], windows: usize, w: &[i32], sums: &[Cell<i32>]) {
    let size = 2 * windows;
    let tiles = sums.len() / 4;
    if windows == 0 || windows > words.len() / 3 || w.len() < size * tiles {
        return;
    }
    run(words, windows, w, sums, tiles);
}
