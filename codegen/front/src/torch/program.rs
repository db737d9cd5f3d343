//! A program of ATen operators, as the lowering reads it: nodes with named arguments, and what is known of their results.

use kiln_ir::DType;
use std::collections::{HashMap, HashSet};

/// A tensor as it was traced, or as it is stored.
#[derive(Default)]
pub(super) struct TensorMeta {
    /// `ScalarType`.
    pub(super) dtype: i64,
    pub(super) sizes: Vec<Size>,
    pub(super) strides: Vec<Size>,
    pub(super) storage_offset: Option<Size>,
}

/// A size: a number, or an expression of symbols.
pub(super) enum Size {
    Known(i64),
    Symbolic(String),
}

/// An integer argument: a number, or the name of a node that computes it.
pub(super) enum SymInt {
    Known(i64),
    Named(String),
}

/// A node.
#[derive(Default)]
pub(super) struct Node {
    /// `torch.ops.aten.conv2d.default`.
    pub(super) target: String,
    pub(super) inputs: Vec<Named>,
    pub(super) outputs: Vec<Arg>,
    /// Element type of the first result, where no list of types has it.
    pub(super) dtype: Option<DType>,
    /// The innermost module that it is in, `encoder.layers.0.attn`, and its class.
    pub(super) module: Option<(String, String)>,
    /// Where it stands in the source: `model.py:12`.
    pub(super) line: Option<String>,
}

/// An argument with its name.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) arg: Arg,
}

/// An argument or result.
pub(super) enum Arg {
    None,
    Tensor(String),
    Tensors(Vec<String>),
    OptionalTensors(Vec<Option<String>>),
    Int(i64),
    Ints(Vec<SymInt>),
    Float(f64),
    Floats(Vec<f64>),
    Bool(bool),
    Text(String),
    Dtype(i64),
    /// A number that a node computes, by name.
    Computed(String),
    /// A graph, of a branch or of a loop's body.
    Graph(Box<Subgraph>),
    /// What no operator that Kiln knows looks at.
    Other,
}

/// A graph that is the argument of a node.
#[derive(Default)]
pub(super) struct Subgraph {
    pub(super) inputs: Vec<Arg>,
    pub(super) nodes: Vec<Node>,
    pub(super) outputs: Vec<Arg>,
    /// Types of tensors, by name.
    pub(super) tensors: HashMap<String, TensorMeta>,
}

impl Subgraph {
    /// Names that nodes read, or that are results.
    pub(super) fn read(&self) -> HashSet<&str> {
        let inputs = self.nodes.iter().flat_map(|node| &node.inputs).map(|input| &input.arg);
        inputs.chain(&self.outputs).flat_map(Arg::names).collect()
    }
}

impl Arg {
    /// Names of the tensors that it is.
    pub(super) fn names(&self) -> Vec<&str> {
        match self {
            Arg::Tensor(name) => vec![name],
            Arg::Tensors(list) => list.iter().map(String::as_str).collect(),
            Arg::OptionalTensors(list) => list.iter().flatten().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }
}
