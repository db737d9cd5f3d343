//! Depthwise convolution in plain Rust.

use crate::arch::dsp::affine::{quad, requant_words};
use crate::arch::dsp::compact::Taps;
use crate::params::{CompactConv, Conv};
use crate::rows::Rows;
use core::cell::Cell;

/// All channels of a pixel.
pub(crate) fn pixel(
    p: &CompactConv<'_>,
    x: Rows<'_, i8>,
    _: &[Cell<i8>],
    rows: &Taps,
    columns: &Taps,
    _: bool,
    out: &[Cell<i8>],
) {
    let Conv { in_c, k_h, k_w, dilation_h, dilation_w, .. } = p.conv;
    let words = 4 + k_h * k_w + requant_words(p.signed);
    for (four, w) in p.weights.chunks_exact(words).enumerate() {
        let c = (4 * four).min(in_c - 4);
        let mut sums = [0; 4];
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum = w.get(lane).copied().unwrap_or(0);
            for (ky, kx) in (0..rows.count).flat_map(|ky| (0..columns.count).map(move |kx| (ky, kx))) {
                let pixel = x.row(rows.at.wrapping_add(ky.wrapping_mul(dilation_h)));
                let column = columns.at.wrapping_add(kx.wrapping_mul(dilation_w));
                let x = pixel.get(column * in_c + c + lane).map_or(0, Cell::get);
                let w = w.get(4 + (rows.first + ky) * k_w + columns.first + kx).copied().unwrap_or(0);
                let w = i32::from((w >> (8 * lane)) as i8);
                *sum = sum.wrapping_add((i32::from(x) - i32::from(p.pad)).wrapping_mul(w));
            }
        }
        let results = quad(sums, 0, w, p.shift, p.signed);
        out.iter().skip(c).zip(results).for_each(|(out, result)| out.set(result));
    }
}
