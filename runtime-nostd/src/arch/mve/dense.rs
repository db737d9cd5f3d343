//! Matrix products, eight filters at a time.
#![allow(unsafe_code)]

use super::affine::{End, Stored};
use super::blocks::dense::{eights_of, eights_of_any};
use super::{LANES, VECTOR_WORDS};
use crate::arch::extent::product;
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Product of the rows of `x` with filters of `TAPS` elements, to rows of one result per filter, for cores with Helium.
///
/// `w` holds eights of filters, of which the last ones are zero where their number is not a multiple of eight:
/// - for each vector of taps 16 bytes of each of the eight filters, as in [`conv2d_i8_mve`](crate::kernels::conv2d_i8_mve);
/// - for what follows a word of each, as there: of filters 0, 2, 4 and 6, then of filters 1, 3, 5 and 7.
///
/// `SHIFT`, `EXACT` and `CLAMPED` mean what they mean there.
#[inline(never)]
pub fn dense_i8_mve<const TAPS: usize, const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(
    x: Rows<'_, i8>,
    w: &[i32],
    y: Rows<'_, i8>,
    band: Band,
) {
    for (row, y) in y.of_band(band) {
        let x = x.row(row);
        if x.len() == TAPS {
            results(
                x,
                w,
                y,
                eight_words(TAPS, End::of(SHIFT, EXACT, CLAMPED)),
                &eights_of::<TAPS, SHIFT, EXACT, CLAMPED>,
            );
        }
    }
}

/// As [`dense_i8_mve`], for any number of taps: one function for all layers.
#[inline(never)]
pub fn dense_i8_mve_small<const SHIFT: u32, const EXACT: bool, const CLAMPED: bool>(
    x: Rows<'_, i8>,
    w: &[i32],
    y: Rows<'_, i8>,
    band: Band,
) {
    for (row, y) in y.of_band(band) {
        let x = x.row(row);
        results(
            x,
            w,
            y,
            eight_words(x.len(), End::of(SHIFT, EXACT, CLAMPED)),
            &eights_of_any::<i8, SHIFT, EXACT, CLAMPED, false>,
        );
    }
}

/// As [`dense_i8_mve_small`] with results of 16 bits, `EXACT`. With `LEFT` the shift is 0 or goes to the left, before the multiplication, and the constant is the zero point.
#[inline(never)]
pub fn dense_i8_i16_mve<const CLAMPED: bool, const LEFT: bool>(
    x: Rows<'_, i8>,
    w: &[i32],
    y: Rows<'_, i16>,
    band: Band,
) {
    for (row, y) in y.of_band(band) {
        let x = x.row(row);
        let eight = eight_words(x.len(), End::Exact { clamped: CLAMPED, left: LEFT });
        results(x, w, y, eight, &eights_of_any::<i16, 0, true, CLAMPED, LEFT>);
    }
}

/// Words of eight filters. No slice is as long where that is too much to count.
pub(crate) const fn eight_words(taps: usize, end: End) -> usize {
    product(taps.div_ceil(LANES), 8 * LANES / 4).saturating_add(2 * VECTOR_WORDS * end.words())
}

/// One pixel, and the eights of filters applied to it.
#[derive(Clone, Copy)]
pub(crate) struct Eights<'a, T> {
    /// Weights of the eights.
    pub w: &'a [i32],
    /// Taps.
    pub x: &'a [Cell<i8>],
    /// Results.
    pub y: &'a [Cell<T>],
    /// Number of eights.
    pub eights: usize,
}

impl<T> Eights<'_, T> {
    /// Whether there are weights and results of all filters; those have so many words.
    pub(crate) fn fit(&self, eight: usize) -> bool {
        !self.x.is_empty()
            && self.eights > 0
            && self.w.len() >= product(self.eights, eight)
            && self.y.len() >= product(8, self.eights)
    }
}

/// A result for each element of `y`, from filters of which eight have so many words.
fn results<T: Stored>(x: &[Cell<i8>], w: &[i32], y: &[Cell<T>], eight: usize, block: &dyn Fn(Eights<'_, T>)) {
    let eights = y.len() / 8;
    block(Eights { w, x, y, eights });
    let last = y.get(8 * eights..).unwrap_or(&[]);
    let Some(w) = w.get(product(eights, eight)..).filter(|_| !last.is_empty()) else { return };
    let results: [Cell<T>; 8] = Default::default();
    block(Eights { w, x, y: &results, eights: 1 });
    if w.len() >= eight {
        last.iter().zip(&results).for_each(|(y, result)| y.set(result.get()));
    }
}
