//! Convolution.
//!
//! Filters are packed as they are read: in each group four of them alternate, element by element, as long as there are four; the
//! others follow one by one. The elements of a filter are in the order \[k_h\]\[k_w\]\[in_c / groups\].

use super::sum::{layers, Float, Int8, Once, Sum, LANES};
use super::weights::Filters;
use crate::arch::extent::{product, product_of};
use crate::params::{Conv, FloatRequant, Requant, Rescale};
use crate::rows::{Band, Rows};
use core::cell::Cell;

layers! { conv2d;
    /// Convolution of an `i8` image with packed filters `w`: TFLite's `CONV_2D`.
    ///
    /// Rows of `x` have `in_w · in_c` elements, those of `y` `out_w · out_c`; `bias` has `out_c`. Every tap counts, also in the padding, which reads as `pad` (the zero point): `bias` holds `bias − zero point · Σ w`.
    pub fn conv2d_i8(&[i8], &Requant<'_>);
    /// As [`conv2d_i8`] with weights of 16 bits: those of old models, whose 8-bit weights have a zero point.
    pub fn conv2d_i8xi16(&[i16], &Requant<'_>);
    /// As [`conv2d_i8`], but sums are rescaled as floats: ONNX Runtime's `QLinearConv`.
    pub fn conv2d_i8_float(&[i8], &FloatRequant<'_>);
    /// As [`conv2d_i8_float`] with weights of 16 bits.
    pub fn conv2d_i8xi16_float(&[i16], &FloatRequant<'_>);
    /// As [`conv2d_i8`], but sums are rescaled with one rounding, half away from zero.
    pub fn conv2d_i8_once(&[i8], once);
    /// As [`conv2d_i8_once`] with weights of 16 bits.
    pub fn conv2d_i8xi16_once(&[i16], once);
    /// As [`conv2d_i8`] for floats, with padding that does not count and the bias as it is: products are summed in the order of a filter's elements, the bias comes
    /// last, and the result is clamped to `lo..=hi`.
    pub fn conv2d_f32(&[f32], f32);
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

/// Elements gathered where a pixel's taps do not lie side by side, or not all inside the image.
const GATHERED: usize = 256;

#[inline(always)]
pub(crate) fn conv2d<S: Sum, P: Filters<W = S::W>>(
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
                if whole.len() == size {
                    if let (Some(w), Some(out)) = (w.whole(o * size), out.get(o..end)) {
                        o += sum.pixel(whole, w, o, out);
                    }
                }
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
pub(crate) struct Patch<'a, T> {
    pub(crate) p: &'a Conv,
    pub(crate) x: Rows<'a, T>,
    /// Rows of the operand.
    pub(crate) in_h: usize,
    pub(crate) pad: T,
    /// Row and column of the first tap; may be negative. Rows are counted from the lap of the ring in which the first one is.
    pub(crate) top: usize,
    pub(crate) left: usize,
    /// Operand channels of the group: how many, and the first.
    pub(crate) in_c: usize,
    pub(crate) first_c: usize,
    pub(crate) size: usize,
}

impl<T: Copy> Patch<'_, T> {
    /// Adds the products with the filters that `w` begins with, one per accumulator. `whole` is the patch, if it is at hand.
    #[inline(always)]
    fn sums<S: Sum<T = T>, P: Filters<W = S::W>>(
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
    pub(crate) fn part<'b>(&'b self, from: usize, buffer: &'b [Cell<T>]) -> &'b [Cell<T>] {
        let Conv { in_w, in_c, k_w, dilation_h, dilation_w, .. } = *self.p;
        // What lies side by side in the operand: a row of the filter, or one tap.
        let joined = self.in_c == in_c && dilation_w == 1;
        let unit = self.in_c.wrapping_mul(if joined { k_w } else { 1 });
        // The columns of a row that lie in the padding to the left, and those inside of the image.
        let outside = if self.left < in_w { 0 } else { self.left.wrapping_neg().min(k_w) };
        let column = self.left.wrapping_add(outside);
        let inside = in_w.saturating_sub(column).min(k_w - outside);
        let run = Run {
            start: column.wrapping_mul(in_c),
            from: outside.wrapping_mul(in_c),
            to: (outside + inside).wrapping_mul(in_c),
        };
        let whole = joined && inside == k_w;
        if whole && from == 0 && unit == self.size && self.top < self.in_h {
            if let Some(x) = self.x.row(self.top).get(run.start..run.start.wrapping_add(unit)) {
                return x;
            }
        }
        let mut done = 0;
        let end = buffer.len().min(self.size.saturating_sub(from));
        while done < end {
            let (index, offset) = divide(from + done, unit);
            let (ky, run) = if joined {
                (index, run)
            } else {
                let (ky, kx) = divide(index, k_w);
                let ix = self.left.wrapping_add(kx.wrapping_mul(dilation_w));
                let to = if ix < in_w { unit } else { 0 };
                (ky, Run { start: ix.wrapping_mul(in_c).wrapping_add(self.first_c), from: 0, to })
            };
            let iy = self.top.wrapping_add(ky.wrapping_mul(dilation_h));
            let image = if iy < self.in_h { self.x.row(iy) } else { &[] };
            let cells = buffer.get(done..end).unwrap_or(&[]);
            let is_inside = offset >= run.from && offset < run.to && !image.is_empty();
            let behind = match is_inside {
                true => run.to,
                false if offset < run.from && !image.is_empty() => run.from,
                false => unit,
            };
            let len = (behind - offset).max(1);
            if is_inside {
                let start = run.start.wrapping_add(offset - run.from);
                let x = image.get(start..start.wrapping_add(len)).unwrap_or(&[]);
                // Rows need no gathering if the patch does not fit the buffer anyway.
                if whole && done == 0 && !x.is_empty() && self.size > buffer.len() {
                    return x;
                }
                cells.iter().zip(x).for_each(|(cell, x)| cell.set(x.get()));
            } else {
                cells.iter().take(len).for_each(|cell| cell.set(self.pad));
            }
            done += len;
        }
        buffer.get(..end).unwrap_or(&[])
    }
}

/// Which elements of a row of a filter, or of a tap, are inside of the image: `from..to`. The first of them is at `start` of the image's row.
#[derive(Clone, Copy)]
struct Run {
    start: usize,
    from: usize,
    to: usize,
}

/// Quotient and remainder; zeros instead of a division by zero.
#[inline(always)]
fn divide(a: usize, b: usize) -> (usize, usize) {
    (a.checked_div(b).unwrap_or(0), a.checked_rem(b).unwrap_or(0))
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
