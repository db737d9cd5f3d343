//! Depthwise convolution along one axis in plain Rust.

use crate::arch::dsp::depthwise::{words_per_quad, Finish};
use core::cell::Cell;

/// All pixels of the result.
pub(crate) fn pixels<
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
    _: usize,
) {
    for (pixel, out) in y.chunks_exact(CHANNELS.max(1)).enumerate() {
        let x = x.get(pixel.wrapping_mul(STRIDE).wrapping_mul(CHANNELS)..).unwrap_or(&[]);
        let finish = Finish::Affine { shift: SHIFT, signed: SIGNED };
        one::<CHANNELS>(TAPS, CHANNELS.saturating_mul(DILATION), x, w, out, &finish);
    }
}

/// A pixel of the result.
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
