//! Depthwise convolution: every channel of the operand has filters of its own.

use super::sum::{layers, Float, Int8, Once, Sum};
use super::weights::Weights;
use crate::arch::extent::{product, product_of, reach, span, sum, sum_of};
use crate::params::{Conv, FloatRequant, Requant};
use crate::rows::{Band, Rows};
use core::cell::Cell;
use core::mem::MaybeUninit;
use core::ops::Range;

layers! { depthwise2d;
    /// TFLite's `DEPTHWISE_CONV_2D`, for one `i8` image: convolution with filters `w` \[k_h\]\[k_w\]\[out_c\]; channel `o` of the result reads channel
    /// `o / (out_c / in_c)` of the operand.
    ///
    /// Rows of `x` have `in_w · in_c` elements, those of `y` `out_w · out_c`; `bias` has `out_c`. Every tap counts, also in the padding, which reads as `pad` (the zero point): `bias` holds `bias − zero point · Σ w`.
    pub fn depthwise2d_i8(&[i8], &Requant<'_>);
    /// As [`depthwise2d_i8`] with weights of 16 bits.
    pub fn depthwise2d_i8xi16(&[i16], &Requant<'_>);
    /// As [`depthwise2d_i8`], but sums are rescaled as floats: ONNX Runtime's `QLinearConv`.
    pub fn depthwise2d_i8_float(&[i8], &FloatRequant<'_>);
    /// As [`depthwise2d_i8_float`] with weights of 16 bits.
    pub fn depthwise2d_i8xi16_float(&[i16], &FloatRequant<'_>);
    /// As [`depthwise2d_i8`], but sums are rescaled with one rounding, half away from zero.
    pub fn depthwise2d_i8_once(&[i8], once);
    /// As [`depthwise2d_i8_once`] with weights of 16 bits.
    pub fn depthwise2d_i8xi16_once(&[i16], once);
    /// As [`depthwise2d_i8`] for floats: products are summed in the order of the taps, the bias comes last, padding does not
    /// count, and the result is clamped to `lo..=hi`.
    pub fn depthwise2d_f32(&[f32], f32);
}

/// Channels of the result computed in one pass over the taps.
const CHANNELS: usize = 32;

/// Rows of the largest window that is computed at once.
pub(crate) const MOST_ROWS: usize = 16;

#[inline(always)]
pub(crate) fn depthwise2d<S: Sum, P: Weights<W = S::W>>(
    p: &Conv,
    x: Rows<'_, S::T>,
    w: P,
    sum: S,
    y: Rows<'_, S::Y>,
    band: Band,
) {
    let multiplier = p.out_c.checked_div(p.in_c).unwrap_or(0).max(1);
    // A pass takes whole channels of the operand, or one in parts.
    let channels = CHANNELS.checked_div(multiplier).unwrap_or(0).max(1);
    let pass = channels * multiplier;
    // There are weights of all taps, however many those are said to be.
    if w.behind(product_of([p.k_h.max(1), p.k_w.max(1), p.out_c.max(1)])).is_none() {
        return;
    }
    for (row, out) in y.of_band(band) {
        let top = row.wrapping_mul(p.stride_h);
        let skipped = x.laps_before(top.saturating_sub(p.pad_top));
        let (top, in_h) = (top.wrapping_sub(p.pad_top).wrapping_sub(skipped), p.in_h.saturating_sub(skipped));
        let mut held: [&[Cell<S::T>]; MOST_ROWS] = [&[]; MOST_ROWS];
        let down = within(top, p.k_h, p.dilation_h, in_h);
        let rows = held.get_mut(..down.len()).filter(|_| multiplier == 1).unwrap_or(&mut []);
        for (row, ky) in rows.iter_mut().zip(down.clone()) {
            *row = x.row(top.wrapping_add(ky.wrapping_mul(p.dilation_h)));
        }
        for (column, out) in out.chunks_exact(p.out_c.max(1)).take(p.out_w).enumerate() {
            let left = column.wrapping_mul(p.stride_w).wrapping_sub(p.pad_left);
            let window = Window { p, x, in_h, w, pad: sum.pad(), top, left };
            let across = within(left, p.k_w, p.dilation_w, p.in_w);
            let taps = Taps {
                rows,
                first: left.wrapping_add(across.start.wrapping_mul(p.dilation_w)).wrapping_mul(p.in_c),
                len: across.len(),
                step: product(p.dilation_w, p.in_c),
                w_first: (down.start * p.k_w + across.start) * p.out_c,
                w_step: p.out_c,
                w_skip: (p.k_w - across.len()) * p.out_c,
            };
            let done = w.whole(0).map_or(0, |w| sum.window(&taps, w, out));
            if done > 0 {
                // Fewer channels are left than a pass has.
                let Some(out) = out.get(done..) else { return };
                let mut acc = [S::EMPTY; CHANNELS];
                let Some(acc) = acc.get_mut(..out.len()) else { return };
                if !acc.is_empty() {
                    window.sums::<S>(done, done, 1, acc);
                    sum.finish(done, acc, out);
                }
                continue;
            }
            for (i, out) in out.chunks(pass.max(1)).enumerate() {
                for (j, out) in out.chunks(CHANNELS).enumerate() {
                    let mut acc = [S::EMPTY; CHANNELS];
                    let Some(acc) = acc.get_mut(..out.len()) else { return };
                    let o = i * pass + j * CHANNELS;
                    let done = w.whole(0).map_or(0, |w| S::inside(&taps, w, o, acc));
                    if let Some((acc, rest)) = acc.split_at_mut_checked(done).filter(|_| done > 0) {
                        window.padding::<S>(o, &down, &across, acc);
                        if !rest.is_empty() {
                            window.sums::<S>(o + done, o + done, 1, rest);
                        }
                    } else {
                        window.sums::<S>(o, i * channels, multiplier.min(out.len()), acc);
                    }
                    sum.finish(o, acc, out);
                }
            }
        }
    }
}

/// Which of `count` taps are inside of an image of `len`, if the first is at `start`, which may be negative, and each `step` behind the one before.
#[inline(always)]
fn within(start: usize, count: usize, step: usize, len: usize) -> Range<usize> {
    if start < len && reach(count, step, 1) <= len - start {
        return 0..count;
    }
    let is_inside = |&tap: &usize| start.wrapping_add(tap.wrapping_mul(step)) < len;
    let first = (0..count).find(is_inside).unwrap_or(count);
    first..first + (first..count).take_while(is_inside).count()
}

/// The taps of a pixel that are inside of the image, of channels that have a filter each.
#[allow(dead_code)] // Not every core has a block that reads them.
pub(crate) struct Taps<'a, T> {
    /// Rows of the image.
    pub(crate) rows: &'a [&'a [Cell<T>]],
    /// The first element that is read of each row, how many taps follow, and how far one is behind the other.
    pub(crate) first: usize,
    pub(crate) len: usize,
    pub(crate) step: usize,
    /// The first weight, how far that of a tap is behind that of the one before, and what is skipped between two rows.
    pub(crate) w_first: usize,
    pub(crate) w_step: usize,
    pub(crate) w_skip: usize,
}

#[allow(dead_code)] // as above
impl<T> Taps<'_, T> {
    /// Where the first element of each row is, of one to [`MOST_ROWS`]. `None` unless each row has the elements of all channels before `end`, and there are as many of all `weights`.
    #[inline(always)]
    pub(crate) fn starts(
        &self,
        end: usize,
        weights: usize,
    ) -> Option<[MaybeUninit<*const Cell<T>>; MOST_ROWS]> {
        let Taps { rows, first, len, step, w_first, w_step, w_skip } = *self;
        let last = sum(first, reach(len, step, end));
        let line = sum(w_step, reach(len, w_step, w_skip));
        let are_there = len > 0
            && (1..=MOST_ROWS).contains(&rows.len())
            && rows.iter().all(|row| row.len() >= last)
            && weights >= sum_of([w_first, span(rows.len(), line), reach(len, w_step, end)]);
        if !are_there {
            return None;
        }
        let mut starts = [const { MaybeUninit::uninit() }; MOST_ROWS];
        for (start, row) in starts.iter_mut().zip(rows) {
            start.write(row.as_ptr().wrapping_add(first));
        }
        Some(starts)
    }
}

/// The taps of one pixel of the result.
struct Window<'a, T, P> {
    p: &'a Conv,
    x: Rows<'a, T>,
    /// Rows of the operand.
    in_h: usize,
    w: P,
    pad: T,
    /// Row and column of the first tap; may be negative. Rows are counted from the lap of the ring in which the first one is.
    top: usize,
    left: usize,
}

impl<T: Copy, P: Weights> Window<'_, T, P> {
    /// Sums of the output channels from `o` on; each channel of the operand, from `c` on, is read by `share` of them.
    #[inline(never)]
    fn sums<S: Sum<T = T, W = P::W>>(&self, o: usize, c: usize, share: usize, acc: &mut [S::Acc]) {
        let Conv { in_w, in_c, out_c, k_h, k_w, dilation_h, dilation_w, .. } = *self.p;
        let share = share.max(1);
        let read = acc.len().checked_div(share).unwrap_or(0);
        let mut room = P::ROOM;
        for ky in 0..k_h {
            let iy = self.top.wrapping_add(ky.wrapping_mul(dilation_h));
            let image = if iy < self.in_h { self.x.row(iy) } else { &[] };
            for kx in 0..k_w {
                let tap = (ky * k_w + kx) * out_c + o;
                let Some(w) = self.w.part(tap, o, acc.len(), &mut room) else { return };
                let ix = self.left.wrapping_add(kx.wrapping_mul(dilation_w));
                let at = ix.wrapping_mul(in_c).wrapping_add(c);
                match if ix < in_w { image.get(at..at.wrapping_add(read)) } else { None } {
                    Some(x) if share == 1 => each::<S>(x, w, acc),
                    Some(x) => {
                        let shares = w.chunks_exact(share).zip(acc.chunks_exact_mut(share));
                        x.iter().zip(shares).for_each(|(x, (w, acc))| all::<S>(x.get(), w, acc));
                    }
                    None => all::<S>(self.pad, w, acc),
                }
            }
        }
    }

    /// Adds the products of the padding: of the taps that are not in rows `down` and columns `across`.
    #[inline(always)]
    fn padding<S: Sum<T = T, W = P::W>>(
        &self,
        o: usize,
        down: &Range<usize>,
        across: &Range<usize>,
        acc: &mut [S::Acc],
    ) {
        let Conv { out_c, k_h, k_w, .. } = *self.p;
        if (down.len(), across.len()) == (k_h, k_w) {
            return;
        }
        let mut room = P::ROOM;
        for ky in 0..k_h {
            let inside = if down.contains(&ky) { across.clone() } else { 0..0 };
            for kx in (0..inside.start).chain(inside.end..k_w) {
                let Some(w) = self.w.part((ky * k_w + kx) * out_c + o, o, acc.len(), &mut room) else {
                    return;
                };
                all::<S>(self.pad, w, acc);
            }
        }
    }
}

/// Adds the products of pairs.
#[inline(never)]
fn each<S: Sum>(x: &[Cell<S::T>], w: &[S::W], acc: &mut [S::Acc]) {
    for ((acc, x), &w) in acc.iter_mut().zip(x).zip(w) {
        *acc = S::add(*acc, x.get(), w);
    }
}

/// Adds the products of one element with all weights.
#[inline(never)]
fn all<S: Sum>(x: S::T, w: &[S::W], acc: &mut [S::Acc]) {
    for (acc, &w) in acc.iter_mut().zip(w) {
        *acc = S::add(*acc, x, w);
    }
}
