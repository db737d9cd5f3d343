//! Tiles of two pixels and two or three filters in plain Rust.

use crate::arch::v6m::pair::{First, Part, Weights, Work};
use crate::kernels::HalfRequant;
use core::cell::Cell;

impl<const TAPS: usize> Work<'_, TAPS> {
    /// Adds the products of `count` tiles of so many filters to the accumulators of `sums`.
    pub(crate) fn run(&self, filters: usize, count: usize, weights: &Weights<'_>, sums: &[Cell<i32>]) {
        let mut rests = weights.rests;
        for (o, sums) in sums.chunks_exact(2).take(filters * count).enumerate() {
            let [q, h] = sums else { return };
            let sum = self.sum(filters, o, weights.w, &mut rests, (q.get(), h.get()));
            q.set(sum.0);
            h.set(sum.1);
        }
    }

    /// The accumulators of a filter behind its windows and rests.
    fn sum(&self, filters: usize, o: usize, w: &[i8], rests: &mut &[i8], first: (i32, i32)) -> (i32, i32) {
        let (filters, tile) = (filters.max(1), filters.wrapping_mul(self.bytes()));
        let (w, lane) = (w.get(o / filters * tile..).unwrap_or(&[]), o % filters);
        let (mut q, mut h) = first;
        let windows = self.words.chunks_exact(TAPS + 1).zip(w.chunks_exact((TAPS * filters).max(1)));
        for (words, w) in windows.take(self.windows) {
            let Some((correction, words)) = words.split_last() else { break };
            let weights = w.iter().skip(lane).step_by(filters).map(|&w| i32::from(w as u8));
            let products = words.iter().zip(weights).map(|(x, w)| x.get().wrapping_mul(w));
            let window = products.fold(correction.get(), i32::wrapping_add);
            (q, h) = (q.wrapping_add(window), h.wrapping_add(window >> 16));
        }
        let number = w.get(TAPS * filters * self.windows + lane).filter(|_| TAPS == 4);
        let (these, others) =
            rests.split_at((2 * number.map_or(0, |&n| usize::from(n as u8))).min(rests.len()));
        *rests = others;
        for rest in these.chunks_exact(2) {
            let [word, weight] = *rest else { break };
            let x = self.words.get(usize::from(word as u8)).map_or(0, Cell::get);
            let product = x.wrapping_mul(i32::from(weight));
            (q, h) = (q.wrapping_add(product), h.wrapping_add(product.wrapping_add(1 << 15) >> 16));
        }
        (q, h)
    }
}

/// Filters whose sums become results.
pub(crate) struct Blocks<'a, const TAPS: usize> {
    work: Work<'a, TAPS>,
    parts: [Part<'a>; 2],
    q: &'a HalfRequant<'a>,
}

impl<'a, const TAPS: usize> Blocks<'a, TAPS> {
    pub(crate) fn new(work: Work<'a, TAPS>, parts: [Part<'a>; 2], q: &'a HalfRequant<'a>) -> Self {
        Blocks { work, parts, q }
    }

    /// Results of both pixels, of all filters. The pixels may be the same. Nothing is written where there is no memory for them.
    pub(crate) fn run(&mut self, [mut a, mut b]: [&[Cell<i8>]; 2]) {
        let all: usize = self.parts.iter().map(|part| part.filters * part.count).sum();
        if a.len() < all || b.len() < all {
            return;
        }
        for Part { filters, count, weights, first, channels } in &self.parts {
            let mut rests = weights.rests;
            let constants = channels.chunks_exact(self.q.words.max(1));
            let all = constants.zip(a.iter().zip(b)).take(filters * count).enumerate();
            for (o, (channel, (a, b))) in all {
                let first = |at: usize| match first {
                    First::Constant(all) => all.get(at).copied().unwrap_or(0),
                    First::Kept(all) => all.get(at).map_or(0, Cell::get),
                };
                let first = (first(2 * o), first(2 * o + 1));
                let (q, h) = self.work.sum(*filters, o, weights.w, &mut rests, first);
                b.set(self.q.result(h, channel));
                a.set(self.q.result(q.wrapping_sub(h << 16), channel));
            }
            [a, b] = [a, b].map(|out| out.get(filters * count..).unwrap_or(&[]));
        }
    }
}
