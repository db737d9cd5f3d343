//! Convolution, and the matrix product as its special case.

use super::sum::{dot, Float, Int8, Sum};
use crate::params::{Conv, Requant};
use crate::rows::{Band, Rows};
use core::array::from_fn;

/// Convolution of `i8` images with filters `w` \[out_c\]\[k_h\]\[k_w\]\[in_c / groups\].
///
/// Every tap counts, also in the padding, which reads as `pad` (the zero point): `bias` holds `bias − zero point · Σ w`.
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

/// Convolution of `f32` images with filters `w` \[out_c\]\[k_h\]\[k_w\]\[in_c / groups\]: products are summed in that order,
/// the bias comes last, and the result is clamped to `lo..=hi`.
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

/// Product of the rows of `x` \[…\]\[k\] with the rows of `w` \[n\]\[k\]; zero points are folded into `bias`.
pub fn dense_i8(x: Rows<'_, i8>, w: &[i8], bias: &[i32], q: &Requant<'_>, y: Rows<'_, i8>, band: Band) {
    conv2d_i8(&matrix(x.row_len(), y.row_len()), x, w, bias, 0, q, y, band);
}

/// As [`dense_i8`] for floats: products are summed in order, the bias comes last, and the result is clamped to `lo..=hi`.
pub fn dense_f32(x: Rows<'_, f32>, w: &[f32], bias: &[f32], lo: f32, hi: f32, y: Rows<'_, f32>, band: Band) {
    conv2d_f32(&matrix(x.row_len(), y.row_len()), x, w, bias, lo, hi, y, band);
}

/// The convolution that a matrix product is: rows are images of one pixel.
fn matrix(k: usize, n: usize) -> Conv {
    Conv {
        in_h: usize::MAX,
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

/// Channels computed in one pass over the operand.
const LANES: usize = 4;

#[inline(always)]
fn conv2d<S: Sum>(p: &Conv, x: Rows<'_, S::T>, w: &[S::T], sum: S, y: Rows<'_, S::T>, band: Band) {
    let groups = p.groups.max(1);
    let per_group = p.out_c / groups;
    for row in band.range() {
        for group in 0..groups {
            let layer = Layer { p, x, w, sum, y, row, group, in_c: p.in_c / groups };
            let mut o = group * per_group;
            let end = o + per_group;
            while end - o >= LANES {
                layer.channels::<LANES>(o);
                o += LANES;
            }
            while o < end {
                layer.channels::<1>(o);
                o += 1;
            }
        }
    }
}

/// One group of channels of one result row.
struct Layer<'a, S: Sum> {
    p: &'a Conv,
    x: Rows<'a, S::T>,
    w: &'a [S::T],
    sum: S,
    y: Rows<'a, S::T>,
    row: usize,
    group: usize,
    /// Operand channels per group.
    in_c: usize,
}

impl<S: Sum> Layer<'_, S> {
    /// Computes `N` channels from `o` on.
    #[inline(always)]
    fn channels<const N: usize>(&self, o: usize) {
        let Conv { in_h, in_w, in_c, out_w, out_c, k_h, k_w, stride_h, stride_w, .. } = *self.p;
        let Conv { dilation_h, dilation_w, pad_top, pad_left, .. } = *self.p;
        // Taps of a filter row that lie side by side in the operand are one run.
        let taps = if self.in_c == in_c && dilation_w == 1 { k_w } else { 1 };
        let size = k_h * k_w * self.in_c;
        let filters: [&[S::T]; N] =
            from_fn(|lane| self.w.get((o + lane) * size..(o + lane + 1) * size).unwrap_or(&[]));
        let start: [S::Acc; N] = from_fn(|lane| self.sum.start(o + lane));
        let top = (self.row * stride_h).wrapping_sub(pad_top);
        let out = self.y.row(self.row);
        for column in 0..out_w {
            let mut acc = start;
            for ky in 0..k_h {
                let iy = top.wrapping_add(ky * dilation_h);
                let image = if iy < in_h { self.x.row(iy) } else { &[] };
                let mut kx = 0;
                while kx < k_w {
                    let left = (column * stride_w + kx * dilation_w).wrapping_sub(pad_left) as isize;
                    let tap = (ky * k_w + kx) * self.in_c;
                    let filters = filters.map(|w| w.get(tap..tap + taps * self.in_c).unwrap_or(&[]));
                    // The run's taps inside the image.
                    let (mut lo, mut hi) = (0, 0);
                    if iy < in_h {
                        lo = left.saturating_neg().max(0).min(taps as isize);
                        hi = (in_w as isize).saturating_sub(left).max(lo).min(taps as isize);
                    }
                    let from = ((left + lo) as usize).wrapping_mul(in_c).wrapping_add(self.group * self.in_c);
                    let (lo, hi) = (lo as usize * self.in_c, hi as usize * self.in_c);
                    let x = image.get(from..from.wrapping_add(hi - lo)).unwrap_or(&[]);
                    if hi - lo < taps * self.in_c {
                        for (acc, w) in acc.iter_mut().zip(filters) {
                            *acc = self.sum.add_padding(*acc, w.get(..lo).unwrap_or(&[]));
                            *acc = self.sum.add_padding(*acc, w.get(hi..).unwrap_or(&[]));
                        }
                    }
                    acc = dot::<S, N>(acc, x, filters.map(|w| w.get(lo..hi).unwrap_or(&[])));
                    kx += taps;
                }
            }
            let at = column * out_c + o;
            let Some(out) = out.get(at..at + N) else { return };
            for (lane, (out, acc)) in out.iter().zip(acc).enumerate() {
                out.set(self.sum.finish(o + lane, acc));
            }
        }
    }
}
