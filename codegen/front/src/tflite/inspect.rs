//! What a file contains, whether or not it can be compiled.

use super::schema::{Model, Operator, SubGraph, Tensor};
use super::{lower, names, parse};
use crate::budget::Budget;
use crate::flatbuffer::Vector;
use crate::summary::{OperatorSummary, QuantizationSummary, Summary, TensorSummary};
use kiln_ir::error::Error;
use std::collections::HashSet;

/// Lists what a file contains.
///
/// # Errors
///
/// [`Error::Malformed`] for bytes that are no sound model.
pub(super) fn inspect(bytes: &[u8]) -> Result<Summary, Error> {
    let mut budget = Budget::new(bytes.len());
    let model = parse(bytes, &mut budget)?;
    let Some((sub, others)) = model.subgraphs.split_first() else {
        return Err(Error::malformed("model", "the model has no subgraph"));
    };
    let mut seen = HashSet::new();
    let mut summary = Summary {
        format: "TensorFlow Lite",
        description: model.description.text().into_owned(),
        file_bytes: bytes.len(),
        other_subgraphs: others.iter().map(|s| s.name.text().into_owned()).collect(),
        inputs: tensors(&model, sub, sub.inputs, &mut budget)?.into_iter().flatten().collect(),
        outputs: tensors(&model, sub, sub.outputs, &mut budget)?.into_iter().flatten().collect(),
        ..Summary::default()
    };
    for (index, operator) in sub.operators.iter().enumerate() {
        let code = model.code(operator);
        let weight_bytes = operator.inputs.iter().filter_map(|i| sub.tensor(i)).map(|tensor| {
            let data = model.buffer(tensor.buffer).ok().flatten().unwrap_or_default();
            let is_new = seen.insert((data.as_ptr() as usize, data.len()));
            if is_new {
                data.len() as u64
            } else {
                0
            }
        });
        let weight_bytes = weight_bytes.fold(0u64, u64::saturating_add);
        let builtin = code.map_or(-1, |code| code.builtin);
        let macs = macs(builtin, sub, operator).unwrap_or(0);
        summary.macs = summary.macs.saturating_add(macs);
        summary.weight_bytes = summary.weight_bytes.saturating_add(weight_bytes);
        summary.operators.push(OperatorSummary {
            index,
            name: code.map_or_else(|| "?".to_string(), |code| code.name()),
            is_known: code.is_some_and(|code| lower::is_known(builtin, &code.name())),
            inputs: tensors(&model, sub, operator.inputs, &mut budget)?,
            outputs: tensors(&model, sub, operator.outputs, &mut budget)?.into_iter().flatten().collect(),
            macs,
            weight_bytes,
        });
    }
    Ok(summary)
}

/// Summaries of listed tensors; `None` for −1 and indices that do not exist.
fn tensors(
    model: &Model<'_>,
    sub: &SubGraph<'_>,
    indices: Vector<'_, i32>,
    budget: &mut Budget,
) -> Result<Vec<Option<TensorSummary>>, Error> {
    let mut all = Vec::new();
    for index in indices.iter() {
        // Twice, because a vector may have grown to twice its length.
        budget.charge(2 * std::mem::size_of::<Option<TensorSummary>>())?;
        let tensor = sub.tensor(index);
        if let Some(tensor) = tensor {
            budget.charge(tensor.name.0.len().min(256) + 4 * tensor.shape.len().min(16))?;
        }
        all.push(tensor.map(|tensor| summarize(model, tensor)));
    }
    Ok(all)
}

fn summarize(model: &Model<'_>, tensor: &Tensor<'_>) -> TensorSummary {
    let quantization = match &tensor.quantization {
        None => QuantizationSummary::None,
        Some(q) if q.scales.len() == 1 => QuantizationSummary::PerTensor {
            scale: q.scales.get(0).unwrap_or_default(),
            zero_point: q.zero_points.get(0).unwrap_or_default(),
        },
        Some(q) => QuantizationSummary::PerChannel { channels: q.scales.len() },
    };
    TensorSummary {
        name: tensor.name.text().into_owned(),
        element: names::element(tensor.element),
        dims: tensor.signature.unwrap_or(tensor.shape).iter().take(16).collect(),
        is_constant: matches!(model.buffer(tensor.buffer), Ok(Some(_))),
        quantization,
    }
}

/// Multiplications with accumulation of convolutions and matrix products; open dimensions count 1.
fn macs(builtin: i32, sub: &SubGraph<'_>, operator: &Operator<'_>) -> Option<u64> {
    let dims = |indices: Vector<'_, i32>, k: usize| {
        let shape = sub.tensor(indices.get(k)?)?.shape;
        Some(shape.iter().take(16).map(|d| u64::from(d.unsigned_abs())).collect::<Vec<_>>())
    };
    let count = |dims: &[u64]| dims.iter().fold(1u64, |n, &d| n.saturating_mul(d));
    let (x, w, y) = (dims(operator.inputs, 0)?, dims(operator.inputs, 1), dims(operator.outputs, 0)?);
    Some(match (builtin, w.as_deref()) {
        // CONV_2D: weights [o, h, w, i]; DEPTHWISE_CONV_2D: [1, h, w, c]; FULLY_CONNECTED: [n, k].
        (3, Some([_, taps @ ..])) => count(&y).saturating_mul(count(taps)),
        (4, Some([_, h, w, _])) => count(&y).saturating_mul(count(&[*h, *w])),
        (9, Some([_, k])) => count(&y).saturating_mul(*k),
        // SVDF: weights of features [filters, k], weights of time [filters, memory].
        (27, Some([filters, k])) => {
            let time = count(&dims(operator.inputs, 2)?);
            let features = filters.saturating_mul(*k);
            x.first().copied().unwrap_or(1).saturating_mul(features.saturating_add(time))
        }
        // UNIDIRECTIONAL_SEQUENCE_LSTM: weights of a gate [n, k], and [n, n].
        (44, Some([n, k])) => {
            let steps = count(x.get(..2)?);
            let gate = n.saturating_mul(k.saturating_add(*n));
            steps.saturating_mul(gate).saturating_mul(4)
        }
        // TRANSPOSE_CONV: output shape, weights [o, h, w, i], operand.
        (67, Some([o, h, w, _])) => count(&dims(operator.inputs, 2)?).saturating_mul(count(&[*o, *h, *w])),
        // BATCH_MATMUL.
        (126, Some(_)) => count(&y).saturating_mul(x.last().copied().unwrap_or(1)),
        _ => 0,
    })
}
