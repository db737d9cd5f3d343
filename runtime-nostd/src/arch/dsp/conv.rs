//! Convolutions in tiles of two pixels and four filters, and those of images one column wide: single pixels, four or eight filters at a time.
#![allow(unsafe_code)]

use super::affine::{exact, requant_words, rescaled};
use super::blocks::conv::pairs_of_pixels;
use super::blocks::conv1::rows_of_pairs;
use super::blocks::conv_small::pairs_of_any;
use super::taps::{exact_results, results, results_of_many, Taps};
use super::tile::{requantised, sums, Shape, Tiles, FIRST_WORDS};
use super::window::{fill, move_rows, pixels_that_fit, rows_kept};
use crate::arch::extent::{product, product_of, span, sum};
use crate::arch::portable::conv::conv1_i16_i8;
use crate::params::{Conv, Requant, Rescale, Stride};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Convolution of an `i8` image, for cores with the DSP extension: `groups` and `dilation_w` are 1.
///
/// `w` holds quads of filters a, b, c, d, of which the last are zero where `out_c` is not a multiple of four:
/// - four words: first values `[A, A + 256 · B, C, C + 256 · D]`, wrapping, where A … is the filter's bias;
/// - for each pair of taps (i, j) two words: halves `a_i + 256 · b_i` (low) and `a_j + 256 · b_j` (high), and the same of c and d;
/// - with `SIGNED` four words: corrections `[K_a, K_b, K_c, K_d]`;
/// - eight words: `[M, C]` of each filter.
///
/// Taps are in the order \[k_w\]\[k_h\]\[in_c\]. Pairs are of neighbours, with a zero tap at the end where the number of taps is odd; but where `in_c` is a
/// multiple of four, each four taps are the pairs (0, 2) and (1, 3).
///
/// A result is `SSAT8(x >> s)`, where `x = (d · M + C · 2³² + 2³¹) >> 32`. In filters a and c `d` is the sum and `s` is `SHIFT`; in filters b and d, and with
/// `SIGNED` in all, `d` is 256 times the sum, which is less than 2²³, and `s` is `SHIFT + 8`. With `SIGNED`, K is added to a negative `d`.
///
/// `XD` is 2 · `stride_w` · `k_h` · `in_c`, at most 3840; `PAIRS` half the number of taps, rounded up; `UNROLL`, up to 31, the pairs of one turn of the inner loop;
/// `PIXEL` and `CHANNEL` are elements of a row of the result from one pixel or channel to the next: `PIXEL + 3 · CHANNEL` is at most 4095, `CHANNEL` at most 1023.
/// Operand rows, padding and `y` are as in [`conv2d_i8`](crate::kernels::conv2d_i8), but for the order in a row of `y`; `work` is used as
/// [`conv2d_work_words`](crate::kernels::conv2d_work_words) says. Nothing is written if these do not fit each other.
#[inline(never)]
pub fn conv2d_i8_dsp<
    const XD: usize,
    const PAIRS: usize,
    const UNROLL: usize,
    const PIXEL: usize,
    const CHANNEL: usize,
    const SHIFT: u32,
    const SIGNED: bool,
>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    let layer =
        Layer { p, xd: XD, pairs: PAIRS, x, w, pad, work, y, out: Stride { pixel: PIXEL, channel: CHANNEL } };
    let finish = Finish { words: requant_words(SIGNED), requantise: &requantised::<SHIFT, SIGNED> };
    layer.run(band, &pairs_of_pixels::<XD, PAIRS, UNROLL, PIXEL, CHANNEL, SHIFT, SIGNED>, &finish);
}

/// As [`conv2d_i8_dsp`], with the same weights: one function for layers of all shapes, which is smaller than one for each, and takes 16 cycles or so
/// where those take 15.
#[inline(never)]
pub fn conv2d_i8_dsp_small<const SHIFT: u32, const SIGNED: bool>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    out: &Stride,
    band: Band,
) {
    let layer = Layer::of(p, x, w, pad, work, y, out);
    let shape = Shape { xd: layer.xd, pairs: layer.pairs, out: *out };
    let finish = Finish { words: requant_words(SIGNED), requantise: &requantised::<SHIFT, SIGNED> };
    layer.run(band, &|t| pairs_of_any::<SHIFT, SIGNED>(t, &shape), &finish);
}

/// As [`conv2d_i8_dsp`], rescaled as the reference does: for any multiplier and shift. Quads of `w` have no `[M, C]`; the sums of filters b and d are less than 2²³.
#[inline(never)]
pub fn conv2d_i8_dsp_exact(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    work: &[Cell<i32>],
    q: &Requant<'_>,
    y: Rows<'_, i8>,
    out: &Stride,
    band: Band,
) {
    let layer = Layer::of(p, x, w, pad, work, y, out);
    let Some(pixels) = layer.pixels_at_once() else { return };
    let results = |o: usize, sums: [i32; 4], _: &[i32]| {
        let mut results = [0; 4];
        for (f, (result, sum)) in results.iter_mut().zip(sums).enumerate() {
            let acc = if f % 2 == 1 { sum >> 8 } else { sum };
            *result = exact(q, o + f, acc).unwrap_or(0);
        }
        results
    };
    layer.rows(band, pixels, &|t| layer.one_by_one(t, 0, &Finish { words: 0, requantise: &results }));
}

/// Words that [`conv2d_i8_dsp`](crate::kernels::conv2d_i8_dsp) needs to hold the taps of `pixels` consecutive pixels of a row at once.
///
/// It wants two pixels at least, and reads less often what neighbours share when there are more, up to `out_w` rounded up to an even number.
pub const fn conv2d_work_words(p: &Conv, pixels: usize) -> usize {
    let column = p.k_h.saturating_mul(p.in_c);
    let taps = p.k_w.saturating_mul(column);
    let others = pixels.saturating_sub(1).saturating_mul(p.stride_w).saturating_mul(column);
    others.saturating_add(taps.div_ceil(2).saturating_mul(2)).div_ceil(2)
}

/// Convolution of an image one column wide, with filters one column wide, for cores with the DSP extension: `groups`, `in_w`, `out_w` and `k_w` are 1, and there is no padding to the left.
///
/// `w` is as for [`dense_i8_dsp`](crate::kernels::dense_i8_dsp), with the pairs of taps of each of the `k_h` rows of a filter; rows outside of the image read as `pad`.
#[inline(never)]
pub fn conv1_i8_dsp<const SHIFT: u32, const SIGNED: bool>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    y: Rows<'_, i8>,
    band: Band,
) {
    column(p, x, pad, y, band, &|taps, y| results::<SHIFT, SIGNED>(taps, w, y));
}

/// As [`conv1_i8_dsp`], with weights as for [`dense_i8_dsp_eights`](crate::kernels::dense_i8_dsp_eights), and as many filters at a time.
#[inline(never)]
pub fn conv1_i8_dsp_eights<const SHIFT: u32, const SIGNED: bool, const REST: bool>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    y: Rows<'_, i8>,
    band: Band,
) {
    column(p, x, pad, y, band, &|taps, y| results_of_many::<SHIFT, SIGNED, REST>(taps, w, y));
}

/// As [`conv1_i8_dsp`], rescaled as the reference does; quads of `w` are those of [`conv2d_i8_dsp_exact`](crate::kernels::conv2d_i8_dsp_exact).
#[inline(never)]
pub fn conv1_i8_dsp_exact(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    q: &Requant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    column(p, x, pad, y, band, &|taps, y| exact_results(taps, w, q, y));
}

/// As [`conv1_i16_i8`](crate::kernels::conv1_i16_i8), reading two elements at a time where every result is of one channel, of whole fours.
#[inline(never)]
pub fn conv1_i16_i8_dsp(
    p: &Conv,
    x: Rows<'_, i16>,
    w: &[i16],
    bias: &[i32],
    by: &Rescale,
    y: Rows<'_, i8>,
    band: Band,
) {
    for (row, out) in y.of_band(band) {
        let window = x.run(row.wrapping_mul(p.stride_h), p.k_h);
        let whole = p.in_c == p.out_c && p.in_c % 4 == 0 && x.row_len() == p.in_c && p.k_h > 0;
        match (window, out.get(..p.in_c), bias.get(..p.in_c), w.get(..product(p.k_h, p.in_c))) {
            (Some(x), Some(y), Some(bias), Some(w)) if whole => {
                fours_of_channels(p, x, w, bias, by, y);
            }
            _ => conv1_i16_i8(p, x, w, bias, by, y, Band { first: row, rows: 1 }),
        }
    }
}

/// What becomes of a quad's sums.
struct Finish<'a> {
    /// Words at the end of a quad that it reads.
    words: usize,
    /// Results of the quad whose first filter it is told.
    requantise: &'a Requantise<'a>,
}

type Requantise<'a> = dyn Fn(usize, [i32; 4], &[i32]) -> [i8; 4] + 'a;

/// The arguments of a convolution. Places in rows of the result may wrap: whoever writes there compares them with the row first.
struct Layer<'a> {
    p: &'a Conv,
    xd: usize,
    pairs: usize,
    x: Rows<'a, i8>,
    w: &'a [i32],
    pad: i8,
    work: &'a [Cell<i32>],
    y: Rows<'a, i8>,
    out: Stride,
}

impl<'a> Layer<'a> {
    /// Of any shape.
    fn of(
        p: &'a Conv,
        x: Rows<'a, i8>,
        w: &'a [i32],
        pad: i8,
        work: &'a [Cell<i32>],
        y: Rows<'a, i8>,
        out: &Stride,
    ) -> Self {
        let (xd, taps) = (product_of([2, p.stride_w, p.k_h, p.in_c]), product_of([p.k_w, p.k_h, p.in_c]));
        Layer { p, xd, pairs: taps.div_ceil(2), x, w, pad, work, y, out: *out }
    }

    /// How many pixels the work space holds, two at least; `None` if the arguments do not fit each other.
    ///
    /// It then holds all taps of these pixels, so that what a filter and a step to the next pixel take is no more than it has; and rows of the result have an element for each result.
    fn pixels_at_once(&self) -> Option<usize> {
        let Conv { k_h, k_w, in_c, stride_w, out_w, out_c, .. } = *self.p;
        let column = product(k_h, in_c);
        let taps = product(k_w, column);
        let fits = self.xd == product_of([2, stride_w, column])
            && self.pairs == taps.div_ceil(2)
            && product(out_w, out_c.max(1)) <= self.y.row_len();
        let pixels = pixels_that_fit(self.p, self.work.len());
        (fits && pixels > 0).then_some(pixels)
    }

    /// The band, by `tiles` where they are full.
    #[inline(never)]
    fn run(&self, band: Band, tiles: &dyn Fn(Tiles<'a>), finish: &Finish<'_>) {
        let Some(pixels) = self.pixels_at_once() else { return };
        self.rows(band, pixels, &|t| {
            let paired = if t.pixels == 1 { 0 } else { t.pixels };
            tiles(t);
            if t.pixels % 2 == 1 && paired > 0 {
                // The last pixel, once more with the one before it.
                let first = t.pixels - 2;
                let at = t.at.wrapping_add(first.wrapping_mul(self.out.pixel));
                tiles(Tiles { x_at: first * self.xd, at, pixels: 2, ..t });
            }
            if paired == 0 || self.p.out_c % 4 != 0 {
                self.one_by_one(t, paired, finish);
            }
        });
    }

    /// Row by row, widens the operand of as many pixels as fit the work space, and leaves them to `tiles`.
    #[inline(never)]
    fn rows(&self, band: Band, pixels: usize, tiles: &dyn Fn(Tiles<'a>)) {
        let Layer { p, x, w, pad, work, out, .. } = *self;
        // What a row of the result shares with the next one stays where all of it is in the work space.
        let kept = if pixels >= p.out_w { rows_kept(p) } else { 0 };
        for (oy, y) in self.y.of_band(band) {
            let mut ox = 0;
            while ox < p.out_w {
                let mut pixels = pixels.min(p.out_w - ox);
                if pixels == 1 && ox > 0 {
                    // The last pixel, once more with the one before it.
                    (ox, pixels) = (ox - 1, 2);
                }
                let kept = if oy > band.first { kept } else { 0 };
                if kept > 0 {
                    move_rows(p, work, pixels);
                }
                fill(p, x, pad, work, oy, ox, pixels, kept);
                let (at, quads) = (ox.wrapping_mul(out.pixel), p.out_c / 4);
                tiles(Tiles { w, x: work, x_at: 0, y, at, pixels, quads });
                ox += pixels;
            }
        }
    }

    /// What makes no full tile: all filters of the pixels from `paired` on, and the filters behind the last full quad of those before.
    #[inline(never)]
    fn one_by_one(&self, t: Tiles<'_>, paired: usize, finish: &Finish<'_>) {
        let quad = FIRST_WORDS + 2 * self.pairs + finish.words;
        let (filters, quads) = (self.p.out_c, self.p.out_c.div_ceil(4));
        for pixel in 0..t.pixels {
            let first = if pixel < paired { t.quads } else { 0 };
            for (q, w) in t.w.chunks_exact(quad.max(1)).enumerate().take(quads).skip(first) {
                let results = (finish.requantise)(4 * q, sums(w, t.x, pixel * self.xd, self.pairs), w);
                for (o, result) in (4 * q..filters).zip(results) {
                    let at =
                        pixel.wrapping_mul(self.out.pixel).wrapping_add(o.wrapping_mul(self.out.channel));
                    let Some(y) = t.y.get(t.at.wrapping_add(at)) else { return };
                    y.set(result);
                }
            }
        }
    }
}

/// Elements of a row that is all padding.
const PADDING: usize = 128;

/// Collects the taps of each row of the result.
#[inline(always)]
fn column(
    p: &Conv,
    x: Rows<'_, i8>,
    pad: i8,
    y: Rows<'_, i8>,
    band: Band,
    finish: &dyn Fn(&Taps<'_>, &[Cell<i8>]),
) {
    let last = sum(product(band.range().end.saturating_sub(1), p.stride_h), span(p.k_h, p.dilation_h));
    if p.pad_top > 0 || last >= p.in_h {
        return padded_column(p, x, pad, y, band, finish);
    }
    for (oy, y) in y.of_band(band) {
        let mut taps = Taps::new();
        let Some(()) = push_rows(&mut taps, p, x, &[], oy) else { return };
        finish(&taps, y);
    }
}

/// As [`column`], where some rows are padding.
#[inline(never)]
fn padded_column(
    p: &Conv,
    x: Rows<'_, i8>,
    pad: i8,
    y: Rows<'_, i8>,
    band: Band,
    finish: &dyn Fn(&Taps<'_>, &[Cell<i8>]),
) {
    let padding = [const { Cell::new(0) }; PADDING];
    padding.iter().for_each(|cell| cell.set(pad));
    for (oy, y) in y.of_band(band) {
        let mut taps = Taps::new();
        let Some(()) = push_rows(&mut taps, p, x, &padding, oy) else { return };
        finish(&taps, y);
    }
}

/// Collects the taps of one row of the result.
#[inline(never)]
fn push_rows<'a>(
    taps: &mut Taps<'a>,
    p: &Conv,
    x: Rows<'a, i8>,
    padding: &'a [Cell<i8>],
    oy: usize,
) -> Option<()> {
    let top = oy.wrapping_mul(p.stride_h).wrapping_sub(p.pad_top);
    let joined = p.dilation_h == 1 && p.in_c % 4 == 0 && x.row_len() == p.in_c;
    let mut ky = 0;
    while ky < p.k_h {
        let iy = top.wrapping_add(ky.wrapping_mul(p.dilation_h));
        let (run, rows) = if iy >= p.in_h {
            (padding.get(..p.in_c), 1)
        } else if joined {
            x.rows_from(iy, (p.k_h - ky).min(p.in_h - iy))
        } else {
            (x.row(iy).get(..p.in_c), 1)
        };
        taps.push(run?)?;
        ky += rows;
    }
    Some(())
}

/// The results of one row, from a window of so many rows of channels in fours, and as many weights.
#[inline(always)]
fn fours_of_channels(p: &Conv, x: &[Cell<i16>], w: &[i16], bias: &[i32], by: &Rescale, y: &[Cell<i8>]) {
    let rescaled = rescaled(by);
    let fours = y.chunks_exact(4).zip(bias.chunks_exact(4)).zip(w.chunks_exact((4 * p.k_h).max(1)));
    // Not slices of four: what lies below them in the other rows is read from the same pointer.
    let mut first = x.as_ptr();
    for ((y, bias), w) in fours {
        let x = first;
        first = first.wrapping_add(4);
        let (&[a, b, c, d], [ya, yb, yc, yd]) = (bias, y) else { return };
        // SAFETY: `x` begins at the four of the first row, of as many as there are results, which are `in_c`; the window is a run of `k_h` rows that long, as its caller has found it; and
        // `w` has four weights for each of them.
        let [a, b, c, d] = unsafe { rows_of_pairs(x, p.in_c, w.as_ptr(), p.k_h, [a, b, c, d]) };
        ya.set(rescaled(a) as i8);
        yb.set(rescaled(b) as i8);
        yc.set(rescaled(c) as i8);
        yd.set(rescaled(d) as i8);
    }
}
