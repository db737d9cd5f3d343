//! Arithmetic with 16-bit elements on one side: features that outlast an inference, and results finer than 8 bits.

use super::sum::{dot, Int8, LANES};
use super::unary::map;
use crate::arch::extent::product;
use crate::params::{Conv, Rescale};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// As [`dense_i8`](crate::kernels::dense_i8), with results of 16 bits and one factor for all of them.
#[inline(never)]
pub fn dense_i8_i16(x: Rows<'_, i8>, w: &[i8], bias: &[i32], by: &Rescale, y: Rows<'_, i16>, band: Band) {
    for (row, y) in y.of_band(band) {
        let (x, mut w) = (x.row(row), w);
        for (out, bias) in y.chunks(LANES).zip(bias.chunks(LANES)) {
            // As many filters alternate; those behind them follow one by one.
            let lanes = if out.len() == LANES { LANES } else { 1 };
            for (out, bias) in out.chunks(lanes).zip(bias.chunks(lanes)) {
                let Some((filters, rest)) = w.split_at_checked(lanes * x.len()) else { return };
                let mut sums = [0; LANES];
                let Some(sums) = sums.get_mut(..lanes) else { return };
                dot::<Int8<'_>>(x, filters, sums);
                for ((sum, bias), out) in sums.iter().zip(bias).zip(out) {
                    out.set(by.apply(sum.wrapping_add(*bias)) as i16);
                }
                w = rest;
            }
        }
    }
}

/// Convolution of an `i16` image one column wide with filters one column wide, without padding and dilation, to `i8`.
///
/// Each of the `out_c` results of a row sums up `in_c / out_c` channels of the operand, `groups` being `out_c`. `w` holds \[k_h\] taps of four channels each, one four after
/// the other; the last channels are completed by zeros. Zero points are folded into `bias`.
#[inline(never)]
pub fn conv1_i16_i8(
    p: &Conv,
    x: Rows<'_, i16>,
    w: &[i16],
    bias: &[i32],
    by: &Rescale,
    y: Rows<'_, i8>,
    band: Band,
) {
    let share = p.in_c.checked_div(p.out_c).unwrap_or(0).max(1);
    for (row, y) in y.of_band(band) {
        let top = row.wrapping_mul(p.stride_h);
        let (window, rows) = x.rows_from(top, p.k_h);
        // What the result that is not complete has of the channels so far, how many are to come, and its index.
        let mut unit = (0i32, share, 0);
        for (block, w) in w.chunks_exact(product(LANES, p.k_h).max(1)).enumerate() {
            let first = block * LANES;
            let mut sums = [0; LANES];
            match window.and_then(|x| x.get(first..)) {
                Some(x) if rows == p.k_h => four_channels(x, p.in_c, w, &mut sums),
                _ => (0..p.k_h).zip(w.chunks_exact(LANES)).for_each(|(ky, w)| {
                    four_channels(
                        x.row(top.wrapping_add(ky)).get(first..).unwrap_or(&[]),
                        p.in_c,
                        w,
                        &mut sums,
                    );
                }),
            }
            if share == 1 {
                let (y, bias) = (y.get(first..).unwrap_or(&[]), bias.get(first..).unwrap_or(&[]));
                finish(by, &sums, bias, y);
                continue;
            }
            for sum in sums.iter().take(p.in_c.saturating_sub(first)) {
                unit = (unit.0.wrapping_add(*sum), unit.1 - 1, unit.2);
                if unit.1 == 0 {
                    let (Some(out), Some(bias)) = (y.get(unit.2), bias.get(unit.2)) else { return };
                    out.set(by.apply(unit.0.wrapping_add(*bias)) as i8);
                    unit = (0, share, unit.2 + 1);
                }
            }
        }
    }
}

/// Results of as many channels as there are.
#[inline(never)]
fn finish(by: &Rescale, sums: &[i32; LANES], bias: &[i32], y: &[Cell<i8>]) {
    for ((out, bias), sum) in y.iter().zip(bias).zip(sums) {
        out.set(by.apply(sum.wrapping_add(*bias)) as i8);
    }
}

/// Adds the products of the first four channels in rows of so many with `w`, four weights for each row.
#[inline(never)]
fn four_channels(x: &[Cell<i16>], channels: usize, w: &[i16], sums: &mut [i32; LANES]) {
    let [mut a, mut b, mut c, mut d] = *sums;
    let product = |x: &Cell<i16>, w: i16| i32::from(x.get()) * i32::from(w);
    for (x, w) in x.chunks(channels.max(1)).zip(w.chunks_exact(LANES)) {
        let &[wa, wb, wc, wd] = w else { break };
        if let [xa, xb, xc, xd, ..] = x {
            a = a.wrapping_add(product(xa, wa));
            b = b.wrapping_add(product(xb, wb));
            c = c.wrapping_add(product(xc, wc));
            d = d.wrapping_add(product(xd, wd));
        } else {
            // The last channels are fewer than four, and so is what is left of the last row.
            let at = |i: usize, w| x.get(i).map_or(0, |x| product(x, w));
            (a, b) = (a.wrapping_add(at(0, wa)), b.wrapping_add(at(1, wb)));
            (c, d) = (c.wrapping_add(at(2, wc)), d.wrapping_add(at(3, wd)));
        }
    }
    *sums = [a, b, c, d];
}

macro_rules! requantize {
    ($($(#[$doc:meta])* $name:ident $from:ty => $to:ty;)+) => {$(
        $(#[$doc])*
        #[inline(never)]
        pub fn $name(x_zero: i32, by: &Rescale, x: &[Cell<$from>], y: &[Cell<$to>]) {
            map(x, y, |x| by.apply(i32::from(x).wrapping_sub(x_zero)) as $to);
        }
    )+};
}

requantize! {
    /// TFLite's `QUANTIZE` of integers: `x − x_zero`, rescaled.
    requantize_i16_i8 i16 => i8;
    /// As [`requantize_i16_i8`].
    requantize_i16 i16 => i16;
    /// As [`requantize_i16_i8`].
    requantize_i16_i32 i16 => i32;
    /// As [`requantize_i16_i8`].
    requantize_i8_i16 i8 => i16;
    /// As [`requantize_i16_i8`].
    requantize_i8_i32 i8 => i32;
    /// As [`requantize_i16_i8`].
    requantize_i32_i8 i32 => i8;
    /// As [`requantize_i16_i8`].
    requantize_i32_i16 i32 => i16;
}
