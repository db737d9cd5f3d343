//! What a file contains, whether or not it can be compiled.

use super::schema::{text, Block, Model, Name, Operator};
use super::{lower, names};
use crate::budget::Budget;
use crate::summary::{OperatorSummary, QuantizationSummary, Summary, TensorSummary};
use kiln_ir::error::Error;
use std::collections::HashSet;

/// Lists what a file contains.
///
/// # Errors
///
/// [`Error::Malformed`] for bytes that are no sound file.
pub(super) fn inspect(bytes: &[u8]) -> Result<Summary, Error> {
    let mut budget = Budget::new(bytes.len());
    let model = Model::parse(bytes, &mut budget)?;
    let (_, block) = model.entry()?;
    let [major, minor, patch] = model.version;
    let others =
        model.regions.iter().flat_map(|region| &region.blocks).filter(|other| !std::ptr::eq(*other, block));
    let mut summary = Summary {
        format: "TOSA",
        description: format!("TOSA {major}.{minor}.{patch}"),
        file_bytes: bytes.len(),
        other_subgraphs: others.take(64).map(|block| text(block.name).into_owned()).collect(),
        inputs: tensors(block, &block.inputs, &mut budget)?.into_iter().flatten().collect(),
        outputs: tensors(block, &block.outputs, &mut budget)?.into_iter().flatten().collect(),
        ..Summary::default()
    };
    let known: HashSet<&str> = lower::operators().collect();
    let mut seen = HashSet::new();
    for (index, operator) in block.operators.iter().enumerate() {
        let name = names::operator(operator.kind);
        if matches!(&*name, "CONST" | "CONST_SHAPE") {
            continue;
        }
        let data = |name: &Name<'_>| block.tensors.get(name).map_or(0, |tensor| tensor.data.len() as u64);
        let new = operator.inputs.iter().filter(|name| data(name) > 0 && seen.insert(**name));
        let weight_bytes = new.map(data).fold(0u64, u64::saturating_add);
        let macs = macs(&name, block, operator).unwrap_or(0);
        summary.macs = summary.macs.saturating_add(macs);
        summary.weight_bytes = summary.weight_bytes.saturating_add(weight_bytes);
        summary.operators.push(OperatorSummary {
            index,
            is_known: known.contains(&*name),
            name,
            inputs: tensors(block, &operator.inputs, &mut budget)?,
            outputs: tensors(block, &operator.outputs, &mut budget)?.into_iter().flatten().collect(),
            macs,
            weight_bytes,
        });
    }
    Ok(summary)
}

/// Summaries of tensors; `None` for shapes.
fn tensors(
    block: &Block<'_>,
    names: &[Name<'_>],
    budget: &mut Budget,
) -> Result<Vec<Option<TensorSummary>>, Error> {
    let mut all = Vec::new();
    for &name in names {
        // Twice, because a vector may have grown to twice its length.
        budget.charge(2 * std::mem::size_of::<Option<TensorSummary>>() / 8)?;
        let summary = block.tensors.get(name).map(|tensor| TensorSummary {
            name: text(name).into_owned(),
            element: names::element(tensor.element),
            dims: tensor.shape.iter().flat_map(|shape| shape.iter().take(16)).collect(),
            is_constant: !tensor.data.is_empty(),
            quantization: QuantizationSummary::None,
        });
        all.push(summary);
    }
    Ok(all)
}

/// Multiplications with accumulation of convolutions and matrix products; open dimensions count 1.
fn macs(name: &str, block: &Block<'_>, operator: &Operator<'_>) -> Option<u64> {
    let dims = |name: Option<&Name<'_>>| -> Option<Vec<u64>> {
        let shape = block.tensors.get(name?)?.shape?;
        Some(shape.iter().take(16).map(|dim| u64::from(dim.unsigned_abs())).collect())
    };
    let count = |dims: &[u64]| dims.iter().fold(1u64, |all, &dim| all.saturating_mul(dim));
    let (x, w, y) =
        (dims(operator.inputs.first())?, dims(operator.inputs.get(1)), dims(operator.outputs.first())?);
    Some(match (name, w.as_deref()) {
        ("CONV2D" | "CONV3D", Some([_, taps @ ..])) => count(&y).saturating_mul(count(taps)),
        ("DEPTHWISE_CONV2D", Some([h, w, ..])) => count(&y).saturating_mul(count(&[*h, *w])),
        ("TRANSPOSE_CONV2D", Some([o, h, w, _])) => count(&x).saturating_mul(count(&[*o, *h, *w])),
        ("MATMUL", Some([_, depth, _])) => count(&y).saturating_mul(*depth),
        _ => 0,
    })
}
