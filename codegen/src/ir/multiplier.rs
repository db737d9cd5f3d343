//! Fixed-point factors.

use super::Multiplier;

impl Multiplier {
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
}

/// `(f, e)` with `x = f · 2^e` and 0.5 ≤ |f| < 1, for finite `x` ≠ 0.
fn frexp(x: f64) -> (f64, i32) {
    let exponent = |x: f64| ((x.to_bits() >> 52) & 0x7ff) as i32;
    // Subnormals are brought into the normal range first.
    let (x, bias) = if exponent(x) == 0 { (x * 2f64.powi(64), 1022 + 64) } else { (x, 1022) };
    let fraction = f64::from_bits((x.to_bits() & !(0x7ff << 52)) | (1022 << 52));
    (fraction, exponent(x) - bias)
}
