//! Four channels or filters at a time in plain Rust.

use crate::arch::extent::product;
use crate::arch::portable::sum::LANES;
use crate::arch::rv32::wide::{Factor, Window};
use core::cell::Cell;

/// Results of the first channels, one of each, as far as they are whole fours. `w` has four weights for each row of the window.
///
/// Nothing where something is missing.
pub(crate) fn fours_of_channels(window: &Window<'_>, w: &[i16], bias: &[i32], by: &Factor, out: &[Cell<i8>]) {
    let results = out.len() / LANES * LANES;
    let fits =
        results <= window.channels && results <= bias.len() && product(results, window.rows()) <= w.len();
    if !fits {
        return;
    }
    for (c, (out, &bias)) in out.iter().zip(bias).enumerate().take(results) {
        out.set(by.result(bias.wrapping_add(window.channel(c, w))) as i8);
    }
}

/// Results of the first filters, as far as they are whole fours. Filters in `w` alternate by four.
///
/// Nothing where something is missing.
pub(crate) fn fours_of_filters(x: &[Cell<i8>], w: &[i8], bias: &[i32], by: &Factor, out: &[Cell<i16>]) {
    let results = out.len() / LANES * LANES;
    if results > bias.len() || product(results, x.len()) > w.len() {
        return;
    }
    for (o, (out, &bias)) in out.iter().zip(bias).enumerate().take(results) {
        let weights = w.get(o / LANES * LANES * x.len() + o % LANES..).unwrap_or(&[]).iter().step_by(LANES);
        let products = x.iter().zip(weights).map(|(x, &w)| i32::from(x.get()) * i32::from(w));
        out.set(by.result(products.fold(bias, i32::wrapping_add)) as i16);
    }
}
