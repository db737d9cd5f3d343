//! Scores as models store them, and thresholds in the same units.

use crate::arch::opaque;
use crate::TensorInfo;

/// A value as the tensors of a model store it: `i8`, `u8`, `i16`, or `f32` where the tensor is not quantised.
pub trait Score: Copy + PartialOrd + sealed::Sealed {
    /// What sums of scores, and averages with bits behind the point, are kept in: `i32`, or `f32` for `f32`.
    type Wide: Copy + PartialOrd + Default + core::fmt::Debug;

    /// A score of zero.
    const ZERO: Self;

    /// Without loss.
    fn widen(self) -> Self::Wide;

    /// The real value: `scale · (stored − zero_point)`; of an `f32`, itself.
    fn real(self, scale: f32, zero_point: i32) -> f32;
}

pub(super) mod sealed {
    use super::Cutoff;

    /// The arithmetic behind [`super::Score`].
    pub trait Sealed: Sized {
        /// The sum of some scores, of at most 2¹⁵ that are integers.
        fn sum(scores: impl Iterator<Item = Self>) -> <Self as super::Score>::Wide
        where
            Self: super::Score;

        /// A sum as a number.
        fn number(sum: <Self as super::Score>::Wide) -> f32
        where
            Self: super::Score;

        /// Whether a sum reaches a threshold.
        fn reaches(sum: <Self as super::Score>::Wide, cutoff: &Cutoff) -> bool
        where
            Self: super::Score;

        /// A smoothed value that begins with this one.
        fn begin(self) -> <Self as super::Score>::Wide
        where
            Self: super::Score;

        /// The smoothed value moved towards this one: `before + weight · (self − before)`, the weight as a number and in 1/2¹⁶.
        fn blend(
            self,
            before: <Self as super::Score>::Wide,
            weight: f32,
            fixed: u32,
        ) -> <Self as super::Score>::Wide
        where
            Self: super::Score;

        /// A smoothed value in the units of scores.
        fn blended(value: <Self as super::Score>::Wide) -> f32
        where
            Self: super::Score;
    }
}

/// Bits behind the point of smoothed integers: the difference of two of 16 bits still fits.
const FRACTION: u32 = 14;

macro_rules! integers {
    ($($t:ty),*) => { $(
        impl Score for $t {
            type Wide = i32;

            const ZERO: Self = 0;

            #[inline]
            fn widen(self) -> i32 {
                i32::from(self)
            }

            #[inline]
            fn real(self, scale: f32, zero_point: i32) -> f32 {
                crate::dequantize(self, scale, zero_point)
            }
        }

        impl sealed::Sealed for $t {
            #[inline]
            fn sum(scores: impl Iterator<Item = Self>) -> i32 {
                scores.fold(0i32, |sum, score| sum.wrapping_add(i32::from(score)))
            }

            #[inline]
            fn number(sum: i32) -> f32 {
                sum as f32
            }

            #[inline]
            fn reaches(sum: i32, cutoff: &Cutoff) -> bool {
                sum >= cutoff.stored
            }

            #[inline]
            fn begin(self) -> i32 {
                i32::from(self) << FRACTION
            }

            #[inline]
            fn blend(self, before: i32, _: f32, fixed: u32) -> i32 {
                let step = i64::from(self.begin().wrapping_sub(before)) * i64::from(fixed);
                before.wrapping_add(((step + (1 << 15)) >> 16) as i32)
            }

            #[inline]
            fn blended(value: i32) -> f32 {
                value as f32 / opaque((1 << FRACTION) as f32)
            }
        }
    )* };
}
integers!(i8, u8, i16);

impl Score for f32 {
    type Wide = f32;

    const ZERO: Self = 0.0;

    #[inline]
    fn widen(self) -> f32 {
        self
    }

    #[inline]
    fn real(self, _: f32, _: i32) -> f32 {
        self
    }
}

impl sealed::Sealed for f32 {
    #[inline]
    fn sum(scores: impl Iterator<Item = Self>) -> f32 {
        scores.sum()
    }

    #[inline]
    fn number(sum: f32) -> f32 {
        sum
    }

    #[inline]
    fn reaches(sum: f32, cutoff: &Cutoff) -> bool {
        sum >= cutoff.real
    }

    #[inline]
    fn begin(self) -> f32 {
        self
    }

    #[inline]
    fn blend(self, before: f32, weight: f32, _: u32) -> f32 {
        before + weight * (self - before)
    }

    #[inline]
    fn blended(value: f32) -> f32 {
        value
    }
}

/// A threshold for the sum of some scores.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Cutoff {
    /// The least sum of stored values that reaches it.
    pub(super) stored: i32,
    /// The real sum.
    pub(super) real: f32,
}

impl Cutoff {
    /// For the sum of `count` scores of that tensor, whose average is to be `threshold` at least.
    pub(super) const fn new(info: &TensorInfo, threshold: f32, count: usize) -> Cutoff {
        // Products of the 24 bits of an `f32` with integers of less than 29 bits are exact in 53.
        let scale = info.scale as f64;
        let wanted = threshold as f64 * count as f64;
        let steps = wanted / scale;
        let real = wanted as f32;
        if !(steps > -1e9 && steps < 1e9) {
            // Also where it is no number: nothing reaches it.
            return Cutoff { stored: if steps < 0.0 { i32::MIN } else { i32::MAX }, real };
        }
        // Rounded towards zero, the quotient is off by less than two.
        let mut least = steps as i64 - 2;
        while scale * (least as f64) < wanted {
            least += 1;
        }
        let stored = least + info.zero_point as i64 * count as i64;
        let stored = if stored > i32::MAX as i64 {
            i32::MAX
        } else if stored < i32::MIN as i64 {
            i32::MIN
        } else {
            stored as i32
        };
        Cutoff { stored, real }
    }
}

impl TensorInfo {
    /// The real value of one of its elements.
    ///
    /// ```
    /// # use kiln::{DType, TensorInfo};
    /// # const OUTPUT: TensorInfo = TensorInfo { name: "scores", dtype: DType::I8, shape: &[1, 2], scale: 1.0 / 256.0, zero_point: -128 };
    /// assert_eq!([-128i8, 0].map(|score| OUTPUT.real(score)), [0.0, 0.5]);
    /// ```
    #[inline]
    pub fn real<T: Score>(&self, stored: T) -> f32 {
        stored.real(self.scale, self.zero_point)
    }

    /// The least stored value whose real value is `real` or more, in exact arithmetic: `i32::from(score) >= info.at_least(0.9)` compares
    /// without floating point. For quantised tensors.
    ///
    /// It may lie beyond the element type, if no element is so large, and is `i32::MAX` if `real` is no number.
    ///
    /// ```
    /// # use kiln::{DType, TensorInfo};
    /// # const OUTPUT: TensorInfo = TensorInfo { name: "scores", dtype: DType::I8, shape: &[1, 2], scale: 1.0 / 256.0, zero_point: -128 };
    /// const HALF: i32 = OUTPUT.at_least(0.5);
    /// const CERTAIN: i32 = OUTPUT.at_least(1.0);
    /// assert_eq!((HALF, CERTAIN), (0, 128)); // no i8 is 1.0: the largest, 127, is 0.996
    /// ```
    pub const fn at_least(&self, real: f32) -> i32 {
        Cutoff::new(self, real, 1).stored
    }
}
