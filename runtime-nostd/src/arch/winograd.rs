//! Convolutions with filters of 3 × 3 by Winograd's algorithm, F(2 × 2, 3 × 3): 16 products for four results instead of 36.
//!
//! Of a tile of 4 × 4 elements `d`, a filter `g` gives the four results `Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A` (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015), with
//!
//! ```text
//!      ⎡1  0 −1  0⎤       ⎡2  0  0⎤
//! Bᵀ = ⎢0  1  1  0⎥  2G = ⎢1  1  1⎥  Aᵀ = ⎡1  1  1  0⎤
//!      ⎢0 −1  1  0⎥       ⎢1 −1  1⎥       ⎣0  1 −1 −1⎦
//!      ⎣0  1  0 −1⎦       ⎣0  0  2⎦
//! ```
//!
//! All of it is exact. Transformed elements `Bᵀ d B` are integers of 10 bits with sign. The compiler transforms filters with `2G`, so they are integers of 12 bits, and results are four times the sums.
//! Sums wrap at 32 bits on the way, but four times the sum of a result has no more.
//! The 16 elements of a transformed tile are called its *frequencies*. Those of all channels are multiplied like 16 matrices.
#![allow(unsafe_code)]

use crate::arch::extent::{product, product_of, sum_of};
use crate::arch::pixel::Pixel;
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;
use core::marker::PhantomData;

/// Most channels of the operand: four times any sum of theirs has 32 bits.
const MOST_CHANNELS: usize = 3640;

/// Frequencies of a tile.
const FREQUENCIES: usize = 16;

/// Filters that are computed together.
pub(crate) const FILTERS: usize = 4;

/// Most pixels of tiles side by side.
const MOST_PIXELS: usize = 16;

/// What processors do differently.
pub(crate) trait Processor<const TILES: usize> {
    /// Words for the transformed elements of a pair of channels: one for each, or one for both.
    const WORDS: usize = 1;

    /// `Bᵀ d B` of all tiles and channels. `patch` has for each four channels four rows of words, of as many columns as the tiles read; `v` gets [`WORDS`](Self::WORDS) for each pair of channels, frequency and tile.
    /// Channels 0 and 2, and 1 and 3 of each four are pairs.
    fn transform(patch: &[Cell<i32>], v: &[Cell<i32>]);

    /// Sums of products of so many pairs of channels. `v` is as [`transform`](Self::transform) writes it, `u` has a word for each frequency, pair and filter. `m` gets a word for each frequency, tile and filter, in this order:
    /// the sum of that frequency, or whatever [`Finish`] makes results of.
    ///
    /// # Safety
    /// All of them are there. `pairs` is a multiple of four, and not 0.
    unsafe fn products(v: *const i32, u: *const i32, pairs: usize, m: *mut i32);
}

/// Elements of one or two channels, for processors that [`transform`] them in Rust.
pub(crate) trait Lanes: Copy {
    /// How many of them are four channels.
    const PHASES: usize;

    /// Elements of a word of four channels: those of channel `phase`, or of the channels `phase` and `phase + 2`.
    fn load(word: &Cell<i32>, phase: usize) -> Self;

    fn add(self, other: Self) -> Self;

    fn sub(self, other: Self) -> Self;

    /// Writes elements where [`Self::load`] found their channels: channels `phase` and `phase + 2` share a word.
    ///
    /// # Safety
    /// `to` is the word of such a pair of channels.
    unsafe fn store(self, to: *mut i32, phase: usize);
}

/// How sums become results.
pub(crate) trait Requantise: Sized {
    /// The constants of up to four filters.
    type Channels;

    /// The constants of a filter.
    type Channel: Copy;

    /// Those of `count` filters from filter `first` on, whose `words` are behind their weights; `None` where they are missing.
    fn channels(&self, first: usize, count: usize, words: &[i32]) -> Option<Self::Channels>;

    /// Those of the next one.
    ///
    /// # Safety
    /// There is one of those that were asked for.
    unsafe fn next(&self, channels: &mut Self::Channels) -> Self::Channel;

    fn result(&self, channel: Self::Channel, sum: i32) -> i8;
}

/// Makes results of the sums of four filters with their words of constants, as [`Places::finish`]. `None` where these are missing.
pub(crate) type Finish<'f> = &'f dyn Fn(&Sums<'_>, &[i32]) -> Option<()>;

/// The sums of four filters: a word for each frequency, tile and filter.
pub(crate) struct Sums<'a> {
    /// Of so many tiles at least where [`filters`](Self::filters) says so.
    pub m: &'a [Cell<i32>],
    /// The first of the filters.
    first: usize,
    pub places: &'a Places<'a>,
}

impl Sums<'_> {
    /// The first filter, and how many there are that have sums of all tiles, and results. `None` where there is none.
    #[inline(always)]
    pub(crate) fn filters<const TILES: usize>(&self) -> Option<(usize, usize)> {
        let left = self.places.filters.saturating_sub(self.first);
        let fits = self.m.len() >= FREQUENCIES * TILES * FILTERS && left > 0;
        fits.then_some((self.first, left.min(FILTERS)))
    }
}

/// The arguments of a kernel.
pub(crate) struct Layer<'a> {
    pub p: &'a Conv,
    pub x: Rows<'a, i8>,
    /// Of each four filters: a word for each frequency, pair of channels and filter, and what makes results of their sums.
    pub w: &'a [i32],
    pub pad: i8,
    pub work: &'a [Cell<i32>],
    pub y: Rows<'a, i8>,
}

/// The workspace: elements of the operand, transformed elements, and sums, which lie over the elements.
struct Work<'a> {
    patch: &'a [Cell<i32>],
    v: &'a [Cell<i32>],
    m: &'a [Cell<i32>],
}

/// How many channels are computed: those that are missing to a multiple of eight have no weights.
const fn channels(in_c: usize) -> usize {
    match in_c.checked_next_multiple_of(8) {
        Some(channels) => channels,
        None => usize::MAX,
    }
}

impl<'a> Layer<'a> {
    /// Computes a band, two rows at a time. Behind the weights of four filters are so many words that `finish` reads.
    ///
    /// Nothing is written if the arguments do not fit each other.
    #[inline(never)]
    pub(crate) fn run<const TILES: usize, P: Processor<TILES>>(
        &self,
        band: Band,
        words: usize,
        finish: Finish<'_>,
    ) {
        let Conv { in_c, out_w, out_c, k_h, k_w, stride_h, stride_w, dilation_h, dilation_w, .. } = *self.p;
        let plain = (k_h, k_w, stride_h, stride_w, dilation_h, dilation_w) == (3, 3, 1, 1, 1, 1);
        let pairs = channels(in_c) / 2;
        let weights = product_of([FREQUENCIES, FILTERS, pairs]);
        let row = product(out_w, out_c);
        let fits = plain && in_c > 0 && in_c <= MOST_CHANNELS && row > 0 && self.y.holds(band.rows, row);
        let Some(work) = Work::of::<TILES>(pairs, P::WORDS, self.work).filter(|_| fits) else { return };
        let group = sum_of([weights, words]).max(1);
        let groups = out_c.div_ceil(FILTERS);
        if self.w.len() / group < groups {
            return;
        }
        let end = band.range().end;
        let mut oy = band.first;
        while oy < end {
            let first = Pixel::new(self.p, self.x, oy, 0);
            let taps = [0, 1, 2, 3].map(|below| first.row(self.x, below));
            let rows = [oy, oy.saturating_add(1)].map(|oy| (oy < end).then(|| self.y.row(oy)));
            let mut ox = 0;
            while ox < out_w {
                self.gather::<TILES>(&taps, first.column(ox), work.patch);
                P::transform(work.patch, work.v);
                let Some(places) = Places::new::<TILES>(self.p, rows, ox) else { return };
                for (group, w) in self.w.chunks_exact(group).take(groups).enumerate() {
                    let (u, words) = w.split_at(weights.min(w.len()));
                    // SAFETY: `Work::of` has made room for `pairs` of all frequencies and tiles, and their sums. There are as many weights. `channels` are a multiple of eight.
                    unsafe {
                        P::products(
                            work.v.as_ptr().cast(),
                            u.as_ptr(),
                            pairs,
                            work.m.as_ptr().cast_mut().cast(),
                        );
                    };
                    let sums = Sums { m: work.m, first: FILTERS * group, places: &places };
                    if finish(&sums, words).is_none() {
                        return;
                    }
                }
                ox += 2 * TILES;
            }
            oy = oy.saturating_add(2);
        }
    }

    /// Writes the elements of four rows that the tiles read, from column `left` on, a word for four channels: columns of a row one after the other, and the rows. A row in the padding is empty.
    #[inline(never)]
    fn gather<const TILES: usize>(&self, rows: &[&[Cell<i8>]; 4], left: usize, patch: &[Cell<i32>]) {
        let Conv { in_w, in_c, .. } = *self.p;
        let columns = 2 * TILES + 2;
        // Columns before `first` and from `end` on are padding. A column left of the image is wrapped.
        let first = if left < in_w { 0 } else { left.wrapping_neg().min(columns) };
        let end = in_w.wrapping_sub(left).min(columns).max(first);
        let (start, run) = (product(left.wrapping_add(first), in_c), product(end - first, in_c));
        let padding = i32::from_ne_bytes([self.pad as u8; 4]);
        for (below, row) in rows.iter().enumerate() {
            let to = patch.get(below * columns..).unwrap_or(&[]);
            let taps = row.get(start..start.wrapping_add(run)).filter(|_| run > 0);
            let (first, end) = if taps.is_some() { (first, end) } else { (columns, columns) };
            if first > 0 {
                fill(to, first, padding, 4 * columns);
            }
            if end < columns {
                fill(to.get(end..).unwrap_or(&[]), columns - end, padding, 4 * columns);
            }
            if let Some(taps) = taps {
                interleave(taps, in_c, end - first, to.get(first..).unwrap_or(&[]), 4 * columns);
            }
        }
    }
}

/// The same words for all channels of pixels side by side: as [`interleave`] writes them.
fn fill(to: &[Cell<i32>], pixels: usize, word: i32, apart: usize) {
    for column in to.chunks(apart) {
        column.iter().take(pixels).for_each(|to| to.set(word));
    }
}

/// Of pixels side by side, words of four channels: all pixels' first ones one after the other, `apart` words further on the next ones. Channels that are missing to the last four are zeros.
#[inline(always)]
fn interleave(taps: &[Cell<i8>], in_c: usize, pixels: usize, to: &[Cell<i32>], apart: usize) {
    let fours = in_c.div_ceil(4);
    let reach = product(fours.saturating_sub(1), apart).saturating_add(pixels);
    if to.len() < reach || taps.len() < product(pixels, in_c) {
        return;
    }
    let (mut from, to) = (taps.as_ptr(), to.as_ptr());
    // SAFETY: there are elements of all pixels, and words for them: see the lengths above.
    unsafe {
        if from as usize % 4 == 0 && in_c % 8 == 0 {
            for pixel in 0..pixels {
                let (mut word, end) = (to.add(pixel), from.add(in_c));
                while from != end {
                    let eight = from.cast::<[i32; 2]>();
                    (*word).set((*eight)[0]);
                    (*word.add(apart)).set((*eight)[1]);
                    (from, word) = (from.add(8), word.wrapping_add(2 * apart));
                }
            }
            return;
        }
        for pixel in 0..pixels {
            for four in 0..fours {
                let channels = (in_c - 4 * four).min(4);
                let byte = |at: usize| if at < channels { (*from.add(at)).get() as u8 } else { 0 };
                (*to.add(four * apart + pixel)).set(i32::from_ne_bytes(core::array::from_fn(byte)));
                from = from.add(channels);
            }
        }
    }
}

/// Where the results of the pixels of all tiles are.
pub(crate) struct Places<'a> {
    /// The channels of the four pixels of each tile, as many as there are `filters`. A pixel behind a row or the last row has those of the first pixel.
    pub pixels: [*const Cell<i8>; MOST_PIXELS],
    filters: usize,
    of: PhantomData<&'a [Cell<i8>]>,
}

impl<'a> Places<'a> {
    /// Of tiles side by side, the first one at column `ox`, of two rows or the last one. `None` where there is no pixel.
    #[inline(always)]
    fn new<const TILES: usize>(p: &Conv, rows: [Option<&'a [Cell<i8>]>; 2], ox: usize) -> Option<Self> {
        let Conv { out_w, out_c, .. } = *p;
        let columns = out_w.checked_sub(ox).filter(|&columns| columns > 0)?;
        // As many columns of either row as there are, of which pixels read from the first one on.
        let start = product(ox, out_c);
        let pixels = |row: &'a [Cell<i8>]| {
            row.get(start..).filter(|row| row.len() >= product(columns, out_c)).map(<[_]>::as_ptr)
        };
        let [upper, lower] = rows.map(|row| row.and_then(pixels));
        let upper = upper?;
        let mut places = Places { pixels: [upper; MOST_PIXELS], filters: out_c, of: PhantomData };
        for (at, place) in places.pixels.iter_mut().take(4 * TILES).enumerate() {
            let column = at / 4 * 2 + at % 2;
            let row = if at % 4 < 2 { Some(upper) } else { lower };
            if let Some(row) = row.filter(|_| column < columns) {
                *place = row.wrapping_add(column.wrapping_mul(out_c));
            }
        }
        Some(places)
    }

    /// Writes the results of four filters, or as many as are left. `None` where constants are missing.
    #[inline(never)]
    pub(crate) fn finish<const TILES: usize, R: Requantise>(
        &self,
        sums: &Sums<'_>,
        words: &[i32],
        requant: &R,
    ) -> Option<()> {
        const { assert!(4 * TILES <= MOST_PIXELS) };
        let (first, filters) = sums.filters::<TILES>()?;
        let mut channels = requant.channels(first, filters, words)?;
        for filter in 0..filters {
            // SAFETY: one of so many.
            let channel = unsafe { requant.next(&mut channels) };
            // The first pixel comes last: what pixels that there are not have written there is overwritten.
            for tile in (0..TILES).rev() {
                // SAFETY: there are sums of all frequencies, tiles and filters.
                let four = unsafe { inverse::<TILES>(sums.m.as_ptr().add(tile * FILTERS + filter)) };
                for (at, sum) in four.into_iter().enumerate().rev() {
                    let result = requant.result(channel, sum);
                    // SAFETY: there are pixels of all tiles, and they have channels of all filters (`Places::new`).
                    unsafe {
                        let pixel = *self.pixels.get_unchecked(4 * tile + at);
                        (*pixel.add(first + filter)).set(result);
                    }
                }
            }
        }
        Some(())
    }
}

/// The sums of the four pixels of a tile: `Aᵀ m A`, a quarter of it.
///
/// # Safety
/// There are sums of all frequencies, each of which has those of all tiles and filters.
#[inline(always)]
unsafe fn inverse<const TILES: usize>(m: *const Cell<i32>) -> [i32; 4] {
    let row = |j: usize| {
        // SAFETY: as the caller says.
        let [a, b, c, d] = [j, 4 + j, 8 + j, 12 + j].map(|k| unsafe { (*m.add(k * TILES * FILTERS)).get() });
        (a.wrapping_add(b).wrapping_add(c), b.wrapping_sub(c).wrapping_sub(d))
    };
    let [a, b, c, d] = [row(0), row(1), row(2), row(3)];
    let left = |a: i32, b: i32, c: i32| a.wrapping_add(b).wrapping_add(c) >> 2;
    let right = |b: i32, c: i32, d: i32| b.wrapping_sub(c).wrapping_sub(d) >> 2;
    [left(a.0, b.0, c.0), right(b.0, c.0, d.0), left(a.1, b.1, c.1), right(b.1, c.1, d.1)]
}

impl<'a> Work<'a> {
    /// The parts of a workspace; `None` where it is too small.
    #[inline(always)]
    fn of<const TILES: usize>(pairs: usize, words: usize, work: &'a [Cell<i32>]) -> Option<Self> {
        let (patch, m) = (product_of([2 * TILES + 2, 2, pairs]), FREQUENCIES * TILES * FILTERS);
        let (shared, work) = work.split_at_checked(patch.max(m))?;
        let v = work.get(..product(words, product_of([FREQUENCIES, TILES, pairs])))?;
        let (patch, m) = (shared.get(..patch)?, shared.get(..m)?);
        Some(Work { patch, v, m })
    }
}

/// As [`Processor::transform`].
#[inline(never)]
pub(crate) fn transform<const TILES: usize, L: Lanes>(patch: &[Cell<i32>], v: &[Cell<i32>]) {
    let columns = 2 * TILES + 2;
    let fours = patch.chunks_exact(4 * columns).zip(v.chunks_exact(2 * FREQUENCIES * TILES));
    for (patch, v) in fours {
        for phase in 0..L::PHASES {
            // Of a column, whose rows are as many words apart.
            let column = |at: usize| {
                let element = |below: usize| patch.get(below * columns + at).map(|word| L::load(word, phase));
                let (a, b, c, d) = (element(0)?, element(1)?, element(2)?, element(3)?);
                Some([a.sub(c), b.add(c), c.sub(b), b.sub(d)])
            };
            let (Some(mut a), Some(mut b)) = (column(0), column(1)) else { return };
            for tile in 0..TILES {
                let (Some(c), Some(d)) = (column(2 * tile + 2), column(2 * tile + 3)) else { return };
                let to = v.as_ptr().cast::<i32>().wrapping_add(phase % 2 * FREQUENCIES * TILES + tile);
                for (i, ((a, b), (c, d))) in a.iter().zip(&b).zip(c.iter().zip(&d)).enumerate() {
                    let row = [a.sub(*c), b.add(*c), c.sub(*b), b.sub(*d)];
                    for (j, lanes) in row.into_iter().enumerate() {
                        // SAFETY: `v` has words of all frequencies and tiles, for two pairs.
                        unsafe { lanes.store(to.add((4 * i + j) * TILES).cast_mut(), phase) };
                    }
                }
                (a, b) = (c, d);
            }
        }
    }
}
