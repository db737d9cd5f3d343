//! The work space of convolution: a part of the operand, column by column.
#![allow(unsafe_code)]

use super::blocks::window::{copy_runs, scatter};
use crate::arch::extent::{product, reach};
use crate::params::Conv;
use crate::rows::Rows;
use core::cell::Cell;

/// How many pixels fit so many words; none where they have no columns, of which rows would have no end.
pub(super) fn pixels_that_fit(p: &Conv, words: usize) -> usize {
    if p.k_w == 0 {
        return 0;
    }
    let column = p.k_h.saturating_mul(p.in_c);
    let Some(others) = words.saturating_mul(4).checked_sub(p.k_w.saturating_mul(column)) else { return 0 };
    others.checked_div(p.stride_w.saturating_mul(column)).map_or(0, |others| others.saturating_add(1))
}

/// Fills the work space with all that `pixels` pixels from column `ox` of row `oy` of the result read, in the order \[column\]\[k_h\]\[in_c\]. What is outside of the image reads as `pad`; `padded`:
/// to the left and to the right of it the work space does already.
#[inline(never)]
pub(super) fn fill(
    p: &Conv,
    x: Rows<'_, i8>,
    pad: i8,
    runs: &Runs,
    work: &[Cell<i8>],
    [oy, ox]: [usize; 2],
    pixels: usize,
    padded: bool,
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
        let kept = padded && !image.is_empty();
        for column in (0..from).chain(to..columns).filter(|_| !kept) {
            let at = (column * p.k_h + ky) * p.in_c;
            work.get(at..at + p.in_c).unwrap_or(&[]).iter().for_each(|cell| cell.set(pad));
        }
        let cells = work.get((from * p.k_h + ky) * p.in_c..).unwrap_or(&[]);
        runs.copy(image, cells);
    }
}

/// How runs are copied that follow each other in one place, and begin so many elements from each other in the other.
pub(super) struct Runs {
    run: usize,
    step: usize,
    /// Where eight bytes at a time go, of runs of one byte or of three; without them, run by run.
    offsets: Option<[u16; 24]>,
}

impl Runs {
    /// The channels of columns of a window.
    pub(super) fn of(p: &Conv) -> Self {
        let (run, step) = (p.in_c, product(p.k_h, p.in_c));
        let small = matches!(run, 1 | 3) && step < MOST_STEP;
        let offsets = small.then(|| {
            let mut offsets = [0; 24];
            let (mut at, mut within) = (0, 0);
            for offset in &mut offsets {
                *offset = (at + within) as u16;
                within += 1;
                if within == run {
                    (at, within) = (at + step, 0);
                }
            }
            offsets
        });
        Runs { run, step, offsets }
    }

    fn copy(&self, x: &[Cell<i8>], y: &[Cell<i8>]) {
        let Runs { run, step, .. } = *self;
        let runs = x.len().checked_div(run).unwrap_or(0);
        if runs == 0 || reach(runs, step, run) > y.len() {
            return;
        }
        let (from, to) = (x.as_ptr().cast(), y.as_ptr().cast_mut().cast());
        match &self.offsets {
            // SAFETY: `x` holds `runs` runs, as many as were counted, and `y` has as much as was compared; what is written is in cells. The offsets are those of the first eight runs or
            // 24 bytes, after which the next ones begin eight steps further on.
            Some(offsets) => unsafe { scatter(from, to, runs * run, offsets, run, 8 * step) },
            // SAFETY: as above.
            None => unsafe { copy_runs(from, to, runs, run, step) },
        }
    }
}

/// Elements from run to run: offsets of 24 runs are halves of words.
const MOST_STEP: usize = 1 << 11;
