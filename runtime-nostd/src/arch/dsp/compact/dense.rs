//! Products of matrices and vectors, four filters at a time.
#![allow(unsafe_code)]

use crate::arch::dsp::affine::requant_words;
use crate::arch::dsp::blocks::compact::dense::block;
use crate::arch::dsp::tile::FIRST_WORDS;
use crate::params::CompactDense;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Product of the rows of `x`, whose length is a multiple of four, with filters as long, to rows of one result per filter, for cores with the DSP extension.
///
/// Weights and results are those of [`dense_i8_dsp`](crate::kernels::dense_i8_dsp), with the shift and the sign that `p` says. Nothing is written if these do not fit
/// each other.
#[inline(never)]
pub fn dense_i8_dsp_compact(p: &CompactDense<'_>, x: Rows<'_, i8>, y: Rows<'_, i8>, band: Band) {
    for (row, y) in y.of_band(band) {
        vector(p, x.row(row), y);
    }
}

#[inline(always)]
fn vector(p: &CompactDense<'_>, x: &[Cell<i8>], y: &[Cell<i8>]) {
    let quad = FIRST_WORDS + x.len() + requant_words(p.signed);
    let fits = p.weights.len() >= y.len().div_ceil(4).saturating_mul(quad);
    if !fits || y.is_empty() || x.is_empty() || x.len() % 4 != 0 {
        return;
    }
    // SAFETY: there are weights for all elements and results, which are cells: `fits` has compared them; a quad is no longer than a slice and a few words.
    unsafe { block(p, x, y) }
}
