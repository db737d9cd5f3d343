//! Matrix products.

use super::conv::{conv2d_i8_rv32_pairs, conv2d_i8_rv32_quads};
use super::upper::UpperRequant;
use crate::arch::portable::dense::matrix;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Product of the rows of `x` \[…\]\[k\] with `n` filters packed as [`conv2d_i8_rv32_pairs`] reads them, to rows of `n` results.
pub fn dense_i8_rv32_pairs(
    x: Rows<'_, i8>,
    w: &[i8],
    q: &UpperRequant<'_>,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    conv2d_i8_rv32_pairs(&matrix(x.row_len(), y.row_len()), x, w, 0, q, work, y, band);
}

/// As [`dense_i8_rv32_pairs`], packed for and computed by [`conv2d_i8_rv32_quads`].
pub fn dense_i8_rv32_quads(
    x: Rows<'_, i8>,
    w: &[i8],
    q: &UpperRequant<'_>,
    work: &[Cell<i32>],
    y: Rows<'_, i8>,
    band: Band,
) {
    conv2d_i8_rv32_quads(&matrix(x.row_len(), y.row_len()), x, w, 0, q, work, y, band);
}
