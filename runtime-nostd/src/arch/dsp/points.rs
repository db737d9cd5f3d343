//! Convolutions of single pixels with filters 1 × 1: in tiles of two pixels and four filters, whose taps alternate in the work space.
#![allow(unsafe_code)]

use super::affine::requant_words;
use super::blocks::points::{interleave, tiles};
use super::tile::FIRST_WORDS;
use crate::arch::extent::{product, sum};
use crate::params::{Conv, Stride};
use crate::rows::{Band, Rows};
use core::cell::Cell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Convolution with filters 1 × 1 without padding, of numbers of channels and filters that are multiples of four: as
/// [`conv2d_i8_dsp`](crate::kernels::conv2d_i8_dsp), with the same weights.
///
/// `PAIRS` is half the number of channels; `PIXEL` and `CHANNEL` are elements of a row of the result from one pixel or channel to the next, `CHANNEL` at most 1023.
/// `work` has `in_c` words for each two pixels. Nothing is written if arguments do not fit each other.
#[inline(never)]
pub fn conv2d_i8_dsp_points<
    const PAIRS: usize,
    const PIXEL: usize,
    const CHANNEL: usize,
    const SHIFT: u32,
    const SIGNED: bool,
>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    _: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let out = Stride { pixel: PIXEL, channel: CHANNEL };
    each_window(p, x, work, y, &out, band, &|work, results| {
        tiles::<PAIRS, CHANNEL, SHIFT, SIGNED>(w, work, (p.in_c / 2, p.out_c / 4), CHANNEL, results);
    });
}

/// As [`conv2d_i8_dsp_points`], with the same weights: one function for layers of all shapes. For each two pixels and four filters it takes about twelve
/// cycles more.
#[inline(never)]
pub fn conv2d_i8_dsp_points_small<const SHIFT: u32, const SIGNED: bool>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    _: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    out: &Stride,
    band: Band,
) {
    each_window(p, x, work, y, out, band, &|work, results| {
        tiles::<0, 0, SHIFT, SIGNED>(w, work, (p.in_c / 2, p.out_c / 4), out.channel, results);
    });
}

/// Where the first filter's results of two pixels are.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Pair {
    pub(crate) first: *const Cell<i8>,
    pub(crate) second: *const Cell<i8>,
}

/// Pairs of pixels that are computed with one call of the inner block.
const MOST: usize = 24;

/// Pairs of pixels. Behind each place there are `reach` elements.
pub(crate) struct Results<'a> {
    pairs: [MaybeUninit<Pair>; MOST],
    count: usize,
    reach: usize,
    rows: PhantomData<&'a [Cell<i8>]>,
}

impl<'a> Results<'a> {
    /// None, behind which there will be so many elements.
    pub(crate) fn new(reach: usize) -> Self {
        Results { pairs: [const { MaybeUninit::uninit() }; MOST], count: 0, reach, rows: PhantomData }
    }

    /// How many pairs there can be.
    pub(crate) fn room(&self) -> usize {
        MOST
    }

    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        self.count = 0;
    }

    /// How many pairs there are.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Words of a quad's weights, if there are some of all `quads`, words of `pairs` pairs of taps for all pairs of pixels in `x`, and places for all filters, `channel` elements from each other.
    #[inline(always)]
    pub(crate) fn quad<const SIGNED: bool>(
        &self,
        w: &[i32],
        x: &[Cell<i32>],
        (pairs, quads): (usize, usize),
        channel: usize,
    ) -> Option<usize> {
        let quad = FIRST_WORDS + 2 * pairs + requant_words(SIGNED);
        let fits = pairs > 0
            && quads > 0
            && self.count > 0
            && w.len() >= product(quads, quad)
            && x.len() >= product(self.count, 2 * pairs)
            && product(4 * quads - 1, channel) <= self.reach;
        fits.then_some(quad)
    }

    /// Where the first of them is.
    pub(crate) fn start(&self) -> *const Pair {
        self.pairs.as_ptr().cast()
    }

    /// Adds `pairs` pairs of neighbours in `y` from element `at` on, `pixel` elements from each other. Whether there was room for them.
    #[inline(always)]
    fn run(&mut self, y: &'a [Cell<i8>], at: usize, pixel: usize, pairs: usize) -> bool {
        let last = product(product(pairs, 2).saturating_sub(1), pixel);
        let there = sum(sum(at, last), self.reach) < y.len();
        let end = self.count.saturating_add(pairs);
        let (Some(free), true) = (self.pairs.get_mut(self.count..end), there) else { return false };
        let mut first = y.as_ptr().wrapping_add(at);
        for pair in free {
            let second = first.wrapping_add(pixel);
            pair.write(Pair { first, second });
            first = second.wrapping_add(pixel);
        }
        self.count = end;
        true
    }

    /// Adds a pair of pixels anywhere.
    #[inline(always)]
    pub(crate) fn one(&mut self, [(y, at), (other, place)]: [(&'a [Cell<i8>], usize); 2]) -> bool {
        let there = sum(at, self.reach) < y.len() && sum(place, self.reach) < other.len();
        let (Some(free), true) = (self.pairs.get_mut(self.count), there) else { return false };
        free.write(Pair { first: y.as_ptr().wrapping_add(at), second: other.as_ptr().wrapping_add(place) });
        self.count += 1;
        true
    }
}

/// Goes through the pixels of a band, two at a time, also across rows: fills the work space with as many pairs as it holds, and leaves them to `tiles`.
#[inline(never)]
fn each_window(
    p: &Conv,
    x: Rows<'_, i8>,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    out: &Stride,
    band: Band,
    tiles: &dyn Fn(&[Cell<i32>], &Results<'_>),
) {
    let points = (p.k_h, p.k_w, p.pad_top, p.pad_left) == (1, 1, 0, 0) && p.in_c % 4 == 0 && p.out_c % 4 == 0;
    if !points || p.in_c == 0 || p.out_c == 0 || p.out_w == 0 || product(p.out_w, p.out_c) > y.row_len() {
        return;
    }
    let most = work.len().checked_div(p.in_c).unwrap_or(0).min(MOST);
    let reach = product(p.out_c - 1, out.channel);
    let mut results = Results::new(reach);
    let step = product(p.stride_w, p.in_c);
    let (mut row, mut column, end) = (band.first, 0, y.within(band).range().end);
    // Elements of the pixels of a row from some column on; empty where they are not there.
    let pixels = |row: usize, column: usize| {
        let row =
            if row.wrapping_mul(p.stride_h) < p.in_h { x.row(row.wrapping_mul(p.stride_h)) } else { &[] };
        row.get(product(column, step)..).unwrap_or(&[])
    };
    if most == 0 {
        return;
    }
    while row < end {
        results.clear();
        while row < end && results.count < most {
            let (from, to) = (pixels(row, column), y.row(row));
            let (at, free) = (column.wrapping_mul(out.pixel), most - results.count);
            let cells = work.get(results.count * p.in_c..).unwrap_or(&[]);
            let pairs = ((p.out_w - column) / 2).min(free);
            let mut other = from.get(step..).unwrap_or(&[]);
            let done = if pairs > 0 {
                column += 2 * pairs;
                let last = sum(product(2 * pairs - 1, step), p.in_c);
                last <= from.len() && results.run(to, at, out.pixel, pairs)
            } else {
                // The last pixel of the row, with the first one of the next row, or with itself.
                (row, column) = (row + 1, 1);
                let place = if row < end { (y.row(row), 0) } else { (to, at) };
                other = if row < end { pixels(row, 0) } else { from };
                p.in_c <= from.len().min(other.len()) && results.one([(to, at), place])
            };
            if !done {
                return;
            }
            if column >= p.out_w {
                (row, column) = (row + 1, 0);
            }
            let (first, second) = (from.as_ptr().cast(), other.as_ptr().cast());
            let (cells, next) = (cells.as_ptr().cast_mut().cast(), step.wrapping_mul(2));
            // SAFETY: the first pixels of `pairs` pairs, at least one, are in `from` and the second ones in `other`, as `last` or `in_c` have been compared. The work space has `in_c` words for
            // each of `most` pairs; `run` and `one` have added no more. What is written is in cells.
            unsafe { interleave([first, second], cells, p.in_c / 4, pairs.max(1), [next; 2]) }
        }
        tiles(work, &results);
    }
}
