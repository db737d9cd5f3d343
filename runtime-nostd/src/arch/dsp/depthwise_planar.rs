//! Depthwise convolution of planar rows: the pixels of a channel lie side by side, so that one word loads four of them.

use super::affine::{affine, corrected};
use crate::arch::extent::{product, sum};
use crate::fixed::to_i8;
use crate::params::{Conv, Requant, Scale, Stride};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// As [`depthwise2d_i8`](crate::kernels::depthwise2d_i8), for an operand whose rows are planar, \[in_c\]\[in_w\], and sums that need no more than one
/// multiplication to be rescaled: `y = SSAT8((d·M + C·2³² + 2³¹) >> 32 >> SHIFT)`, where `d` is the sum. With `SIGNED`, `d` is 256 times the sum, plus a
/// correction if the sum is negative, and the last shift is `SHIFT + 8`.
///
/// Multiplier and dilation are 1, and `STRIDE` is `stride_w`. Element `c` of pixel `ox` of a row of `y` is at `ox · PIXEL + c · channel`. `WIDTH` is `in_w` for
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
    #[cfg(kiln_dsp)]
    let block = super::depthwise_planar_asm::Block::of::<STRIDE, PIXEL, SHIFT, SIGNED>();
    const { assert!(PIXEL > 0, "pixels of the result lie at different places") };
    for (row, out) in y.of_band(band) {
        let Some(rows) = Window::of(p, x, row) else { return };
        #[cfg(kiln_dsp)]
        if match WIDTH {
            0 => super::depthwise_planar_asm::row(p, &rows, w, pad, out, channel, &block),
            _ => super::depthwise_narrow_asm::row::<WIDTH, PIXEL, SHIFT, SIGNED>(
                p, &rows, w, pad, out, channel,
            ),
        } {
            continue;
        }
        let zero = if WIDTH == 0 { 0 } else { pad };
        let finish = Finish::Affine { shift: SHIFT, signed: SIGNED };
        plain(p, &rows, w, (pad, zero), out, (PIXEL, channel), &finish);
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

/// Words of `w` for each channel.
#[cfg(kiln_dsp)]
#[inline(always)]
pub(crate) fn words_per_channel(p: &Conv, signed: bool) -> usize {
    p.k_h + p.k_h.div_ceil(2) + 3 + usize::from(signed)
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
