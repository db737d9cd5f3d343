//! Tiles of two pixels and two or three filters.
//!
//! A filter's accumulators are `q` and `h` (see [`super`]). Weights of a tile are bytes, 128 more than the weight: for each tap one of each filter.

use super::operand::Words;
use super::steps::HalfRequant;
use core::cell::Cell;

/// Weights as the tiles read them, from the next tile on.
#[derive(Clone, Copy)]
pub(super) struct Stream<'a>(pub &'a [i8]);

impl<'a> Stream<'a> {
    /// The weights of some tiles, which are then behind.
    pub(super) fn next(&mut self, len: usize) -> Option<&'a [i8]> {
        if len > self.0.len() {
            return None;
        }
        let (taken, rest) = self.0.split_at(len);
        self.0 = rest;
        Some(taken)
    }
}

/// Most filters of a layer: far more than any processor with these kernels has memory for. Products of counts of tiles, weights and constants do not wrap below it.
pub(super) const MOST_FILTERS: usize = u16::MAX as usize;

/// The tiles of some filters.
#[derive(Clone, Copy)]
pub(super) struct Tiles {
    /// Of three filters.
    threes: usize,
    /// Of two.
    twos: usize,
}

impl Tiles {
    /// The tiles of at least two filters, at most [`MOST_FILTERS`]: as many threes as leave no single one.
    pub(super) fn of(filters: usize) -> Self {
        let (threes, left) = (filters / 3, filters % 3);
        match left {
            0 => Tiles { threes, twos: 0 },
            1 => Tiles { threes: threes.saturating_sub(1), twos: 2 },
            _ => Tiles { threes, twos: 1 },
        }
    }
}

/// What tiles do: `windows` windows of operands with the next weights.
pub(crate) struct Work<'a> {
    /// Operands.
    pub words: &'a Words,
    /// How many windows of them.
    pub windows: usize,
}

impl Work<'_> {
    /// Adds to the accumulators of `sums`, a `q` and an `h` per filter. `None` where there are no more weights.
    pub(super) fn add(&self, tiles: Tiles, stream: &mut Stream<'_>, sums: &[Cell<i32>]) -> Option<()> {
        let Tiles { threes, twos } = tiles;
        let (three, two) = sums.split_at(sums.len().min(6 * threes));
        let mut run = |filters: usize, count: usize, sums: &[Cell<i32>]| {
            let w = stream.next(2 * filters * self.windows * count)?;
            self.run(filters, count, w, Sums::Kept(sums));
            Some(())
        };
        run(3, threes, three)?;
        run(2, twos, two)
    }

    /// Results of both pixels, from accumulators with these first values, for channels with the constants that `channels` begins with. The pixels may
    /// be the same.
    #[inline(always)]
    pub(super) fn finish(
        &self,
        tiles: Tiles,
        stream: &mut Stream<'_>,
        first: First<'_>,
        channels: &[i32],
        q: &HalfRequant<'_>,
        out: [&[Cell<i8>]; 2],
    ) {
        let mut done = 0;
        for (filters, count) in [(3, tiles.threes), (2, tiles.twos)] {
            if count == 0 {
                continue;
            }
            let Some(w) = stream.next(2 * filters * self.windows * count) else { return };
            let (Some(first), Some(channels), [Some(a), Some(b)]) = (
                first.from(2 * done),
                channels.get(q.words.wrapping_mul(done)..),
                out.map(|out| out.get(done..)),
            ) else {
                return;
            };
            self.run(filters, count, w, Sums::Finished { first, channels, q, out: [a, b] });
            done += filters * count;
        }
    }
}

/// First values of accumulators, two for each filter.
#[derive(Clone, Copy)]
pub(crate) enum First<'a> {
    Constant(&'a [i32]),
    Kept(&'a [Cell<i32>]),
}

impl First<'_> {
    fn from(self, start: usize) -> Option<Self> {
        match self {
            First::Constant(all) => all.get(start..).map(First::Constant),
            First::Kept(all) => all.get(start..).map(First::Kept),
        }
    }

    fn len(self) -> usize {
        match self {
            First::Constant(all) => all.len(),
            First::Kept(all) => all.len(),
        }
    }
}

/// Where accumulators begin and end.
pub(crate) enum Sums<'a> {
    /// In memory.
    Kept(&'a [Cell<i32>]),
    /// With first values, and as results.
    Finished { first: First<'a>, channels: &'a [i32], q: &'a HalfRequant<'a>, out: [&'a [Cell<i8>]; 2] },
}

impl Sums<'_> {
    /// Whether they are as many as `filters` need.
    pub(crate) fn suffice(&self, filters: usize) -> bool {
        match self {
            Sums::Kept(sums) => sums.len() >= 2 * filters,
            Sums::Finished { first, channels, q, out: [a, b] } => {
                let channels = matches!(q.words, 3 | 5) && channels.len() >= q.words * filters;
                channels && first.len() >= 2 * filters && a.len() >= filters && b.len() >= filters
            }
        }
    }
}
