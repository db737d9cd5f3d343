//! Convolutions in tiles of two pixels and four filters.
#![allow(unsafe_code)]

use super::affine::End;
use super::blocks::conv::{pairs_of_any, pairs_of_pixels};
use super::blocks::single::single_pixel;
use super::window::{fill, pixels_that_fit, Runs};
use super::{LANES, VECTOR_WORDS};
use crate::arch::extent::{product, product_of, reach};
use crate::arch::memory::bytes_of_words;
use crate::params::Conv;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Convolution of an `i8` image, for cores with Helium: `groups` is 1.
///
/// `w` holds quads of filters, of which the last ones are zero where `out_c` is not a multiple of four:
/// - for each vector of taps 16 bytes of each of the four filters. The first vector has the `TAPS % 16` first taps, if that is not zero, completed by zeros; all others are full;
/// - for what follows a word of each: first values of sums, multipliers M and constants C; with `EXACT` shifts; with `CLAMPED` the smallest and the largest results.
///
/// Taps are in the order \[k_w\]\[k_h\]\[in_c\]; `TAPS` is their number.
///
/// A result is `SSAT8(x >> SHIFT)`, where `x = (d · M + C · 2³² + 2³¹) >> 32`, and `d` is the sum and its first value.
///
/// With `EXACT` it is computed as the reference does it, which rounds twice: `SSAT8((x + C − (x < 0)) >> shift)`, where `x = (d · M + 2³⁰) >> 31`. The shift is from 1 to 22, and stored as a
/// negative number; C holds the zero point, shifted to the left, and half of the unit that is rounded to. M is not negative. `CLAMPED` results are clamped before they are saturated.
///
/// `work` holds the taps of as many pixels as it has room for ([`conv2d_mve_work_words`](crate::kernels::conv2d_mve_work_words)). Operand rows, padding and `y` are as in
/// [`conv2d_i8`](crate::kernels::conv2d_i8). Nothing is written if these do not fit each other.
#[inline(never)]
pub fn conv2d_i8_mve<const TAPS: usize, const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let layer =
        Layer { p, x, w, y, quad: quad_words(TAPS, End::of(SHIFT, EXACT, CLAMPED)), held: holds(TAPS) };
    if product(p.taps(), p.in_c) == TAPS {
        layer.windows(band, pad, work, &tiles::<TAPS, SHIFT, EXACT, CLAMPED>);
    }
}

/// As [`conv2d_i8_mve`], for any number of taps: one function for all layers.
#[inline(never)]
pub fn conv2d_i8_mve_small<const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let taps = product(p.taps(), p.in_c);
    let layer = Layer { p, x, w, y, quad: quad_words(taps, End::of(SHIFT, EXACT, CLAMPED)), held: false };
    layer.windows(band, pad, work, &|t| tiles_of_any::<SHIFT, EXACT, CLAMPED>(t, taps));
}

/// As [`conv2d_i8_mve`], of single pixels that are read where they lie: `k_h` and `k_w` are 1, there is no padding, and no pixel of the result is beyond the operand.
#[inline(never)]
pub fn conv2d_i8_mve_points<const TAPS: usize, const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    y: Rows<'_, i8>,
    band: Band,
) {
    let layer =
        Layer { p, x, w, y, quad: quad_words(TAPS, End::of(SHIFT, EXACT, CLAMPED)), held: holds(TAPS) };
    if p.in_c == TAPS {
        layer.points(band, &tiles::<TAPS, SHIFT, EXACT, CLAMPED>);
    }
}

/// As [`conv2d_i8_mve_points`], for any number of taps: one function for all layers.
#[inline(never)]
pub fn conv2d_i8_mve_points_small<const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    y: Rows<'_, i8>,
    band: Band,
) {
    let layer = Layer { p, x, w, y, quad: quad_words(p.in_c, End::of(SHIFT, EXACT, CLAMPED)), held: false };
    layer.points(band, &|t| tiles_of_any::<SHIFT, EXACT, CLAMPED>(t, p.in_c));
}

/// Words that [`conv2d_i8_mve`](crate::kernels::conv2d_i8_mve) needs to hold the taps of `pixels` consecutive pixels of a row at once.
pub const fn conv2d_mve_work_words(p: &Conv, pixels: usize) -> usize {
    let column = p.k_h.saturating_mul(p.in_c);
    let columns = pixels.saturating_sub(1).saturating_mul(p.stride_w).saturating_add(p.k_w);
    columns.saturating_mul(column).div_ceil(4)
}

/// Words of a quad: its taps, and what requantises it. No slice is as long where that is too much to count.
pub(crate) const fn quad_words(taps: usize, end: End) -> usize {
    product(taps.div_ceil(LANES), LANES).saturating_add(VECTOR_WORDS * end.words())
}

/// Pairs of pixels, and the quads of filters applied to them. All offsets are in bytes.
#[derive(Clone, Copy)]
pub(crate) struct Tiles<'a> {
    /// Weights of the quads.
    pub w: &'a [i32],
    /// What the taps of pixels are in.
    pub x: &'a [Cell<i8>],
    /// From one pixel to the next.
    pub x_step: usize,
    /// What the results are in, beginning with the first.
    pub y: &'a [Cell<i8>],
    /// As [`Self::x_step`].
    pub y_step: usize,
    /// Number of pairs.
    pub pairs: usize,
    /// Number of quads.
    pub quads: usize,
}

impl Tiles<'_> {
    /// Whether both pixels of the only pair are the same.
    fn is_single(&self) -> bool {
        self.pairs == 1 && self.x_step == 0
    }

    /// Whether all that the tiles read and write is there: filters of so many taps, and quads of so many words.
    pub(crate) fn fit(&self, taps: usize, quad: usize) -> bool {
        let of = |step: usize, len: usize| reach(product(2, self.pairs), step, len);
        taps > 0
            && self.pairs > 0
            && self.quads > 0
            && self.w.len() >= product(self.quads, quad)
            && self.x.len() >= of(self.x_step, taps)
            && self.y.len() >= of(self.y_step, product(4, self.quads))
    }
}

/// All quads for pixels with so many taps.
fn tiles<const TAPS: usize, const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(t: Tiles<'_>) {
    match t.is_single() {
        true => single_pixel::<EXACT, CLAMPED>(t, TAPS, SHIFT),
        false => pairs_of_pixels::<TAPS, SHIFT, EXACT, CLAMPED>(t),
    }
}

/// As [`tiles`], for any number of taps.
fn tiles_of_any<const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(t: Tiles<'_>, taps: usize) {
    match t.is_single() {
        true => single_pixel::<EXACT, CLAMPED>(t, taps, SHIFT),
        false => pairs_of_any::<SHIFT, EXACT, CLAMPED>(t, taps),
    }
}

/// The arguments of a convolution.
struct Layer<'a> {
    p: &'a Conv,
    x: Rows<'a, i8>,
    w: &'a [i32],
    y: Rows<'a, i8>,
    /// Words of a quad of filters.
    quad: usize,
    /// Whether all pixels are computed with a quad before the next one.
    held: bool,
}

impl Layer<'_> {
    /// Whether there are weights of all filters, and rows of the result have an element for each.
    fn fits(&self) -> bool {
        let Conv { out_w, out_c, .. } = *self.p;
        self.w.len() >= product(out_c.div_ceil(4), self.quad)
            && product(out_w, out_c.max(1)) <= self.y.row_len()
    }

    /// Windows of pixels, from the work space.
    #[inline(never)]
    fn windows(&self, band: Band, pad: i8, work: &[Cell<i32>], tiles: &dyn Fn(Tiles<'_>)) {
        let Layer { p, x, .. } = *self;
        let Conv { out_w, out_c, in_c, stride_w, k_h, .. } = *p;
        let (most, work, runs) = (pixels_that_fit(p, work.len()), bytes_of_words(work), Runs::of(p));
        if !self.fits() || most == 0 {
            return;
        }
        // Where the work space has room for whole rows, the padding at their ends stays in it.
        let whole = most >= out_w;
        work.iter().for_each(|cell| cell.set(pad));
        for (oy, y) in self.y.of_band(band) {
            let mut ox = 0;
            while ox < out_w {
                let pixels = most.min(out_w - ox);
                fill(p, x, pad, &runs, work, [oy, ox], pixels, whole);
                let y = y.get(product(ox, out_c)..).unwrap_or(&[]);
                self.pixels(work, product_of([stride_w, k_h, in_c]), y, pixels, tiles);
                ox += pixels;
            }
        }
    }

    /// Single pixels, where they lie. A result may lie over the taps of pixels before it.
    #[inline(never)]
    fn points(&self, band: Band, tiles: &dyn Fn(Tiles<'_>)) {
        let Layer { p: &Conv { out_w, out_c, .. }, x, .. } = *self;
        if !self.fits() {
            return;
        }
        let step = product(self.p.stride_w, self.p.in_c);
        for (oy, y) in self.y.of_band(band) {
            let row = x.row(oy.wrapping_mul(self.p.stride_h));
            let apart = match x.overlaps(&self.y) {
                true => pixels_apart(row, step, y, out_c).min(out_w),
                false => usize::MAX,
            };
            let mut pixel = 0;
            while pixel < out_w {
                let (Some(x), Some(y)) = (row.get(product(pixel, step)..), y.get(product(pixel, out_c)..))
                else {
                    return;
                };
                let pixels = match apart.saturating_sub(pixel) {
                    0 => 1,
                    left if self.held && apart < usize::MAX => left.min(pixels_free(x, y, out_c)),
                    left => left.min(out_w - pixel),
                };
                self.pixels(x, step, y, pixels, tiles);
                pixel += pixels;
            }
        }
    }

    /// Consecutive pixels of a row of the result, whose taps begin `step` elements from each other.
    fn pixels(&self, x: &[Cell<i8>], step: usize, y: &[Cell<i8>], pixels: usize, tiles: &dyn Fn(Tiles<'_>)) {
        let Layer { p: &Conv { out_c, .. }, w, quad, .. } = *self;
        let (pairs, quads) = (pixels / 2, out_c / 4);
        let all = Tiles { w, x, x_step: step, y, y_step: out_c, pairs, quads };
        tiles(all);
        if pixels % 2 == 1 {
            let last = pixels - 1;
            let (Some(x), Some(y)) = (x.get(product(last, step)..), y.get(product(last, out_c)..)) else {
                return;
            };
            tiles(Tiles { x, x_step: 0, y, y_step: 0, pairs: 1, ..all });
        }
        let rest = out_c % 4;
        let Some(w) = w.get(product(quads, quad)..).filter(|_| rest > 0) else { return };
        // The last filters, completed to four, whose results lie elsewhere first.
        for pair in (0..pixels).step_by(2) {
            let results = [const { Cell::new(0) }; 8];
            let second = if pair + 1 < pixels { step } else { 0 };
            let Some(x) = x.get(product(pair, step)..) else { return };
            tiles(Tiles { w, x, x_step: second, y: &results, y_step: 4, pairs: 1, quads: 1 });
            for (pixel, results) in (pair..pixels).zip(results.chunks_exact(4)) {
                let at = product(pixel, out_c).saturating_add(4 * quads);
                for (y, result) in y.get(at..).unwrap_or(&[]).iter().zip(results).take(rest) {
                    y.set(result.get());
                }
            }
        }
    }
}

/// How many pixels, of which the first has its taps here, have results that lie before these taps: an even number, or 1 where it is less than two.
fn pixels_free(x: &[Cell<i8>], y: &[Cell<i8>], out_c: usize) -> usize {
    let gap = (x.as_ptr() as usize).saturating_sub(y.as_ptr() as usize);
    match gap.checked_div(out_c) {
        None | Some(0 | 1) => 1,
        Some(pixels) => pixels & !1,
    }
}

/// Whether filters of so many taps are held in registers, and the pixels come one after the other.
pub(crate) const fn holds(taps: usize) -> bool {
    taps <= LANES
}

/// How many of the first pixels can be computed together, where results lie over the taps of pixels before them: no result lies over taps that are still to be read.
fn pixels_apart(x: &[Cell<i8>], step: usize, y: &[Cell<i8>], out_c: usize) -> usize {
    let gap = (x.as_ptr() as usize).saturating_sub(y.as_ptr() as usize);
    if out_c % 4 != 0 {
        // The last filters come when all others are done.
        return gap.checked_div(out_c).unwrap_or(0);
    }
    // The result of the last of `pixels` ends before the taps of the one before it: pixels · out_c ≤ gap + (pixels − 2) · step.
    match (out_c.checked_sub(step), gap.checked_sub(2 * out_c)) {
        (_, None) => 0,
        (None | Some(0), Some(_)) => usize::MAX,
        (Some(more), Some(left)) => 2 + left / more,
    }
}
