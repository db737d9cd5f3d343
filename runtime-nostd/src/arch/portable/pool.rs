//! Pooling: windows of which only the taps inside the image count, as in TFLite's `AVERAGE_POOL_2D` and `MAX_POOL_2D`.
//!
//! Rows of the operand have `in_w · c` elements, those of the result `out_w · c`.

use super::sum::clip;
use crate::params::Pool;
use crate::rows::{Band, Rows};
use core::num::NonZeroU32;

/// Mean of each window, rounded half away from zero, clamped to `lo..=hi`. Operand and result have the same quantisation.
#[inline(never)]
pub fn avg_pool2d_i8(p: &Pool, x: Rows<'_, i8>, lo: i32, hi: i32, y: Rows<'_, i8>, band: Band) {
    let add = |sum: i32, x: i8| sum.wrapping_add(x.into());
    let finish = |taps| {
        let divisor = Divisor::new(taps);
        move |sum| divisor.mean_of(sum).max(lo).min(hi) as i8
    };
    pool2d(p, x, y, band, 0, add, finish);
}

/// As [`avg_pool2d_i8`] for unsigned stored values.
#[inline(never)]
pub fn avg_pool2d_u8(p: &Pool, x: Rows<'_, u8>, lo: i32, hi: i32, y: Rows<'_, u8>, band: Band) {
    let add = |sum: i32, x: u8| sum.wrapping_add(x.into());
    let finish = |taps| {
        let divisor = Divisor::new(taps);
        move |sum| divisor.mean_of(sum).max(lo).min(hi) as u8
    };
    pool2d(p, x, y, band, 0, add, finish);
}

/// `sum / taps`, rounded half away from zero; 0 without taps.
#[inline(always)]
pub(crate) fn mean_of(sum: i32, taps: u32) -> i32 {
    let Some(n) = NonZeroU32::new(taps) else { return 0 };
    half_away(sum, taps, |dividend| dividend / n)
}

/// `sum` divided by the taps, rounded half away from zero; `divide` rounds down.
#[inline(always)]
fn half_away(sum: i32, taps: u32, divide: impl Fn(u32) -> u32) -> i32 {
    let magnitude = divide(sum.unsigned_abs().wrapping_add(taps / 2)) as i32;
    if sum < 0 {
        magnitude.wrapping_neg()
    } else {
        magnitude
    }
}

/// A number of taps, by which sums of stored values of 8 bits are divided.
#[derive(Clone, Copy)]
struct Divisor {
    taps: u32,
    /// 2²⁴ divided by the taps, rounded up. 0 where sums are divided instead.
    ///
    /// A quotient is exact if the dividend times what was rounded up stays below 2²⁴. The dividend is at most 255½ times the taps, and less than the taps is rounded up.
    /// That is less than 2²⁴ up to 256 taps, by whose number 2²⁴ can be divided. The product is less than 2³².
    reciprocal: u32,
}

impl Divisor {
    #[inline(always)]
    fn new(taps: u32) -> Divisor {
        let reciprocal = match NonZeroU32::new(taps) {
            Some(n) if taps <= 256 => (1u32 << 24).wrapping_add(taps - 1) / n,
            _ => 0,
        };
        Divisor { taps, reciprocal }
    }

    /// The sum divided by the taps, rounded half away from zero; 0 without taps.
    #[inline(always)]
    fn mean_of(self, sum: i32) -> i32 {
        if self.reciprocal == 0 {
            return mean_of(sum, self.taps);
        }
        half_away(sum, self.taps, |dividend| dividend.wrapping_mul(self.reciprocal) >> 24)
    }
}

/// Largest element of each window, clamped to `lo..=hi`. Operand and result have the same quantisation.
#[inline(never)]
pub fn max_pool2d_i8(p: &Pool, x: Rows<'_, i8>, lo: i32, hi: i32, y: Rows<'_, i8>, band: Band) {
    let larger = |max: i32, x: i8| max.max(x.into());
    pool2d(p, x, y, band, i32::from(i8::MIN), larger, |_| |max: i32| max.max(lo).min(hi) as i8);
}

/// Mean of each window, clamped to `lo..=hi`: the taps' sum in their order, divided by their number.
#[inline(never)]
pub fn avg_pool2d_f32(p: &Pool, x: Rows<'_, f32>, lo: f32, hi: f32, y: Rows<'_, f32>, band: Band) {
    pool2d(p, x, y, band, 0.0, |sum: f32, x: f32| sum + x, |taps| move |sum| clip(sum / taps as f32, lo, hi));
}

/// Largest element of each window, clamped to `lo..=hi`.
#[inline(never)]
pub fn max_pool2d_f32(p: &Pool, x: Rows<'_, f32>, lo: f32, hi: f32, y: Rows<'_, f32>, band: Band) {
    let larger = |max: f32, x: f32| if max < x { x } else { max };
    pool2d(p, x, y, band, f32::MIN, larger, |_| |max| clip(max, lo, hi));
}

/// Folds the taps of each window, starting from `start`; `finish` gets their number, and gives what is done to each channel.
#[inline(always)]
pub(crate) fn pool2d<T: Copy, A: Copy, F: Fn(A) -> T>(
    p: &Pool,
    x: Rows<'_, T>,
    y: Rows<'_, T>,
    band: Band,
    start: A,
    fold: impl Fn(A, T) -> A,
    finish: impl Fn(u32) -> F,
) {
    let pitch = p.c.max(1);
    let Some(held) = x.held() else { return };
    for (row, out) in y.of_band(band) {
        let (top, bottom) = inside(row.wrapping_mul(p.stride_h), p.pad_top, p.k_h, p.in_h);
        // A window has no more rows than are held at a time.
        if bottom - top > held {
            return;
        }
        let skipped = x.laps_before(top);
        let (top, bottom) = (top.wrapping_sub(skipped), bottom.wrapping_sub(skipped));
        for (column, out) in out.chunks_exact(pitch).take(p.out_w).enumerate() {
            let (left, right) = inside(column.wrapping_mul(p.stride_w), p.pad_left, p.k_w, p.in_w);
            let taps = (bottom - top).wrapping_mul(right - left) as u32;
            let finish = finish(taps);
            let window =
                Window { top, bottom, from: left.wrapping_mul(pitch), to: right.wrapping_mul(pitch), pitch };
            let fours = out.chunks_exact(4);
            let (first_left, rest) = (4 * fours.len(), fours.remainder());
            for (four, out) in fours.enumerate() {
                let sums = window.fold::<_, _, 4>(x, 4 * four, start, &fold);
                out.iter().zip(sums).for_each(|(out, sum)| out.set(finish(sum)));
            }
            for (c, out) in rest.iter().enumerate() {
                let [sum] = window.fold(x, first_left + c, start, &fold);
                out.set(finish(sum));
            }
        }
    }
}

/// Rows `top..bottom` of an operand, and of each the elements `from..to`: pixels of `pitch` channels.
struct Window {
    top: usize,
    bottom: usize,
    from: usize,
    to: usize,
    pitch: usize,
}

impl Window {
    /// Folds the taps of `N` channels, of which `first` is the first, row by row.
    #[inline(always)]
    fn fold<T: Copy, A: Copy, const N: usize>(
        &self,
        x: Rows<'_, T>,
        first: usize,
        start: A,
        fold: impl Fn(A, T) -> A,
    ) -> [A; N] {
        let mut sums = [start; N];
        for row in self.top..self.bottom {
            let taps = x.row(row).get(self.from.wrapping_add(first)..self.to).unwrap_or(&[]);
            for taps in taps.chunks(self.pitch).filter_map(|taps| taps.first_chunk::<N>()) {
                sums.iter_mut().zip(taps).for_each(|(sum, tap)| *sum = fold(*sum, tap.get()));
            }
        }
        sums
    }
}

/// Where a window of `size` that starts `pad` before `start` begins and ends inside an image of `len`.
#[inline(always)]
pub(crate) fn inside(start: usize, pad: usize, size: usize, len: usize) -> (usize, usize) {
    let first = start.saturating_sub(pad);
    // A sum that wraps gives another window, which lies inside of the image as well.
    let end = start.wrapping_add(size).saturating_sub(pad).min(len);
    (first.min(end), end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiples of the taps, and the last sum before the next one: where quotients change.
    #[test]
    fn reciprocals_divide_exactly() {
        for taps in 1..=300 {
            let divisor = Divisor::new(taps);
            assert_eq!(divisor.reciprocal == 0, taps > 256);
            for quotient in 0..=255 {
                let first = (quotient * taps).saturating_sub(taps / 2) as i32;
                let last = (quotient * taps + (taps - 1) - taps / 2) as i32;
                for sum in [first, last.min(255 * taps as i32), -first, -last.min(128 * taps as i32)] {
                    assert_eq!(divisor.mean_of(sum), mean_of(sum, taps), "{sum} / {taps}");
                }
            }
        }
        assert_eq!(Divisor::new(0).mean_of(5), 0);
    }
}
