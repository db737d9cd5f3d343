//! What a file contains, at a glance.

use kiln_ir::{macs, Graph};
use std::collections::HashMap;

/// A model at a glance, for people. Counts saturate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// The file's format: `TensorFlow Lite`, `ONNX`, `PyTorch`, `Keras` or another one of [`FORMATS`](crate::FORMATS).
    pub format: &'static str,
    /// What the converter or author wrote about it, or the program that wrote the file.
    pub description: String,
    /// Size of the file in bytes.
    pub file_bytes: usize,
    /// Inputs in the model's order.
    pub inputs: Vec<TensorSummary>,
    /// Outputs in the model's order.
    pub outputs: Vec<TensorSummary>,
    /// Operators of the main graph in execution order.
    pub operators: Vec<OperatorSummary>,
    /// Further subgraphs (initialisation, branches, loop bodies).
    pub other_subgraphs: Vec<String>,
    /// Multiplications with accumulation per inference, in convolutions and matrix products.
    pub macs: u64,
    /// Bytes of constants that operators use, each counted once.
    pub weight_bytes: u64,
}

impl Summary {
    /// With the work of each operator, and the sums over all. Nodes of the graph have the position and name of their operator as origin.
    pub(crate) fn counted(mut self, graph: &Graph) -> Self {
        let mut work: HashMap<&str, u64> = HashMap::new();
        for (_, node) in graph.nodes() {
            let sum = work.entry(node.origin.as_str()).or_default();
            *sum = sum.saturating_add(macs(graph, node));
        }
        for operator in &mut self.operators {
            let origin = format!("{} {}", operator.index, operator.name);
            operator.macs = work.get(origin.as_str()).copied().unwrap_or(0);
            self.macs = self.macs.saturating_add(operator.macs);
            self.weight_bytes = self.weight_bytes.saturating_add(operator.weight_bytes);
        }
        self
    }
}

/// One tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorSummary {
    /// Its name.
    pub name: String,
    /// Its element type as the format's own tools write it: `int8`.
    pub element: String,
    /// Its dimensions; −1 for open ones, and none where they are not known.
    pub dims: Vec<i32>,
    /// Whether its value stands in the file.
    pub is_constant: bool,
    /// How real numbers are stored.
    pub quantization: QuantizationSummary,
}

/// How real numbers are stored in a tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QuantizationSummary {
    /// As they are.
    None,
    /// As scale · (stored − zero point).
    PerTensor {
        /// Real size of one step.
        scale: f32,
        /// Stored value of 0.
        zero_point: i64,
    },
    /// The same, with parameters for each index of an axis.
    PerChannel {
        /// Number of scales.
        channels: usize,
    },
}

/// One operator.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorSummary {
    /// Its position in the file.
    pub index: usize,
    /// Its name: `CONV_2D`, `CUSTOM:SignalFft`.
    pub name: String,
    /// Whether Kiln compiles operators of that name (not necessarily of these types).
    pub is_known: bool,
    /// Operands; `None` for those left out.
    pub inputs: Vec<Option<TensorSummary>>,
    /// Results.
    pub outputs: Vec<TensorSummary>,
    /// Multiplications with accumulation.
    pub macs: u64,
    /// Bytes of constants that no earlier operator uses.
    pub weight_bytes: u64,
}
