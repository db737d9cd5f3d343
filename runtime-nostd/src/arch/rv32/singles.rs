//! Tiles of one row and eight filters, or four where no more are left.

#![allow(unsafe_code)]

use super::blocks::singles::add;
use super::upper::{Channels, UpperRequant};
use crate::params::Rescale;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Most taps of a window.
pub(crate) const MOST: usize = 12;

/// Accumulators `q` and `h` of two filters each.
pub(crate) type Sums = [[i32; 2]; 4];

/// The tiles of a layer.
///
/// Each tile begins with a word, the number of its windows. A window begins with the number of its taps. For each tap there is a word of four filters, 128 more than the weights, or two words
/// of eight. The bytes of a word are, from the lowest one on, filters 0, 2, 1 and 3. Filters that are missing have weights of 0.
#[derive(Clone, Copy)]
pub(crate) struct Tiles<'a> {
    /// From the next tile on. It begins a tile of `size` taps and as many words as [`Tiles::words`] says, or is at the end.
    w: &'a [i32],
    /// Taps of a filter.
    size: usize,
    /// Filters from the next tile on.
    left: usize,
}

impl<'a> Tiles<'a> {
    /// The tiles of `filters` filters of `size` taps; `None` if `w` has something else.
    #[inline(never)]
    fn new(w: &'a [i32], size: usize, filters: usize) -> Option<Self> {
        let (mut behind, mut left) = (w, filters);
        while left > 0 {
            let (&windows, mut rest) = behind.split_first()?;
            let mut taps = 0usize;
            for _ in 0..windows {
                let (&n, weights) = rest.split_first()?;
                let n = n as usize;
                if n == 0 || n > MOST {
                    return None;
                }
                // A window has words for its taps: no more taps than words.
                rest = weights.get(words_of(left) * n..)?;
                taps += n;
            }
            if windows <= 0 || taps != size {
                return None;
            }
            behind = rest;
            left = left.saturating_sub(4 * words_of(left));
        }
        Some(Tiles { w, size, left: filters })
    }

    /// Taps of a filter.
    #[inline(always)]
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Words for each tap of the next tile; 0 at the end.
    #[inline(always)]
    pub(crate) fn words(&self) -> usize {
        words_of(self.left)
    }

    /// From the next tile on.
    #[inline(always)]
    pub(crate) fn next(&self) -> &'a [i32] {
        self.w
    }

    /// Goes on behind a tile, which has `len` words.
    #[inline(always)]
    pub(crate) fn skip(&mut self, len: usize) {
        self.left = self.left.saturating_sub(4 * self.words());
        self.w = self.w.get(len..).unwrap_or(&[]);
    }
}

/// Words of the next tile, if `left` filters are left.
#[inline(always)]
fn words_of(left: usize) -> usize {
    match left {
        0 => 0,
        1..=4 => 1,
        _ => 2,
    }
}

/// Product of the rows of `x` with the filters in `w`, row by row.
#[inline(always)]
pub(super) fn multiply(x: Rows<'_, i8>, w: &[i32], q: &UpperRequant<'_>, y: Rows<'_, i8>, band: Band) {
    let (size, filters) = (x.row_len(), y.row_len());
    if size == 0 {
        return;
    }
    let Some(tiles) = Tiles::new(w, size, filters) else { return };
    for (row, out) in y.of_band(band) {
        let x = x.row(row);
        if x.len() != size || finish(tiles, x, q, out).is_none() {
            return;
        }
    }
}

/// Results of a row.
#[inline(never)]
fn finish(mut tiles: Tiles<'_>, x: &[Cell<i8>], q: &UpperRequant<'_>, out: &[Cell<i8>]) -> Option<()> {
    let mut channels = q.channels(tiles.left)?;
    for out in out.chunks(8) {
        // SAFETY: there are constants of all filters, which are as many as results.
        unsafe {
            match tiles.words() {
                0 => return None,
                1 => tile::<1>(&mut tiles, x, &mut channels, q, out),
                _ => tile::<2>(&mut tiles, x, &mut channels, q, out),
            }
        }
    }
    Some(())
}

/// Results of the next `4 · WORDS` filters, or as many as `out` has.
///
/// # Safety
/// There are constants for so many filters.
#[inline(never)]
unsafe fn tile<const WORDS: usize>(
    tiles: &mut Tiles<'_>,
    x: &[Cell<i8>],
    channels: &mut Channels<'_>,
    q: &UpperRequant<'_>,
    out: &[Cell<i8>],
) {
    let sums = accumulate::<WORDS>(tiles, x, |f| match f < out.len() {
        // SAFETY: there is such a filter, as the caller says.
        true => unsafe { channels.first(f) },
        false => 0,
    });
    for (out, sums) in out.chunks(2).zip(sums) {
        for (out, v) in out.iter().zip(sums) {
            // SAFETY: as the caller says.
            out.set(unsafe {
                let channel = channels.next();
                match q.is_own() {
                    true => q.own(v, channel, channels.own()),
                    false => q.common(v, channel),
                }
            });
        }
    }
}

/// Accumulators of the next `4 · WORDS` filters, two by two, which begin with what `first` says.
#[inline(always)]
fn accumulate<const WORDS: usize>(
    tiles: &mut Tiles<'_>,
    x: &[Cell<i8>],
    first: impl Fn(usize) -> i32,
) -> Sums {
    let mut sums: Sums = [[0; 2]; 4];
    for (at, sums) in sums.iter_mut().enumerate().take(2 * WORDS) {
        let [lower, upper] = [first(2 * at), first(2 * at + 1)];
        *sums = [lower.wrapping_add(upper << 16), upper];
    }
    let windows = tiles.next().first().map_or(0, |&windows| windows);
    // Each window has added half of the unit of the upper field.
    add::<WORDS>(tiles, x, sums).map(|[sum, h]| [sum.wrapping_sub(windows << 15).wrapping_sub(h << 16), h])
}

/// As [`multiply`], with results of 16 bits and one factor for all of them.
#[inline(always)]
pub(super) fn multiply_wide(
    x: Rows<'_, i8>,
    w: &[i32],
    bias: &[i32],
    by: &Rescale,
    y: Rows<'_, i16>,
    band: Band,
) {
    let (size, filters) = (x.row_len(), y.row_len());
    if size == 0 || bias.len() < filters {
        return;
    }
    let Some(tiles) = Tiles::new(w, size, filters) else { return };
    for (row, out) in y.of_band(band) {
        let (mut tiles, x) = (tiles, x.row(row));
        if x.len() != size {
            return;
        }
        for (out, bias) in out.chunks(8).zip(bias.chunks(8)) {
            let first = |f: usize| bias.get(f).map_or(0, |&bias| bias);
            let sums = match tiles.words() {
                0 => return,
                1 => accumulate::<1>(&mut tiles, x, first),
                _ => accumulate::<2>(&mut tiles, x, first),
            };
            let [[a, b], [c, d], [e, f], [g, h]] = sums;
            for (out, v) in out.iter().zip([a, b, c, d, e, f, g, h]) {
                out.set(by.apply(v) as i16);
            }
        }
    }
}
