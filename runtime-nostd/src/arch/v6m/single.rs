//! Tiles of one pixel and four filters.
//!
//! A tap has one word of weights, 128 more than they are: filters 0, 2, 1, 3 from the lowest byte on. With every second byte taken out, the word is
//! weights 1 · 2¹⁶ + 0, or 3 · 2¹⁶ + 2, of which one multiplication makes two products.
//!
//! Windows of eight taps have weights whose sums fit, and rests, as those of pairs do ([`pair`](super::pair)). A word behind a tile's weights has the numbers of rests of its filters.

use super::blocks::single::{run, run_wide};
use super::operand::PART;
use super::pair::NAMED;
use crate::arch::extent::product;
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

/// Taps of a wide window.
pub(super) const WIDE: usize = 8;

/// As [`add`] with `windows` windows of eight taps. Weights and rests of these tiles are behind then; `None` where any are missing.
pub(super) fn add_wide(
    words: &[Cell<i32>; NAMED],
    windows: usize,
    w: &mut &[i32],
    rests: &mut &[i8],
    sums: &[Cell<i32>],
) -> Option<()> {
    let tiles = sums.len() / 4;
    if !(1..=PART / WIDE).contains(&windows) {
        return None;
    }
    let tile = WIDE * windows + 1;
    let (these, others) = w.split_at_checked(product(tile, tiles))?;
    let numbers = these.chunks_exact(tile).filter_map(|tile| tile.last());
    let sum = |sum: usize, number: u8| sum.wrapping_add(usize::from(number));
    let count = numbers.flat_map(|numbers| numbers.to_le_bytes()).fold(0, sum);
    let (these_rests, other_rests) = rests.split_at_checked(product(2, count))?;
    (*w, *rests) = (others, other_rests);
    run_wide(words, windows, these, these_rests, sums, tiles);
    Some(())
}

/// The words of windows of eight taps of one pixel: their elements, zeros for those that are missing, and (1 + 2¹⁶) · 128 · (255 − their sum). Returns how many windows there are.
#[inline(never)]
pub(super) fn gather_wide(x: &[Cell<i8>], words: &[Cell<i32>; NAMED]) -> usize {
    let mut windows = 0;
    for (x, words) in x.chunks(WIDE).zip(words.chunks_exact(WIDE + 1)) {
        let Some((correction, words)) = words.split_last() else { break };
        let mut left = 255i32;
        let mut elements = x.iter();
        for word in words {
            let x = elements.next().map_or(0, |x| i32::from(x.get()));
            word.set(x);
            left = left.wrapping_sub(x);
        }
        let low = left << 7;
        correction.set(low.wrapping_add(low << 16));
        windows += 1;
    }
    windows
}
