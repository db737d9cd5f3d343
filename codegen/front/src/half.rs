//! Floats of half precision.

/// The same number in single precision; infinities and NaNs stay what they are.
pub(crate) fn widen(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let magnitude = u32::from(half & 0x7fff);
    let bits = match magnitude >> 10 {
        // Subnormal: a multiple of 2⁻²⁴.
        0 => (magnitude as f32 * 2f32.powi(-24)).to_bits(),
        31 => 0x7f80_0000 | magnitude << 13,
        _ => (magnitude << 13) + ((127 - 15) << 23),
    };
    f32::from_bits(sign | bits)
}

/// The bits of the nearest number, of two such the even one, with so many bits of exponent and mantissa (at most 52): 5 and 10 in half precision.
pub(crate) fn narrow(value: f64, exponent_bits: u32, mantissa_bits: u32) -> u64 {
    let bits = value.to_bits();
    let sign = (bits >> 63) << (exponent_bits + mantissa_bits);
    let infinity = ((1u64 << exponent_bits) - 1) << mantissa_bits;
    if value.is_nan() {
        return sign | infinity | 1 << (mantissa_bits - 1);
    }
    let bias = (1i64 << (exponent_bits - 1)) - 1;
    let exponent = (bits >> 52 & 0x7ff) as i64 - 1023 + bias;
    if exponent >= (1 << exponent_bits) - 1 {
        return sign | infinity;
    }
    let significand = (bits & ((1 << 52) - 1)) | 1 << 52;
    // Subnormal numbers have fewer digits.
    let shift = i64::from(52 - mantissa_bits) + (1 - exponent).max(0);
    if shift > 54 {
        return sign;
    }
    let (kept, rest, half) = (significand >> shift, significand & ((1 << shift) - 1), (1u64 << shift) >> 1);
    let up = rest > half || (rest == half && rest != 0 && kept & 1 == 1);
    let above = match exponent {
        1.. => ((exponent - 1) as u64) << mantissa_bits,
        _ => 0,
    };
    // A carry goes into the exponent, and from the greatest number to infinity.
    sign | (above + kept + u64::from(up))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_widened_exactly() {
        let known = [
            (0x0000, 0.0),
            (0x0001, 5.960_464_5e-8),
            (0x03ff, 6.097_555e-5),
            (0x0400, 6.103_515_6e-5),
            (0x3555, 0.333_251_95),
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x7c00, f32::INFINITY),
            (0xfc00, f32::NEG_INFINITY),
        ];
        for (half, single) in known {
            assert_eq!(widen(half), single, "{half:#x}");
        }
        assert!(widen(0x8000).is_sign_negative() && widen(0x7e01).is_nan());
    }

    #[test]
    fn narrowing_is_the_inverse_and_rounds_to_even() {
        for half in 0..=u16::MAX {
            let single = widen(half);
            let narrowed = narrow(f64::from(single), 5, 10);
            assert!(single.is_nan() || narrowed == u64::from(half), "{half:#x}");
        }
        for (value, bits) in [
            (65519.0, 0x7bff),
            (65520.0, 0x7c00),
            (1e300, 0x7c00),
            (2f64.powi(-25), 0),
            (1.5 * 2f64.powi(-25), 1),
            (1e-300, 0),
            (1.0 + 2f64.powi(-11), 0x3c00),
            (1.0 + 3.0 * 2f64.powi(-11), 0x3c02),
        ] {
            assert_eq!(narrow(value, 5, 10), bits, "{value}");
        }
        assert_eq!(narrow(-3.140_625, 8, 7), 0xc049);
        for value in [1.0, 0.1, 3e38, 1e-40, 1e-46, -5.5e-8] {
            assert_eq!(narrow(value, 8, 23), u64::from((value as f32).to_bits()), "{value}");
        }
    }
}
