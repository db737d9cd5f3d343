//! Tiles of two pixels and two or three filters.
//!
//! A filter's accumulators are `q` and `h` (see [`super`]). Weights of a tile are bytes, 128 more than the weight: for each tap one of each filter.

use super::blocks::pair::Blocks;
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

    /// Their filters.
    pub(super) fn filters(self) -> usize {
        3 * self.threes + 2 * self.twos
    }
}

/// Windows of operands.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a> {
    /// Operands.
    pub words: &'a Words,
    /// How many windows of them.
    pub windows: usize,
}

impl Work<'_> {
    /// Adds their products with the next weights to the accumulators of `sums`, a `q` and an `h` per filter. `None` where there are no more weights.
    pub(super) fn add(&self, tiles: Tiles, stream: &mut Stream<'_>, sums: &[Cell<i32>]) -> Option<()> {
        let Tiles { threes, twos } = tiles;
        let (three, two) = sums.split_at(sums.len().min(6 * threes));
        let mut run = |filters: usize, count: usize, sums: &[Cell<i32>]| {
            let w = stream.next(2 * filters * self.windows * count)?;
            self.run(filters, count, w, sums);
            Some(())
        };
        run(3, threes, three)?;
        run(2, twos, two)
    }
}

/// First values of accumulators, two for each filter.
#[derive(Clone, Copy)]
pub(crate) enum First<'a> {
    Constant(&'a [i32]),
    Kept(&'a [Cell<i32>]),
}

impl<'a> First<'a> {
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

/// Filters whose sums become results.
pub(super) struct Filters<'a> {
    pub work: Work<'a>,
    pub tiles: Tiles,
    pub w: &'a [i8],
    pub first: First<'a>,
    /// Constants, from those of the first filter on.
    pub channels: &'a [i32],
    pub q: &'a HalfRequant<'a>,
}

/// Tiles of equally many filters: at least as many weights, first values and constants as these read.
pub(crate) struct Part<'a> {
    /// Filters of a tile: three or two.
    pub filters: usize,
    /// Tiles.
    pub count: usize,
    pub w: &'a [i8],
    pub first: First<'a>,
    pub channels: &'a [i32],
}

impl<'a> Filters<'a> {
    /// Tiles of three filters and tiles of two. `None` where something is missing for them, or for their windows.
    fn parts(&self) -> Option<[Part<'a>; 2]> {
        let Filters { tiles, w, first, channels, .. } = *self;
        let (words, windows) = (self.q.words, self.work.windows);
        let (all, behind) = (tiles.filters(), 3 * tiles.threes);
        let fits = all <= MOST_FILTERS
            && (1..=self.work.words.len() / 3).contains(&windows)
            && w.len() >= 2 * windows * all
            && first.len() >= 2 * all
            && matches!(words, 3 | 5)
            && channels.len() >= words * all;
        let threes = Part { filters: 3, count: tiles.threes, w, first, channels };
        let twos = Part {
            filters: 2,
            count: tiles.twos,
            w: w.get(2 * windows * behind..)?,
            first: first.from(2 * behind)?,
            channels: channels.get(words.wrapping_mul(behind)..)?,
        };
        fits.then_some([threes, twos])
    }

    /// What computes them; `None` where something is missing.
    pub(super) fn blocks(&self) -> Option<Blocks<'a>> {
        Some(Blocks::new(self.work, self.parts()?, self.q))
    }
}
