//! Hybrid arithmetic: int8 weights with float32 activations, which are quantised as they come.

use super::cx::OpCx;
use super::{Lowered, Refusal};
use kiln_ir::{DType, Data, Op, Type, ValueId};

/// Operands of a layer with int8 weights, as its op wants them: stored values, their scales, weights and bias.
pub(super) type Operands = [ValueId; 4];

/// Whether operand `x` and result 0 are float, and the weights are a constant of int8.
pub(super) fn applies(cx: &mut OpCx<'_, '_, '_>, x: ValueId, weights: ValueId) -> Lowered<bool> {
    let floats = cx.ty(x).dtype == DType::F32 && cx.declared(0)?.dtype == DType::F32;
    Ok(floats && cx.ty(weights).dtype == DType::I8 && cx.is_const(weights))
}

/// Quantises the rows of `x`, each by itself. `symmetric`: around 0; `None` where that follows from the weights, as in convolutions: those of one scale want it.
/// A bias that is computed at run time is no operand of the op, and returned besides.
pub(super) fn operands(
    cx: &mut OpCx<'_, '_, '_>,
    x: ValueId,
    weights: ValueId,
    symmetric: Option<bool>,
) -> Lowered<(Operands, Option<ValueId>)> {
    let Some(quant) = cx.ty(weights).quant.clone() else {
        let what = format!("its weights {} have no scales, or one scale per block", cx.shown(weights));
        return Err(Refusal::unsupported(what, "quantise weights per tensor or per channel"));
    };
    if !matches!(quant.axis, None | Some(0)) || quant.zero_points.iter().any(|&zero| zero != 0) {
        let what = format!("its weights {} are not symmetric", cx.shown(weights));
        return Err(Refusal::unsupported(what, "convert the model again with a current converter"));
    }
    let filters = cx.ty(weights).shape.dims().first().copied().unwrap_or(1);
    let given = cx.optional_input(2)?;
    if let Some(bias) = given.filter(|&bias| cx.ty(bias).dtype != DType::F32 || cx.dims(bias) != [filters]) {
        let (bias, weights) = (cx.shown(bias), cx.shown(weights));
        return Err(malformed!("bias {bias} does not fit weights {weights}"));
    }
    let none = |cx: &mut OpCx<'_, '_, '_>| {
        cx.constant("bias", Type::plain(DType::F32, &[filters]), Data::from_f32(&vec![0.0; filters]))
    };
    let (bias, late) = match given {
        Some(bias) if cx.is_const(bias) => (bias, None),
        late => (none(cx), late),
    };
    let symmetric = symmetric.unwrap_or(quant.axis.is_none());
    let dims = cx.dims(x);
    let rows = dims.first().copied().unwrap_or(1);
    let scales = Type::plain(DType::F32, &[rows, kiln_ir::DYNAMIC_ROW]);
    let scales = cx.node(Op::DynamicScale { symmetric }, &[x], 0, scales)?;
    let stored = cx.node(Op::DynamicQuantize {}, &[x, scales], 0, Type::plain(DType::I8, &dims))?;
    Ok(([stored, scales, weights, bias], late))
}
