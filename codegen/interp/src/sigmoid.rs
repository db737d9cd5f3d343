//! Sigmoid and hyperbolic tangent of 16 bits, as TFLite interpolates them in one table.

use super::tensor::{ints, pack_i32};
use super::{Computed, InterpError, Tensor};
use kiln_ir::Type;

/// Entries of TFLite's table that are one above the nearest number, which halves the largest error of interpolation.
const RAISED: &[usize] = &[
    4, 8, 12, 14, 15, 16, 17, 19, 20, 21, 22, 25, 27, 28, 29, 30, 31, 33, 34, 35, 37, 39, 40, 41, 43, 44, 45,
    46, 49, 50, 54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255,
];

/// TFLite's `sigmoid_table_uint16`: σ(i / 24) in Q0.16.
fn table(i: usize) -> u32 {
    let sigmoid = 1.0 / (1.0 + (-(i as f64) / 24.0).exp());
    (sigmoid * 65536.0).round() as u32 + u32::from(RAISED.contains(&i))
}

/// σ(i / (24 · 2^bits)) in Q0.(16 + bits), between the entries of the table; 1 less its last bit from 255/24 on.
fn interpolated(x: u32, bits: u32) -> u32 {
    let i = (x >> bits) as usize;
    match i {
        255.. => ((1 << 16) - 1) << bits,
        _ => (table(i) << bits) + (x & ((1 << bits) - 1)) * (table(i + 1) - table(i)),
    }
}

/// σ of a number in Q3.12, in Q0.15.
pub(super) fn sigmoid(x: i32) -> i32 {
    sigmoid_of_steps(3 * x)
}

/// σ of a number in steps of 1 / (24 · 2⁹), which is 1 / (3 · 2¹²), in Q0.15 (TFLite's `integer_ops/logistic.h`).
fn sigmoid_of_steps(x: i32) -> i32 {
    let magnitude = x.unsigned_abs();
    // Saturated to one bit less than the table has.
    let value = if magnitude >> 9 >= 255 { 0x7fff << 10 } else { interpolated(magnitude, 9) as i32 };
    let half = 1 << 9;
    (if x >= 0 { value + half } else { (1 << 25) - value + half - 1 }) >> 10
}

/// tanh of a number with 12 − `shift` fraction bits, in Q0.15.
pub(super) fn tanh(x: i32, shift: i64) -> i32 {
    tanh_of_steps(match shift {
        0.. => (3 * x) << shift,
        _ => (3 * x + (1 << (-shift - 1))) >> -shift,
    })
}

/// tanh of a number in steps of 1 / (3 · 2¹²), in Q0.15 (TFLite's `integer_ops/tanh.h`): 2 · σ(2x) − 1.
fn tanh_of_steps(x: i32) -> i32 {
    let value = interpolated(x.unsigned_abs(), 8) as i32 - (1 << 23);
    let half = 1 << 7;
    (if x >= 0 { value + half } else { half - 1 - value }) >> 8
}

/// How stored values become steps: times the factor, and shifted right, rounded half up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Factor.
    pub multiplier: i32,
    /// Bits.
    pub right: u32,
}

impl Steps {
    /// For stored values of 16 bits of that scale. Powers of two around 2⁻¹² need no rounding: up to `2^most` times that.
    pub fn of(scale: f32, most: i32) -> Steps {
        let exponent = scale.ln() * (1.0 / 2f32.ln());
        let shift = 12 + exponent.round() as i32;
        if (exponent - exponent.round()).abs() < 1e-3 && (0..=most).contains(&shift) {
            return Steps { multiplier: 3 << shift, right: 0 };
        }
        let (mut factor, mut right) = (f64::from(scale) * 4096.0 * 3.0, 0);
        while factor <= 32767.0 / 2.0 && right <= 30 {
            factor *= 2.0;
            right += 1;
        }
        Steps { multiplier: factor as i32, right }
    }

    /// For `tanh` or `logistic` of a 16-bit operand.
    pub fn of_operand(operand: &Type, tanh: bool) -> Result<Steps, InterpError> {
        let scale = operand.scale().ok_or_else(|| InterpError::new("an integer activation wants a scale"))?;
        Ok(Steps::of(scale, i32::from(tanh)))
    }

    fn apply(self, x: i32) -> i32 {
        let half = if self.right > 0 { 1 << (self.right - 1) } else { 0 };
        ((i64::from(x) * i64::from(self.multiplier) + half) >> self.right) as i32
    }
}

/// `logistic` or `tanh` of 16 bits: see the op table.
pub(super) fn of_tensor(tanh: bool, (ty, data): Tensor<'_>, result: &Type) -> Computed {
    let steps = Steps::of_operand(ty, tanh)?;
    let function = if tanh { tanh_of_steps } else { sigmoid_of_steps };
    Ok(pack_i32(result.dtype, ints(ty, data).into_iter().map(|x| function(steps.apply(x)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_close_to_the_real_ones() {
        for x in (-32768..=32767).step_by(13) {
            let real = f64::from(x) / 4096.0;
            let (sigmoid, tanh) = (f64::from(sigmoid(x)) / 32768.0, f64::from(tanh(x, 0)) / 32768.0);
            assert!((sigmoid - 1.0 / (1.0 + (-real).exp())).abs() < 1e-4, "σ({real}) = {sigmoid}");
            assert!((tanh - real.tanh()).abs() < 1e-4, "tanh({real}) = {tanh}");
        }
        // Other numbers of fraction bits.
        for x in (-32768..=32767).step_by(97) {
            for shift in [-2, -1, 1, 3] {
                let real = f64::from(x) / 2f64.powi(12 - shift as i32);
                let tanh = f64::from(tanh(x, shift)) / 32768.0;
                assert!((tanh - real.tanh()).abs() < 1e-4, "tanh({real}) = {tanh}");
            }
        }
    }
}
