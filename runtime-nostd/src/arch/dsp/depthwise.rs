//! Depthwise convolutions: of channel-last images, four channels at a time; of planar rows, where the pixels of a channel lie side by side, so that one word loads four of
//! them; and along one axis, of pixels that lie behind each other, as of a signal in time.

use super::affine::{affine, corrected};
use super::blocks;
use crate::arch::extent::{product, sum};
use crate::fixed::to_i8;
use crate::params::{Conv, Requant, Scale, Stride};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// As [`depthwise2d_i8`](crate::kernels::depthwise2d_i8) with as many channels in the result as in the operand, at least four, and sums that need no more than one
/// multiplication to be rescaled: as in [`depthwise2d_i8_dsp_planar`](crate::kernels::depthwise2d_i8_dsp_planar).
///
/// `STEP` is the distance of the taps of a row, `in_c · dilation_w`; where `k_w` is 1, that of the taps of a column, `in_w · in_c · dilation_h`. `UNROLL` is how
/// many taps there are in a turn of the loop, 44 bytes of code each.
///
/// `w` holds for each four channels, the last four of which may begin before the others end:
/// - the first values of the sums: bias and what exactness asks for;
/// - the weights of the taps \[k_h\]\[k_w\], one byte for each of the four channels, the first one low;
/// - M and C of each channel; with `SIGNED` M, C and the correction.
///
/// The padding `pad` is subtracted from elements. So taps in the padding do not count, and are not computed.
#[inline(never)]
pub fn depthwise2d_i8_dsp<const STEP: usize, const UNROLL: usize, const SHIFT: u32, const SIGNED: bool>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    y: Rows<'_, i8>,
    band: Band,
) {
    let block = blocks::depthwise::Block::of::<STEP, UNROLL, SHIFT, SIGNED>();
    for_pixels(p, x, w, y, band, &mut |pixel, out| {
        if !blocks::depthwise::pixel(p, &pixel, w, pad, out, &block) {
            pixel.plain(p, w, pad, out, &Finish::Affine { shift: SHIFT, signed: SIGNED });
        }
    });
}

/// As [`depthwise2d_i8_dsp`] for sums that are rescaled as TensorFlow Lite Micro does; in `w`, M and C are missing, and the first values are the biases.
#[inline(never)]
pub fn depthwise2d_i8_dsp_exact(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    q: &Requant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    for_pixels(p, x, w, y, band, &mut |pixel, out| pixel.plain(p, w, pad, out, &Finish::Exact(q)));
}

/// As [`depthwise2d_i8`](crate::kernels::depthwise2d_i8), for an operand whose rows are planar, \[in_c\]\[in_w\], and sums that need no more than one
/// multiplication to be rescaled: `y = SSAT8((d·M + C·2³² + 2³¹) >> 32 >> SHIFT)`, where `d` is the sum. With `SIGNED`, `d` is 256 times the sum, plus a
/// correction if the sum is negative, and the last shift is `SHIFT + 8`.
///
/// Multiplier and dilation are 1, and `STRIDE` is `stride_w`. Element `c` of pixel `ox` of a row of `y` is at `ox · PIXEL + c · channel`. Where `PIXEL` is 0, it stands for `out_c`, in code for
/// any number of channels. `WIDTH` is `in_w` for
/// rows of 3 to 6 pixels with a filter 3 × 3, one column of padding on either side and strides of 1, whose sums are all kept in registers; else it is 0.
///
/// `w` holds for each channel in turn, where `k_w` = 3:
/// - `k_h` words: the outer taps of a row of the filter, (w₀, w₂) as 16-bit halves, the first one low;
/// - `⌈k_h / 2⌉` words: the middle taps of two rows, the earlier one low; 0 where there is no later one;
/// - the sum's first value, bias and what exactness asks for; M; C; with `SIGNED` the correction.
///
/// Every tap counts, also in the padding, which reads as `pad`. Where `WIDTH` is not 0, `pad` is subtracted from each element instead, and the first value is greater by
/// `pad · Σ w`.
#[inline(never)]
pub fn depthwise2d_i8_dsp_planar<
    const WIDTH: usize,
    const STRIDE: usize,
    const PIXEL: usize,
    const SHIFT: u32,
    const SIGNED: bool,
>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    y: Rows<'_, i8>,
    channel: usize,
    band: Band,
) {
    let block = blocks::depthwise_planar::Block::of::<STRIDE, PIXEL, SHIFT, SIGNED>();
    let pixel = if PIXEL == 0 { p.out_c } else { PIXEL };
    for (row, out) in y.of_band(band) {
        let Some(rows) = Window::of(p, x, row) else { return };
        let done = match WIDTH {
            0 => blocks::depthwise_planar::row(p, &rows, w, pad, out, channel, &block),
            _ => blocks::depthwise_narrow::row::<WIDTH, PIXEL, SHIFT, SIGNED>(p, &rows, w, pad, out, channel),
        };
        if done {
            continue;
        }
        let zero = if WIDTH == 0 { 0 } else { pad };
        let finish = Finish::Affine { shift: SHIFT, signed: SIGNED };
        plain(p, &rows, w, (pad, zero), out, (pixel, channel), &finish);
    }
}

/// As [`depthwise2d_i8_dsp_planar`] for sums that are rescaled as TensorFlow Lite Micro does; in `w`, M and C are missing, and the first value is the bias.
#[inline(never)]
pub fn depthwise2d_i8_dsp_planar_exact(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    q: &Requant<'_>,
    y: Rows<'_, i8>,
    out: &Stride,
    band: Band,
) {
    for (row, y) in y.of_band(band) {
        let Some(rows) = Window::of(p, x, row) else { return };
        plain(p, &rows, w, (pad, 0), y, (out.pixel, out.channel), &Finish::Exact(q));
    }
}

/// A depthwise convolution of pixels of `CHANNELS` channels, at least four, along the only axis that there is. Result `i` is the sum over its `TAPS` taps,
/// the first of which is pixel `i · STRIDE` of the operand and the others `DILATION` pixels apart. There is no padding. As many pixels are computed as `y` has.
///
/// Sums are rescaled as in [`depthwise2d_i8_dsp_planar`](crate::kernels::depthwise2d_i8_dsp_planar).
///
/// `w` holds for each four channels, the last four of which may begin before the others end:
/// - the first values of the sums: bias and what exactness asks for;
/// - for each two taps a word of each channel: 16-bit halves, the earlier tap low;
/// - if there is one tap more, that of channels (0, 2), and of (1, 3);
/// - M and C of each channel; with `SIGNED` M, C and the correction.
///
/// A pixel of the result may take the place of what only earlier ones read. Nothing is computed where `x` or `w` are too short. `TAPS · DILATION ·
/// CHANNELS` and `STRIDE · CHANNELS` are at most 4095.
#[inline(always)]
pub fn depthwise1d_i8_dsp<
    const CHANNELS: usize,
    const TAPS: usize,
    const STRIDE: usize,
    const DILATION: usize,
    const SHIFT: u32,
    const SIGNED: bool,
>(
    x: &[Cell<i8>],
    w: &[i32],
    y: &[Cell<i8>],
) {
    // With constants nothing of this remains but the call.
    let Some(pixels) = y.len().checked_div(CHANNELS) else { return };
    let reach = (TAPS.saturating_sub(1)).saturating_mul(DILATION).saturating_mul(CHANNELS);
    let before_last = pixels.saturating_sub(1).saturating_mul(STRIDE).saturating_mul(CHANNELS);
    let words = words_per_quad(TAPS, SIGNED).saturating_mul(CHANNELS.div_ceil(4));
    let there = before_last.saturating_add(reach).saturating_add(CHANNELS) <= x.len() && words <= w.len();
    if !(there && CHANNELS >= 4 && TAPS > 0 && pixels > 0) {
        return;
    }
    blocks::depthwise1d::pixels::<CHANNELS, TAPS, STRIDE, DILATION, SHIFT, SIGNED>(x, w, y, pixels);
}

/// Words of `w` for four channels.
pub(crate) const fn words_per_quad(taps: usize, signed: bool) -> usize {
    let weights = taps / 2 * 4 + taps % 2 * 2;
    4 + weights + if signed { 12 } else { 8 }
}

/// A pixel of the result: which taps of its filters are inside of the image.
pub(crate) struct Pixel<'a> {
    pub(crate) x: Rows<'a, i8>,
    /// Row and column of the first tap; may be negative.
    pub(crate) top: usize,
    left: usize,
    /// The first column of taps inside of the image, and behind the last one.
    pub(crate) columns: (usize, usize),
}

/// Goes through the pixels of a band of the result. There are none where rows of the operand are shorter than `p` says, or weights fewer than taps: so every column inside of the image
/// is in its row, and no number of taps wraps.
#[inline(never)]
fn for_pixels(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    y: Rows<'_, i8>,
    band: Band,
    each: &mut dyn FnMut(Pixel<'_>, &[Cell<i8>]),
) {
    if product(p.in_w, p.in_c) > x.row_len() || product(p.k_h.max(1), p.k_w.max(1)) > w.len() {
        return;
    }
    for (row, out) in y.of_band(band) {
        let top = row.wrapping_mul(p.stride_h).wrapping_sub(p.pad_top);
        for (column, out) in out.chunks_exact(p.out_c.max(1)).take(p.out_w).enumerate() {
            let left = column.wrapping_mul(p.stride_w).wrapping_sub(p.pad_left);
            let inside = |&kx: &usize| left.wrapping_add(kx.wrapping_mul(p.dilation_w)) < p.in_w;
            let first = (0..p.k_w).find(inside).unwrap_or(p.k_w);
            let end = (first..p.k_w).find(|kx| !inside(kx)).unwrap_or(p.k_w);
            each(Pixel { x, top, left, columns: (first, end) }, out);
        }
    }
}

impl<'a> Pixel<'a> {
    /// The pixels of the operand from the first tap inside of the image on, for row `ky` of the filters. `None` in the padding.
    #[inline(always)]
    pub(crate) fn row(&self, p: &Conv, ky: usize) -> Option<&'a [Cell<i8>]> {
        let row = self.top.wrapping_add(ky.wrapping_mul(p.dilation_h));
        let (first, end) = self.columns;
        if row >= p.in_h || first >= end {
            return None;
        }
        let column = self.left.wrapping_add(first.wrapping_mul(p.dilation_w));
        let behind = self.left.wrapping_add((end - 1).wrapping_mul(p.dilation_w)).wrapping_add(1);
        self.x.row(row).get(column.wrapping_mul(p.in_c)..behind.wrapping_mul(p.in_c))
    }

    /// All channels, in plain Rust.
    #[inline(never)]
    fn plain(&self, p: &Conv, w: &[i32], pad: i8, out: &[Cell<i8>], finish: &Finish<'_>) {
        let (taps, each) = (p.k_h * p.k_w, finish.words());
        for (quad, w) in w.chunks_exact((4 + taps + 4 * each).max(1)).enumerate() {
            let c = (4 * quad).min(p.in_c.saturating_sub(4));
            for lane in 0..4 {
                let mut d = w.get(lane).copied().unwrap_or(0);
                for ky in 0..p.k_h {
                    let row = self.row(p, ky).unwrap_or(&[]);
                    let pixels = row.iter().skip(c + lane).step_by(product(p.in_c, p.dilation_w).max(1));
                    let weights = w.get(4 + ky * p.k_w + self.columns.0..).unwrap_or(&[]);
                    for (x, w) in pixels.zip(weights) {
                        let w = w.to_le_bytes().get(lane).map_or(0, |&w| i32::from(w as i8));
                        d = d.wrapping_add((i32::from(x.get()) - i32::from(pad)).wrapping_mul(w));
                    }
                }
                let tail = w.get(4 + taps + lane * each..).and_then(|w| w.get(..each)).unwrap_or(&[]);
                let (Some(y), Some(cell)) = (finish.result(d, c + lane, tail), out.get(c + lane)) else {
                    return;
                };
                cell.set(y);
            }
        }
    }
}

/// The rows of the operand that a row of the result reads.
pub(crate) struct Window<'a> {
    /// The first row; may be negative.
    top: usize,
    x: Rows<'a, i8>,
    in_h: usize,
}

impl<'a> Window<'a> {
    /// Of row `row` of the result.
    #[inline(always)]
    fn of(p: &Conv, x: Rows<'a, i8>, row: usize) -> Option<Self> {
        Some(Window { top: row.checked_mul(p.stride_h)?.wrapping_sub(p.pad_top), x, in_h: p.in_h })
    }

    /// The row that row `ky` of the filter reads, `None` in the padding.
    #[inline(always)]
    pub(crate) fn row(&self, ky: usize) -> Option<&'a [Cell<i8>]> {
        let row = self.top.wrapping_add(ky);
        (row < self.in_h).then(|| self.x.row(row))
    }
}

/// Tap (`ky`, `kx`) of a channel whose words these are.
#[inline(always)]
fn tap(p: &Conv, w: &[i32], ky: usize, kx: usize) -> i32 {
    let (word, high) = if kx == 1 { (p.k_h + ky / 2, ky % 2 == 1) } else { (ky, kx == 2) };
    let word = w.get(word).copied().unwrap_or(0);
    (if high { word >> 16 } else { word }) as i16 as i32
}

/// One row of the result, in plain Rust; `zero` is subtracted from each element.
#[inline(never)]
fn plain(
    p: &Conv,
    rows: &Window<'_>,
    w: &[i32],
    (pad, zero): (i8, i8),
    out: &[Cell<i8>],
    (pixel, channel): (usize, usize),
    finish: &Finish<'_>,
) {
    // Filters of more columns have no weights, and those of more rows than there are words neither; a row of results has no more pixels than elements.
    if p.k_w > 3 || p.k_h > w.len() || p.out_w > out.len() {
        return;
    }
    let first = p.k_h + p.k_h.div_ceil(2);
    for (c, w) in w.chunks_exact(first + 1 + finish.words()).take(p.in_c).enumerate() {
        for ox in 0..p.out_w {
            let mut d = w.get(first).copied().unwrap_or(0);
            for ky in 0..p.k_h {
                let row = rows.row(ky).and_then(|row| row.get(product(c, p.in_w)..product(c + 1, p.in_w)));
                for kx in 0..p.k_w {
                    let ix = ox.wrapping_mul(p.stride_w).wrapping_add(kx).wrapping_sub(p.pad_left);
                    let x = row.and_then(|row| row.get(ix)).map_or(pad, Cell::get);
                    let x = i32::from(x) - i32::from(zero);
                    d = d.wrapping_add(x.wrapping_mul(tap(p, w, ky, kx)));
                }
            }
            let at = sum(product(ox, pixel), product(c, channel));
            let (Some(y), Some(cell)) = (finish.result(d, c, w), out.get(at)) else { return };
            cell.set(y);
        }
    }
}

/// How sums are rescaled.
pub(crate) enum Finish<'a> {
    /// By one multiplication: a channel's words end with M and C, and where they are signed with the correction.
    Affine {
        /// The last shift.
        shift: u32,
        /// Whether negative sums are corrected.
        signed: bool,
    },
    /// As TensorFlow Lite Micro does it.
    Exact(&'a Requant<'a>),
}

impl Finish<'_> {
    /// Words of a channel for it.
    pub(crate) fn words(&self) -> usize {
        match self {
            Finish::Affine { signed, .. } => 2 + usize::from(*signed),
            Finish::Exact(_) => 0,
        }
    }

    /// The result of channel `c`, whose words end `w`.
    pub(crate) fn result(&self, sum: i32, c: usize, w: &[i32]) -> Option<i8> {
        match *self {
            Finish::Affine { shift, signed } => Some(rescale(sum, w, shift, signed)),
            Finish::Exact(q) => exact(q, sum, c),
        }
    }
}

fn rescale(sum: i32, w: &[i32], shift: u32, signed: bool) -> i8 {
    let (d, m, c, shift) = match *w {
        [.., m, c, correction] if signed => (corrected(sum, 8, correction), m, c, shift.saturating_add(8)),
        [.., m, c] => (sum, m, c, shift),
        _ => return 0,
    };
    affine(d, [m, c], shift)
}

fn exact(q: &Requant<'_>, d: i32, c: usize) -> Option<i8> {
    let c = if q.multipliers.len() == 1 { 0 } else { c };
    let scale = Scale { multiplier: *q.multipliers.get(c)?, shift: i32::from(*q.shifts.get(c)?) };
    Some(to_i8(scale.apply(d), q.zero_point, q.lo, q.hi))
}
