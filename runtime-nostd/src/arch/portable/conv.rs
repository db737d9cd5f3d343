//! Convolution, and the matrix product as its special case.

use super::sum::{dot, Float, Int8, Sum};
use crate::params::{Conv, Requant};
use crate::rows::{Band, Rows};
use core::array::from_fn;
use core::cell::Cell;

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

/// Channels computed in one pass over the operand.
const LANES: usize = 4;

/// Elements gathered at once where taps do not lie side by side, or not all inside the image.
const GATHERED: usize = 64;

#[inline(always)]
fn conv2d<S: Sum>(p: &Conv, x: Rows<'_, S::T>, w: &[S::T], sum: S, y: Rows<'_, S::T>, band: Band) {
    let groups = p.groups.max(1);
    let (in_c, out_c) = (p.in_c / groups, p.out_c / groups);
    let size = p.k_h * p.k_w * in_c;
    for row in band.range() {
        for group in 0..groups {
            let line = Line { p, x, sum, in_c, first_c: group * in_c, row };
            let (mut o, end) = (group * out_c, (group + 1) * out_c);
            while o < end {
                let Some(w) = w.get(o * size..) else { return };
                let out = y.row(row).get(o..).unwrap_or(&[]);
                if end - o >= LANES {
                    line.channels::<LANES>(o, w, out);
                    o += LANES;
                } else {
                    line.channels::<1>(o, w, out);
                    o += 1;
                }
            }
        }
    }
}

/// One group of channels of one result row.
struct Line<'a, S: Sum> {
    p: &'a Conv,
    x: Rows<'a, S::T>,
    sum: S,
    /// Operand channels per group.
    in_c: usize,
    /// First operand channel of the group.
    first_c: usize,
    row: usize,
}

impl<S: Sum> Line<'_, S> {
    /// Computes `N` channels from `o` on, with the filters that `w` begins with, into `out`: the result row from channel `o` of
    /// its first pixel on.
    #[inline(always)]
    fn channels<const N: usize>(&self, o: usize, w: &[S::T], out: &[Cell<S::T>]) {
        let Conv {
            in_h, in_w, in_c, out_w, out_c, k_h, k_w, stride_h, stride_w, dilation_h, dilation_w, ..
        } = *self.p;
        let len = k_w * self.in_c;
        let size = k_h * len;
        let channels: [S::Channel; N] = from_fn(|lane| self.sum.channel(o + lane));
        let top = (self.row * stride_h).wrapping_sub(self.p.pad_top);
        let joined = self.in_c == in_c && dilation_w == 1;
        let buffer = [const { Cell::new(S::ZERO) }; GATHERED];
        for column in 0..out_w {
            let left = (column * stride_w).wrapping_sub(self.p.pad_left);
            let inside = joined && left < in_w && left + k_w <= in_w;
            let mut acc = channels.map(S::start);
            for ky in 0..k_h {
                let iy = top.wrapping_add(ky * dilation_h);
                let image = if iy < in_h { self.x.row(iy) } else { &[] };
                let run =
                    if inside { image.get(left * in_c..(left + k_w) * in_c).unwrap_or(&[]) } else { &[] };
                let mut done = 0;
                while done < len {
                    let x = if run.is_empty() { self.gather(image, left, done, &buffer) } else { run };
                    let Some(w) = w.get(ky * len + done..) else { return };
                    dot::<S, N>(x, w, size, &mut acc);
                    done += x.len().max(1);
                }
            }
            let at = column * out_c;
            let Some(out) = out.get(at..at + N) else { return };
            for ((out, acc), channel) in out.iter().zip(acc).zip(channels) {
                out.set(self.sum.finish(channel, acc));
            }
        }
    }

    /// Collects the operand of a filter row from its element `from` on, as far as the buffer holds it.
    #[inline(never)]
    fn gather<'b>(
        &self,
        image: &[Cell<S::T>],
        left: usize,
        from: usize,
        buffer: &'b [Cell<S::T>],
    ) -> &'b [Cell<S::T>] {
        let pad = self.sum.pad();
        let in_c = self.in_c.max(1);
        let (mut kx, mut c) = (from / in_c, from % in_c);
        let buffer = buffer.get(..(self.p.k_w * in_c).saturating_sub(from)).unwrap_or(buffer);
        for cell in buffer {
            let ix = left.wrapping_add(kx * self.p.dilation_w);
            let at = ix.wrapping_mul(self.p.in_c).wrapping_add(self.first_c + c);
            let x = if ix < self.p.in_w { image.get(at) } else { None };
            cell.set(x.map_or(pad, Cell::get));
            c += 1;
            if c == in_c {
                (kx, c) = (kx + 1, 0);
            }
        }
        buffer
    }
}
