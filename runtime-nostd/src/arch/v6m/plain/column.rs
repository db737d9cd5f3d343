//! Depthwise convolution with filters of one column, in plain Rust.

use crate::arch::v6m::column::Part;
use core::cell::Cell;

/// The elements of a row.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a>(&'a [Cell<i8>]);

impl<'a> Row<'a> {
    pub(crate) const NONE: Self = Row(&[]);

    pub(crate) fn new(elements: &'a [Cell<i8>]) -> Self {
        Row(elements)
    }
}

/// Results of all rows. The first one comes last: what rows that there are not have written there is overwritten.
pub(crate) fn sums(part: &Part<'_>) {
    let Some(taps) = part.taps() else { return };
    let filters = part.w.chunks_exact(taps).zip(part.channels.chunks_exact(part.q.words));
    for (c, (w, channel)) in filters.take(part.count).enumerate() {
        let [first, limit, constant, multiplier, ref signed @ ..] = *channel else { return };
        for (row, out) in part.out.iter().enumerate().rev() {
            let elements = part.rows.iter().skip(row).map(|row| row.0.get(c).map_or(0, Cell::get));
            let products = elements.zip(w).map(|(x, &w)| i32::from(x).wrapping_mul(w));
            let v = products.fold(first, i32::wrapping_add);
            let constant = match *signed {
                [origin, below] if v < origin => below,
                _ => constant,
            };
            if let Some(out) = out.get(c) {
                out.set(part.q.apply(v, limit, constant, multiplier));
            }
        }
    }
}
