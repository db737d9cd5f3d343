//! Matrix products.

use super::conv::{conv2d_i8_rv32_pairs, conv2d_i8_rv32_quads};
use super::singles::{multiply, multiply_wide};
use super::upper::UpperRequant;
use crate::arch::portable::dense::matrix;
use crate::params::Rescale;
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

/// Product of the rows of `x` \[…\]\[k\] with `n` filters, to rows of `n` results, row by row.
///
/// Filters come in tiles of eight, and of four where no more are left. A tile in `w` begins with the number of its windows. A window begins with its number of taps, at most 12. Then follow its
/// weights, 128 more than they are: for each tap a word of each four filters, whose bytes are, from the lowest one on, filters 0, 2, 1 and 3. Filters that are missing have weights of 0.
/// In each window of each filter, products with any bytes must add up to 16 bits with sign.
#[inline(never)]
pub fn dense_i8_rv32_singles(x: Rows<'_, i8>, w: &[i32], q: &UpperRequant<'_>, y: Rows<'_, i8>, band: Band) {
    multiply(x, w, q, y, band);
}

/// As [`dense_i8_i16`](crate::kernels::dense_i8_i16), with filters packed as [`dense_i8_rv32_singles`] reads them.
#[inline(never)]
pub fn dense_i8_i16_rv32_singles(
    x: Rows<'_, i8>,
    w: &[i32],
    bias: &[i32],
    by: &Rescale,
    y: Rows<'_, i16>,
    band: Band,
) {
    multiply_wide(x, w, bias, by, y, band);
}
