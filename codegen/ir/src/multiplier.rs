//! Fixed-point factors.

use super::{Multiplier, SoftmaxScale};

impl Multiplier {
    /// One.
    pub const ONE: Multiplier = Multiplier { value: 1 << 30, shift: 1 };

    /// TFLite's `QuantizeMultiplier`: the mantissa rounded half away from zero to 31 bits. Factors below 2⁻³² become 0; `None` for those beyond 2³⁰ and for what is no
    /// number.
    pub fn of(real: f64) -> Option<Multiplier> {
        if real == 0.0 {
            return Some(Multiplier { value: 0, shift: 0 });
        }
        if !real.is_finite() {
            return None;
        }
        let (fraction, mut shift) = frexp(real);
        // 2³¹ times a fraction is exact in f64; `round` is half away from zero.
        let mut value = (fraction * 2_147_483_648.0).round() as i64;
        if value == 1 << 31 {
            value /= 2;
            shift += 1;
        }
        if shift < -31 {
            return Some(Multiplier { value: 0, shift: 0 });
        }
        let value = i32::try_from(value).ok()?;
        (shift <= 30).then_some(Multiplier { value, shift })
    }

    /// The real factor.
    pub fn factor(self) -> f64 {
        f64::from(self.value) * f64::from(self.shift - 31).exp2()
    }
}

/// Integer bits of a softmax's scaled differences (Q5.26).
const INTEGER_BITS: u32 = 5;

impl SoftmaxScale {
    /// Of an operand of 8 bits, whose factors are β and the scale: TFLite's `PreprocessSoftmaxScaling` and `CalculateInputRadius`. `None` where their product is too small for Q5.26.
    pub fn of_8_bits(by: [f64; 2]) -> Option<SoftmaxScale> {
        let unit = f64::from(1u32 << (31 - INTEGER_BITS));
        let real = (by[0] * by[1] * unit).min(f64::from(i32::MAX));
        if real <= 1.0 {
            return None;
        }
        // Beyond 2³⁰, no difference but 0 counts, and the factor does not matter; it is kept in a multiplier's range.
        let multiplier = Multiplier::of(real.min(f64::from(1u32 << 30) - 1.0))?;
        let capped = real >= f64::from(1u32 << 30);
        // 31 · 2²⁶ / 2^shift, rounded down; the shift is not negative because the factor is above 1.
        let radius = (i64::from((1 << INTEGER_BITS) - 1) << (31 - INTEGER_BITS)) >> multiplier.shift;
        Some(SoftmaxScale::FixedPoint { multiplier, diff_min: if capped { 0 } else { -(radius as i32) } })
    }

    /// Of an operand of 16 bits: steps of the table of exponentials, which has 65535 of them from −10 to 0. `None` where they are beyond fixed point.
    pub fn of_16_bits(by: [f64; 2]) -> Option<SoftmaxScale> {
        let multiplier = Multiplier::of(by[0] * by[1] / (10.0 / 65535.0))?;
        Some(SoftmaxScale::FixedPoint { multiplier, diff_min: 0 })
    }
}

/// `(f, e)` with `x = f · 2^e` and 0.5 ≤ |f| < 1, for finite `x` ≠ 0.
fn frexp(x: f64) -> (f64, i32) {
    let exponent = |x: f64| ((x.to_bits() >> 52) & 0x7ff) as i32;
    // Subnormals are brought into the normal range first.
    let (x, bias) = if exponent(x) == 0 { (x * 2f64.powi(64), 1022 + 64) } else { (x, 1022) };
    let fraction = f64::from_bits((x.to_bits() & !(0x7ff << 52)) | (1022 << 52));
    (fraction, exponent(x) - bias)
}
