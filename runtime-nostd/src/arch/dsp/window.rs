//! The work space of convolution: a part of the operand, widened to `i16`, column by column.
#![allow(unsafe_code)]

use crate::params::Conv;
use crate::rows::Rows;
use core::cell::Cell;

/// Words that [`conv2d_i8_dsp`](crate::kernels::conv2d_i8_dsp) needs to hold the taps of `pixels` consecutive pixels of a row at once.
///
/// It wants two pixels at least, and reads less often what neighbours share when there are more, up to `out_w` rounded up to an even number.
pub const fn conv2d_work_words(p: &Conv, pixels: usize) -> usize {
    let column = p.k_h.saturating_mul(p.in_c);
    let taps = p.k_w.saturating_mul(column);
    let others = pixels.saturating_sub(1).saturating_mul(p.stride_w).saturating_mul(column);
    others.saturating_add(taps.div_ceil(2).saturating_mul(2)).div_ceil(2)
}

/// How many pixels fit `words`: an even number, or 0.
pub(super) fn pixels_that_fit(p: &Conv, words: usize) -> usize {
    let taps = p.k_w.saturating_mul(p.k_h).saturating_mul(p.in_c);
    let Some(others) = words.saturating_mul(2).checked_sub(taps.div_ceil(2).saturating_mul(2)) else {
        return 0;
    };
    let pixel = p.stride_w.saturating_mul(p.k_h).saturating_mul(p.in_c);
    let pixels = others.checked_div(pixel).unwrap_or(0).saturating_add(1);
    pixels.min(p.out_w.saturating_add(1)) & !1
}

/// Fills the work space with all that `pixels` pixels from column `ox` of row `oy` of the result read; what is outside of the image reads as `pad`.
pub(super) fn fill(
    p: &Conv,
    x: Rows<'_, i8>,
    pad: i8,
    work: &[Cell<i32>],
    oy: usize,
    ox: usize,
    pixels: usize,
) {
    let work = halves(work);
    let columns = pixels.saturating_sub(1) * p.stride_w + p.k_w;
    let (top, left) = ((oy * p.stride_h).wrapping_sub(p.pad_top), (ox * p.stride_w).wrapping_sub(p.pad_left));
    for ky in 0..p.k_h {
        let iy = top.wrapping_add(ky * p.dilation_h);
        let row = if iy < p.in_h { x.row(iy) } else { &[] };
        for column in 0..columns {
            let ix = left.wrapping_add(column);
            let from = if ix < p.in_w { ix * p.in_c } else { usize::MAX };
            let pixel = row.get(from..from.wrapping_add(p.in_c)).unwrap_or(&[]);
            let to = (column * p.k_h + ky) * p.in_c;
            let Some(cells) = work.get(to..to + p.in_c) else { return };
            if pixel.is_empty() {
                cells.iter().for_each(|cell| cell.set(pad.into()));
            } else if p.in_c % 4 == 0 {
                for (cells, x) in cells.chunks_exact(4).zip(pixel.chunks_exact(4)) {
                    if let ([a, c, b, d], [xa, xb, xc, xd]) = (cells, x) {
                        a.set(xa.get().into());
                        b.set(xb.get().into());
                        c.set(xc.get().into());
                        d.set(xd.get().into());
                    }
                }
            } else {
                cells.iter().zip(pixel).for_each(|(cell, x)| cell.set(x.get().into()));
            }
        }
    }
}

/// Words as their halves, the low one first.
fn halves(words: &[Cell<i32>]) -> &[Cell<i16>] {
    // SAFETY: the halves cover exactly the words, are less aligned, and any bits are valid; all access is through cells of one thread.
    unsafe { core::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 2) }
}
