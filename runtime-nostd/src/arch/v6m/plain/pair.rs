//! Tiles of two pixels and two or three filters in plain Rust.

use crate::arch::v6m::pair::{First, Part, Work};
use crate::kernels::HalfRequant;
use core::cell::Cell;

impl Work<'_> {
    /// Adds the products of `count` tiles of so many filters to the accumulators of `sums`.
    pub(crate) fn run(&self, filters: usize, count: usize, w: &[i8], sums: &[Cell<i32>]) {
        let tile = 2 * filters * self.windows;
        if sums.len() < 2 * filters * count || w.len() != tile * count {
            return;
        }
        for (o, sums) in sums.chunks_exact(2).take(filters * count).enumerate() {
            let [q, h] = sums else { return };
            let sum = self.sum(filters, o, w, (q.get(), h.get()));
            q.set(sum.0);
            h.set(sum.1);
        }
    }

    /// The accumulators of a filter behind its windows.
    fn sum(&self, filters: usize, o: usize, w: &[i8], first: (i32, i32)) -> (i32, i32) {
        let (tile, lane) = (2 * filters * self.windows, o % filters.max(1));
        let w = w.get(o / filters.max(1) * tile..).unwrap_or(&[]);
        let (mut q, mut h) = first;
        let windows = self.words.chunks_exact(3).zip(w.chunks_exact((2 * filters).max(1))).take(self.windows);
        for (words, w) in windows {
            let [x0, x1, correction] = words else { break };
            let weight = |tap: usize| w.get(tap * filters + lane).map_or(0, |&w| i32::from(w as u8));
            let window = (x0.get().wrapping_mul(weight(0)))
                .wrapping_add(x1.get().wrapping_mul(weight(1)))
                .wrapping_add(correction.get());
            (q, h) = (q.wrapping_add(window), h.wrapping_add(window >> 16));
        }
        (q, h)
    }
}

/// Filters whose sums become results.
pub(crate) struct Blocks<'a> {
    work: Work<'a>,
    parts: [Part<'a>; 2],
    q: &'a HalfRequant<'a>,
}

impl<'a> Blocks<'a> {
    pub(crate) fn new(work: Work<'a>, parts: [Part<'a>; 2], q: &'a HalfRequant<'a>) -> Self {
        Blocks { work, parts, q }
    }

    /// Results of both pixels, of all filters. The pixels may be the same. Nothing is written where there is no memory for them.
    pub(crate) fn run(&mut self, [mut a, mut b]: [&[Cell<i8>]; 2]) {
        let all: usize = self.parts.iter().map(|part| part.filters * part.count).sum();
        if a.len() < all || b.len() < all {
            return;
        }
        for Part { filters, count, w, first, channels } in &self.parts {
            let constants = channels.chunks_exact(self.q.words.max(1));
            for (o, (channel, (a, b))) in constants.zip(a.iter().zip(b)).take(filters * count).enumerate() {
                let first = |at: usize| match first {
                    First::Constant(all) => all.get(at).copied().unwrap_or(0),
                    First::Kept(all) => all.get(at).map_or(0, Cell::get),
                };
                let (q, h) = self.work.sum(*filters, o, w, (first(2 * o), first(2 * o + 1)));
                b.set(self.q.result(h, channel));
                a.set(self.q.result(q.wrapping_sub(h << 16), channel));
            }
            [a, b] = [a, b].map(|out| out.get(filters * count..).unwrap_or(&[]));
        }
    }
}
