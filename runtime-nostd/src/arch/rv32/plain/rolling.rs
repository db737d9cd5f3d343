//! Filters of 3 × 3 along rows, in plain Rust.

use crate::arch::rv32::rolling::Line;
use core::cell::Cell;

/// The results.
pub(crate) fn roll(line: &Line<'_>) {
    if line.is_there() {
        plain(line);
    }
}

/// The results, of which all operands are there.
fn plain(line: &Line<'_>) {
    let Line { rows, w, q, pad, channels, pixels, stride, .. } = *line;
    let padded = usize::from(line.pads_left);
    let inside = pixels.wrapping_sub(1).wrapping_mul(stride).wrapping_add(3).wrapping_sub(padded);
    let inside = inside.wrapping_sub(usize::from(line.pads_right));
    for (c, w) in w.chunks_exact(9).enumerate().take(channels) {
        let Some((first, result)) = q.channel(c) else { return };
        for (pixel, out) in line.out.chunks_exact(channels).enumerate().take(pixels) {
            let mut v = first;
            for (row, w) in rows.iter().zip(w.chunks_exact(3)) {
                for (k, &w) in w.iter().enumerate() {
                    let column = pixel.wrapping_mul(stride).wrapping_add(k).wrapping_sub(padded);
                    let at = column.wrapping_mul(channels).wrapping_add(c);
                    let x = row.filter(|_| column < inside).and_then(|row| row.get(at));
                    let x = x.map_or(pad, Cell::get);
                    v = v.wrapping_add(i32::from(x).wrapping_mul(w.into()));
                }
            }
            if let Some(out) = out.get(c) {
                out.set(result(v));
            }
        }
    }
}
