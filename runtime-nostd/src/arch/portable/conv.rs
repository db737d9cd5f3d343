//! Convolution, and the matrix product as its special case.
//!
//! Filters are packed as they are read: in each group four of them alternate, element by element, as long as there are four; the
//! others follow one by one. The elements of a filter are in the order \[k_h\]\[k_w\]\[in_c / groups\].

use super::packed::Weights;
use super::sum::{Float, Int8, Int8Float, Int8Once, Int8Wide, Sum, LANES};
use crate::arch::extent::{product, product_of};
use crate::params::{Conv, FloatRequant, Requant};
use crate::rows::{Band, Rows};
use core::cell::Cell;
use core::marker::PhantomData;

/// Convolution of an `i8` image with packed filters `w`: TFLite's `CONV_2D`.
///
/// Rows of `x` have `in_w · in_c` elements, those of `y` `out_w · out_c`; `bias` has `out_c`. Every tap counts, also in the padding, which reads as `pad` (the zero point): `bias` holds `bias − zero point · Σ w`.
#[inline(never)]
pub fn conv2d_i8(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i8],
    bias: &[i32],
    pad: i8,
    q: &Requant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    conv2d(p, x, w, Int8 { bias, pad, requant: q }, y, band);
}

/// As [`conv2d_i8`] with weights of 16 bits: those of old models, whose 8-bit weights have a zero point.
#[inline(never)]
pub fn conv2d_i8xi16(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i16],
    bias: &[i32],
    pad: i8,
    q: &Requant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    conv2d(p, x, w, Int8Wide(Int8 { bias, pad, requant: q }), y, band);
}

/// As [`conv2d_i8`], but sums are rescaled as floats: ONNX Runtime's `QLinearConv`.
#[inline(never)]
pub fn conv2d_i8_float(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i8],
    bias: &[i32],
    pad: i8,
    q: &FloatRequant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    conv2d(p, x, w, Int8Float { bias, pad, requant: q, weights: PhantomData }, y, band);
}

/// As [`conv2d_i8_float`] with weights of 16 bits.
#[inline(never)]
pub fn conv2d_i8xi16_float(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i16],
    bias: &[i32],
    pad: i8,
    q: &FloatRequant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    conv2d(p, x, w, Int8Float { bias, pad, requant: q, weights: PhantomData }, y, band);
}

/// As [`conv2d_i8`] for floats, with padding that does not count and the bias as it is: products are summed in the order of a filter's elements, the bias comes
/// last, and the result is clamped to `lo..=hi`.
#[inline(never)]
pub fn conv2d_f32(
    p: &Conv,
    x: Rows<'_, f32>,
    w: &[f32],
    bias: &[f32],
    lo: f32,
    hi: f32,
    y: Rows<'_, f32>,
    band: Band,
) {
    conv2d(p, x, w, Float { bias, lo, hi }, y, band);
}

/// Product of the rows of `x` \[…\]\[k\] with `n` packed filters `w` of `k` elements, to rows of `n` results: TFLite Micro's
/// `FULLY_CONNECTED`, which rescales with double rounding like a convolution. Zero points are folded into `bias`.
pub fn dense_i8(x: Rows<'_, i8>, w: &[i8], bias: &[i32], q: &Requant<'_>, y: Rows<'_, i8>, band: Band) {
    conv2d_i8(&matrix(x.row_len(), y.row_len()), x, w, bias, 0, q, y, band);
}

/// As [`dense_i8`], but sums are rescaled with one rounding, as LiteRT does it.
pub fn dense_i8_once(x: Rows<'_, i8>, w: &[i8], bias: &[i32], q: &Requant<'_>, y: Rows<'_, i8>, band: Band) {
    let matrix = matrix(x.row_len(), y.row_len());
    conv2d(&matrix, x, w, Int8Once(Int8 { bias, pad: 0, requant: q }, PhantomData), y, band);
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
    conv2d(&matrix, x, w, Int8Once(Int8 { bias, pad: 0, requant: q }, PhantomData), y, band);
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

/// Elements gathered where a pixel's taps do not lie side by side, or not all inside the image.
const GATHERED: usize = 256;

#[inline(always)]
pub(crate) fn conv2d<S: Sum, P: Weights<W = S::W>>(
    p: &Conv,
    x: Rows<'_, S::T>,
    w: P,
    sum: S,
    y: Rows<'_, S::Y>,
    band: Band,
) {
    // No more groups than filters: each has one.
    let groups = p.groups.clamp(1, p.out_c.max(1));
    let per_group = |c: usize| c.checked_div(groups).unwrap_or(0);
    let (in_c, out_c) = (per_group(p.in_c), per_group(p.out_c));
    let size = product_of([p.k_h, p.k_w, in_c]);
    // There are weights of all filters: what is counted in them neither wraps nor takes longer than going through them.
    if w.behind(product(size, p.out_c.max(1))).is_none() {
        return;
    }
    let buffer = [const { Cell::new(S::ANY) }; GATHERED];
    for (row, out) in y.of_band(band) {
        let top = row.wrapping_mul(p.stride_h);
        let skipped = x.laps_before(top.saturating_sub(p.pad_top));
        let (top, in_h) = (top.wrapping_sub(p.pad_top).wrapping_sub(skipped), p.in_h.saturating_sub(skipped));
        for (column, out) in out.chunks_exact(p.out_c.max(1)).take(p.out_w).enumerate() {
            let left = column.wrapping_mul(p.stride_w).wrapping_sub(p.pad_left);
            for group in 0..groups {
                let patch =
                    Patch { p, x, in_h, pad: sum.pad(), top, left, in_c, first_c: group * in_c, size };
                // All filters read the same patch: what can be gathered at once is gathered once.
                let whole = if size <= GATHERED || p.k_h == 1 { patch.part(0, &buffer) } else { &[] };
                let (mut o, end) = (group * out_c, (group + 1) * out_c);
                while o < end {
                    let lanes = if end - o < LANES { 1 } else { LANES };
                    let (Some(w), Some(out)) = (w.behind(o * size), out.get(o..o + lanes)) else { return };
                    let mut acc = [S::EMPTY; LANES];
                    let Some(acc) = acc.get_mut(..lanes) else { return };
                    patch.sums::<S, P>(whole, &buffer, w, acc);
                    sum.finish(o, acc, out);
                    o += lanes;
                }
            }
        }
    }
}

/// What the filters of one group read for one pixel of the result: `size` elements, in the order of the weights.
struct Patch<'a, T> {
    p: &'a Conv,
    x: Rows<'a, T>,
    /// Rows of the operand.
    in_h: usize,
    pad: T,
    /// Row and column of the first tap; may be negative. Rows are counted from the lap of the ring in which the first one is.
    top: usize,
    left: usize,
    /// Operand channels of the group: how many, and the first.
    in_c: usize,
    first_c: usize,
    size: usize,
}

impl<T: Copy> Patch<'_, T> {
    /// Adds the products with the filters that `w` begins with, one per accumulator. `whole` is the patch, if it is at hand.
    #[inline(always)]
    fn sums<S: Sum<T = T>, P: Weights<W = S::W>>(
        &self,
        whole: &[Cell<T>],
        buffer: &[Cell<T>],
        w: P,
        acc: &mut [S::Acc],
    ) {
        if whole.len() == self.size {
            return w.dot::<S>(whole, acc);
        }
        let mut done = 0;
        while done < self.size {
            let x = self.part(done, buffer);
            let Some(w) = w.behind(done * acc.len()) else { return };
            w.dot::<S>(x, acc);
            done += x.len().max(1);
        }
    }

    /// Elements of the patch from `from` on, at least one: where they are, or gathered.
    #[inline(never)]
    fn part<'b>(&'b self, from: usize, buffer: &'b [Cell<T>]) -> &'b [Cell<T>] {
        let Conv { in_w, in_c, k_w, dilation_h, dilation_w, .. } = *self.p;
        // Elements that lie side by side in the operand: a row of the filter, or one tap.
        let joined =
            self.in_c == in_c && dilation_w == 1 && self.left < in_w && k_w <= in_w.wrapping_sub(self.left);
        let taps = if joined { k_w } else { 1 };
        let unit = taps.wrapping_mul(self.in_c);
        let mut done = 0;
        let end = buffer.len().min(self.size.saturating_sub(from));
        while done < end {
            let at = from + done;
            let (index, offset) = divide(at, unit);
            let (ky, kx) = if joined { (index, 0) } else { divide(index, k_w) };
            let down = ky.wrapping_mul(dilation_h);
            let (iy, ix) = (self.top.wrapping_add(down), self.left.wrapping_add(kx.wrapping_mul(dilation_w)));
            let image = if iy < self.in_h && ix < in_w { self.x.row(iy) } else { &[] };
            let start = ix.wrapping_mul(in_c).wrapping_add(self.first_c + offset);
            let x = image.get(start..start.wrapping_add(unit - offset)).unwrap_or(&[]);
            // Rows need no gathering if there is one only, or if the patch does not fit the buffer anyway.
            if joined && done == 0 && !x.is_empty() && (unit == self.size || self.size > buffer.len()) {
                return x;
            }
            let cells = buffer.get(done..end).unwrap_or(&[]);
            for (cell, x) in cells.iter().zip(x) {
                cell.set(x.get());
            }
            if x.is_empty() {
                cells.iter().take(unit - offset).for_each(|cell| cell.set(self.pad));
            }
            done += (unit - offset).max(1);
        }
        buffer.get(..end).unwrap_or(&[])
    }
}

/// Quotient and remainder; zeros instead of a division by zero.
#[inline(always)]
fn divide(a: usize, b: usize) -> (usize, usize) {
    (a.checked_div(b).unwrap_or(0), a.checked_rem(b).unwrap_or(0))
}
