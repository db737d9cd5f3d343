//! Tiles of two pixels and two or three filters in plain Rust.

use crate::arch::v6m::pair::{First, Sums, Work};
use core::cell::Cell;

impl Work<'_> {
    /// Runs `count` tiles of so many filters.
    pub(crate) fn run(&self, filters: usize, count: usize, w: &[i8], sums: Sums<'_>) {
        let tile = 2 * filters * self.windows;
        let windows = self.windows;
        if !sums.suffice(filters * count) || w.len() != tile * count || windows > self.words.len() / 3 {
            return;
        }
        for o in 0..filters * count {
            let (Some(w), lane) = (w.get(o / filters * tile..), o % filters) else { return };
            let pair = |at: usize| match &sums {
                Sums::Kept(sums) => sums.get(at).map_or(0, Cell::get),
                Sums::Finished { first: First::Constant(first), .. } => first.get(at).copied().unwrap_or(0),
                Sums::Finished { first: First::Kept(first), .. } => first.get(at).map_or(0, Cell::get),
            };
            let (mut q, mut h) = (pair(2 * o), pair(2 * o + 1));
            let windows = self.words.chunks_exact(3).zip(w.chunks_exact((2 * filters).max(1))).take(windows);
            for (words, w) in windows {
                let [x0, x1, correction] = words else { return };
                let weight = |tap: usize| w.get(tap * filters + lane).map_or(0, |&w| i32::from(w as u8));
                let window = (x0.get().wrapping_mul(weight(0)))
                    .wrapping_add(x1.get().wrapping_mul(weight(1)))
                    .wrapping_add(correction.get());
                (q, h) = (q.wrapping_add(window), h.wrapping_add(window >> 16));
            }
            match &sums {
                Sums::Kept(sums) => {
                    for (at, value) in [(2 * o, q), (2 * o + 1, h)] {
                        if let Some(sum) = sums.get(at) {
                            sum.set(value);
                        }
                    }
                }
                Sums::Finished { channels, q: requant, out, .. } => {
                    for (v, out) in [h, q.wrapping_sub(h << 16)].into_iter().zip(out.iter().rev()) {
                        let (Some(channel), Some(out)) = (channels.get(requant.words * o..), out.get(o))
                        else {
                            return;
                        };
                        out.set(requant.result(v, channel));
                    }
                }
            }
        }
    }
}
