//! Depthwise convolution along one axis: columns or rows of pixels that lie behind each other, as of a signal in time.

#[cfg(not(kiln_dsp))]
use super::depthwise_planar::Finish;
use core::cell::Cell;

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
    #[cfg(kiln_dsp)]
    super::temporal_asm::pixels::<CHANNELS, TAPS, STRIDE, DILATION, SHIFT, SIGNED>(x, w, y, pixels);
    #[cfg(not(kiln_dsp))]
    for (pixel, out) in y.chunks_exact(CHANNELS.max(1)).enumerate() {
        let x = x.get(pixel.wrapping_mul(STRIDE).wrapping_mul(CHANNELS)..).unwrap_or(&[]);
        let finish = Finish::Affine { shift: SHIFT, signed: SIGNED };
        one::<CHANNELS>(TAPS, CHANNELS.saturating_mul(DILATION), x, w, out, &finish);
    }
}

/// Words of `w` for four channels.
const fn words_per_quad(taps: usize, signed: bool) -> usize {
    let weights = taps / 2 * 4 + taps % 2 * 2;
    4 + weights + if signed { 12 } else { 8 }
}

/// A pixel of the result in plain Rust.
#[cfg(not(kiln_dsp))]
fn one<const CHANNELS: usize>(
    taps: usize,
    step: usize,
    x: &[Cell<i8>],
    w: &[i32],
    out: &[Cell<i8>],
    finish: &Finish<'_>,
) {
    let each = finish.words();
    let quads = w.chunks_exact((words_per_quad(taps, false) - 8 + 4 * each).max(1));
    for (quad, w) in quads.take(CHANNELS.div_ceil(4)).enumerate() {
        let first = (4 * quad).min(CHANNELS.saturating_sub(4));
        for lane in 0..4 {
            let mut sum = w.get(lane).copied().unwrap_or(0);
            let elements = x.iter().skip(first + lane).step_by(step.max(1)).take(taps);
            for (tap, x) in elements.enumerate() {
                // The tap without a partner has its channels in halves.
                let (word, high) = match tap + 1 == taps && tap % 2 == 0 {
                    true => (2 * tap + lane % 2, lane / 2 == 1),
                    false => (tap / 2 * 4 + lane, tap % 2 == 1),
                };
                let word = w.get(4 + word).copied().unwrap_or(0);
                let weight = (if high { word >> 16 } else { word }) as i16;
                sum = sum.wrapping_add(i32::from(x.get()).wrapping_mul(weight.into()));
            }
            let tail = w.len().wrapping_sub((4 - lane) * each);
            let tail = w.get(tail..).and_then(|w| w.get(..each)).unwrap_or(&[]);
            let (Some(y), Some(cell)) = (finish.result(sum, first + lane, tail), out.get(first + lane))
            else {
                return;
            };
            cell.set(y);
        }
    }
}
