//! Filters of 3 × 3 along rows, in plain Rust.

use crate::arch::v6m::rolling::{Layer, Part};
use core::cell::Cell;

/// The results of a part.
pub(crate) fn roll(part: &Part<'_>) {
    let Layer { w, q, channels, .. } = part.layer;
    if part.lengths().is_none() {
        return;
    }
    for (c, (w, channel)) in w.chunks_exact(3).zip(q.channels.chunks_exact(4)).take(channels).enumerate() {
        let (&[first, limit, constant, multiplier], [last, middle, start]) = (channel, w) else { return };
        for pixel in 0..part.pixels {
            for (below, out) in part.out.iter().enumerate().rev() {
                let mut v = first;
                for (k, w) in [start, middle, last].into_iter().enumerate() {
                    let [a, b, _, d] = w.to_le_bytes();
                    for (ky, w) in [a, b, d].into_iter().enumerate() {
                        let x = element(part, below, ky, pixel, k, c);
                        v = v.wrapping_add(i32::from(x).wrapping_mul((w as i8).into()));
                    }
                }
                if let Some(out) = out.get(pixel.wrapping_mul(channels).wrapping_add(c)) {
                    out.set(q.apply(v, limit, constant, multiplier));
                }
            }
        }
    }
}

/// What a tap of a pixel reads.
fn element(part: &Part<'_>, below: usize, ky: usize, pixel: usize, k: usize, c: usize) -> i8 {
    let Layer { pad, channels, stride, .. } = part.layer;
    let row = part.rows.get(below.wrapping_mul(stride).wrapping_add(ky));
    let column = pixel.wrapping_mul(stride).wrapping_add(k);
    let last = pixel.wrapping_add(1) == part.pixels && k == 2;
    let inside = column.checked_sub(part.pads_left.into()).filter(|_| !(last && part.pads_right));
    let at = inside.map(|column| column.wrapping_mul(channels).wrapping_add(c));
    at.and_then(|at| row?.get(at)).map_or(pad, Cell::get)
}
