//! Tiles of two pixels and two or three filters.
//!
//! A filter's accumulators are `q` and `h` (see [`super`]). Weights of a tile are bytes, 128 more than the weight: for each tap one of each filter.
//!
//! Windows of four taps have weights whose sums fit, and *rests*: what a weight is more or less than that. A tile's weights are followed by the number of rests of each filter.
//! A rest is two bytes: the word of its tap, and its weight.

use super::blocks::pair::Blocks;
use super::operand::PART;
use super::steps::HalfRequant;
use crate::arch::extent::product;
use core::cell::Cell;

/// Weights of tiles.
#[derive(Clone, Copy)]
pub(crate) struct Weights<'a> {
    /// As the tiles read them, from the next tile on.
    pub w: &'a [i8],
    /// Rests, from the next tile on.
    pub rests: &'a [i8],
}

impl<'a> Weights<'a> {
    /// Those of `count` tiles of so many filters, which are then behind.
    pub(super) fn next<const TAPS: usize>(
        &mut self,
        work: &Work<'_, TAPS>,
        filters: usize,
        count: usize,
    ) -> Option<Weights<'a>> {
        let tile = filters.wrapping_mul(work.bytes());
        let (w, behind) = self.w.split_at_checked(product(tile, count))?;
        let mut rests = 0usize;
        if TAPS == 4 {
            for tile in w.chunks_exact(tile.max(1)) {
                let numbers = tile.get(tile.len().wrapping_sub(filters)..).unwrap_or(&[]);
                rests =
                    numbers.iter().fold(rests, |sum, &number| sum.wrapping_add(usize::from(number as u8)));
            }
        }
        let (these, others) = self.rests.split_at_checked(product(2, rests))?;
        *self = Weights { w: behind, rests: others };
        Some(Weights { w, rests: these })
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

/// Words of operands that a byte can name, so that any rest has one.
pub(super) const NAMED: usize = 256;

/// Windows of operands, of two or four taps each (`TAPS`). Those of four have [`NAMED`] words.
#[derive(Clone, Copy)]
pub(crate) struct Work<'a, const TAPS: usize> {
    /// Operands.
    pub words: &'a [Cell<i32>],
    /// How many windows of them.
    pub windows: usize,
}

impl<const TAPS: usize> Work<'_, TAPS> {
    /// Whether there are so many words.
    #[inline(always)]
    pub(crate) fn is_there(&self) -> bool {
        let least = if TAPS == 4 { NAMED } else { 0 };
        let words = (TAPS + 1).wrapping_mul(self.windows);
        (1..=PART).contains(&self.windows) && self.words.len() >= words.max(least)
    }

    /// Bytes of weights of a filter.
    #[inline(always)]
    pub(crate) fn bytes(&self) -> usize {
        let numbers = if TAPS == 4 { 1 } else { 0 };
        TAPS.wrapping_mul(self.windows).wrapping_add(numbers)
    }

    /// Adds their products with the next weights to the accumulators of `sums`, a `q` and an `h` per filter. `None` where there are no more weights.
    pub(super) fn add(&self, tiles: Tiles, weights: &mut Weights<'_>, sums: &[Cell<i32>]) -> Option<()> {
        let Tiles { threes, twos } = tiles;
        let (three, two) = sums.split_at(sums.len().min(6 * threes));
        for (filters, count, sums) in [(3, threes, three), (2, twos, two)] {
            let weights = weights.next(self, filters, count)?;
            if sums.len() >= 2 * filters * count && self.is_there() {
                self.run(filters, count, &weights, sums);
            }
        }
        Some(())
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
pub(super) struct Filters<'a, const TAPS: usize> {
    pub work: Work<'a, TAPS>,
    pub tiles: Tiles,
    pub first: First<'a>,
    /// Constants, from those of the first filter on.
    pub channels: &'a [i32],
    pub q: &'a HalfRequant<'a>,
}

/// Tiles of equally many filters: their weights, and at least as many first values and constants as they read.
pub(crate) struct Part<'a> {
    /// Filters of a tile: three or two.
    pub filters: usize,
    /// Tiles.
    pub count: usize,
    pub weights: Weights<'a>,
    pub first: First<'a>,
    pub channels: &'a [i32],
}

impl<'a, const TAPS: usize> Filters<'a, TAPS> {
    /// What computes tiles of three filters and tiles of two with the next weights; `None` where something is missing for them, or for their windows.
    pub(super) fn blocks<'w: 'a>(&self, weights: &mut Weights<'w>) -> Option<Blocks<'a, TAPS>> {
        let Filters { work, tiles, first, channels, q } = *self;
        let (all, behind) = (tiles.filters(), 3 * tiles.threes);
        let fits = all <= MOST_FILTERS
            && work.is_there()
            && first.len() >= 2 * all
            && matches!(q.words, 3 | 5)
            && channels.len() >= q.words * all;
        if !fits {
            return None;
        }
        let threes = weights.next(&work, 3, tiles.threes)?;
        let threes = Part { filters: 3, count: tiles.threes, weights: threes, first, channels };
        let twos = Part {
            filters: 2,
            count: tiles.twos,
            weights: weights.next(&work, 2, tiles.twos)?,
            first: first.from(2 * behind)?,
            channels: channels.get(q.words.wrapping_mul(behind)..)?,
        };
        Some(Blocks::new(work, [threes, twos], q))
    }
}
