//! Convolutions of 16-bit elements.
#![allow(unsafe_code)]

use super::blocks::wide::fours_of_channels;
use crate::arch::dsp::conv::conv1_i16_i8_dsp;
use crate::arch::extent::product;
use crate::params::{Conv, Rescale};
use crate::rows::{Band, Rows};

/// As [`conv1_i16_i8`](crate::kernels::conv1_i16_i8), for cores with Helium: four channels at a time where every result is of one channel, of whole fours, and the factor's shift is from −22 to −1.
#[inline(never)]
pub fn conv1_i16_i8_mve(
    p: &Conv,
    x: Rows<'_, i16>,
    w: &[i16],
    bias: &[i32],
    by: &Rescale,
    y: Rows<'_, i8>,
    band: Band,
) {
    let whole = p.in_c == p.out_c && p.in_c % 4 == 0 && p.in_c > 0 && x.row_len() == p.in_c && p.k_h > 0;
    let shift = by.by.shift;
    // The constant fits a word, as does its sum with what the sums become.
    let exact =
        (-MOST_SHIFT..=-1).contains(&shift) && by.by.multiplier >= 0 && (-128..=127).contains(&by.zero_point);
    for (row, out) in y.of_band(band) {
        let window = x.run(row.wrapping_mul(p.stride_h), p.k_h);
        match (window, out.get(..p.in_c), bias.get(..p.in_c), w.get(..product(p.k_h, p.in_c))) {
            (Some(x), Some(y), Some(bias), Some(w)) if whole && exact => {
                let constant = (by.zero_point << -shift) + (1 << (-shift - 1));
                // SAFETY: the window has `k_h` rows of `in_c` elements, a multiple of four; there are as many weights, and a bias and a result for each channel.
                unsafe {
                    fours_of_channels(p.k_h, x, w, bias, [by.by.multiplier, shift, constant, by.lo, by.hi], y)
                }
            }
            _ => conv1_i16_i8_dsp(p, x, w, bias, by, y, Band { first: row, rows: 1 }),
        }
    }
}

/// Shifts to the right, for which the zero point stays a small part of a word.
const MOST_SHIFT: i32 = 22;
