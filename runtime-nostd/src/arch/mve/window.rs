//! The work space of convolution: a part of the operand, column by column.
#![allow(unsafe_code)]

use super::blocks::window::copy_runs;
use crate::arch::extent::{product, reach};
use crate::params::Conv;
use crate::rows::Rows;
use core::cell::Cell;

/// How many pixels fit so many words.
pub(super) fn pixels_that_fit(p: &Conv, words: usize) -> usize {
    let column = p.k_h.saturating_mul(p.in_c);
    let Some(others) = words.saturating_mul(4).checked_sub(p.k_w.saturating_mul(column)) else { return 0 };
    others.checked_div(p.stride_w.saturating_mul(column)).map_or(0, |others| others.saturating_add(1))
}

/// Words as their bytes.
pub(super) fn bytes(words: &[Cell<i32>]) -> &[Cell<i8>] {
    // SAFETY: the bytes cover exactly the words, are less aligned, and any bits are valid; all access is through cells of one thread.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 4) }
}

/// Fills the work space with all that `pixels` pixels from column `ox` of row `oy` of the result read, in the order \[column\]\[k_h\]\[in_c\]. What is outside of the image reads as `pad`.
#[inline(never)]
pub(super) fn fill(
    p: &Conv,
    x: Rows<'_, i8>,
    pad: i8,
    work: &[Cell<i8>],
    oy: usize,
    ox: usize,
    pixels: usize,
) {
    // No more than the work space has: the caller knows that it holds the pixels.
    let columns = pixels.saturating_sub(1) * p.stride_w + p.k_w;
    // Columns of the work space that are inside of the image.
    let first = ox.wrapping_mul(p.stride_w);
    let from = p.pad_left.saturating_sub(first).min(columns);
    let to = p.in_w.wrapping_add(p.pad_left).saturating_sub(first).clamp(from, columns);
    let at = first.wrapping_add(from).wrapping_sub(p.pad_left).wrapping_mul(p.in_c);
    let top = oy.wrapping_mul(p.stride_h).wrapping_sub(p.pad_top);
    for ky in 0..p.k_h {
        let iy = top.wrapping_add(ky.wrapping_mul(p.dilation_h));
        let row = if iy < p.in_h { x.row(iy) } else { &[] };
        let image = row.get(at..at.wrapping_add(product(to - from, p.in_c))).unwrap_or(&[]);
        let (from, to) = if image.is_empty() { (columns, columns) } else { (from, to) };
        for column in (0..from).chain(to..columns) {
            let at = (column * p.k_h + ky) * p.in_c;
            work.get(at..at + p.in_c).unwrap_or(&[]).iter().for_each(|cell| cell.set(pad));
        }
        let cells = work.get((from * p.k_h + ky) * p.in_c..).unwrap_or(&[]);
        copy(image, p.in_c, cells, p.k_h * p.in_c);
    }
}

/// Copies runs of `run` elements that follow each other in `x` and begin `step` elements from each other in `y`.
fn copy(x: &[Cell<i8>], run: usize, y: &[Cell<i8>], step: usize) {
    let runs = x.len().checked_div(run).unwrap_or(0);
    if runs == 0 || reach(runs, step, run) > y.len() {
        return;
    }
    // SAFETY: `x` holds `runs` runs, as many as were counted, and `y` has as much as was compared; what is written is in cells.
    unsafe { copy_runs(x.as_ptr().cast(), y.as_ptr().cast_mut().cast(), runs, run, step) }
}
