//! Depthwise convolution: every channel of the operand has filters of its own.

use super::sum::{Float, Int8, Sum};
use crate::params::{Conv, Requant};
use crate::rows::{Band, Rows};

/// Depthwise convolution of `i8` images with filters `w` \[k_h\]\[k_w\]\[out_c\]; channel `o` of the result reads channel
/// `o / (out_c / in_c)` of the operand.
///
/// Every tap counts, also in the padding, which reads as `pad` (the zero point): `bias` holds `bias − zero point · Σ w`.
#[inline(never)]
pub fn depthwise2d_i8(
    p: &Conv,
    x: Rows<'_, i8>,
    w: &[i8],
    bias: &[i32],
    pad: i8,
    q: &Requant<'_>,
    y: Rows<'_, i8>,
    band: Band,
) {
    depthwise2d(p, x, w, Int8 { bias, pad, requant: q }, y, band);
}

/// As [`depthwise2d_i8`] for floats: products are summed in the order of the taps, the bias comes last, padding does not
/// count, and the result is clamped to `lo..=hi`.
#[inline(never)]
pub fn depthwise2d_f32(
    p: &Conv,
    x: Rows<'_, f32>,
    w: &[f32],
    bias: &[f32],
    lo: f32,
    hi: f32,
    y: Rows<'_, f32>,
    band: Band,
) {
    depthwise2d(p, x, w, Float { bias, lo, hi }, y, band);
}

/// Channels computed in one pass over the taps.
const LANES: usize = 4;

#[inline(always)]
fn depthwise2d<S: Sum>(p: &Conv, x: Rows<'_, S::T>, w: &[S::T], sum: S, y: Rows<'_, S::T>, band: Band) {
    let multiplier = p.out_c / p.in_c.max(1);
    for row in band.range() {
        let layer = Layer { p, x, w, sum, y, row };
        // Neighbouring channels of the result read neighbouring channels of the operand, or all the same one.
        let (channels, share) = if multiplier == 1 { (1, p.in_c) } else { (p.in_c, multiplier) };
        for c in 0..channels {
            let (mut o, end) = (c * share, (c + 1) * share);
            while end - o >= LANES {
                if multiplier == 1 {
                    layer.channels::<LANES, LANES>(o, o);
                } else {
                    layer.channels::<LANES, 1>(o, c);
                }
                o += LANES;
            }
            while o < end {
                layer.channels::<1, 1>(o, if multiplier == 1 { o } else { c });
                o += 1;
            }
        }
    }
}

/// One result row.
struct Layer<'a, S: Sum> {
    p: &'a Conv,
    x: Rows<'a, S::T>,
    w: &'a [S::T],
    sum: S,
    y: Rows<'a, S::T>,
    row: usize,
}

impl<S: Sum> Layer<'_, S> {
    /// Computes `N` channels of the result from `o` on, out of `M` (as many, or one) of the operand from `c` on.
    #[inline(always)]
    fn channels<const N: usize, const M: usize>(&self, o: usize, c: usize) {
        let Conv { in_h, in_w, in_c, out_w, out_c, k_h, k_w, stride_h, stride_w, .. } = *self.p;
        let Conv { dilation_h, dilation_w, pad_top, pad_left, .. } = *self.p;
        let top = (self.row * stride_h).wrapping_sub(pad_top);
        let out = self.y.row(self.row);
        for column in 0..out_w {
            let left = (column * stride_w).wrapping_sub(pad_left);
            let mut acc = [S::EMPTY; N];
            for ky in 0..k_h {
                let iy = top.wrapping_add(ky * dilation_h);
                let image = if iy < in_h { self.x.row(iy) } else { &[] };
                for kx in 0..k_w {
                    let ix = left.wrapping_add(kx * dilation_w);
                    let tap = (ky * k_w + kx) * out_c + o;
                    let Some(w) = self.w.get(tap..tap + N) else { return };
                    let at = ix.wrapping_mul(in_c).wrapping_add(c);
                    let x = if ix < in_w { image.get(at..at.wrapping_add(M)) } else { None };
                    if let Some(x) = x {
                        for ((acc, x), &w) in acc.iter_mut().zip(x.iter().cycle()).zip(w) {
                            *acc = S::add(*acc, x.get(), w);
                        }
                    } else {
                        for (acc, &w) in acc.iter_mut().zip(w) {
                            *acc = S::add(*acc, self.sum.pad(), w);
                        }
                    }
                }
            }
            let at = column * out_c + o;
            let Some(out) = out.get(at..).and_then(|out| out.first_chunk::<N>()) else { return };
            self.sum.finish(o, &acc, out);
        }
    }
}
