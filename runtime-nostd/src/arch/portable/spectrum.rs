//! Spectra of windows of samples: convolutions and matrix products whose filters are waves.

use super::conv::Patch;
use super::fft::{place, spectrum};
use crate::arch::extent::product_of;
use crate::params::{Conv, Waves};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Taps that are gathered at a time, where they do not lie side by side.
const GATHERED: usize = 64;

/// Convolution of floats whose filters are waves, without groups, by a Fourier transform of each pixel's taps. Padding reads as 0.
///
/// With the taps x(t) of a pixel, in the order of a filter's weights, and X(k) = Σ window(t) · x(t) · e^(−2πi·k·t / length), result `o` is what `parts[o]` says: 2·k the real part of X(k), 2·k + 1 the
/// imaginary part, and −1 − v the opposite of v.
///
/// `work` has `length` + 2 elements. Nothing is written if something is missing.
#[inline(never)]
pub fn spectrum_f32(
    p: &Conv,
    x: Rows<'_, f32>,
    waves: &Waves<'_>,
    work: &[Cell<f32>],
    y: Rows<'_, f32>,
    band: Band,
) {
    let &Waves { length, window, parts, twiddles, halves } = waves;
    let size = product_of([p.k_h, p.k_w, p.in_c]);
    let Some(work) = work.get(..length.saturating_add(2)) else { return };
    if !length.is_power_of_two()
        || length < 4
        || size > length
        || window.len() < size
        || parts.len() < p.out_c
    {
        return;
    }
    let buffer = [const { Cell::new(0.0) }; GATHERED];
    for (row, out) in y.of_band(band) {
        let top = row.wrapping_mul(p.stride_h);
        let skipped = x.laps_before(top.saturating_sub(p.pad_top));
        let (top, in_h) = (top.wrapping_sub(p.pad_top).wrapping_sub(skipped), p.in_h.saturating_sub(skipped));
        for (column, out) in out.chunks_exact(p.out_c.max(1)).take(p.out_w).enumerate() {
            let left = column.wrapping_mul(p.stride_w).wrapping_sub(p.pad_left);
            let patch = Patch { p, x, in_h, pad: 0.0, top, left, in_c: p.in_c, first_c: 0, size };
            let mut tap = Taps { work, n: length >> 1, next: 0, at: 0 };
            while tap.next < size {
                let some = patch.part(tap.next, &buffer);
                let window = window.get(tap.next..size).unwrap_or(&[]);
                if some.is_empty() {
                    return;
                }
                some.iter().zip(window).for_each(|(x, w)| tap.write(x.get() * w));
            }
            while tap.next < length {
                tap.write(0.0);
            }
            spectrum(length, twiddles, halves, work);
            for (out, part) in out.iter().zip(parts) {
                let part = *part;
                let at = if part < 0 { !part } else { part };
                let value = work.get(at as usize).map_or(0.0, Cell::get);
                out.set(if part < 0 { -value } else { value });
            }
        }
    }
}

/// Writes numbers where the transform wants them: two of them are the parts of a complex one.
struct Taps<'a> {
    work: &'a [Cell<f32>],
    /// Complex numbers.
    n: usize,
    next: usize,
    /// Where the next one comes.
    at: usize,
}

impl Taps<'_> {
    #[inline(always)]
    fn write(&mut self, value: f32) {
        if self.next % 2 == 0 {
            self.at = place(self.next >> 1, self.n).wrapping_mul(2);
        }
        if let Some(cell) = self.work.get(self.at) {
            cell.set(value);
        }
        (self.next, self.at) = (self.next.wrapping_add(1), self.at.wrapping_add(1));
    }
}
