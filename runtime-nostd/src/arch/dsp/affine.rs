//! The end of sums in plain Rust, as kernels share it.

use crate::fixed::{high_mul, round_shift, to_i8};
use crate::params::{Requant, Rescale, Scale};

/// `SSAT8((d·M + C·2³² + 2³¹) >> 32 >> shift)`, as `SMMLAR` and `SSAT` compute it.
#[inline(always)]
pub(crate) fn affine(d: i32, [m, c]: [i32; 2], shift: u32) -> i8 {
    let product = i64::from(d).wrapping_mul(m.into()).wrapping_add(i64::from(c) << 32).wrapping_add(1 << 31);
    ((product >> 32) as i32 >> shift.min(31)).clamp(-128, 127) as i8
}

/// `d` of a signed form: the sum times 2^`gain`, and the correction more if it is negative.
#[inline(always)]
pub(crate) fn corrected(sum: i32, gain: u32, correction: i32) -> i32 {
    sum.wrapping_shl(gain).wrapping_add(correction & (sum >> 31))
}

/// Words at the end of a quad: factors and constants, behind the corrections of signed layers.
pub(crate) const fn requant_words(signed: bool) -> usize {
    if signed {
        12
    } else {
        8
    }
}

/// Results of a quad's sums, with the words at the end of `w`. Those of b and d are multiplied by 2^`gain` already.
#[inline(always)]
pub(crate) fn quad(sums: [i32; 4], gain: u32, w: &[i32], shift: u32, signed: bool) -> [i8; 4] {
    let mut results = [0; 4];
    let end = w.get(w.len().saturating_sub(requant_words(signed))..).unwrap_or(&[]);
    let (corrections, factors) = end.split_at(end.len().saturating_sub(8));
    for (f, ((result, sum), factor)) in results.iter_mut().zip(sums).zip(factors.chunks_exact(2)).enumerate()
    {
        let &[m, c] = factor else { return results };
        let gain = if f % 2 == 1 { gain } else { 0 };
        let (d, gain) = match corrections.get(f) {
            None => (sum, gain),
            Some(&correction) => (corrected(sum, 8 - gain, correction), 8),
        };
        *result = affine(d, [m, c], shift.saturating_add(gain));
    }
    results
}

/// The result of channel `o`.
pub(super) fn exact(q: &Requant<'_>, o: usize, acc: i32) -> Option<i8> {
    let multiplier = *q.multipliers.get(o).or(q.multipliers.first())?;
    let shift = i32::from(*q.shifts.get(o).or(q.shifts.first())?);
    Some(to_i8(Scale { multiplier, shift }.apply(acc), q.zero_point, q.lo, q.hi))
}

/// [`Rescale::apply`] without branches, in numbers that stay in registers.
#[inline(always)]
pub(super) fn rescaled(by: &Rescale) -> impl Fn(i32) -> i32 {
    let Rescale { by: Scale { multiplier, shift }, zero_point, lo, hi } = *by;
    let (left, right) = (shift.max(0).unsigned_abs(), shift.min(0).unsigned_abs());
    let (lo, hi) = (lo.saturating_sub(zero_point), hi.saturating_sub(zero_point));
    move |sum| {
        let value = round_shift(high_mul(sum.wrapping_shl(left), multiplier), right);
        value.max(lo).min(hi).wrapping_add(zero_point)
    }
}
