//! The end of sums in plain Rust, as the vectors of four sums compute it.
// The assembly has its own.
#![allow(dead_code)]

use crate::arch::dsp::affine::affine;
use crate::fixed::high_mul;

/// How the sums of a layer become results.
#[derive(Clone, Copy)]
pub(crate) enum End {
    /// By one multiplication and this shift.
    Affine(u32),
    /// As the reference does, with all results of their type, or clamped. Shifts go to the right, or none of them does.
    Exact { clamped: bool, left: bool },
}

impl End {
    /// Of const arguments.
    pub(crate) const fn of(shift: u32, exact: bool, clamped: bool) -> Self {
        if exact {
            End::Exact { clamped, left: false }
        } else {
            End::Affine(shift)
        }
    }

    /// Words for each filter: the first value of its sum, multiplier, constant; for the reference the shift to the left, negative where it goes to the right; the smallest and the largest result.
    pub(crate) const fn words(self) -> usize {
        match self {
            End::Affine(_) => 3,
            End::Exact { clamped: false, .. } => 4,
            End::Exact { clamped: true, .. } => 6,
        }
    }

    /// The result of a sum, with the words of its filter.
    ///
    /// The reference rounds twice. First to `x`, half up. Then half away from zero: the shift that follows rounds half up, and what is negative is less by one before.
    /// Where it shifts to the left, it does so first, and rounds once.
    #[inline(always)]
    pub(crate) fn result<T: Stored>(self, sum: i32, word: impl Fn(usize) -> i32) -> T {
        let sum = sum.wrapping_add(word(0));
        match self {
            End::Affine(shift) => T::saturated(affine(sum, [word(1), word(2)], shift).into()),
            End::Exact { clamped, left } => {
                let x = if left {
                    high_mul(sum << word(3).clamp(0, 31), word(1)).wrapping_add(word(2))
                } else {
                    let x = high_mul(sum, word(1));
                    x.wrapping_add(x >> 31).wrapping_add(word(2)) >> word(3).wrapping_neg().clamp(0, 31)
                };
                T::saturated(if clamped { x.max(word(4)).min(word(5)) } else { x })
            }
        }
    }
}

/// An element of a result.
pub(crate) trait Stored: Copy + Default {
    /// The nearest element to a number.
    fn saturated(x: i32) -> Self;
}

impl Stored for i8 {
    fn saturated(x: i32) -> Self {
        x.clamp(i8::MIN.into(), i8::MAX.into()) as i8
    }
}

/// Only in the reference's form.
impl Stored for i16 {
    fn saturated(x: i32) -> Self {
        x.clamp(i16::MIN.into(), i16::MAX.into()) as i16
    }
}
