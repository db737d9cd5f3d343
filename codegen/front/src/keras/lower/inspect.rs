//! What a model contains, with the shapes and work that lowering finds out.

use super::arguments::Given;
use super::run::Names;
use super::{find, short, Importer, Shared, Slot};
use crate::keras::model::Layer;
use crate::keras::variables::variables;
use crate::{OperatorSummary, QuantizationSummary, Summary, TensorSummary};
use kiln_ir::{Graph, Type, ValueId};

/// Notes a layer that is called.
pub(super) fn begin(
    trace: &mut Vec<OperatorSummary>,
    graph: &Graph,
    index: usize,
    layer: &Layer<'_>,
    given: &Given,
) {
    let slots = given.tensors();
    let inputs = slots.iter().map(|slot| Some(tensor(graph, String::new(), slot.value)));
    trace.push(OperatorSummary {
        index,
        name: short(layer.class),
        is_known: layer.is_own() && (layer.is_model() || find(layer).is_some()),
        inputs: inputs.collect(),
        outputs: Vec::new(),
        macs: 0,
        weight_bytes: 0,
    });
}

/// Notes what a layer gives.
pub(super) fn end(
    trace: &mut [OperatorSummary],
    graph: &Graph,
    index: usize,
    slots: &[Option<Slot>],
    bytes: u64,
) {
    let Some(operator) = trace.iter_mut().find(|operator| operator.index == index) else { return };
    let all = slots.iter().flatten();
    operator.outputs = all.map(|slot| tensor(graph, String::new(), slot.value)).collect();
    operator.weight_bytes = bytes;
}

/// Bytes of a layer's variables, for a summary only.
pub(super) fn weight_bytes(shared: &Shared<'_, '_>, layer: &Layer<'_>, path: &str) -> u64 {
    if shared.trace.is_none() || layer.is_model() || layer.is_operation() {
        return 0;
    }
    let all = variables(layer, path).unwrap_or_default();
    let bytes = |variable: &crate::keras::variables::Variable| {
        let found = shared.store.shape(&variable.path);
        found.filter(|ty| ty.shape.checked_numel().is_some()).map_or(0, |ty| ty.bytes() as u64)
    };
    all.iter().map(bytes).fold(0, u64::saturating_add)
}

fn tensor(graph: &Graph, name: String, value: ValueId) -> TensorSummary {
    let ty = graph.ty(value);
    TensorSummary {
        name,
        element: element(ty).into(),
        dims: ty.shape.dims().iter().map(|&dim| i32::try_from(dim).unwrap_or(-1)).collect(),
        is_constant: graph.const_data(value).is_some(),
        quantization: QuantizationSummary::None,
    }
}

/// An element type as Keras writes it.
fn element(ty: &Type) -> &'static str {
    use kiln_ir::DType::{Bool, F32, I16, I32, I64, I8, U8};
    match ty.dtype {
        F32 => "float32",
        Bool => "bool",
        I8 => "int8",
        U8 => "uint8",
        I16 => "int16",
        I32 => "int32",
        I64 => "int64",
    }
}

impl Importer<'_, '_> {
    /// A summary of the model, as far as it could be lowered.
    pub(super) fn summary(mut self, layer: &Layer<'_>, version: &str, names: &Names) -> Summary {
        let operators = self.shared.trace.take().unwrap_or_default();
        let model = super::model(layer).ok();
        let wanted = model.as_ref().and_then(|model| self.wanted(model).ok()).unwrap_or_default();
        let inputs = wanted.into_iter().map(|(name, dims, element)| TensorSummary {
            name,
            element,
            dims: dims.iter().map(|dim| dim.and_then(|dim| i32::try_from(dim).ok()).unwrap_or(-1)).collect(),
            is_constant: false,
            quantization: QuantizationSummary::None,
        });
        let graph = &self.means.graph;
        let outputs = graph.outputs.iter().zip(&names.outputs);
        let outputs = outputs.map(|(&value, name)| tensor(graph, name.clone(), value)).collect();
        let by =
            if version.is_empty() { String::new() } else { format!(", written by Keras {}", short(version)) };
        Summary {
            format: "Keras",
            description: format!("{} \"{}\"{by}", short(layer.class), short(layer.name)),
            inputs: inputs.collect(),
            outputs,
            operators,
            ..Summary::default()
        }
        .counted(&self.means.graph)
    }
}
