//! Layers of 16-bit elements with weights of 8 bits: eight filters of a pixel at a time, or eight channels.
//!
//! Sums have 32 bits where the reference's have, and where the compiler has proven that these are enough. Others have 64.
#![allow(unsafe_code)]

use super::blocks::int16::{channels_of_pixels, filters_of_pixels, long_sums_of_eight};
use super::channels;
use super::window::{fill, pixels_that_fit, Runs};
use crate::arch::extent::{product, product_of, reach, sum};
use crate::arch::memory::bytes_of_words;
use crate::params::{Conv, Scale};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Convolution of an `i16` image, for cores with Helium: `groups` and `dilation_w` are 1, and padding is 0.
///
/// `w` begins with four words: the smallest and the largest result, and zeros. What follows is of each eight filters, the last of which are zero where `out_c` is not a multiple of eight:
/// - for each vector of eight taps a vector of each filter. The first vector has the `taps % 8` first taps, if that is not zero, completed by zeros; all others are full;
/// - words of filters 0, 2, 4 and 6, then of filters 1, 3, 5 and 7: the first values of sums; then multipliers M; then shifts, which are negative.
///
/// Taps are in the order \[k_w\]\[k_h\]\[in_c\].
///
/// A result is `(x + (1 << (shift − 1))) >> shift`, clamped, where `d` is the sum and its first value, modulo 2³². With `WIDE`, which is the reference with sums of 64 bits, `x` is `(d · M) >> 32`, M has 15
/// bits, shifted to the left by 16, and the shift is from 1 to 31. Otherwise `x` is `t − (t < 0)`, where `t = (d · M + 2³⁰) >> 31`. M is not negative.
///
/// `work` holds the taps of as many pixels as it has room for: [`conv2d_mve_work_words`](crate::kernels::conv2d_mve_work_words) of twice as many channels. Operand rows and `y` are as in
/// [`conv2d_i16`](crate::kernels::conv2d_i16). Nothing is written if these do not fit each other.
#[inline(never)]
pub fn conv2d_i16_mve<const WIDE: bool>(
    p: &Conv,
    x: Rows<'_, i16>,
    w: &[i32],
    work: &[Cell<i32>],
    y: Rows<'_, i16>,
    band: Band,
) {
    windows(p, x, w, work, y, band, &filters_of_pixels::<WIDE>);
}

/// As [`conv2d_i16_mve`], with sums of 64 bits. `w` has no words before the filters, and behind the taps of eight filters four words of each: the lower and the upper half of its bias, [multiplier and
/// shift](crate::kernels::Scale) as the reference has them. Results are clamped to `lo..=hi`.
#[inline(never)]
pub fn conv2d_i16_mve_long(
    p: &Conv,
    x: Rows<'_, i16>,
    w: &[i32],
    lo: i32,
    hi: i32,
    work: &[Cell<i32>],
    y: Rows<'_, i16>,
    band: Band,
) {
    windows(p, x, w, work, y, band, &|t, taps| long_filters_of_pixels(t, taps, [lo, hi]));
}

/// The rows of a band, from a work space.
fn windows(
    p: &Conv,
    x: Rows<'_, i16>,
    w: &[i32],
    work: &[Cell<i32>],
    y: Rows<'_, i16>,
    band: Band,
    block: &dyn Fn(Pixels<'_>, usize),
) {
    // The window is copied as bytes.
    let Some(image) = bytes_of(x) else { return };
    let of_bytes = Conv { in_c: product(2, p.in_c), ..*p };
    let taps = product(p.taps(), p.in_c);
    let (most, window, runs) =
        (pixels_that_fit(&of_bytes, work.len()), bytes_of_words(work), Runs::of(&of_bytes));
    // No more pixels than there is memory for.
    let fits = most > 0 && product(p.out_w, p.out_c.max(1)) <= y.row_len();
    if !fits {
        return;
    }
    // Where the work space has room for whole rows, the padding at their ends stays in it.
    let whole = most >= p.out_w;
    work.iter().for_each(|cell| cell.set(0));
    for (oy, y) in y.of_band(band) {
        let mut ox = 0;
        while ox < p.out_w {
            let pixels = most.min(p.out_w - ox);
            fill(&of_bytes, image, 0, &runs, window, [oy, ox], pixels, whole);
            let y = y.get(product(ox, p.out_c)..).unwrap_or(&[]);
            let x_step = product_of([p.stride_w, p.k_h, p.in_c]);
            let all = Pixels { w, x: halves(work), x_step, y, y_step: p.out_c, pixels, filters: p.out_c };
            block(all, taps);
            ox += pixels;
        }
    }
}

/// As [`conv2d_i16_mve`], of single pixels that are read where they lie: `k_h` and `k_w` are 1, there is no padding, and no pixel of the result is beyond the operand.
#[inline(never)]
pub fn conv2d_i16_mve_points<const WIDE: bool>(
    p: &Conv,
    x: Rows<'_, i16>,
    w: &[i32],
    y: Rows<'_, i16>,
    band: Band,
) {
    for (oy, y) in y.of_band(band) {
        let (x, x_step) = (x.row(oy.wrapping_mul(p.stride_h)), product(p.stride_w, p.in_c));
        // Pixels come one after the other: a result may lie over the taps of those before it.
        let all = Pixels { w, x, x_step, y, y_step: p.out_c, pixels: p.out_w, filters: p.out_c };
        filters_of_pixels::<WIDE>(all, p.in_c);
    }
}

/// Product of the rows of `x` with filters, to rows of one result per filter, for cores with Helium. `w` and `WIDE` are those of [`conv2d_i16_mve`].
#[inline(never)]
pub fn dense_i16_mve<const WIDE: bool>(x: Rows<'_, i16>, w: &[i32], y: Rows<'_, i16>, band: Band) {
    for (row, y) in y.of_band(band) {
        let x = x.row(row);
        let all = Pixels { w, x, x_step: 0, y, y_step: 0, pixels: 1, filters: y.len() };
        filters_of_pixels::<WIDE>(all, x.len());
    }
}

/// As [`dense_i16_mve`], with sums of 64 bits: `w`, `lo` and `hi` are those of [`conv2d_i16_mve_long`].
#[inline(never)]
pub fn dense_i16_mve_long(x: Rows<'_, i16>, w: &[i32], lo: i32, hi: i32, y: Rows<'_, i16>, band: Band) {
    for (row, y) in y.of_band(band) {
        let x = x.row(row);
        let all = Pixels { w, x, x_step: 0, y, y_step: 0, pixels: 1, filters: y.len() };
        long_filters_of_pixels(all, x.len(), [lo, hi]);
    }
}

/// Depthwise convolution of an `i16` image, for cores with Helium: `groups`, `in_c` and `out_c` are the same, 8 at least, and there are at most 64 taps. Padding is 0.
///
/// `w` begins with the four words of [`conv2d_i16_mve`]. What follows is of each eight channels, the last eight of which may begin before the others end:
/// - the first values of sums: of channels 0, 2, 4 and 6, of 1, 3, 5 and 7;
/// - for each tap \[k_h\]\[k_w\] a byte of each channel;
/// - multipliers and shifts of channels 0, 2, 4 and 6, then of 1, 3, 5 and 7: those of `WIDE` kernels.
///
/// `work` has [`depthwise2d_mve_padding_words`](crate::kernels::depthwise2d_mve_padding_words) of twice as many channels. Operand rows and `y` are as in
/// [`conv2d_i16`](crate::kernels::conv2d_i16). Nothing is written if these do not fit each other.
#[inline(never)]
pub fn depthwise2d_i16_mve(
    p: &Conv,
    x: Rows<'_, i16>,
    w: &[i32],
    work: &[Cell<i32>],
    y: Rows<'_, i16>,
    band: Band,
) {
    let (Some(x), Some(y)) = (bytes_of(x), bytes_of(y)) else { return };
    // Pixels are found and counted in bytes.
    let of_bytes = Conv { in_c: product(2, p.in_c), out_c: product(2, p.out_c), ..*p };
    let words = sum(HEAD, product(p.in_c.div_ceil(EIGHT), group_words(p.taps())));
    channels::rows(&of_bytes, x, w, 0, work, y, band, words, channels_of_pixels);
}

/// Words before those of the first filters or channels.
pub(crate) const HEAD: usize = 4;

/// Elements of a vector, and filters or channels that are computed together.
pub(crate) const EIGHT: usize = 8;

/// Words that requantise eight filters: first values, multipliers, shifts.
pub(crate) const ENDS: usize = 3 * EIGHT;

/// The same with sums of 64 bits: biases, multipliers, shifts.
const LONG_ENDS: usize = 4 * EIGHT;

/// Words of eight filters. No slice is as long where that is too much to count.
pub(crate) const fn eight_words(taps: usize) -> usize {
    sum(taps_words(taps), ENDS)
}

/// Words of the taps of eight filters.
pub(crate) const fn taps_words(taps: usize) -> usize {
    product(taps.div_ceil(EIGHT), EIGHT * EIGHT / 4)
}

/// Words of eight channels with so many taps.
pub(crate) const fn group_words(taps: usize) -> usize {
    sum(product(taps, EIGHT / 4), ENDS)
}

/// Pixels, and the filters applied to them. Steps are in elements.
#[derive(Clone, Copy)]
pub(crate) struct Pixels<'a> {
    pub w: &'a [i32],
    /// Taps, beginning with those of the first pixel.
    pub x: &'a [Cell<i16>],
    pub x_step: usize,
    /// Results, beginning with the first.
    pub y: &'a [Cell<i16>],
    pub y_step: usize,
    pub pixels: usize,
    pub filters: usize,
}

impl Pixels<'_> {
    /// Whether there are taps of all pixels, weights of all filters and places for all results.
    pub(crate) fn fit(&self, taps: usize) -> bool {
        self.fit_words(taps, sum(HEAD, product(self.filters.div_ceil(EIGHT), eight_words(taps))))
    }

    /// The same with so many words of all filters.
    fn fit_words(&self, taps: usize, words: usize) -> bool {
        taps > 0
            && self.filters > 0
            && self.pixels > 0
            && self.w.len() >= words
            && self.x.len() >= reach(self.pixels, self.x_step, taps)
            && self.y.len() >= reach(self.pixels, self.y_step, self.filters)
    }
}

/// All filters for some pixels, which come one after the other, with sums of 64 bits. Nothing happens where the slices are too short.
#[inline(never)]
fn long_filters_of_pixels(t: Pixels<'_>, taps: usize, [lo, hi]: [i32; 2]) {
    let (of_taps, eight) = (taps_words(taps), sum(taps_words(taps), LONG_ENDS));
    if !t.fit_words(taps, product(t.filters.div_ceil(EIGHT), eight)) {
        return;
    }
    for pixel in 0..t.pixels {
        let x = t.x.get(pixel * t.x_step..).and_then(|x| x.get(..taps)).unwrap_or(&[]);
        let y = t.y.get(pixel * t.y_step..).and_then(|y| y.get(..t.filters)).unwrap_or(&[]);
        for (y, w) in y.chunks(EIGHT).zip(t.w.chunks_exact(eight)) {
            let Some((w, ends)) = w.split_at_checked(of_taps) else { return };
            for ((y, sum), end) in y.iter().zip(long_sums_of_eight(w, x)).zip(ends.chunks_exact(4)) {
                let &[low, high, multiplier, shift] = end else { return };
                let bias = i64::from(high) << 32 | i64::from(low as u32);
                let result = Scale { multiplier, shift }.apply_wide(sum.wrapping_add(bias));
                y.set(result.max(lo).min(hi) as i16);
            }
        }
    }
}

/// Rows as rows of bytes; `None` where they have no such memory.
fn bytes_of(rows: Rows<'_, i16>) -> Option<Rows<'_, i8>> {
    let (cells, row, ring) = (rows.cells(), rows.row_len().checked_mul(2)?, rows.held()?);
    // SAFETY: the bytes cover exactly the elements, are less aligned, and any bits are valid; all access is through cells of one thread.
    let bytes = unsafe { core::slice::from_raw_parts(cells.as_ptr().cast(), 2 * cells.len()) };
    Some(Rows::ring(bytes, row, ring).from_slot(rows.first_slot()))
}

/// Words as their halves.
fn halves(words: &[Cell<i32>]) -> &[Cell<i16>] {
    // SAFETY: as above.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), 2 * words.len()) }
}
