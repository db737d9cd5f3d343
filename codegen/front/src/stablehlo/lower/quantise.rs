//! Quantised numbers. Operators compute with the floats that they stand for, as the specification has it; passes make integer layers of that.

use super::super::module::{Element, Quantised};
use super::cx::Cx;
use super::slot::{self, Tensor};
use super::{Lowered, One, Operators, Refusal};
use kiln_ir::{Clamp, DType, Op, Quant, Real, Rounding, Type};

pub(super) const OPERATORS: Operators =
    &[("uniform_dequantize", One(uniform_dequantize)), ("uniform_quantize", One(uniform_quantize))];

/// How stored integers stand for numbers. `own` is the shape that is stored.
pub(super) fn quant(of: &Quantised, dims: &[usize], own: &[usize]) -> Lowered<Quant> {
    let zero =
        |&(_, zero): &(f64, i64)| i32::try_from(zero).map_err(|_| malformed!("its zero point is {zero}"));
    let zero_points = of.scales.iter().map(zero).collect::<Lowered<Vec<i32>>>()?;
    let scales: Vec<Real> = of.scales.iter().map(|&(scale, _)| Real(scale as f32)).collect();
    let is_sound = scales.iter().all(|scale| scale.0 > 0.0 && scale.0.is_finite());
    malformed_if!(!is_sound || scales.is_empty(), "its scales are {:?}", scales.first());
    let range = slot::dtype(&of.storage)?.int_range().unwrap_or((0, 0));
    let fits = zero_points.iter().all(|&zero| (range.0..=range.1).contains(&i64::from(zero)));
    malformed_if!(!fits, "a zero point is outside of {range:?}");
    match of.dimension {
        Some(axis) => {
            let size = dims.get(axis).copied();
            malformed_if!(
                size != Some(scales.len()),
                "{} scales do not fit axis {axis} of {dims:?}",
                scales.len()
            );
            if own.get(axis) != dims.get(axis) {
                let help = "write all elements of the constant";
                return Err(Refusal::unsupported("one number has the scales of several channels", help));
            }
            Ok(Quant { scales, zero_points, axis: Some(axis) })
        }
        None => {
            malformed_if!(scales.len() != 1, "it has {} scales for one", scales.len());
            Ok(Quant { scales, zero_points, axis: None })
        }
    }
}

fn unsupported(of: &Quantised) -> Option<Refusal> {
    let dtype = slot::dtype(&of.storage).ok()?;
    (!matches!(dtype, DType::I8 | DType::U8 | DType::I16 | DType::I32)).then(|| {
        let what = format!("numbers that are quantised as {:?} cannot be compiled", of.storage);
        Refusal::unsupported(what, "quantise to int8 or int16")
    })
}

impl Cx<'_, '_, '_> {
    /// The floats that stored integers stand for.
    pub(super) fn dequantised(&mut self, x: &Tensor, of: &Quantised) -> Lowered<Tensor> {
        if let Some(refusal) = unsupported(of) {
            return Err(refusal);
        }
        let dims = self.dims(x.value);
        let ty = Type::plain(DType::F32, &dims);
        let value = self.means().add_unfolded(Op::Dequantize {}, &[x.value], ty)?;
        Ok(Tensor { value, element: of.expressed.clone(), ..x.clone() })
    }

    /// Floats as stored integers.
    pub(super) fn requantised(&mut self, x: &Tensor, of: &Quantised) -> Lowered<Tensor> {
        if let Some(refusal) = unsupported(of) {
            return Err(refusal);
        }
        let value = match of.dimension {
            Some(axis) => self.spread_along(x, &[axis])?,
            None => x.value,
        };
        let own = self.dims(value);
        let dtype = slot::dtype(&of.storage)?;
        let mut ty = Type::plain(dtype, &own);
        ty.quant = Some(quant(of, &x.dims, &own)?);
        let mut value = self.means().add(Op::Quantize { rounding: Rounding::Even }, &[value], ty.clone())?;
        let (lo, hi) = of.range;
        if lo < hi && dtype.int_range().is_some_and(|whole| lo > whole.0 || hi < whole.1) {
            let narrow = |bound: i64| bound.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
            let clamp = Clamp::Int { lo: narrow(lo), hi: narrow(hi) };
            value = self.means().add(Op::Clip { clamp }, &[value], ty)?;
        }
        let element = Element::Quantised(Box::new(of.clone()));
        Ok(Tensor { value, element, ..x.clone() })
    }
}

fn uniform_dequantize(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let x = cx.tensor(0)?;
    match x.element.clone() {
        Element::Quantised(of) => cx.dequantised(&x, &of),
        _ => Err(malformed!("its operand is not quantised")),
    }
}

fn uniform_quantize(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let mut x = cx.tensor(0)?;
    if let Element::Quantised(of) = x.element.clone() {
        x = cx.dequantised(&x, &of)?;
    }
    match &cx.declared(0)?.element {
        Element::Quantised(of) => cx.requantised(&x, of),
        _ => Err(malformed!("its result is not quantised")),
    }
}
