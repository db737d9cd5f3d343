//! Matrix products with packed windows.

use super::blocks::single::finish;
use super::conv::{conv2d_i8_v6m_pairs, conv2d_i8_v6m_singles, KEPT};
use super::operand::PART;
use super::pair::NAMED;
use super::single::{add_wide, gather_wide};
use super::steps::HalfRequant;
use crate::arch::extent::product;
use crate::arch::portable::dense::matrix;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Product of the rows of `x` \[…\]\[k\] with `n` filters packed as [`conv2d_i8_v6m_singles`] reads them, to rows of `n` results.
pub fn dense_i8_v6m_singles(
    x: Rows<'_, i8>,
    w: &[i32],
    first: &[i32],
    part: usize,
    q: &HalfRequant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    conv2d_i8_v6m_singles(&matrix(x.row_len(), y.row_len()), x, w, first, part, 0, q, y, band);
}

/// As [`dense_i8_v6m_singles`] with windows of eight taps, and rests.
///
/// Taps come in parts of 144, of which the last is filled up to a multiple of eight. In windows, absolute weights of a filter add up to at most 255. What was taken off larger ones are *rests*. Behind the weights of a tile is a word, whose
/// bytes are the numbers of rests of its four filters. `rests` has two bytes for each, in the order of tiles and filters: the word of its tap in its part, of which a window has nine, eight of them for its taps; and its weight.
#[inline(never)]
pub fn dense_i8_v6m_wide(
    x: Rows<'_, i8>,
    w: &[i32],
    rests: &[i8],
    first: &[i32],
    q: &HalfRequant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    let words = [const { Cell::new(0) }; NAMED];
    let kept = [const { Cell::new(0) }; KEPT];
    for (row, out) in y.of_band(band) {
        let x = x.row(row);
        let (mut w, mut rests, mut windows) = (w, rests, 0);
        for (block, (out, first)) in out.chunks(KEPT).zip(first.chunks(KEPT)).enumerate() {
            let Some(sums @ [_, _, _, _, ..]) = kept.get(..first.len()) else { return };
            sums.iter().zip(first).for_each(|(sum, &first)| sum.set(first));
            for part in x.chunks(PART) {
                // What is there from the block before is there still, if it is all.
                if block == 0 || x.len() > PART {
                    windows = gather_wide(part, &words);
                }
                if add_wide(&words, windows, &mut w, &mut rests, sums).is_none() {
                    return;
                }
            }
            let channels = q.channels.get(product(q.words, block * KEPT)..).unwrap_or(&[]);
            finish(q, channels, sums, out);
        }
    }
}

/// As [`dense_i8_v6m_singles`] with two rows at a time, and filters packed as [`conv2d_i8_v6m_pairs`] reads them.
pub fn dense_i8_v6m_pairs(
    x: Rows<'_, i8>,
    w: &[i8],
    first: &[i32],
    part: usize,
    q: &HalfRequant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    conv2d_i8_v6m_pairs(&matrix(x.row_len(), y.row_len()), x, w, first, part, 0, q, y, band);
}
