//! Convolution in tiles of two pixels and four filters.

use super::tile::{pairs_of_pixels, requant_words, requantised, sums, Tiles, FIRST_WORDS};
use super::window::{fill, pixels_that_fit};
use crate::fixed::to_i8;
use crate::params::{Conv, Requant, Scale, Stride};
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
    rows(p, XD, PAIRS, x, w, pad, work, y, PIXEL, band, &|t| {
        let paired = Tiles { pixels: t.pixels & !1, ..t };
        pairs_of_pixels::<XD, PAIRS, UNROLL, PIXEL, CHANNEL, SHIFT, SIGNED>(paired);
        if paired.pixels < t.pixels || p.out_c % 4 != 0 {
            let out = Stride { pixel: PIXEL, channel: CHANNEL };
            let finish = Finish { words: requant_words(SIGNED), requantise: &requantised::<SHIFT, SIGNED> };
            one_by_one(p, t, XD, PAIRS, out, paired.pixels, &finish);
        }
    });
}

/// As [`conv2d_i8_dsp`], rescaled as the reference does: for any multiplier and shift. Quads of `w` have no `[M, C]`; the sums of filters b and d are less than 2²³.
#[inline(never)]
pub fn conv2d_i8_dsp_exact<const XD: usize, const PAIRS: usize, const UNROLL: usize>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    work: &[Cell<i32>],
    q: &Requant<'_>,
    y: Rows<'_, i8>,
    out: Stride,
    band: Band,
) {
    rows(p, XD, PAIRS, x, w, pad, work, y, out.pixel, band, &|t| {
        let results = |o: usize, sums: [i32; 4], _: &[i32]| {
            let mut results = [0; 4];
            for (f, (result, sum)) in results.iter_mut().zip(sums).enumerate() {
                let acc = if f % 2 == 1 { sum >> 8 } else { sum };
                *result = exact(q, o + f, acc).unwrap_or(0);
            }
            results
        };
        one_by_one(p, t, XD, PAIRS, out, 0, &Finish { words: 0, requantise: &results });
    });
}

/// What becomes of a quad's sums.
struct Finish<'a> {
    /// Words at the end of a quad that it reads.
    words: usize,
    /// Results of the quad whose first filter it is told.
    requantise: &'a dyn Fn(usize, [i32; 4], &[i32]) -> [i8; 4],
}

/// What makes no full tile: all filters of the pixels from `paired` on, and the filters behind the last full quad of those before.
#[inline(never)]
fn one_by_one(
    p: &Conv,
    t: Tiles<'_>,
    xd: usize,
    pairs: usize,
    out: Stride,
    paired: usize,
    finish: &Finish<'_>,
) {
    let quad = FIRST_WORDS + 2 * pairs + finish.words;
    let quads = p.out_c.div_ceil(4);
    for pixel in 0..t.pixels {
        let first = if pixel < paired { t.quads } else { 0 };
        for (q, w) in t.w.chunks_exact(quad).enumerate().take(quads).skip(first) {
            let results = (finish.requantise)(4 * q, sums(w, t.x, pixel * xd, pairs), w);
            for (o, result) in (4 * q..p.out_c).zip(results) {
                let Some(y) = t.y.get(t.at + pixel * out.pixel + o * out.channel) else { return };
                y.set(result);
            }
        }
    }
}

/// The result of channel `o`.
pub(super) fn exact(q: &Requant<'_>, o: usize, acc: i32) -> Option<i8> {
    let multiplier = *q.multipliers.get(o).or(q.multipliers.first())?;
    let shift = i32::from(*q.shifts.get(o).or(q.shifts.first())?);
    Some(to_i8(Scale { multiplier, shift }.apply(acc), q.zero_point, q.lo, q.hi))
}

/// Row by row, widens the operand of as many pixels as fit the work space, and leaves them to `tiles`.
#[inline(never)]
fn rows(
    p: &Conv,
    xd: usize,
    pairs: usize,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    pixel: usize,
    band: Band,
    tiles: &dyn Fn(Tiles<'_>),
) {
    let column = p.k_h.saturating_mul(p.in_c);
    let taps = p.k_w.saturating_mul(column);
    let pixels = pixels_that_fit(p, work.len());
    if xd != 2 * p.stride_w.saturating_mul(column) || pairs != taps.div_ceil(2) || pixels == 0 {
        return;
    }
    for oy in band.range() {
        let y = y.row(oy);
        let mut ox = 0;
        while ox < p.out_w {
            let pixels = pixels.min(p.out_w - ox);
            fill(p, x, pad, work, oy, ox, pixels);
            tiles(Tiles { w, x: work, y, at: ox * pixel, pixels, quads: p.out_c / 4 });
            ox += pixels;
        }
    }
}
