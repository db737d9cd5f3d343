//! Spectra of windows of samples: convolutions and matrix products whose filters are waves.

use super::conv::Patch;
use super::mixed::spectrum;
use crate::arch::extent::product_of;
use crate::params::{Conv, Waves};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Taps that are gathered at a time, where they do not lie side by side.
const GATHERED: usize = 64;

/// Convolution of floats whose filters are waves, without groups, by a Fourier transform of each pixel's taps. Padding reads as 0.
///
/// With the taps x(t) of a pixel, in the order of a filter's weights, and X(k) = Σ 2 · window(t) · x(t) · e^(−2πi·k·t / length), result `o` is what `parts[o]` says: 2·k the real part of X(k), 2·k + 1 the
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
    let &Waves { length, window, parts, places, .. } = waves;
    let size = product_of([p.k_h, p.k_w, p.in_c]);
    let Some(work) = work.get(..length.saturating_add(2)) else { return };
    if size > length || window.len() < size || parts.len() < p.out_c {
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
            let mut taps = Taps { window, places, work, next: 0 };
            // Rows that are taken as a whole lie side by side, as far as a ring goes.
            let whole = p.k_w == p.in_w && left == 0 && p.dilation_w == 1;
            while taps.next < size {
                let row = top.wrapping_add(taps.next.checked_div(x.row_len()).unwrap_or(0));
                let rows = size.saturating_sub(taps.next).checked_div(x.row_len()).unwrap_or(0);
                let some = match whole
                    && p.dilation_h == 1
                    && row < in_h
                    && x.row_len() == p.in_w.wrapping_mul(p.in_c)
                {
                    true => x.rows_from(row, rows.min(in_h - row)).0.unwrap_or(&[]),
                    false => patch.part(taps.next, &buffer),
                };
                if some.is_empty() {
                    return;
                }
                taps.write(some);
            }
            for (at, place) in (size..length).filter_map(|at| Some((at, places.get(at >> 1)?))) {
                put(work, *place, at % 2, 0.0);
            }
            spectrum(waves, work);
            for (out, part) in out.iter().zip(parts) {
                let part = *part;
                let at = if part < 0 { !part } else { part };
                let value = work.get(at as usize).map_or(0.0, Cell::get);
                out.set(if part < 0 { -value } else { value });
            }
        }
    }
}

/// Writes taps, times their factors, where the transform wants them.
struct Taps<'a> {
    window: &'a [f32],
    places: &'a [u16],
    work: &'a [Cell<f32>],
    next: usize,
}

impl Taps<'_> {
    #[inline(never)]
    fn write(&mut self, some: &[Cell<f32>]) {
        let odd = if self.next % 2 == 1 { 1 } else { 0 };
        self.one(some.first().filter(|_| odd == 1));
        let pairs = some.get(odd..).unwrap_or(&[]).chunks_exact(2);
        let last = pairs.remainder().first();
        let window = self.window.get(self.next..).unwrap_or(&[]).chunks_exact(2);
        let places = self.places.get(self.next >> 1..).unwrap_or(&[]);
        for ((x, w), place) in pairs.zip(window).zip(places) {
            let at = usize::from(*place).wrapping_mul(2);
            let cells = self.work.get(at..at.wrapping_add(2));
            if let (Some([re, im]), [a, b], &[v, w]) = (cells, x, w) {
                re.set(a.get() * v);
                im.set(b.get() * w);
            }
        }
        self.next = self.next.wrapping_add(some.len().wrapping_sub(odd) & !1);
        self.one(last);
    }

    /// The next tap, if there is one.
    #[inline(always)]
    fn one(&mut self, x: Option<&Cell<f32>>) {
        let Some(x) = x else { return };
        if let (Some(place), Some(w)) = (self.places.get(self.next >> 1), self.window.get(self.next)) {
            put(self.work, *place, self.next % 2, x.get() * w);
        }
        self.next = self.next.wrapping_add(1);
    }
}

/// Writes a part of a complex number: the real one, 0, or the imaginary one, 1.
#[inline(always)]
fn put(work: &[Cell<f32>], place: u16, part: usize, value: f32) {
    if let Some(cell) = work.get(usize::from(place).wrapping_mul(2).wrapping_add(part)) {
        cell.set(value);
    }
}
