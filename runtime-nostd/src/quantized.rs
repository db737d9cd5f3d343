//! Conversion between real and stored values at the edges of a model.

use crate::arch::opaque;

/// The stored integers of quantised tensors: `i8`, `u8` and `i16`.
pub trait Quantized: Copy {
    /// From a value already rounded, saturating.
    fn from_rounded(value: i32) -> Self;
    /// As a wider integer.
    fn widen(self) -> i32;
}

macro_rules! quantized {
    ($($t:ty),*) => { $(
        impl Quantized for $t {
            #[inline]
            fn from_rounded(value: i32) -> Self {
                value.clamp(<$t>::MIN as i32, <$t>::MAX as i32) as $t
            }

            #[inline]
            fn widen(self) -> i32 {
                self as i32
            }
        }
    )* };
}
quantized!(i8, u8, i16);

/// The stored value nearest to `real`: `real / scale` rounded half away from zero, plus `zero_point`, saturated.
///
/// As TFLite's QUANTIZE does; NaN gives the zero point.
#[inline]
pub fn quantize<T: Quantized>(real: f32, scale: f32, zero_point: i32) -> T {
    // `as` saturates, and takes NaN to 0.
    let rounded = libm::roundf(real / scale) as i32;
    T::from_rounded(rounded.saturating_add(zero_point))
}

/// The real value of `stored`: `scale · (stored − zero_point)`.
#[inline]
pub fn dequantize<T: Quantized>(stored: T, scale: f32, zero_point: i32) -> f32 {
    opaque(scale) * stored.widen().wrapping_sub(zero_point) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_half_away_from_zero_and_saturates() {
        assert_eq!(quantize::<i8>(0.25, 0.5, 0), 1);
        assert_eq!(quantize::<i8>(-0.25, 0.5, 0), -1);
        assert_eq!(quantize::<i8>(1e9, 0.5, 3), 127);
        assert_eq!(quantize::<u8>(-1.0, 0.5, 1), 0);
        assert_eq!(quantize::<i8>(f32::NAN, 0.5, -7), -7);
        assert_eq!(dequantize(-3i8, 0.5, 1), -2.0);
    }
}
