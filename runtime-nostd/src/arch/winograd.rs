//! Convolutions with filters of 3 × 3 by Winograd's algorithm: F(2 × 2, 3 × 3), 16 products for four results instead of 36, and F(4 × 4, 3 × 3), 36 products for 16 results instead of 144.
//!
//! Of a tile of elements `d`, a filter `g` gives the results `Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A` (Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", 2015). For tiles of 2 × 2 results from 4 × 4 elements,
//!
//! ```text
//!      ⎡1  0 −1  0⎤       ⎡2  0  0⎤
//! Bᵀ = ⎢0  1  1  0⎥  2G = ⎢1  1  1⎥  Aᵀ = ⎡1  1  1  0⎤
//!      ⎢0 −1  1  0⎥       ⎢1 −1  1⎥       ⎣0  1 −1 −1⎦
//!      ⎣0  1  0 −1⎦       ⎣0  0  2⎦
//! ```
//!
//! and for tiles of 4 × 4 results from 6 × 6 elements, where `Aᵀ` and `G` are multiplied so that there are no fractions, and results are 24 · 24 times as large,
//!
//! ```text
//!      ⎡4  0 −5  0  1  0⎤      ⎡6  0  0⎤
//!      ⎢0 −4 −4  1  1  0⎥      ⎢1  1  1⎥        ⎡1 −4 −4  1  1  0⎤
//! Bᵀ = ⎢0  4 −4 −1  1  0⎥  G = ⎢1 −1  1⎥  Aᵀ =  ⎢0 −4  4  2 −2  0⎥
//!      ⎢0 −2 −1  2  1  0⎥      ⎢1  2  4⎥        ⎢0 −4 −4  4  4  0⎥
//!      ⎢0  2 −1 −2  1  0⎥      ⎢1 −2  4⎥        ⎣0 −4  4  8 −8  4⎦
//!      ⎣0  4  0 −5  0  1⎦      ⎣0  0  6⎦
//! ```
//!
//! All of it is exact. Transformed elements and filters are integers of at most 15 bits with sign: `|Bᵀ d B|` is at most 4 · 128 or 100 · 128, `|G g Gᵀ|` at most 9 · 128 or 49 · 128.
//! Results are 4 or 576 times the sums. They wrap at 32 bits: four times the sum of a result has no more, and 576 = 9 · 64 times it, divided by nine modulo 2³², is 64 times it, which has no more either.
//! The 16 or 36 elements of a transformed tile are called its *frequencies*. Those of all channels are multiplied like as many matrices.
#![allow(unsafe_code)]

use crate::arch::extent::{product, product_of, sum_of};
use crate::arch::pixel::Pixel;
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::array;
use core::cell::Cell;
use core::marker::PhantomData;
use core::ops::Range;

/// Most channels of the operand, for so many results along a side of a tile: 4 or 64 times any sum of theirs has 32 bits.
const fn most_channels(side: usize) -> usize {
    if side == 2 {
        3640
    } else {
        227
    }
}

/// Frequencies of a tile.
const fn frequencies(side: usize) -> usize {
    (side + 2) * (side + 2)
}

/// What is nine times it modulo 2³² is 1.
pub(crate) const NINTH: i32 = 0x38e3_8e39;

/// Most results, and most elements, along a side of a tile.
const MOST_RESULTS: usize = 4;
const MOST_ELEMENTS: usize = MOST_RESULTS + 2;

/// Filters that are computed together.
pub(crate) const FILTERS: usize = 4;

/// What processors do differently.
pub(crate) trait Processor<const TILES: usize> {
    /// Results along each side of a tile: 2 or 4.
    const SIDE: usize = 2;

    /// Words for the transformed elements of a pair of channels: one for each, or one for both.
    const WORDS: usize = 1;

    /// `Bᵀ d B` of all tiles and channels. `patch` has for each four channels the rows of words that the tiles read, of as many columns; `v` gets [`WORDS`](Self::WORDS) for each pair of channels, frequency and tile.
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

    fn doubled(self) -> Self {
        self.add(self)
    }

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
pub(crate) type Finish<'f, const PIXELS: usize> = &'f dyn Fn(&Sums<'_, PIXELS>, &[i32]) -> Option<()>;

/// The sums of four filters for so many pixels of all tiles: a word for each frequency, tile and filter.
pub(crate) struct Sums<'a, const PIXELS: usize> {
    /// Of so many tiles at least where [`filters`](Self::filters) says so.
    pub m: &'a [Cell<i32>],
    /// The first of the filters.
    first: usize,
    pub places: &'a Places<'a, PIXELS>,
}

impl<const PIXELS: usize> Sums<'_, PIXELS> {
    /// The first filter, and how many there are that have sums of all tiles, and results. `None` where there is none.
    #[inline(always)]
    pub(crate) fn filters<const SIDE: usize>(&self) -> Option<(usize, usize)> {
        let left = self.places.filters.saturating_sub(self.first);
        let fits = self.m.len() >= frequencies(SIDE) * (PIXELS / (SIDE * SIDE)) * FILTERS && left > 0;
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
    /// Computes a band, as many rows at a time as a tile has. Behind the weights of four filters are so many words that `finish` reads.
    ///
    /// Nothing is written if the arguments do not fit each other.
    #[inline(never)]
    pub(crate) fn run<const TILES: usize, const PIXELS: usize, P: Processor<TILES>>(
        &self,
        band: Band,
        words: usize,
        finish: Finish<'_, PIXELS>,
    ) {
        const { assert!(PIXELS == P::SIDE * P::SIDE * TILES && P::SIDE <= MOST_RESULTS) };
        let Conv { in_c, out_w, out_c, k_h, k_w, stride_h, stride_w, dilation_h, dilation_w, .. } = *self.p;
        let plain = (k_h, k_w, stride_h, stride_w, dilation_h, dilation_w) == (3, 3, 1, 1, 1, 1);
        let pairs = channels(in_c) / 2;
        let weights = product_of([frequencies(P::SIDE), FILTERS, pairs]);
        let row = product(out_w, out_c);
        let in_range = in_c > 0 && in_c <= most_channels(P::SIDE);
        let fits = plain && in_range && row > 0 && self.y.holds(band.rows, row);
        let Some(work) = Work::of::<TILES>((P::SIDE, pairs, P::WORDS), self.work).filter(|_| fits) else {
            return;
        };
        let group = sum_of([weights, words]).max(1);
        let groups = out_c.div_ceil(FILTERS);
        if self.w.len() / group < groups {
            return;
        }
        let end = band.range().end;
        let mut oy = band.first;
        while oy < end {
            let first = Pixel::new(self.p, self.x, oy, 0);
            let mut taps: [&[Cell<i8>]; MOST_ELEMENTS] = [&[]; MOST_ELEMENTS];
            for (below, taps) in taps.iter_mut().take(P::SIDE + 2).enumerate() {
                *taps = self.taps(first, below);
            }
            let rows = oy..end.min(oy.saturating_add(P::SIDE));
            let mut ox = 0;
            while ox < out_w {
                let columns = P::SIDE * TILES + 2;
                self.gather(taps.get(..P::SIDE + 2).unwrap_or(&[]), columns, first.column(ox), work.patch);
                P::transform(work.patch, work.v);
                let Some(places) = Places::new(self.p, self.y, rows.clone(), (P::SIDE, ox)) else { return };
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
                ox += P::SIDE * TILES;
            }
            oy = oy.saturating_add(P::SIDE);
        }
    }

    /// A row of the operand that tiles read; empty in the padding.
    #[inline(never)]
    fn taps(&self, first: Pixel, below: usize) -> &'a [Cell<i8>] {
        first.row(self.x, below)
    }

    /// Writes the elements of the rows that the tiles read, so many columns from column `left` on, a word for four channels: columns of a row one after the other, and the rows. A row in the padding is empty.
    #[inline(never)]
    fn gather(&self, rows: &[&[Cell<i8>]], columns: usize, left: usize, patch: &[Cell<i32>]) {
        let Conv { in_w, in_c, .. } = *self.p;
        // Columns before `first` and from `end` on are padding. A column left of the image is wrapped.
        let first = if left < in_w { 0 } else { left.wrapping_neg().min(columns) };
        let end = in_w.wrapping_sub(left).min(columns).max(first);
        let (start, run) = (product(left.wrapping_add(first), in_c), product(end - first, in_c));
        let padding = i32::from_ne_bytes([self.pad as u8; 4]);
        let apart = rows.len() * columns;
        for (below, row) in rows.iter().enumerate() {
            let to = patch.get(below * columns..).unwrap_or(&[]);
            let taps = row.get(start..start.wrapping_add(run)).filter(|_| run > 0);
            let (first, end) = if taps.is_some() { (first, end) } else { (columns, columns) };
            if first > 0 {
                fill(to, first, padding, apart);
            }
            if end < columns {
                fill(to.get(end..).unwrap_or(&[]), columns - end, padding, apart);
            }
            if let Some(taps) = taps {
                interleave(taps, in_c, end - first, to.get(first..).unwrap_or(&[]), apart);
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
pub(crate) struct Places<'a, const PIXELS: usize> {
    /// The channels of the pixels of each tile, as many as there are `filters`: row by row. A pixel behind a row or the last row has those of the first pixel.
    pub pixels: [*const Cell<i8>; PIXELS],
    filters: usize,
    of: PhantomData<&'a [Cell<i8>]>,
}

/// The pixels of [`Places::new`].
#[inline(never)]
fn places(
    p: &Conv,
    y: Rows<'_, i8>,
    rows: Range<usize>,
    (side, ox): (usize, usize),
    pixels: &mut [*const Cell<i8>],
) -> Option<()> {
    let Conv { out_w, out_c, .. } = *p;
    let columns = out_w.checked_sub(ox).filter(|&columns| columns > 0)?;
    let mut first = None;
    for (below, oy) in rows.enumerate() {
        // As many columns of the row as there are, of which pixels read from the first one on.
        let row = y.row(oy).get(product(ox, out_c)..).filter(|row| row.len() >= product(columns, out_c))?;
        if first.is_none() {
            first = Some(row.as_ptr());
            pixels.fill(row.as_ptr());
        }
        let (mut pixel, mut left, mut rest) = (row.as_ptr(), columns, &mut *pixels);
        while let Some((tile, others)) = rest.split_at_mut_checked(side * side).filter(|_| left > 0) {
            for place in tile.get_mut(side * below..).unwrap_or_default().iter_mut().take(side.min(left)) {
                *place = pixel;
                pixel = pixel.wrapping_add(out_c);
            }
            (left, rest) = (left.saturating_sub(side), others);
        }
    }
    first.map(|_| ())
}

impl<'a, const PIXELS: usize> Places<'a, PIXELS> {
    /// Of tiles with so many results along a side, the first one at column `ox`, in these rows. `None` where there is no pixel.
    #[inline(always)]
    fn new(p: &Conv, y: Rows<'a, i8>, rows: Range<usize>, (side, ox): (usize, usize)) -> Option<Self> {
        let mut pixels = [core::ptr::null(); PIXELS];
        places(p, y, rows, (side, ox), &mut pixels)?;
        Some(Places { pixels, filters: p.out_c, of: PhantomData })
    }

    /// Writes the results of four filters, or as many as are left. `None` where constants are missing.
    #[inline(never)]
    pub(crate) fn finish<const SIDE: usize, R: Requantise>(
        &self,
        sums: &Sums<'_, PIXELS>,
        words: &[i32],
        requant: &R,
    ) -> Option<()> {
        let tiles = PIXELS / (SIDE * SIDE);
        let (first, filters) = sums.filters::<SIDE>()?;
        let mut channels = requant.channels(first, filters, words)?;
        for filter in 0..filters {
            // SAFETY: one of so many.
            let channel = unsafe { requant.next(&mut channels) };
            // The first pixel comes last: what pixels that there are not have written there is overwritten.
            for tile in (0..tiles).rev() {
                // SAFETY: there are sums of all frequencies, tiles and filters.
                let rows = unsafe { inverse::<SIDE>(sums.m.as_ptr().add(tile * FILTERS + filter), tiles) };
                for (y, row) in rows.into_iter().take(SIDE).enumerate().rev() {
                    for (x, sum) in row.into_iter().take(SIDE).enumerate().rev() {
                        let result = requant.result(channel, sum);
                        // SAFETY: there are pixels of all tiles, and they have channels of all filters (`Places::new`).
                        unsafe {
                            let pixel = *self.pixels.get_unchecked(SIDE * (SIDE * tile + y) + x);
                            (*pixel.add(first + filter)).set(result);
                        }
                    }
                }
            }
        }
        Some(())
    }
}

/// The sums of the pixels of a tile, row by row: `Aᵀ m A`, a quarter or a 576th of it.
///
/// # Safety
/// There are sums of all frequencies, each of which has those of all tiles and filters.
#[inline(always)]
unsafe fn inverse<const SIDE: usize>(m: *const Cell<i32>, tiles: usize) -> [[i32; 4]; 4] {
    let columns: [[i32; 4]; MOST_ELEMENTS] = array::from_fn(|j| {
        results::<SIDE>(array::from_fn(|i| match i.max(j) < SIDE + 2 {
            // SAFETY: as the caller says.
            true => unsafe { (*m.add(((SIDE + 2) * i + j) * tiles * FILTERS)).get() },
            false => 0,
        }))
    });
    let whole = |sum: i32| if SIDE == 2 { sum >> 2 } else { sum.wrapping_mul(NINTH) >> 6 };
    array::from_fn(|y| results::<SIDE>(columns.map(|column| column.get(y).copied().unwrap_or(0))).map(whole))
}

/// `Aᵀ m` of a column.
#[inline(always)]
fn results<const SIDE: usize>([a, b, c, d, e, f]: [i32; MOST_ELEMENTS]) -> [i32; MOST_RESULTS] {
    let (sum, difference) = (b.wrapping_add(c), b.wrapping_sub(c));
    if SIDE == 2 {
        return [a.wrapping_add(sum), difference.wrapping_sub(d), 0, 0];
    }
    let (twos, other_twos) = (d.wrapping_add(e), d.wrapping_sub(e));
    let times = |factor: i32, of: i32| of.wrapping_mul(factor);
    [
        a.wrapping_add(twos).wrapping_sub(times(4, sum)),
        times(2, other_twos).wrapping_sub(times(4, difference)),
        times(4, twos.wrapping_sub(sum)),
        times(4, f.wrapping_add(times(2, other_twos)).wrapping_sub(difference)),
    ]
}

impl<'a> Work<'a> {
    /// The parts of a workspace; `None` where it is too small.
    #[inline(always)]
    fn of<const TILES: usize>(
        (side, pairs, words): (usize, usize, usize),
        work: &'a [Cell<i32>],
    ) -> Option<Self> {
        // Two pairs share the words of a patch.
        let (elements, m) = ((side + 2) * (side * TILES + 2) / 2, frequencies(side) * TILES * FILTERS);
        let patch = product(elements, pairs);
        let (shared, work) = work.split_at_checked(patch.max(m))?;
        let v = work.get(..product(words, product_of([frequencies(side), TILES, pairs])))?;
        let (patch, m) = (shared.get(..patch)?, shared.get(..m)?);
        Some(Work { patch, v, m })
    }
}

/// As [`Processor::transform`], for tiles of 2 × 2 results.
#[inline(never)]
pub(crate) fn transform<const TILES: usize, L: Lanes>(patch: &[Cell<i32>], v: &[Cell<i32>]) {
    let columns = 2 * TILES + 2;
    let fours = patch.chunks_exact(4 * columns).zip(v.chunks_exact(2 * frequencies(2) * TILES));
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
                let to = v.as_ptr().cast::<i32>().wrapping_add(phase % 2 * frequencies(2) * TILES + tile);
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

/// As [`Processor::transform`], for tiles of 4 × 4 results, which read so many columns.
#[inline(never)]
pub(crate) fn transform_4x4<const TILES: usize, const COLUMNS: usize, L: Lanes>(
    patch: &[Cell<i32>],
    v: &[Cell<i32>],
) {
    const { assert!(COLUMNS == 4 * TILES + 2) };
    let fours = patch.chunks_exact(6 * COLUMNS).zip(v.chunks_exact(2 * frequencies(4) * TILES));
    for (patch, v) in fours {
        for phase in 0..L::PHASES {
            let to = v.as_ptr().cast::<i32>().wrapping_add(phase % 2 * frequencies(4) * TILES).cast_mut();
            let columns: [[L; 6]; COLUMNS] = array::from_fn(|column| {
                // SAFETY: the patch has six rows of so many columns.
                six(array::from_fn(|row| unsafe {
                    L::load(patch.get_unchecked(row * COLUMNS + column), phase)
                }))
            });
            for i in 0..6 {
                for tile in 0..TILES {
                    // SAFETY: each tile has six columns of six elements.
                    let element =
                        |at: usize| unsafe { *columns.get_unchecked(4 * tile + at).get_unchecked(i) };
                    for (j, lanes) in six(array::from_fn(element)).into_iter().enumerate() {
                        // SAFETY: `v` has words of all frequencies and tiles, for two pairs.
                        unsafe { lanes.store(to.add((6 * i + j) * TILES + tile), phase) };
                    }
                }
            }
        }
    }
}

/// `Bᵀ d` of six elements.
#[inline(always)]
pub(crate) fn six<L: Lanes>([a, b, c, d, e, f]: [L; 6]) -> [L; 6] {
    let (even, odd) = (e.sub(c), d.sub(b).doubled());
    let (far, near) = (e.sub(c.doubled().doubled()), d.sub(b.doubled().doubled()));
    [
        a.sub(c).doubled().doubled().add(even),
        far.add(near),
        far.sub(near),
        even.add(odd),
        even.sub(odd),
        f.sub(d).sub(odd.doubled()),
    ]
}
