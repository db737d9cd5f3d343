//! Normalisations.

use super::conv::{channels_first, channels_last, is_channel_first};
use super::{All, Cx, Lowered, One, Operators};
use crate::onnx::lower::{scaled, Set};
use kiln_ir::{Unary, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("FusedBatchNorm", All(batch_norm)),
    ("FusedBatchNormV2", All(batch_norm)),
    ("FusedBatchNormV3", All(batch_norm)),
    ("LRN", One(local_response)),
    ("_FusedBatchNormEx", All(batch_norm)),
];

/// A factor and a summand for each channel; with `is_training`, of the batch itself.
fn batch_norm(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>> {
    let (x, scale, offset) = (cx.float_x(0)?, cx.float_x(1)?, cx.float_x(2)?);
    let (rank, first) = (cx.dims(x).len(), is_channel_first(cx)?);
    let axis = if first { 1 } else { rank.saturating_sub(1) };
    let c = cx.dims(x).get(axis).copied().unwrap_or(0);
    malformed_if!(
        rank < 2 || cx.dims(scale) != [c] || cx.dims(offset) != [c],
        "its factors do not fit {}",
        cx.shown(x)
    );
    let epsilon = cx.float_of("epsilon", 1e-4)?;
    let (mean, variance) = match cx.flag_or("is_training", true)? {
        false => (cx.float_x(3)?, cx.float_x(4)?),
        true => {
            let axes: Vec<usize> = (0..rank).filter(|&own| own != axis).collect();
            let mean = cx.mean(x, &axes)?;
            let centred = cx.difference(x, mean)?;
            let squares = cx.unary(Unary::Square, centred)?;
            let variance = cx.mean(squares, &axes)?;
            (cx.reshaped(mean, &[c])?, cx.reshaped(variance, &[c])?)
        }
    };
    malformed_if!(
        cx.dims(mean) != [c] || cx.dims(variance) != [c],
        "its statistics do not fit {}",
        cx.shown(x)
    );
    let widened = cx.plus(variance, epsilon.into())?;
    let root = cx.unary(Unary::Rsqrt, widened)?;
    let factor = cx.product(scale, root)?;
    let shift = cx.product(mean, factor)?;
    let summand = cx.difference(offset, shift)?;
    let mut along = vec![1; rank - axis];
    along[0] = c;
    let (factor, summand) = (cx.reshaped(factor, &along)?, cx.reshaped(summand, &along)?);
    let y = scaled(cx, x, Some(factor), Some(summand))?;
    Ok(vec![y, mean, variance, mean, variance, variance])
}

fn local_response(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_x(0)?;
    let x = channels_first(cx, x)?;
    let radius = cx.int_of("depth_radius", 5)?.clamp(0, 1 << 16);
    // ONNX divides the factor by the number of elements.
    let size = 2 * radius + 1;
    let attributes = [
        ("size", Set::Int(size)),
        ("alpha", Set::Float(cx.float_of("alpha", 1.0)? * size as f32)),
        ("beta", Set::Float(cx.float_of("beta", 0.5)?)),
        ("bias", Set::Float(cx.float_of("bias", 1.0)?)),
    ];
    let y = cx.call("LRN", &[Some(x)], &attributes)?;
    channels_last(cx, y)
}
