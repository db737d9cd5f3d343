//! Masks: which steps of a sequence count, as `bool` \[batch, steps\].

use super::arguments::Arg;
use super::cx::Cx;
use crate::Lowered;
use kiln_ir::{Comparison, DType, Reduction, ValueId};

/// Layers that give their results the mask of their operand.
const PASS: &[&str] = &[
    "Activation",
    "ActivityRegularization",
    "AlphaDropout",
    "BatchNormalization",
    "Dense",
    "Dropout",
    "ELU",
    "GaussianDropout",
    "GaussianNoise",
    "GroupNormalization",
    "Identity",
    "LayerNormalization",
    "LeakyReLU",
    "Masking",
    "MultiHeadAttention",
    "GroupedQueryAttention",
    "GroupQueryAttention",
    "Normalization",
    "PReLU",
    "RMSNormalization",
    "ReLU",
    "Softmax",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
    "ThresholdedReLU",
    "UnitNormalization",
];

/// Layers that join several masks to one.
const JOIN: &[&str] = &["Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply", "Subtract"];

/// The mask that a layer gives its only result.
pub(super) fn passed(cx: &mut Cx<'_, '_, '_>) -> Lowered<Option<ValueId>> {
    let class = cx.layer.class;
    if cx.layer.is_operation() {
        return Ok(None);
    }
    if PASS.contains(&class) {
        return Ok(cx.given.first().first().and_then(|slot| slot.mask));
    }
    if !JOIN.contains(&class) {
        return Ok(None);
    }
    let slots = cx.given.first();
    let masks: Vec<ValueId> = slots.iter().filter_map(|slot| slot.mask).collect();
    let Some((&first, rest)) = masks.split_first() else { return Ok(None) };
    if class == "Concatenate" {
        let rank = slots.first().map_or(0, |slot| cx.dims(slot.value).len());
        let axis = cx.axis(cx.integer("axis").unwrap_or(-1), rank)?;
        if axis == 1 && rank > 2 {
            return match masks.len() == slots.len() {
                true => cx.joined(&masks, 1).map(Some),
                false => Ok(None),
            };
        }
    }
    let mut all = first;
    for &mask in rest {
        all = cx.both(all, mask)?;
    }
    Ok(Some(all))
}

/// The mask that a call has: as an argument, or with its tensor.
pub(super) fn of_call(cx: &mut Cx<'_, '_, '_>, place: usize, name: &str) -> Lowered<Option<ValueId>> {
    let given = match cx.given.get(place, name) {
        Some(Arg::Slot(slot)) => Some(slot.value),
        _ => cx.given.first().first().and_then(|slot| slot.mask),
    };
    match given {
        None => Ok(None),
        Some(mask) => truth(cx, mask).map(Some),
    }
}

/// A mask as truth values.
pub(super) fn truth(cx: &mut Cx<'_, '_, '_>, mask: ValueId) -> Lowered<ValueId> {
    if cx.ty(mask).dtype == DType::Bool {
        return Ok(mask);
    }
    let zero = cx.number(mask, 0.0)?;
    cx.compared(Comparison::NotEqual, mask, zero)
}

/// The steps at which any element of `x` \[batch, steps, …\] is not a number.
pub(super) fn unlike(cx: &mut Cx<'_, '_, '_>, x: ValueId, number: f64) -> Lowered<ValueId> {
    let like = cx.number(x, number)?;
    let differs = cx.compared(Comparison::NotEqual, x, like)?;
    let dims = cx.dims(differs);
    let Some((_, front)) = dims.split_last() else { return Ok(differs) };
    let wide = cx.cast(differs, DType::I32)?;
    let any = cx.reduced(Reduction::Max, wide, &[dims.len() - 1])?;
    let any = cx.reshaped(any, front)?;
    truth(cx, any)
}

/// A mask with axes of size 1 behind its own, up to a rank.
pub(super) fn widened(cx: &mut Cx<'_, '_, '_>, mask: ValueId, rank: usize) -> Lowered<ValueId> {
    let mut dims = cx.dims(mask);
    dims.resize(rank.max(dims.len()), 1);
    cx.reshaped(mask, &dims)
}
