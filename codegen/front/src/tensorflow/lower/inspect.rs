//! What a model contains, with the shapes and work that lowering finds out.

use super::slot::Slot;
use super::{find, short, Importer};
use crate::tensorflow::proto::Node;
use crate::tensorflow::tensor;
use crate::{OperatorSummary, QuantizationSummary, Summary, TensorSummary};

/// Operators that are not listed.
const SILENT: &[&str] = &["Const", "Identity", "NoOp", "Placeholder", "ReadVariableOp", "VarHandleOp"];

impl<'p> Importer<'_, 'p> {
    /// Notes an operator for the summary.
    pub(super) fn note(
        &mut self,
        index: usize,
        node: &Node<'_>,
        operands: &[Slot<'p>],
        results: &[Slot<'p>],
    ) {
        if self.trace.is_none() || SILENT.contains(&node.op) {
            return;
        }
        let inputs = operands.iter().map(|slot| Some(self.slot_summary(slot))).collect();
        let outputs = results.iter().map(|slot| self.slot_summary(slot)).collect();
        let weight_bytes = operands.iter().filter_map(|slot| match slot {
            Slot::Tensor(value) => self.means.graph.const_data(*value).map(|data| data.bytes().len() as u64),
            _ => None,
        });
        let weight_bytes = weight_bytes.filter(|&bytes| bytes > 64).fold(0, u64::saturating_add);
        let is_known = find(node.op).is_some();
        let summary =
            OperatorSummary { index, name: short(node.op), is_known, inputs, outputs, macs: 0, weight_bytes };
        if let Some(trace) = &mut self.trace {
            trace.push(summary);
        }
    }

    fn slot_summary(&self, slot: &Slot<'_>) -> TensorSummary {
        let (value, is_complex) = match slot {
            Slot::Tensor(value) => (*value, false),
            Slot::Complex(value, _) => (*value, true),
            _ => return plain(String::new(), String::new(), Vec::new()),
        };
        let (graph, ty) = (&self.means.graph, self.means.graph.ty(value));
        let dims = ty.shape.dims().iter().map(|&dim| i32::try_from(dim).unwrap_or(-1)).collect();
        let element = if is_complex { "complex64".to_owned() } else { shown(ty.dtype).to_owned() };
        TensorSummary {
            is_constant: graph.const_data(value).is_some(),
            ..plain(String::new(), element, dims)
        }
    }

    /// A summary of the model, as far as it could be lowered.
    pub(super) fn summary(mut self) -> Summary {
        let operators = self.trace.take().unwrap_or_default();
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        if let Ok(ends) = self.ends() {
            let of = |end: &super::interface::End| {
                let dims = end.dims.iter().flatten().map(|&dim| i32::try_from(dim).unwrap_or(-1)).collect();
                plain(end.name.clone(), tensor::name(end.dtype).to_owned(), dims)
            };
            inputs.extend(ends.inputs.iter().map(of));
            let lowered = &self.means.graph.outputs;
            let is_whole = lowered.len() == ends.outputs.len();
            for (k, end) in ends.outputs.iter().enumerate() {
                let own =
                    lowered.get(k).filter(|_| is_whole).map(|&value| self.slot_summary(&Slot::Tensor(value)));
                outputs.push(match own {
                    Some(own) => TensorSummary { name: end.name.clone(), is_constant: false, ..own },
                    None => of(end),
                });
            }
        }
        let kind = if self.model.signature.is_some() { "SavedModel" } else { "frozen graph" };
        let mut others: Vec<String> = self.called.iter().map(|name| short(name)).collect();
        others.sort_unstable();
        others.truncate(64);
        Summary {
            format: "TensorFlow",
            description: match self.model.version.is_empty() {
                true => kind.to_owned(),
                false => format!("{kind}, written by TensorFlow {}", short(self.model.version)),
            },
            inputs,
            outputs,
            other_subgraphs: others,
            operators,
            ..Summary::default()
        }
        .counted(&self.means.graph)
    }
}

fn plain(name: String, element: String, dims: Vec<i32>) -> TensorSummary {
    TensorSummary { name, element, dims, is_constant: false, quantization: QuantizationSummary::None }
}

/// An element type as TensorFlow writes it.
fn shown(dtype: kiln_ir::DType) -> &'static str {
    use kiln_ir::DType;
    match dtype {
        DType::F32 => "float32",
        DType::Bool => "bool",
        DType::I8 => "int8",
        DType::U8 => "uint8",
        DType::I16 => "int16",
        DType::I32 => "int32",
        DType::I64 => "int64",
    }
}
