//! Matrix products with packed windows.

use super::conv::{conv2d_i8_v6m_pairs, conv2d_i8_v6m_singles};
use super::steps::HalfRequant;
use crate::arch::portable::dense::matrix;
use crate::rows::{Band, Rows};

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
