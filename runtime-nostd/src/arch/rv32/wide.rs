//! Layers whose operand or result has 16 bits: those that SVDF consists of.

use super::blocks::wide::{fours_of_channels, fours_of_filters};
use crate::arch::extent::{product, sum};
use crate::arch::portable::sum::LANES;
use crate::params::{Conv, Rescale};
use crate::rows::{Band, Rows};
use core::cell::Cell;

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
        fours_of_channels(&window, w, bias, &by, out.get(..in_fours).unwrap_or(&[]));
        for (o, (out, &bias)) in out.iter().zip(bias).enumerate().take(all).skip(in_fours) {
            let sum =
                (o * share..(o + 1) * share).fold(bias, |sum, c| sum.wrapping_add(window.channel(c, w)));
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
    pub(crate) fn rows(&self) -> usize {
        self.parts.iter().fold(0, |all, (_, rows)| sum(all, *rows))
    }

    /// The sum of channel `c`.
    #[inline(never)]
    pub(crate) fn channel(&self, c: usize, w: &[i16]) -> i32 {
        let first = sum(product(c / LANES * LANES, self.rows()), c % LANES);
        let weights = w.get(first..).unwrap_or(&[]).iter().step_by(LANES);
        let elements = |x: &'a [Cell<i16>]| x.get(c..).unwrap_or(&[]).iter().step_by(self.channels.max(1));
        let products = self.parts.iter().flat_map(|(x, _)| elements(x)).zip(weights);
        products.fold(0, |sum, (x, &w)| sum.wrapping_add(i32::from(x.get()) * i32::from(w)))
    }
}

/// As [`dense_i8_i16`](crate::kernels::dense_i8_i16). Filters in `w` alternate by four. Filters and biases that are missing to the last four are zeros.
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
        let x = x.row(row);
        fours_of_filters(x, w, bias, &by, out);
        let (done, last) = (out.len() / LANES * LANES, [const { Cell::new(0) }; LANES]);
        if done < out.len() {
            let w = w.get(product(done, x.len())..).unwrap_or(&[]);
            fours_of_filters(x, w, bias.get(done..).unwrap_or(&[]), &by, &last);
            out.iter().skip(done).zip(&last).for_each(|(out, last)| out.set(last.get()));
        }
    }
}

/// A [`Rescale`], as it is applied in few instructions and without branches: the same results.
#[derive(Clone, Copy)]
pub(crate) struct Factor {
    /// Shift to the left.
    pub(crate) left: u32,
    /// Twice the multiplier, which is not negative: a product's upper word is what [`high_mul`](crate::fixed::high_mul) returns before it rounds.
    pub(crate) twice: u32,
    /// Shift to the right, but for its last bit.
    pub(crate) right: u32,
    /// 1 where there is a shift to the right, or 0.
    pub(crate) last: u32,
    /// Bounds of results before the zero point is added.
    pub(crate) lo: i32,
    pub(crate) hi: i32,
    pub(crate) zero_point: i32,
}

impl Factor {
    #[inline(always)]
    fn new(by: &Rescale) -> Self {
        let Rescale { by, zero_point, lo, hi } = *by;
        let [lo, hi] = [lo, hi].map(|end| end.saturating_sub(zero_point));
        let (left, right) = (by.shift.max(0) as u32, by.shift.min(0).unsigned_abs());
        let twice = (by.multiplier as u32) << 1;
        Factor { left, twice, right: right.saturating_sub(1), last: right.min(1), lo, hi, zero_point }
    }

    /// The result of a sum.
    #[inline(always)]
    pub(crate) fn result(&self, v: i32) -> i32 {
        let product = i64::from(v.wrapping_shl(self.left)).wrapping_mul(self.twice.into());
        let high = ((product >> 32) as i32).wrapping_add((product as u32 >> 31) as i32);
        // To the right it is rounded once more, half away from zero.
        let towards_zero = high.wrapping_sub((high as u32 >> 31 & self.last) as i32);
        let rounded =
            towards_zero.wrapping_shr(self.right).wrapping_add(self.last as i32).wrapping_shr(self.last);
        rounded.max(self.lo).min(self.hi).wrapping_add(self.zero_point)
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
