//! What a module contains, with the shapes and work that lowering finds out.

use super::super::module::{Element, Operation, Type as Declared};
use super::slot::{self, Slot};
use super::{bare, lowering, short, Importer, Slots};
use crate::{OperatorSummary, QuantizationSummary, Summary, TensorSummary};

impl Importer<'_, '_> {
    /// Notes an operator for the summary.
    pub(super) fn note(&mut self, index: usize, operation: &Operation<'_>, slots: &Slots, results: &[Slot]) {
        if self.trace.is_none() || operation.name.ends_with("constant") {
            return;
        }
        let described = |slot: Option<&Slot>| self.slot_summary(String::new(), slot);
        let inputs = operation.operands.iter().map(|value| Some(described(slots.get(value)))).collect();
        let outputs: Vec<TensorSummary> = results.iter().map(|slot| described(Some(slot))).collect();
        let weight_bytes = operation.operands.iter().filter_map(|value| match slots.get(value) {
            Some(Slot::Tensor(tensor)) => {
                self.means.graph.const_data(tensor.value).map(|data| data.bytes().len() as u64)
            }
            _ => None,
        });
        let weight_bytes = weight_bytes.filter(|&bytes| bytes > 64).fold(0, u64::saturating_add);
        let summary = OperatorSummary {
            index,
            name: short(&operation.name),
            is_known: lowering(bare(&operation.name)).is_some(),
            inputs,
            outputs,
            macs: 0,
            weight_bytes,
        };
        if let Some(trace) = &mut self.trace {
            trace.push(summary);
        }
    }

    /// A summary of the module, as far as it could be lowered.
    pub(super) fn summary(mut self) -> Summary {
        let operators = self.trace.take().unwrap_or_default();
        let (mut inputs, mut outputs, mut others) = (Vec::new(), Vec::new(), Vec::new());
        if let Ok(entry) = self.entry() {
            let names = self.input_names(entry);
            for (&value, name) in entry.body.arguments.iter().zip(names) {
                inputs.push(type_summary(name, entry.types.get(value.0)));
            }
            if entry.results.iter().all(|ty| matches!(ty, Declared::Tensor(_))) {
                let named = entry.results.iter().zip(self.output_names(entry));
                outputs.extend(named.map(|(ty, name)| type_summary(name, Some(ty))));
            }
            let functions = self.module.functions.iter();
            others.extend(functions.filter(|f| f.name != entry.name).take(64).map(|f| short(&f.name)));
        }
        Summary {
            format: "StableHLO",
            description: match self.module.name.is_empty() {
                true => String::new(),
                false => format!("module {}", short(&self.module.name)),
            },
            inputs,
            outputs,
            other_subgraphs: others,
            operators,
            ..Summary::default()
        }
        .counted(&self.means.graph)
    }

    fn slot_summary(&self, name: String, slot: Option<&Slot>) -> TensorSummary {
        let tensor = match slot {
            Some(Slot::Tensor(tensor) | Slot::Complex(tensor, _)) => tensor,
            _ => return plain(name, String::new(), Vec::new(), false),
        };
        let is_constant = self.means.graph.const_data(tensor.value).is_some();
        let dims = tensor.dims.iter().map(|&dim| i32::try_from(dim).unwrap_or(-1)).collect();
        let element = match slot {
            Some(Slot::Complex(..)) => format!("complex<{}>", shown(&tensor.element)),
            _ => shown(&tensor.element),
        };
        TensorSummary {
            quantization: quantization(&tensor.element),
            ..plain(name, element, dims, is_constant)
        }
    }
}

fn plain(name: String, element: String, dims: Vec<i32>, is_constant: bool) -> TensorSummary {
    TensorSummary { name, element, dims, is_constant, quantization: QuantizationSummary::None }
}

fn type_summary(name: String, ty: Option<&Declared>) -> TensorSummary {
    let Some(Ok(tensor)) = ty.map(slot::declared) else {
        return plain(name, String::new(), Vec::new(), false);
    };
    let size = |size: &Option<usize>| size.and_then(|size| i32::try_from(size).ok()).unwrap_or(-1);
    let dims = tensor.shape.iter().map(size).collect();
    let quantization = quantization(&tensor.element);
    TensorSummary { quantization, ..plain(name, shown(&tensor.element), dims, false) }
}

fn quantization(element: &Element) -> QuantizationSummary {
    match element {
        Element::Quantised(of) => match of.scales.as_slice() {
            &[(scale, zero_point)] => QuantizationSummary::PerTensor { scale: scale as f32, zero_point },
            list => QuantizationSummary::PerChannel { channels: list.len() },
        },
        _ => QuantizationSummary::None,
    }
}

/// An element type as MLIR writes it.
fn shown(element: &Element) -> String {
    match element {
        Element::Bool => "i1".into(),
        Element::Signed(bits) => format!("i{bits}"),
        Element::Unsigned(bits) => format!("ui{bits}"),
        Element::Float(bits) => format!("f{bits}"),
        Element::BFloat16 => "bf16".into(),
        Element::Complex(bits) => format!("complex<f{bits}>"),
        Element::Index => "index".into(),
        Element::Quantised(of) => shown(&of.storage),
        Element::Other(name) => short(name),
    }
}
