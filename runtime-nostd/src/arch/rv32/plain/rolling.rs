//! Filters of 3 × 3 along rows, in plain Rust.

use crate::arch::rv32::rolling::Line;
use core::cell::Cell;

/// The results of a row. `rows` are those of the operand for each row of the filters; an empty one is padding.
pub(crate) fn roll<'a>(line: &Line<'_>, rows: impl Fn(usize) -> &'a [Cell<i8>], out: &[Cell<i8>]) {
    let (rows, [read, results]) = ([0, 1, 2].map(rows), line.lengths);
    let there = rows.iter().all(|row| row.is_empty() || row.len() >= read);
    if there && rows.iter().any(|row| !row.is_empty()) && out.len() >= results {
        plain(line, rows, out);
    }
}

/// The results, of which all operands are there.
fn plain(line: &Line<'_>, rows: [&[Cell<i8>]; 3], out: &[Cell<i8>]) {
    let Line { w, q, pad, channels, pixels, stride, .. } = *line;
    let padded = usize::from(line.pads_left);
    let inside = pixels.wrapping_sub(1).wrapping_mul(stride).wrapping_add(3).wrapping_sub(padded);
    let inside = inside.wrapping_sub(usize::from(line.pads_right));
    for (c, w) in w.chunks_exact(9).enumerate().take(channels) {
        let Some((first, result)) = q.channel(c) else { return };
        for (pixel, out) in out.chunks_exact(channels).enumerate().take(pixels) {
            let mut v = first;
            for (row, w) in rows.iter().zip(w.chunks_exact(3)) {
                for (k, &w) in w.iter().enumerate() {
                    let column = pixel.wrapping_mul(stride).wrapping_add(k).wrapping_sub(padded);
                    let at = column.wrapping_mul(channels).wrapping_add(c);
                    let x = row.get(at).filter(|_| column < inside);
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
