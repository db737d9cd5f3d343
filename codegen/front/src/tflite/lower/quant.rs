//! Fixed-point factors and activation ranges, computed as TFLite's `Prepare` functions do.

use super::cx::{describe, OpCx, SAME_SCALE};
use super::{Lowered, Refusal};
use kiln_ir::{Clamp, DType, Multiplier, Real, Type};

/// TFLite's `QuantizeMultiplier`: the mantissa rounded half away from zero to 31 bits. Factors below 2⁻³² become 0.
pub(super) fn multiplier(real: f64) -> Lowered<Multiplier> {
    Multiplier::of(real).ok_or_else(|| {
        let what =
            format!("the ratio of its scales is {real:e}, beyond what fixed-point arithmetic can express");
        Refusal::unsupported(what, "check the quantisation parameters of the model")
    })
}

/// A fused activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Activation {
    None,
    Relu,
    ReluN1To1,
    Relu6,
    Relu0To1,
}

impl Activation {
    /// From the schema's `ActivationFunctionType`.
    pub(super) fn fused(code: i8) -> Lowered<Self> {
        let name = match code {
            0 => return Ok(Activation::None),
            1 => return Ok(Activation::Relu),
            2 => return Ok(Activation::ReluN1To1),
            3 => return Ok(Activation::Relu6),
            4 => "TANH",
            5 => "SIGN_BIT",
            _ => return Err(malformed!("fused activation {code} does not exist")),
        };
        let help = "make the activation a separate operator";
        Err(Refusal::unsupported(format!("a fused {name} activation cannot be compiled"), help))
    }

    /// Its range as real numbers.
    fn bounds(self) -> (Option<f32>, Option<f32>) {
        match self {
            Activation::None => (None, None),
            Activation::Relu => (Some(0.0), None),
            Activation::ReluN1To1 => (Some(-1.0), Some(1.0)),
            Activation::Relu6 => (Some(0.0), Some(6.0)),
            Activation::Relu0To1 => (Some(0.0), Some(1.0)),
        }
    }

    /// The clamp that an operator applies to its result of type `ty`, fused: TFLite's `CalculateActivationRange(Quantized)`. Where an activation has no bound, it is
    /// the largest number of the type: infinite sums become that.
    pub(super) fn clamp(self, ty: &Type) -> Clamp {
        self.within(ty, (f32::MIN, f32::MAX))
    }

    /// The clamp of an activation that is an operator of its own, or of an operator without one.
    pub(super) fn alone(self, ty: &Type) -> Clamp {
        self.within(ty, (f32::NEG_INFINITY, f32::INFINITY))
    }

    fn within(self, ty: &Type, (least, most): (f32, f32)) -> Clamp {
        let (lo, hi) = self.bounds();
        if ty.dtype == DType::F32 {
            return Clamp::Float { lo: Real(lo.unwrap_or(least)), hi: Real(hi.unwrap_or(most)) };
        }
        let (min, max) = ty.dtype.whole_range().int_bounds();
        let scale = ty.scale().unwrap_or(1.0);
        // f32 to i32 saturates where TFLite refuses the model; the clamp to the element's range is the same.
        let stored = |x: f32| ty.zero_point().saturating_add((x / scale).round() as i32).clamp(min, max);
        Clamp::Int { lo: lo.map_or(min, stored), hi: hi.map_or(max, stored) }
    }
}

impl OpCx<'_, '_, '_> {
    /// Scale of an operand over scale of the result, as a factor: QUANTIZE, RELU, MEAN.
    pub(super) fn ratio(&self, operand: &Type, result: &Type) -> Lowered<Multiplier> {
        let (x, y) = (self.scale(operand, "operand")?, self.scale(result, "result")?);
        multiplier(f64::from(x) / f64::from(y))
    }

    /// Refuses a result whose type differs from the operand's where the operator only moves or compares stored values.
    pub(super) fn same_quant(&self, operand: &Type, result: &Type) -> Lowered {
        self.quant_within(SAME_SCALE, operand, result)
    }

    /// As [`same_quant`](Self::same_quant), for scales that differ by so much at most.
    pub(super) fn quant_within(&self, tolerance: f32, operand: &Type, result: &Type) -> Lowered {
        if operand.dtype != result.dtype {
            let (x, y) = (describe(operand), describe(result));
            return Err(malformed!("operand {x} and result {y} have different types"));
        }
        if operand.quant == result.quant || operand.quant.is_none() || result.quant.is_none() {
            return Ok(());
        }
        let (x, y) = (self.scale(operand, "operand")?, self.scale(result, "result")?);
        if (x - y).abs() <= tolerance && operand.zero_point() == result.zero_point() {
            return Ok(());
        }
        let what = format!(
            "operand (scale {x}, zero point {}) and result (scale {y}, zero point {}) have different quantisation",
            operand.zero_point(),
            result.zero_point()
        );
        Err(Refusal::unsupported(what, "insert a QUANTIZE operator, or convert the model again"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multipliers_are_those_of_quantize_multiplier() {
        let m = |x| multiplier(x).unwrap();
        assert_eq!(m(1.0), Multiplier { value: 1 << 30, shift: 1 });
        assert_eq!(m(0.5), Multiplier { value: 1 << 30, shift: 0 });
        assert_eq!(m(0.75), Multiplier { value: 3 << 29, shift: 0 });
        assert_eq!(m(0.0), Multiplier { value: 0, shift: 0 });
        // The mantissa rounds up to 1: halved, and the shift is one more.
        assert_eq!(m(1.0 - 2f64.powi(-40)), Multiplier { value: 1 << 30, shift: 1 });
        assert_eq!(m(2f64.powi(-32)), Multiplier { value: 1 << 30, shift: -31 });
        assert_eq!(m(2f64.powi(-33)), Multiplier { value: 0, shift: 0 });
        assert_eq!(m(f64::from_bits(1)), Multiplier { value: 0, shift: 0 });
        assert_eq!(m(-0.75), Multiplier { value: -(3 << 29), shift: 0 });
        assert!(multiplier(2f64.powi(31)).is_err() && multiplier(f64::NAN).is_err());
    }

    #[test]
    fn activation_ranges() {
        let ty = Type::quantized(DType::I8, &[1], 0.1, -20);
        assert_eq!(Activation::None.clamp(&ty), Clamp::I8);
        assert_eq!(Activation::Relu.clamp(&ty), Clamp::Int { lo: -20, hi: 127 });
        assert_eq!(Activation::Relu6.clamp(&ty), Clamp::Int { lo: -20, hi: 40 });
        assert_eq!(Activation::ReluN1To1.clamp(&ty), Clamp::Int { lo: -30, hi: -10 });
        let coarse = Type::quantized(DType::I8, &[1], 1e-30, 5);
        assert_eq!(Activation::Relu6.clamp(&coarse), Clamp::Int { lo: 5, hi: 127 });
        assert!(Activation::fused(4).is_err() && Activation::fused(9).is_err());
        let float = Type::plain(DType::F32, &[1]);
        assert_eq!(Activation::Relu.clamp(&float), Clamp::Float { lo: Real(0.0), hi: Real(f32::MAX) });
        assert_eq!(Activation::None.alone(&float), Clamp::NO_FLOAT);
    }
}
