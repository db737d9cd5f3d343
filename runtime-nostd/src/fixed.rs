//! Fixed-point arithmetic of TensorFlow Lite Micro's reference kernels (gemmlowp's `fixedpoint.h`, TFLite's
//! `MultiplyByQuantizedMultiplier` with double rounding), bit for bit.

use crate::arch::LONG_PRODUCTS;
use crate::params::{Rescale, Scale};

impl Scale {
    /// `x` times the factor. A left shift loses high bits, as the reference does.
    #[inline(always)]
    pub(crate) fn apply(self, x: i32) -> i32 {
        if self.shift > 0 {
            high_mul(x.wrapping_shl(self.shift.unsigned_abs()), self.multiplier)
        } else {
            round_shift(high_mul(x, self.multiplier), self.shift.unsigned_abs())
        }
    }
}

impl Scale {
    /// `x` times the factor, rounded half away from zero once.
    #[inline(always)]
    pub(crate) fn apply_once(self, x: i32) -> i32 {
        let shift = 31i32.wrapping_sub(self.shift).clamp(1, 62) as u32;
        let product = i64::from(x).wrapping_mul(self.multiplier.into());
        // Of a negative product, a half has to fall below.
        let half = (1i64 << (shift - 1)).wrapping_add(product >> 63);
        (product.wrapping_add(half) >> shift) as i32
    }

    /// A wide `x` times the factor, by 16 bits of the multiplier, rounded half up once. Shifts are at most 7.
    #[inline(always)]
    pub(crate) fn apply_wide(self, x: i64) -> i32 {
        let mantissa =
            if self.multiplier < 0x7fff_0000 { self.multiplier.wrapping_add(1 << 15) >> 16 } else { 0x7fff };
        let shift = 15i32.wrapping_sub(self.shift).clamp(1, 62) as u32;
        let half = 1i64 << (shift - 1);
        (x.wrapping_mul(mantissa.into()).wrapping_add(half) >> shift) as i32
    }
}

/// A sum of `i16` products: 32 bits wide, or 64.
pub(crate) trait WideSum: Copy + 'static {
    /// No products.
    const EMPTY: Self;

    /// Adds a product, or a bias.
    fn plus(self, x: Self) -> Self;

    /// A product of two 16-bit numbers.
    fn product(x: i16, w: i8) -> Self;

    /// Rescales it.
    fn rescaled(self, by: Scale) -> i32;
}

impl WideSum for i32 {
    const EMPTY: i32 = 0;

    #[inline(always)]
    fn plus(self, x: i32) -> i32 {
        self.wrapping_add(x)
    }

    #[inline(always)]
    fn product(x: i16, w: i8) -> i32 {
        i32::from(x) * i32::from(w)
    }

    #[inline(always)]
    fn rescaled(self, by: Scale) -> i32 {
        by.apply(self)
    }
}

impl WideSum for i64 {
    const EMPTY: i64 = 0;

    #[inline(always)]
    fn plus(self, x: i64) -> i64 {
        self.wrapping_add(x)
    }

    #[inline(always)]
    fn product(x: i16, w: i8) -> i64 {
        (i32::from(x) * i32::from(w)).into()
    }

    #[inline(always)]
    fn rescaled(self, by: Scale) -> i32 {
        by.apply_wide(self)
    }
}

/// `x + zero_point`, clamped to `lo..=hi`: never wraps, because the sum is clamped before it is made.
#[inline(always)]
pub(crate) fn to_i8(x: i32, zero_point: i32, lo: i32, hi: i32) -> i8 {
    let (lo, hi) = (lo.wrapping_sub(zero_point), hi.wrapping_sub(zero_point));
    x.max(lo).min(hi).wrapping_add(zero_point) as i8
}

impl Rescale {
    /// A sum as a result: it never wraps at the zero point, because it is clamped before.
    #[inline(always)]
    pub(crate) fn apply(&self, sum: i32) -> i32 {
        let Rescale { by, zero_point, lo, hi } = *self;
        let (lo, hi) = (lo.saturating_sub(zero_point), hi.saturating_sub(zero_point));
        by.apply(sum).max(lo).min(hi).wrapping_add(zero_point)
    }
}

/// `a · b / 2³¹`, rounded to nearest with ties towards +∞: gemmlowp's `SaturatingRoundingDoublingHighMul`.
///
/// Its nudge and truncating division equal one rounding shift of the 64-bit product. It saturates only where both factors are
/// −2³¹, and multipliers are never negative. For `b ≥ 0` the result lies strictly between `i32::MIN` and `i32::MAX`.
#[inline(always)]
pub(crate) fn high_mul(a: i32, b: i32) -> i32 {
    if LONG_PRODUCTS {
        ((i64::from(a) * i64::from(b) + (1 << 30)) >> 31) as i32
    } else {
        high_mul_halves(a, b)
    }
}

/// [`high_mul`] for `b ≥ 0`, from four products of halves: where one of 64 bits would be a call.
#[inline(never)]
fn high_mul_halves(a: i32, b: i32) -> i32 {
    let (a_low, a_high, b_low, b_high) = (a & 0xffff, a >> 16, b & 0xffff, b >> 16);
    let low = a_low.wrapping_mul(b_low) as u32;
    // Neither of these overflows: |a_high · b_low| ≤ 2¹⁵ · (2¹⁶ − 1).
    let middle = a_high.wrapping_mul(b_low).wrapping_add((low >> 16) as i32);
    let other = a_low.wrapping_mul(b_high);
    // Bits 16 to 31 of the product, and what they carry.
    let carried = (middle & 0xffff).wrapping_add(other & 0xffff);
    let high = a_high.wrapping_mul(b_high).wrapping_add(middle >> 16).wrapping_add(other >> 16);
    let high = high.wrapping_add(carried >> 16);
    let rounded = ((carried >> 14 & 3) + 1) >> 1;
    high.wrapping_shl(1).wrapping_add(rounded)
}

/// `x / 2^shift`, rounded to nearest with ties away from zero: gemmlowp's `RoundingDivideByPOT`, for shifts up to 31.
///
/// Exact for all `x` but the two extreme ones, which [`high_mul`] does not return.
#[inline(always)]
pub(crate) fn round_shift(x: i32, shift: u32) -> i32 {
    if shift == 0 {
        return x;
    }
    let towards_zero = x.wrapping_add(x >> 31);
    towards_zero.wrapping_shr(shift - 1).wrapping_add(1) >> 1
}

/// As [`round_shift`] for any shift: beyond 0 to 31, what builds of gemmlowp's function for x86-64 give.
#[inline(always)]
pub(crate) fn round_shift_any(x: i32, shift: i32) -> i32 {
    match shift {
        0..=31 => round_shift(x, shift.unsigned_abs()),
        _ => x.wrapping_shr(shift as u32).wrapping_add(i32::from(x >= 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition: exact rational arithmetic, rounded twice.
    fn reference(x: i32, multiplier: i32, shift: i32) -> i32 {
        let x = (i128::from(x) << shift.max(0)) as i32;
        // Nearest, ties up.
        let product = (2 * i128::from(x) * i128::from(multiplier) + (1 << 31)).div_euclid(1 << 32);
        // Nearest, ties away from zero.
        let divisor = 1i128 << (-shift).max(0);
        let magnitude = (2 * product.abs() + divisor) / (2 * divisor);
        (product.signum() * magnitude) as i32
    }

    #[test]
    fn rounds_as_defined() {
        let xs = [
            0,
            1,
            -1,
            2,
            3,
            -3,
            127,
            -128,
            1 << 20,
            -(1 << 20),
            i32::MAX,
            i32::MIN,
            i32::MAX - 1,
            i32::MIN + 1,
            0x5555_5555,
        ];
        let multipliers = [0, 1, 3, 1 << 30, (1 << 30) + 1, 0x6000_0000, i32::MAX - 1, i32::MAX];
        for x in xs {
            for multiplier in multipliers {
                for shift in -31..=30 {
                    let got = Scale { multiplier, shift }.apply(x);
                    assert_eq!(got, reference(x, multiplier, shift), "{x} · {multiplier} · 2^{shift}");
                }
            }
        }
        let mut x = 1u32;
        for _ in 0..if cfg!(miri) { 200 } else { 200_000 } {
            x = x.wrapping_mul(0x9e37_79b1).wrapping_add(0x7f4a_7c15) ^ (x >> 13);
            let value = (x as i32) >> (x % 24);
            let multiplier = (1 << 30) | (x.rotate_left(11) & 0x3fff_ffff) as i32;
            let shift = (x.rotate_left(5) % 24) as i32 - 20;
            let got = Scale { multiplier, shift }.apply(value);
            assert_eq!(got, reference(value, multiplier, shift), "{value} · {multiplier} · 2^{shift}");
        }
    }

    #[test]
    fn halves_make_the_whole_product() {
        let ends = [0, 1, 2, 0x7fff, 0x8000, 0xffff, 0x1_0000, 0x3fff_ffff, 0x4000_0000, i32::MAX];
        for b in ends {
            for a in ends.into_iter().flat_map(|a| [a, -a, !a, a ^ 0x5555]) {
                assert_eq!(high_mul_halves(a, b), high_mul(a, b), "{a} · {b}");
            }
        }
        let mut x = 1u32;
        for _ in 0..if cfg!(miri) { 500 } else { 1_000_000 } {
            x = x.wrapping_mul(0x9e37_79b1).wrapping_add(0x7f4a_7c15) ^ (x >> 13);
            let (a, b) = (x.rotate_left(7) as i32 >> (x % 20), (x.wrapping_mul(0x85eb_ca6b) >> 1) as i32);
            assert_eq!(high_mul_halves(a, b), high_mul(a, b), "{a} · {b}");
        }
    }
}
