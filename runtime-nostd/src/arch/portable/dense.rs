//! Matrix products: convolutions of images of one pixel.

use super::conv::{conv2d, conv2d_f32, conv2d_i8, conv2d_i8_float, conv2d_i8xi16, conv2d_i8xi16_float};
use super::sum::{dot, Int8, Int8Twice, Once, LANES};
use crate::params::{Conv, FloatRequant, Requant, Rescale};
use crate::rows::{Band, Rows};

/// Product of the rows of `x` \[…\]\[k\] with `n` packed filters `w` of `k` elements, to rows of `n` results: TFLite Micro's
/// `FULLY_CONNECTED`, which rescales with double rounding like a convolution. Zero points are folded into `bias`.
pub fn dense_i8(x: Rows<'_, i8>, w: &[i8], bias: &[i32], q: &Requant<'_>, y: Rows<'_, i8>, band: Band) {
    conv2d_i8(&matrix(x.row_len(), y.row_len()), x, w, bias, 0, q, y, band);
}

/// As [`dense_i8`], but sums are rescaled with one rounding, as LiteRT does it.
pub fn dense_i8_once(x: Rows<'_, i8>, w: &[i8], bias: &[i32], q: &Requant<'_>, y: Rows<'_, i8>, band: Band) {
    let matrix = matrix(x.row_len(), y.row_len());
    conv2d(&matrix, x, w, Int8::new(bias, 0, Once(q)), y, band);
}

/// As [`dense_i8_once`] with weights of 16 bits.
pub fn dense_i8xi16_once(
    x: Rows<'_, i8>,
    w: &[i16],
    bias: &[i32],
    q: &Requant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    let matrix = matrix(x.row_len(), y.row_len());
    conv2d(&matrix, x, w, Int8::new(bias, 0, Once(q)), y, band);
}

/// As [`dense_i8`], but sums are rescaled as floats.
pub fn dense_i8_float(
    x: Rows<'_, i8>,
    w: &[i8],
    bias: &[i32],
    q: &FloatRequant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    conv2d_i8_float(&matrix(x.row_len(), y.row_len()), x, w, bias, 0, q, y, band);
}

/// As [`dense_i8_float`] with weights of 16 bits.
pub fn dense_i8xi16_float(
    x: Rows<'_, i8>,
    w: &[i16],
    bias: &[i32],
    q: &FloatRequant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    conv2d_i8xi16_float(&matrix(x.row_len(), y.row_len()), x, w, bias, 0, q, y, band);
}

/// As [`dense_i8`] with weights of 16 bits.
pub fn dense_i8xi16(x: Rows<'_, i8>, w: &[i16], bias: &[i32], q: &Requant<'_>, y: Rows<'_, i8>, band: Band) {
    conv2d_i8xi16(&matrix(x.row_len(), y.row_len()), x, w, bias, 0, q, y, band);
}

/// As [`dense_i8`] for floats: products are summed in order, the bias comes last, and the result is clamped to `lo..=hi`.
pub fn dense_f32(x: Rows<'_, f32>, w: &[f32], bias: &[f32], lo: f32, hi: f32, y: Rows<'_, f32>, band: Band) {
    conv2d_f32(&matrix(x.row_len(), y.row_len()), x, w, bias, lo, hi, y, band);
}

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
                dot::<Int8Twice<'_>>(x, filters, sums);
                for ((sum, bias), out) in sums.iter().zip(bias).zip(out) {
                    out.set(by.apply(sum.wrapping_add(*bias)) as i16);
                }
                w = rest;
            }
        }
    }
}

/// The convolution that a matrix product is: rows are images of one pixel.
pub(crate) fn matrix(k: usize, n: usize) -> Conv {
    Conv {
        in_h: isize::MAX as usize,
        in_w: 1,
        in_c: k,
        out_w: 1,
        out_c: n,
        k_h: 1,
        k_w: 1,
        stride_h: 1,
        stride_w: 1,
        dilation_h: 1,
        dilation_w: 1,
        pad_top: 0,
        pad_left: 0,
        groups: 1,
    }
}
