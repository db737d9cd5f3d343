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
}
