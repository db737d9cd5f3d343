//! Layers whose operand or result has 16 bits: those that SVDF consists of.

#![allow(unsafe_code)]

use crate::arch::extent::{product, sum};
use crate::params::{Conv, Rescale};
use crate::rows::{Band, Rows};
use core::cell::Cell;

/// Channels or filters that are computed at a time.
const LANES: usize = 4;

/// Taps of such filters in a turn of the loop.
const TAPS: usize = 8;

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
    let in_fours = if share == 1 { p.in_c.min(p.out_c) / LANES } else { 0 };
    for (row, out) in y.of_band(band) {
        let Some(window) = Window::new(p, x, row) else { return };
        let blocks = w.chunks_exact(product(LANES, p.k_h).max(1));
        let fours = out.chunks_exact(LANES).zip(bias.chunks_exact(LANES)).zip(blocks).take(in_fours);
        for (block, ((out, bias), w)) in fours.enumerate() {
            // SAFETY: the window has so many channels (there are no more fours than those have), and there are four weights for each of its rows.
            let sums = unsafe { window.four(LANES * block, w) };
            by.four(sums, bias, |at, v| {
                if let Some(out) = out.get(at) {
                    out.set(v as i8);
                }
            });
        }
        let others = out.iter().zip(bias).enumerate().take(p.out_c).skip(LANES * in_fours);
        for (o, (out, &bias)) in others {
            let channels = (o * share..(o + 1) * share).map(|c| window.channel(c, w));
            out.set(by.result(channels.fold(bias, i32::wrapping_add)) as i8);
        }
    }
}

/// The rows of the operand that a row of the result reads.
struct Window<'a> {
    /// Up to the end of the ring, and from its beginning on. Both together are `k_h` rows.
    parts: [(&'a [Cell<i16>], usize); 2],
    /// Channels: as many elements have all rows.
    channels: usize,
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

    /// Sums of four channels from `c` on.
    ///
    /// # Safety
    /// There are so many channels, and `w` has four weights for each row.
    #[inline(always)]
    unsafe fn four(&self, c: usize, w: &[i16]) -> [i32; LANES] {
        let (mut sums, mut w) = ([0; LANES], w.as_ptr());
        for (x, rows) in self.parts {
            if rows > 0 {
                // SAFETY: `x` has so many rows of all channels. Those of both parts have the weights.
                unsafe {
                    sums = add_rows(x.as_ptr().cast::<i16>().add(c), self.channels, w, rows, sums);
                    w = w.add(LANES * rows);
                }
            }
        }
        sums
    }

    /// The sum of channel `c`.
    #[inline(never)]
    fn channel(&self, c: usize, w: &[i16]) -> i32 {
        let rows = self.parts.iter().fold(0, |all, (_, rows)| sum(all, *rows));
        let first = sum(product(c / LANES * LANES, rows), c % LANES);
        let weights = w.get(first..).unwrap_or(&[]).iter().step_by(LANES);
        let elements = |x: &'a [Cell<i16>]| x.get(c..).unwrap_or(&[]).iter().step_by(self.channels.max(1));
        let products = self.parts.iter().flat_map(|(x, _)| elements(x)).zip(weights);
        products.fold(0, |sum, (x, &w)| sum.wrapping_add(i32::from(x.get()) * i32::from(w)))
    }
}

/// Adds the products of rows of four elements, the first of which are `step` apart, with four weights for each.
///
/// # Safety
/// At `x` there are so many rows, and at `w` their weights.
#[inline(always)]
unsafe fn add_rows(
    mut x: *const i16,
    step: usize,
    mut w: *const i16,
    rows: usize,
    mut sums: [i32; LANES],
) -> [i32; LANES] {
    let mut row = || {
        for (lane, sum) in sums.iter_mut().enumerate() {
            // SAFETY: as the caller says. It is called once for each row.
            let (x, w) = unsafe { (*x.add(lane), *w.add(lane)) };
            *sum = sum.wrapping_add(i32::from(x) * i32::from(w));
        }
        (x, w) = (x.wrapping_add(step), w.wrapping_add(LANES));
    };
    for _ in 0..rows / 4 {
        row();
        row();
        row();
        row();
    }
    for _ in 0..rows % 4 {
        row();
    }
    sums
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
    let four = product(LANES, x.row_len()).max(1);
    for (row, out) in y.of_band(band) {
        let x = x.row(row);
        for ((out, bias), w) in out.chunks(LANES).zip(bias.chunks(LANES)).zip(w.chunks_exact(four)) {
            by.four(four_filters(x, w), bias, |at, v| {
                if let Some(out) = out.get(at) {
                    out.set(v as i16);
                }
            });
        }
    }
}

/// Sums of four filters that alternate.
#[inline(always)]
fn four_filters(mut x: &[Cell<i8>], mut w: &[i8]) -> [i32; LANES] {
    let mut sums = [0i32; LANES];
    let mut add = |x: &[Cell<i8>], w: &[i8]| {
        for (x, w) in x.iter().zip(w.chunks_exact(LANES)) {
            let x = i32::from(x.get());
            for (sum, &w) in sums.iter_mut().zip(w) {
                *sum = sum.wrapping_add(x * i32::from(w));
            }
        }
    };
    while let (Some((now_x, more_x)), Some((now_w, more_w))) =
        (x.split_first_chunk::<TAPS>(), w.split_first_chunk::<{ LANES * TAPS }>())
    {
        add(now_x, now_w);
        (x, w) = (more_x, more_w);
    }
    add(x, w);
    sums
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

    /// Results of as many sums as there are biases: whether shifts are to the right is asked once.
    #[inline(always)]
    fn four(&self, sums: [i32; LANES], bias: &[i32], mut set: impl FnMut(usize, i32)) {
        let with_bias = sums.iter().zip(bias).map(|(sum, bias)| sum.wrapping_add(*bias)).enumerate();
        match self.shift {
            ..=-1 => with_bias.for_each(|(at, v)| set(at, self.to_the_right(v))),
            _ => with_bias.for_each(|(at, v)| set(at, self.to_the_left(v))),
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
