//! Between real and stored values: real = scale · (stored − zero point).

use super::math;
use super::unary::map;
use crate::arch::opaque;
use crate::params::Rescale;
use core::cell::Cell;

/// TFLite's `QUANTIZE`: `x / scale`, rounded half away from zero, plus the zero point, saturating. NaN gives the zero point.
#[inline(never)]
pub fn quantize_f32_i8(scale: f32, zero_point: i32, x: &[Cell<f32>], y: &[Cell<i8>]) {
    map(x, y, |x| stored_i8(x, scale, zero_point));
}

/// As [`quantize_f32_i8`].
#[inline(never)]
pub fn quantize_f32_u8(scale: f32, zero_point: i32, x: &[Cell<f32>], y: &[Cell<u8>]) {
    map(x, y, |x| stored(x, scale, zero_point).clamp(0, 255) as u8);
}

#[inline(always)]
pub(crate) fn stored_i8(x: f32, scale: f32, zero_point: i32) -> i8 {
    stored(x, scale, zero_point).clamp(-128, 127) as i8
}

#[inline(always)]
pub(super) fn stored(x: f32, scale: f32, zero_point: i32) -> i32 {
    (math::round(x / scale) as i32).saturating_add(zero_point)
}

/// ONNX's `QuantizeLinear`: `x / scale`, rounded half to even, plus the zero point, saturating. NaN gives the zero point.
#[inline(never)]
pub fn quantize_f32_i8_even(scale: f32, zero_point: i32, x: &[Cell<f32>], y: &[Cell<i8>]) {
    map(x, y, |x| math::round_even(x / scale).wrapping_add(zero_point).clamp(-128, 127) as i8);
}

/// As [`quantize_f32_i8_even`].
#[inline(never)]
pub fn quantize_f32_i16_even(scale: f32, zero_point: i32, x: &[Cell<f32>], y: &[Cell<i16>]) {
    map(x, y, |x| math::round_even(x / scale).wrapping_add(zero_point).clamp(-32768, 32767) as i16);
}

/// PyTorch's `quantize_per_tensor`: `x · inverse`, rounded half to even, plus the zero point, saturating. NaN gives the zero point.
#[inline(never)]
pub fn quantize_f32_i8_even_inverse(inverse: f32, zero_point: i32, x: &[Cell<f32>], y: &[Cell<i8>]) {
    map(x, y, |x| math::round_even(x * inverse).wrapping_add(zero_point).clamp(-128, 127) as i8);
}

/// As [`quantize_f32_i8_even_inverse`].
#[inline(never)]
pub fn quantize_f32_i16_even_inverse(inverse: f32, zero_point: i32, x: &[Cell<f32>], y: &[Cell<i16>]) {
    map(x, y, |x| math::round_even(x * inverse).wrapping_add(zero_point).clamp(-32768, 32767) as i16);
}

/// As [`quantize_f32_i8_even`], with `plus` added before the rounding, and `minus` subtracted behind it: what ONNX Runtime's poolings do.
#[inline(never)]
pub fn quantize_f32_i8_even_sum(scale: f32, plus: f32, minus: i32, x: &[Cell<f32>], y: &[Cell<i8>]) {
    map(x, y, |x| math::round_even(x / scale + plus).wrapping_sub(minus).clamp(-128, 127) as i8);
}

/// TFLite's `DEQUANTIZE`: `scale · (x − zero_point)`.
#[inline(never)]
pub fn dequantize_i8_f32(scale: f32, zero_point: i32, x: &[Cell<i8>], y: &[Cell<f32>]) {
    let scale = opaque(scale);
    map(x, y, |x| scale * i32::from(x).wrapping_sub(zero_point) as f32);
}

/// As [`dequantize_i8_f32`].
#[inline(never)]
pub fn dequantize_u8_f32(scale: f32, zero_point: i32, x: &[Cell<u8>], y: &[Cell<f32>]) {
    let scale = opaque(scale);
    map(x, y, |x| scale * i32::from(x).wrapping_sub(zero_point) as f32);
}

macro_rules! requantize {
    ($($(#[$doc:meta])* $vis:vis fn $name:ident: $from:ty => $to:ty;)+) => {$(
        $(#[$doc])*
        #[inline(never)]
        $vis fn $name(x_zero: i32, by: &Rescale, x: &[Cell<$from>], y: &[Cell<$to>]) {
            map(x, y, |x| by.apply(i32::from(x).wrapping_sub(x_zero)) as $to);
        }
    )+};
}

requantize! {
    /// TFLite's `QUANTIZE` of integers: `x − x_zero`, rescaled.
    pub fn requantize_i16_i8: i16 => i8;
    /// As [`requantize_i16_i8`].
    pub fn requantize_i16: i16 => i16;
    /// As [`requantize_i16_i8`].
    pub fn requantize_i16_i32: i16 => i32;
    /// As [`requantize_i16_i8`].
    pub fn requantize_i8_i16: i8 => i16;
    /// As [`requantize_i16_i8`].
    pub fn requantize_i8_i32: i8 => i32;
    /// As [`requantize_i16_i8`].
    pub fn requantize_i32_i8: i32 => i8;
    /// As [`requantize_i16_i8`].
    pub fn requantize_i32_i16: i32 => i16;
}
