//! Tiles of one row in plain Rust.

use crate::arch::rv32::singles::{Sums, Tiles};
use core::cell::Cell;

/// Adds the products of the next tile, which has `WORDS` words of filters for each tap, with the elements in `work`, and half of the upper field's unit for each window.
pub(crate) fn add<const WORDS: usize>(tiles: &mut Tiles<'_>, work: &[Cell<i32>], mut sums: Sums) -> Sums {
    if work.len() / 2 < tiles.size() || tiles.words() != WORDS {
        return sums;
    }
    let (w, mut work, mut before) = (tiles.next(), work, 0);
    let mut len = 1;
    for _ in 0..w.first().map_or(0, |&windows| windows) {
        let Some(taps) = w.get(len).map(|&taps| taps as usize) else { break };
        let (Some(weights), Some(window)) = (w.get(len + 1..len + 1 + WORDS * taps), work.get(..2 * taps))
        else {
            break;
        };
        let behind = window.last().map_or(0, Cell::get);
        let correction = (1i32 << 15).wrapping_add(before).wrapping_sub(behind);
        for (at, [q, h]) in sums.iter_mut().enumerate().take(2 * WORDS) {
            let products = window
                .chunks_exact(2)
                .zip(weights.chunks_exact(WORDS.max(1)))
                .filter_map(|(x, w)| Some((x.first()?.get(), w.get(at / 2)? >> (8 * (at % 2)) & 0x00ff_00ff)))
                .map(|(x, weights)| x.wrapping_mul(weights));
            let sum = products.fold(correction, i32::wrapping_add);
            *q = q.wrapping_add(sum);
            *h = h.wrapping_add(sum >> 16);
        }
        (work, before) = (work.get(2 * taps..).unwrap_or(&[]), behind);
        len += 1 + WORDS * taps;
    }
    tiles.skip(len);
    sums
}
