//! Layers whose operand or result has 16 bits: those that SVDF consists of.

#![allow(unsafe_code)]

use super::blocks::wide::{channels, filters};
use crate::arch::extent::{product, sum};
use crate::params::{Conv, Rescale};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Channels or filters that are computed at a time.
pub(crate) const LANES: usize = 4;

/// As [`conv1_i16_i8`](crate::kernels::conv1_i16_i8): four channels at a time where every result is of one channel.
#[inline(never)]
pub fn conv1_i16_i8_rv32(
    p: &Conv,
    x: Rows<'_, i16>,
    w: &[i16],
    bias: &[i32],
    by: &Rescale,
    y: Rows<'_, i8>,
    band: Band,
) {
    let by = Factor::new(by);
    let share = p.in_c.checked_div(p.out_c).unwrap_or(0).max(1);
    for (row, out) in y.of_band(band) {
        let Some(window) = Window::new(p, x, row) else { return };
        let all = out.len().min(p.out_c);
        let in_fours = if share == 1 { all.min(p.in_c) / LANES * LANES } else { 0 };
        window.fours(w, bias, &by, out.get(..in_fours).unwrap_or(&[]));
        for (o, (out, &bias)) in out.iter().zip(bias).enumerate().take(all).skip(in_fours) {
            let sum = (o * share..(o + 1) * share).fold(bias, |sum, c| sum.wrapping_add(window.channel(c, w)));
            out.set(by.result(sum) as i8);
        }
    }
}

/// The rows of the operand that a row of the result reads.
pub(crate) struct Window<'a> {
    /// Up to the end of the ring, and from its beginning on: elements, and how many rows these are. Both together are all rows of a filter.
    pub(crate) parts: [(&'a [Cell<i16>], usize); 2],
    /// Channels: as many elements has a row.
    pub(crate) channels: usize,
}

impl<'a> Window<'a> {
    /// `None` if the memory does not hold it, or rows have another number of elements.
    #[inline(always)]
    fn new(p: &Conv, x: Rows<'a, i16>, row: usize) -> Option<Self> {
        if x.row_len() != p.in_c || p.k_h == 0 {
            return None;
        }
        let top = row.wrapping_mul(p.stride_h);
        let (first, rows) = x.rows_from(top, p.k_h);
        let left = p.k_h.saturating_sub(rows);
        let second = if left == 0 { &[] } else { x.run(top.wrapping_add(rows), left)? };
        Some(Window { parts: [(first?, rows), (second, left)], channels: p.in_c })
    }

    /// Rows of a filter.
    #[inline(always)]
    fn rows(&self) -> usize {
        self.parts.iter().fold(0, |all, (_, rows)| sum(all, *rows))
    }

    /// Results of the first channels, one of each. They are whole fours, and no more than there are.
    #[inline(never)]
    fn fours(&self, w: &[i16], bias: &[i32], by: &Factor, out: &[Cell<i8>]) {
        if out.len() > self.channels {
            return;
        }
        let blocks = w.chunks_exact(product(LANES, self.rows()).max(1));
        let mut c = 0;
        for ((out, bias), w) in out.chunks_exact(LANES).zip(bias.chunks_exact(LANES)).zip(blocks) {
            // SAFETY: there is a channel for each result (compared above), and `w` has four weights for each row.
            let sums = unsafe { channels(self, c, w) };
            by.write(sums, bias, out, |v| v as i8);
            c += LANES;
        }
    }

    /// The sum of channel `c`.
    #[inline(never)]
    fn channel(&self, c: usize, w: &[i16]) -> i32 {
        let first = sum(product(c / LANES * LANES, self.rows()), c % LANES);
        let weights = w.get(first..).unwrap_or(&[]).iter().step_by(LANES);
        let elements = |x: &'a [Cell<i16>]| x.get(c..).unwrap_or(&[]).iter().step_by(self.channels.max(1));
        let products = self.parts.iter().flat_map(|(x, _)| elements(x)).zip(weights);
        products.fold(0, |sum, (x, &w)| sum.wrapping_add(i32::from(x.get()) * i32::from(w)))
    }
}

/// As [`dense_i8_i16`](crate::kernels::dense_i8_i16). Filters in `w` alternate by four; those that are missing to the last four are zeros.
#[inline(never)]
pub fn dense_i8_i16_rv32(
    x: Rows<'_, i8>,
    w: &[i8],
    bias: &[i32],
    by: &Rescale,
    y: Rows<'_, i16>,
    band: Band,
) {
    let by = Factor::new(by);
    for (row, out) in y.of_band(band) {
        fours_of_filters(x.row(row), w, bias, &by, out);
    }
}

/// Results of a row.
#[inline(never)]
fn fours_of_filters(x: &[Cell<i8>], w: &[i8], bias: &[i32], by: &Factor, out: &[Cell<i16>]) {
    let blocks = w.chunks_exact(product(LANES, x.len()).max(1));
    for ((out, bias), w) in out.chunks(LANES).zip(bias.chunks(LANES)).zip(blocks) {
        by.write(filters(x, w), bias, out, |v| v as i16);
    }
}

/// A [`Rescale`], as it is applied in few instructions: the same results.
#[derive(Clone, Copy)]
pub(super) struct Factor {
    /// Twice the multiplier, which is not negative: a product's upper word is what [`high_mul`](crate::fixed::high_mul) returns before it rounds.
    twice: u32,
    shift: i32,
    zero_point: i32,
    /// Bounds of results before the zero point is added.
    lo: i32,
    hi: i32,
}

impl Factor {
    #[inline(always)]
    pub(super) fn new(by: &Rescale) -> Self {
        let Rescale { by, zero_point, lo, hi } = *by;
        let [lo, hi] = [lo, hi].map(|end| end.saturating_sub(zero_point));
        Factor { twice: (by.multiplier as u32) << 1, shift: by.shift, zero_point, lo, hi }
    }

    /// The result of a sum.
    #[inline(always)]
    pub(super) fn result(&self, v: i32) -> i32 {
        match self.shift {
            ..=-1 => self.to_the_right(v),
            _ => self.to_the_left(v),
        }
    }

    /// Results of sums that lack their biases. Whether shifts are to the right is asked once.
    #[inline(always)]
    fn write<T>(&self, sums: [i32; LANES], bias: &[i32], out: &[Cell<T>], as_result: impl Fn(i32) -> T) {
        let all = sums.iter().zip(bias).map(|(sum, bias)| sum.wrapping_add(*bias)).zip(out);
        match self.shift {
            ..=-1 => all.for_each(|(v, out)| out.set(as_result(self.to_the_right(v)))),
            _ => all.for_each(|(v, out)| out.set(as_result(self.to_the_left(v)))),
        }
    }

    #[inline(always)]
    fn to_the_left(&self, v: i32) -> i32 {
        self.bounded(self.high(v.wrapping_shl(self.shift as u32)))
    }

    /// Rounded twice: the second time half away from zero.
    #[inline(always)]
    fn to_the_right(&self, v: i32) -> i32 {
        let v = self.high(v);
        let towards_zero = v.wrapping_add(v >> 31);
        self.bounded(towards_zero.wrapping_shr(!self.shift as u32).wrapping_add(1) >> 1)
    }

    /// `v · multiplier / 2³¹`, rounded half up.
    #[inline(always)]
    fn high(&self, v: i32) -> i32 {
        let product = i64::from(v).wrapping_mul(self.twice.into());
        ((product >> 32) as i32).wrapping_add((product as u32 >> 31) as i32)
    }

    #[inline(always)]
    fn bounded(&self, v: i32) -> i32 {
        v.max(self.lo).min(self.hi).wrapping_add(self.zero_point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Scale;

    #[test]
    fn a_factor_is_applied_as_the_reference_does() {
        let multipliers = [0, 1, 1 << 30, 0x5555_5555, 0x6ccc_cccd, i32::MAX];
        let sums = [i32::MIN, i32::MIN + 1, -(1 << 30), -65_537, -3, -1, 0, 1, 2, 5, 32_768, i32::MAX];
        for (multiplier, shift) in multipliers.into_iter().flat_map(|m| (-31..=30).map(move |s| (m, s))) {
            for (zero_point, lo, hi) in [(0, i32::MIN, i32::MAX), (-17, -32_768, 32_767), (3, -128, 127)] {
                let by = Rescale { by: Scale { multiplier, shift }, zero_point, lo, hi };
                for v in sums.into_iter().chain((-40..40).map(|v: i32| v.wrapping_mul(53_687_091))) {
                    assert_eq!(Factor::new(&by).result(v), by.apply(v), "{v} {by:?}");
                }
            }
        }
    }
}
