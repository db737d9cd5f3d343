//! The work space of convolution: a part of the operand, widened to `i16`, column by column.
#![allow(unsafe_code)]

use super::blocks::window::{copy_down, fours, ones, threes};
use crate::params::Conv;
use crate::rows::Rows;
use core::cell::Cell;

/// How many pixels fit `words`: an even number, or 0.
pub(super) fn pixels_that_fit(p: &Conv, words: usize) -> usize {
    let taps = p.k_w.saturating_mul(p.k_h).saturating_mul(p.in_c);
    let Some(others) = words.saturating_mul(2).checked_sub(taps.div_ceil(2).saturating_mul(2)) else {
        return 0;
    };
    let pixel = p.stride_w.saturating_mul(p.k_h).saturating_mul(p.in_c);
    let pixels = others.checked_div(pixel).unwrap_or(0).saturating_add(1);
    pixels & !1
}

/// How many rows of the operand stay in the work space from one row of the result to the next, if moving them costs less than widening them again.
pub(super) fn rows_kept(p: &Conv) -> usize {
    let kept = p.k_h.saturating_sub(p.stride_h);
    if p.dilation_h == 1 && 2 * kept >= p.k_h {
        kept
    } else {
        0
    }
}

/// Moves what the work space holds for `pixels` pixels up to the place of a row of the result further down.
pub(super) fn move_rows(p: &Conv, work: &[Cell<i32>], pixels: usize) {
    let work = halves(work);
    let all = (pixels.saturating_sub(1) * p.stride_w + p.k_w) * p.k_h * p.in_c;
    let by = p.stride_h * p.in_c;
    let Some(moved) = work.get(by..all) else { return };
    // SAFETY: `moved` is a part of the work space, which is no shorter, and whose cells may be written; the second place begins before the first.
    let moved = unsafe { copy_down(moved, work) };
    let done = all.saturating_sub(by).saturating_sub(moved.len());
    for (to, from) in work.iter().skip(done).zip(moved) {
        to.set(from.get());
    }
}

/// Fills the work space with all that `pixels` pixels from column `ox` of row `oy` of the result read, but for the first `kept` rows of the operand; what is
/// outside of the image reads as `pad`.
#[inline(never)]
pub(super) fn fill(
    p: &Conv,
    x: Rows<'_, i8>,
    pad: i8,
    work: &[Cell<i32>],
    oy: usize,
    ox: usize,
    pixels: usize,
    kept: usize,
) {
    let work = halves(work);
    // No more than the work space has: the caller knows that it holds the pixels.
    let columns = pixels.saturating_sub(1) * p.stride_w + p.k_w;
    // Columns of the work space that are inside of the image.
    let first = ox.wrapping_mul(p.stride_w);
    let from = p.pad_left.saturating_sub(first).min(columns);
    let to = p.in_w.wrapping_add(p.pad_left).saturating_sub(first).clamp(from, columns);
    let at = first.wrapping_add(from).wrapping_sub(p.pad_left).wrapping_mul(p.in_c);
    let top = oy.wrapping_mul(p.stride_h).wrapping_sub(p.pad_top);
    for ky in kept..p.k_h {
        let iy = top.wrapping_add(ky.wrapping_mul(p.dilation_h));
        let row = if iy < p.in_h { x.row(iy) } else { &[] };
        let image = row.get(at..at.wrapping_add((to - from).wrapping_mul(p.in_c))).unwrap_or(&[]);
        let (from, to) = if image.is_empty() { (columns, columns) } else { (from, to) };
        let padding = |columns: core::ops::Range<usize>| {
            for column in columns {
                let at = (column * p.k_h + ky) * p.in_c;
                let cells = work.get(at..at + p.in_c).unwrap_or(&[]);
                cells.iter().for_each(|cell| cell.set(pad.into()));
            }
        };
        padding(0..from);
        padding(to..columns);
        let image_at = (from * p.k_h + ky) * p.in_c;
        let columns = work.get(image_at..).unwrap_or(&[]);
        if p.k_h == 1 && p.in_c % 4 == 0 {
            // One run.
            spread(image, image.len(), columns, image.len());
        } else {
            spread(image, p.in_c, columns, p.k_h * p.in_c);
        }
    }
}

/// Words as their halves, the low one first.
fn halves(words: &[Cell<i32>]) -> &[Cell<i16>] {
    // SAFETY: the halves cover exactly the words, are less aligned, and any bits are valid; all access is through cells of one thread.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 2) }
}

/// Widens runs of `run` elements that follow each other in `x` and begin `step` elements from each other in `y`. Where `run` is a multiple of four, the
/// middle two of each four change places.
fn spread(x: &[Cell<i8>], run: usize, y: &[Cell<i16>], step: usize) {
    let runs = x.len().checked_div(run).unwrap_or(0);
    let Some(last) = runs.checked_sub(1) else { return };
    let fits = last.saturating_mul(step).saturating_add(run) <= y.len() && step >= run;
    if !fits {
        return;
    }
    let (from, to) = (x.as_ptr().cast(), y.as_ptr().cast_mut().cast());
    // SAFETY: `x` holds `runs` runs, as many as were counted, and so does `y` (`fits`); what is written is in cells.
    unsafe {
        match run {
            1 => ones(from, to, runs, 2 * step),
            3 => threes(from, to, runs / 4, 2 * step),
            _ if run % 4 == 0 => fours(from, to, run / 4, runs, 2 * (step - run)),
            _ => {}
        }
    }
    let done = match run {
        3 => runs & !3,
        _ if run == 1 || run % 4 == 0 => runs,
        _ => 0,
    };
    for (i, x) in x.chunks_exact(run.max(1)).enumerate().skip(done) {
        let Some(y) = y.get(i * step..i * step + run) else { return };
        if run % 4 != 0 {
            y.iter().zip(x).for_each(|(y, x)| y.set(x.get().into()));
            continue;
        }
        for (y, x) in y.chunks_exact(4).zip(x.chunks_exact(4)) {
            if let ([a, c, b, d], [xa, xb, xc, xd]) = (y, x) {
                a.set(xa.get().into());
                b.set(xb.get().into());
                c.set(xc.get().into());
                d.set(xd.get().into());
            }
        }
    }
}
