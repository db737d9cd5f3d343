//! What a file contains, with the shapes and work that lowering finds out.

use super::{find, is_own, Importer};
use crate::onnx::proto::{Dim, Name, Node, ValueInfo};
use crate::{OperatorSummary, QuantizationSummary, Summary, TensorSummary};
use std::collections::HashSet;

/// Numbers of `TensorProto.DataType`, by name.
const ELEMENTS: &[&str] = &[
    "",
    "float32",
    "uint8",
    "int8",
    "uint16",
    "int16",
    "int32",
    "int64",
    "string",
    "bool",
    "float16",
    "float64",
    "uint32",
    "uint64",
    "complex64",
    "complex128",
    "bfloat16",
];

impl<'m, 'a> Importer<'m, 'a> {
    /// A summary of the model that has been lowered, as far as it could be.
    pub(super) fn summary(&self) -> Summary {
        let model = self.model;
        let own = |info: &&ValueInfo<'a>| !self.initializers.contains_key(&info.name);
        let mut seen = HashSet::new();
        let mut operators = Vec::new();
        for (index, node) in model.graph.nodes.iter().enumerate() {
            let name = operator_name(node);
            let _origin = format!("{index} {name}");
            operators.push(OperatorSummary {
                index,
                is_known: find(&name).is_some(),
                inputs: node.inputs.iter().map(|name| self.tensor(*name)).collect(),
                outputs: node.outputs.iter().filter_map(|name| self.tensor(*name)).collect(),
                macs: 0,
                weight_bytes: node.inputs.iter().map(|name| self.constant_bytes(*name, &mut seen)).sum(),
                name,
            });
        }
        Summary {
            format: "ONNX",
            description: model.producer.text(),
            inputs: model.graph.inputs.iter().filter(own).map(declared).collect(),
            outputs: model.graph.outputs.iter().map(declared).collect(),
            operators,
            ..Summary::default()
        }
        .counted(&self.graph)
    }

    /// A tensor by its name, with its shape if that is known; `None` for one that is left out.
    fn tensor(&self, name: Name<'a>) -> Option<TensorSummary> {
        if name.is_empty() {
            return None;
        }
        let is_constant = self.initializers.contains_key(&name);
        let (element, dims) = match self.values.get(&name).copied().flatten() {
            Some(value) => {
                let ty = self.graph.ty(value);
                (ty.dtype.name().to_owned(), ty.shape.dims().iter().map(|&dim| dim as i32).collect())
            }
            None => match self.initializers.get(&name).copied() {
                Some(tensor) => {
                    (element(tensor.element), tensor.dims.iter().map(|&dim| saturated(dim)).collect())
                }
                None => (String::new(), Vec::new()),
            },
        };
        let quantization = QuantizationSummary::None;
        Some(TensorSummary { name: name.text(), element, dims, is_constant, quantization })
    }

    /// Bytes of a constant of the file, if no earlier operator reads it.
    fn constant_bytes(&self, name: Name<'a>, seen: &mut HashSet<Name<'a>>) -> u64 {
        let Some(tensor) = self.initializers.get(&name).copied() else {
            return 0;
        };
        if !seen.insert(name) {
            return 0;
        }
        let listed = 4 * (tensor.floats.len() + tensor.ints.len()) + 8 * tensor.doubles.len();
        tensor.raw.map_or(listed, <[u8]>::len) as u64
    }
}

/// The name of an operator, with that of its domain unless it is ONNX's own.
pub(super) fn operator_name(node: &Node<'_>) -> String {
    match is_own(node.domain) {
        true => node.op_type.text(),
        false => format!("{}.{}", node.domain, node.op_type),
    }
}

/// An input or output as the file declares it.
fn declared(info: &ValueInfo<'_>) -> TensorSummary {
    let size = |dim: &Dim<'_>| match *dim {
        Dim::Size(size) => saturated(size),
        Dim::Symbol(_) => -1,
    };
    TensorSummary {
        name: info.name.text(),
        element: info.element.map_or_else(String::new, element),
        dims: info.dims.iter().flatten().map(size).collect(),
        is_constant: false,
        quantization: QuantizationSummary::None,
    }
}

fn element(number: i64) -> String {
    let name = usize::try_from(number).ok().and_then(|number| ELEMENTS.get(number));
    name.map_or_else(|| format!("type {number}"), |name| (*name).to_owned())
}

fn saturated(size: i64) -> i32 {
    i32::try_from(size).unwrap_or(if size < 0 { -1 } else { i32::MAX })
}
