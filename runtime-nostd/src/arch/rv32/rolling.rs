//! Filters of 3 × 3 along a row of one channel.
//!
//! A column of three elements is loaded once, and goes to all pixels that it is part of: of the next ones, only sums are kept. With weights and constants in registers, a pixel takes
//! 3 loads, 9 multiplications and 9 additions (one column apart).

#![allow(unsafe_code)]

use super::upper::{Channel, UpperRequant};
use core::cell::Cell;

/// What a row of results of one channel is computed of.
pub(super) struct Rolling<'a> {
    /// Rows of the operand.
    pub rows: [&'a [Cell<i8>]; 3],
    /// Row by row.
    pub weights: [i32; 9],
    /// First value of accumulators.
    pub first: i32,
    pub pad: i32,
    pub in_c: usize,
    pub out_w: usize,
    /// Whether the last column is padding.
    pub is_padded: bool,
    /// Whether the first one is.
    pub pads_left: bool,
}

/// Results of channel `c`, pixels `STRIDE` columns apart.
#[inline(never)]
pub(super) fn roll<const STRIDE: usize>(
    layer: &Rolling<'_>,
    c: usize,
    q: &UpperRequant<'_>,
    channel: Channel,
    out: &[Cell<i8>],
) {
    let Rolling { rows, weights: [a0, a1, a2, b0, b1, b2, c0, c1, c2], first, pad, in_c, out_w, .. } = *layer;
    // The columns that are loaded lie `in_c` apart from the first one on.
    let columns = (out_w - 1) * STRIDE + 3 - usize::from(layer.is_padded) - usize::from(layer.pads_left);
    let last = (columns.saturating_sub(1)).saturating_mul(in_c).saturating_add(c);
    if rows.iter().any(|row| row.len() <= last)
        || out.len() <= (out_w - 1).saturating_mul(in_c).saturating_add(c)
    {
        return;
    }
    let [mut x0, mut x1, mut x2] = rows.map(|row| row.as_ptr().wrapping_add(c));
    let mut y = out.as_ptr().wrapping_add(c);
    let q = *q;
    // The next column of the operand.
    let mut next = || {
        // SAFETY: it is called for `columns` columns, the last of which all three rows have (compared above).
        let column = unsafe { [(*x0).get(), (*x1).get(), (*x2).get()] };
        (x0, x1, x2) = (x0.wrapping_add(in_c), x1.wrapping_add(in_c), x2.wrapping_add(in_c));
        column.map(i32::from)
    };
    let mut finish = |v: i32| {
        // SAFETY: it is called for `out_w` pixels, the last of which `out` has (compared above).
        unsafe { (*y).set(q.result(v, channel)) };
        y = y.wrapping_add(in_c);
    };
    let dot = |start: i32, [x, y, z]: [i32; 3], a: i32, b: i32, c: i32| {
        start.wrapping_add(x.wrapping_mul(a)).wrapping_add(y.wrapping_mul(b)).wrapping_add(z.wrapping_mul(c))
    };
    let padded = usize::from(layer.is_padded);
    let column = if layer.pads_left { [pad; 3] } else { next() };
    let mut sum = dot(first, column, a0, b0, c0);
    if STRIDE == 1 {
        let column = next();
        sum = dot(sum, column, a1, b1, c1);
        let mut behind = dot(first, column, a0, b0, c0);
        for _ in 0..out_w - padded {
            let column = next();
            finish(dot(sum, column, a2, b2, c2));
            sum = dot(behind, column, a1, b1, c1);
            behind = dot(first, column, a0, b0, c0);
        }
    } else {
        for _ in 0..out_w - padded {
            sum = dot(sum, next(), a1, b1, c1);
            let column = next();
            finish(dot(sum, column, a2, b2, c2));
            sum = dot(first, column, a0, b0, c0);
        }
        if layer.is_padded {
            sum = dot(sum, next(), a1, b1, c1);
        }
    }
    if layer.is_padded {
        finish(dot(sum, [pad; 3], a2, b2, c2));
    }
}
