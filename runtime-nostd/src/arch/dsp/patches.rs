//! Convolutions whose filters have rows of whole words but few channels, as those of spectrograms: the taps of each pixel are copied, and computed as those of
//! [single pixels](super::points).
#![allow(unsafe_code)]

use super::blocks::points::{interleave, tiles};
use super::points::Results;
use crate::arch::extent::{product, reach, rounded_up, sum};
use crate::arch::memory::bytes_of_words;
use crate::params::{Conv, Stride};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Convolution whose filters have rows of a multiple of four taps, `k_w` · `in_c`; the number of filters is a multiple of four, and `dilation_w` 1.
///
/// As [`conv2d_i8_dsp_small`](crate::kernels::conv2d_i8_dsp_small), but for the taps of `w`: they are in the order \[k_h\]\[k_w\]\[in_c\], of which each four are the pairs
/// (0, 2) and (1, 3). `PAIRS`, half their number, and `CHANNEL`, elements of a row of the result from one channel to the next, at most 1023, may both be 0 in code
/// for any shape. `work` has [`patches_work_words`](crate::kernels::patches_work_words). Nothing is written if arguments do not fit each other.
#[inline(never)]
pub fn conv2d_i8_dsp_patches<
    const PAIRS: usize,
    const CHANNEL: usize,
    const SHIFT: u32,
    const SIGNED: bool,
>(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i32],
    pad: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    out: &Stride,
    band: Band,
) {
    each_window(p, x, pad, work, y, out, band, &|work, results| {
        let sizes = (p.k_h * p.k_w * p.in_c / 2, p.out_c / 4);
        tiles::<PAIRS, CHANNEL, SHIFT, SIGNED>(w, work, sizes, out.channel, results);
    });
}

/// Words of `work` that [`conv2d_i8_dsp_patches`] needs for so many pixels at a time, two at least: rows of the operand with their padding, then the taps of pixels.
pub const fn patches_work_words(p: &Conv, pixels: usize) -> usize {
    let taps = product(product(p.k_h, p.k_w), p.in_c);
    sum(product(rows_held(p), line(p)) / 4, product(pixels / 2, taps))
}

/// Rows of the operand that two rows of the result read.
const fn rows_held(p: &Conv) -> usize {
    sum(reach(p.k_h, p.dilation_h, 1), p.stride_h)
}

/// Elements of one of these rows, a multiple of four.
const fn line(p: &Conv) -> usize {
    rounded_up(product(reach(p.out_w, p.stride_w, p.k_w), p.in_c), 4)
}

/// Goes through the pixels of a band, two at a time, also across rows: fills the work space with the taps of as many pairs as it holds, and leaves them to `tiles`.
#[inline(never)]
fn each_window(
    p: &Conv,
    x: Rows<'_, i8>,
    pad: i8,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    out: &Stride,
    band: Band,
    tiles: &dyn Fn(&[Cell<i32>], &Results<'_>),
) {
    let run = product(p.k_w, p.in_c);
    let taps = product(p.k_h, run);
    let (rows, line) = (rows_held(p), line(p));
    let words = run % 4 == 0 && taps > 0 && p.out_c % 4 == 0 && p.out_c > 0 && p.dilation_w == 1;
    let rows_fit = product(p.in_w, p.in_c) <= x.row_len() && product(p.out_w, p.out_c) <= y.row_len();
    let Some((lines, work)) = work.split_at_checked(product(rows, line) / 4) else { return };
    let mut results = Results::new(product(p.out_c.saturating_sub(1), out.channel));
    let most = results.room().min(work.len().checked_div(taps).unwrap_or(0));
    if !(words && rows_fit) || p.out_w == 0 || most == 0 {
        return;
    }
    let image = bytes_of_words(lines);
    // So many elements from one row of a filter to the next, and what all of them reach.
    let next = product(p.dilation_h, line);
    let reach = sum(product(p.k_h - 1, next), run);
    let band = y.within(band).range();
    let mut column = 0;
    for row in band.clone() {
        let top = row.wrapping_mul(p.stride_h).wrapping_sub(p.pad_top);
        let kept = if row == band.start { 0 } else { rows - p.stride_h };
        if kept > 0 {
            move_up(lines, p.stride_h * line / 4);
        }
        let is_last = row + 1 >= band.end;
        for held in kept..if is_last { rows - p.stride_h } else { rows } {
            let iy = top.wrapping_add(held);
            let from = if iy < p.in_h { x.row(iy) } else { &[] };
            let to = image.get(held * line..(held + 1) * line).unwrap_or(&[]);
            to.iter().for_each(|to| to.set(pad));
            let to = to.get(product(p.pad_left, p.in_c)..).unwrap_or(&[]);
            to.iter().zip(from.iter().take(p.in_w * p.in_c)).for_each(|(to, x)| to.set(x.get()));
        }
        while column < p.out_w {
            // The last pixel of the row, with the first one of the next row, or with itself.
            let (down, other) = match column + 1 < p.out_w {
                true => (0, column + 1),
                false if is_last => (0, column),
                false => (1, 0),
            };
            let at = |down: usize, column: usize| {
                let at = down * p.stride_h * line + column * p.stride_w * p.in_c;
                image.get(at..sum(at, reach)).map(|taps| taps.as_ptr().cast())
            };
            let place = |down: usize, column: usize| (y.row(row + down), product(column, out.pixel));
            let to = work.get(results.len() * taps..);
            let added = results.one([place(0, column), place(down, other)]);
            let (Some(a), Some(b), Some(to), true) = (at(0, column), at(down, other), to, added) else {
                return;
            };
            // SAFETY: both places have `k_h` rows of `run` elements, which are a multiple of four; the work space has `taps` words for each of `most` pairs. What is written is in cells.
            unsafe { interleave([a, b], to.as_ptr().cast_mut().cast(), run / 4, p.k_h, [next; 2]) }
            if results.len() == most {
                tiles(work, &results);
                results.clear();
            }
            column += 2;
        }
        column -= p.out_w;
        if is_last {
            break;
        }
    }
    tiles(work, &results);
}

/// Moves words to the beginning, those from `by` on.
fn move_up(words: &[Cell<i32>], by: usize) {
    let from = words.get(by..).unwrap_or(&[]);
    words.iter().zip(from).for_each(|(to, from)| to.set(from.get()));
}
