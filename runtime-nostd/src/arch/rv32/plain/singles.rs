//! Tiles of one row in plain Rust.

use crate::arch::rv32::singles::{Sums, Tiles};
use core::cell::Cell;

/// Adds the products of the next tile, which has `WORDS` words of filters for each tap, with the elements of `x`, and half of the upper field's unit for each window.
pub(crate) fn add<const WORDS: usize>(tiles: &mut Tiles<'_>, x: &[Cell<i8>], mut sums: Sums) -> Sums {
    if x.len() < tiles.size() || tiles.words() != WORDS {
        return sums;
    }
    let (w, mut x) = (tiles.next(), x);
    let mut len = 1;
    for _ in 0..w.first().map_or(0, |&windows| windows) {
        let Some(taps) = w.get(len).map(|&taps| taps as usize) else { break };
        let (Some(weights), Some(window)) = (w.get(len + 1..len + 1 + WORDS * taps), x.get(..taps)) else {
            break;
        };
        // All weights are too large by 128, in both fields.
        let sum = window.iter().fold(0, |sum: i32, x| sum.wrapping_add(x.get().into()));
        let correction = (1i32 << 15).wrapping_sub(sum.wrapping_mul(128 << 16 | 128));
        for (at, [q, h]) in sums.iter_mut().enumerate().take(2 * WORDS) {
            let products = window
                .iter()
                .zip(weights.chunks_exact(WORDS.max(1)))
                .filter_map(|(x, w)| {
                    Some((i32::from(x.get()), w.get(at / 2)? >> (8 * (at % 2)) & 0x00ff_00ff))
                })
                .map(|(x, weights)| x.wrapping_mul(weights));
            let sum = products.fold(correction, i32::wrapping_add);
            *q = q.wrapping_add(sum);
            *h = h.wrapping_add(sum >> 16);
        }
        x = x.get(taps..).unwrap_or(&[]);
        len += 1 + WORDS * taps;
    }
    tiles.skip(len);
    sums
}
