//! A graph or function whose nodes know each other: which operand is which result of which node.

use super::proto::{short, Function, Node, Signature};
use crate::budget::Budget;
use crate::{Lowered, Refusal};
use std::collections::HashMap;

/// Where an operand comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// An argument of the function.
    Argument(usize),
    /// A result of a node.
    Node(usize, usize),
}

/// What a node needs.
#[derive(Default)]
pub(super) struct Edges {
    pub(super) operands: Vec<Source>,
    /// Nodes that have to run before.
    pub(super) controls: Vec<usize>,
}

/// Nodes with what they need.
pub(super) struct Body<'a> {
    pub(super) name: &'a str,
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) edges: Vec<Edges>,
    pub(super) arguments: usize,
    pub(super) results: Vec<Source>,
    /// Nodes that have to run even if nobody reads them.
    pub(super) controls: Vec<usize>,
    index: HashMap<&'a str, usize>,
}

/// Names of nodes and arguments while operands are looked up.
struct Names<'n, 'a> {
    nodes: &'n [Node<'a>],
    index: &'n HashMap<&'a str, usize>,
    arguments: HashMap<&'a str, usize>,
}

impl<'a> Names<'_, 'a> {
    fn node(&self, name: &str) -> Lowered<usize> {
        self.index.get(name).copied().ok_or_else(|| malformed!("there is no node \"{}\"", short(name)))
    }

    fn source(&self, text: &str) -> Lowered<Source> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let number = |text: &str| {
            let number = text.parse::<u32>().map_err(|_| malformed!("\"{}\" names no result", short(text)));
            number.map(|number| number as usize)
        };
        if let Some(&argument) = self.arguments.get(name) {
            return Ok(Source::Argument(argument));
        }
        let node = self.node(name)?;
        let result = match (parts.next(), parts.next()) {
            (None, _) => 0,
            (Some(result), None) => number(result)?,
            (Some(kind), Some(result)) => first_of(self.nodes[node].op, kind).saturating_add(number(result)?),
        };
        Ok(Source::Node(node, result))
    }
}

impl<'a> Body<'a> {
    /// The graph itself.
    pub(super) fn of_graph(nodes: Vec<Node<'a>>, budget: &mut Budget) -> Lowered<Self> {
        Body::new("", nodes, &[], &[], &[], budget)
    }

    pub(super) fn of_function(function: Function<'a>, budget: &mut Budget) -> Lowered<Self> {
        let Function { name, arguments, nodes, results, controls } = function;
        Body::new(name, nodes, &arguments, &results, &controls, budget)
    }

    fn new(
        name: &'a str,
        nodes: Vec<Node<'a>>,
        arguments: &[&'a str],
        results: &[&'a str],
        controls: &[&'a str],
        budget: &mut Budget,
    ) -> Lowered<Self> {
        budget.charge(64 * nodes.len() + 48 * arguments.len())?;
        let mut index = HashMap::new();
        for (k, node) in nodes.iter().enumerate() {
            if index.insert(node.name, k).is_some() {
                return Err(malformed!("there are two nodes \"{}\"", short(node.name)));
            }
        }
        let arguments: HashMap<&str, usize> =
            arguments.iter().enumerate().map(|(k, name)| (*name, k)).collect();
        let names = Names { nodes: &nodes, index: &index, arguments };
        let mut edges = Vec::new();
        for node in &nodes {
            budget.charge(48 + 24 * node.inputs.len())?;
            let mut own = Edges::default();
            for input in &node.inputs {
                match input.strip_prefix('^') {
                    // An argument is there from the beginning.
                    Some(name) if names.arguments.contains_key(name) => {}
                    Some(name) => own.controls.push(names.node(name)?),
                    None => own.operands.push(names.source(input)?),
                }
            }
            edges.push(own);
        }
        let results = results.iter().map(|result| names.source(result)).collect::<Lowered<_>>()?;
        let controls = controls.iter().map(|name| names.node(name)).collect::<Lowered<_>>()?;
        let arguments = names.arguments.len();
        Ok(Body { name, nodes, edges, arguments, results, controls, index })
    }

    /// The result of that name: `node` or `node:1`.
    pub(super) fn find(&self, text: &str) -> Option<(usize, usize)> {
        let (name, result) = text.rsplit_once(':').unwrap_or((text, "0"));
        Some((*self.index.get(name)?, result.parse::<u32>().ok()? as usize))
    }

    /// The nodes that some nodes need, and these.
    pub(super) fn needed(&self, roots: impl IntoIterator<Item = usize>) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        let mut open: Vec<usize> = roots.into_iter().collect();
        while let Some(node) = open.pop() {
            let (Some(seen), Some(edges)) = (needed.get_mut(node), self.edges.get(node)) else { continue };
            if std::mem::replace(seen, true) {
                continue;
            }
            open.extend(&edges.controls);
            open.extend(edges.operands.iter().filter_map(|source| match source {
                Source::Node(node, _) => Some(*node),
                Source::Argument(_) => None,
            }));
        }
        needed
    }

    /// The nodes that a call of this function runs.
    pub(super) fn run(&self) -> Vec<bool> {
        let of_results = self.results.iter().filter_map(|source| match source {
            Source::Node(node, _) => Some(*node),
            Source::Argument(_) => None,
        });
        self.needed(of_results.chain(self.controls.iter().copied()))
    }
}

/// Operators with several named results, in their order. Where an operator has one list of results, or one result, its name does not matter.
const RESULTS: &[(&str, &[&str])] = &[
    ("BlockLSTM", &["i", "cs", "f", "o", "ci", "co", "h"]),
    ("BlockLSTMV2", &["i", "cs", "f", "o", "ci", "co", "h"]),
    ("BroadcastGradientArgs", &["r0", "r1"]),
    ("FusedBatchNorm", &["y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"]),
    ("FusedBatchNormV2", &["y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"]),
    (
        "FusedBatchNormV3",
        &["y", "batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2", "reserve_space_3"],
    ),
    ("GRUBlockCell", &["r", "u", "c", "h"]),
    ("LSTMBlockCell", &["i", "cs", "f", "o", "ci", "co", "h"]),
    ("ListDiff", &["out", "idx"]),
    ("LookupTableExportV2", &["keys", "values"]),
    ("MaxPoolWithArgmax", &["output", "argmax"]),
    ("Merge", &["output", "value_index"]),
    ("NonMaxSuppressionV4", &["selected_indices", "valid_outputs"]),
    ("NonMaxSuppressionV5", &["selected_indices", "selected_scores", "valid_outputs"]),
    ("RefMerge", &["output", "value_index"]),
    ("RefSwitch", &["output_false", "output_true"]),
    ("SoftmaxCrossEntropyWithLogits", &["loss", "backprop"]),
    ("SparseSoftmaxCrossEntropyWithLogits", &["loss", "backprop"]),
    ("Switch", &["output_false", "output_true"]),
    ("TensorListConcatV2", &["tensor", "lengths"]),
    ("TensorListPopBack", &["output_handle", "tensor"]),
    ("TopK", &["values", "indices"]),
    ("TopKV2", &["values", "indices"]),
    ("Unique", &["y", "idx"]),
    ("UniqueV2", &["y", "idx"]),
];

/// The number of an operator's first result of that name.
fn first_of(op: &str, kind: &str) -> usize {
    let results = RESULTS.iter().find(|(own, _)| *own == op);
    results.and_then(|(_, names)| names.iter().position(|name| *name == kind)).unwrap_or(0)
}

/// A whole model.
pub(super) struct Model<'a> {
    pub(super) body: Body<'a>,
    /// Functions, by name.
    pub(super) functions: HashMap<&'a str, Body<'a>>,
    /// Of a SavedModel.
    pub(super) signature: Option<Signature<'a>>,
    /// Nodes that give variables their values.
    pub(super) restore: Option<usize>,
    pub(super) init: Option<usize>,
    /// The files of the variables.
    pub(super) bundle: Option<super::bundle::Bundle<'a>>,
    /// What wrote it.
    pub(super) version: &'a str,
}

impl<'a> Model<'a> {
    pub(super) fn function(&self, name: &str) -> Lowered<&Body<'a>> {
        self.functions.get(name).ok_or_else(|| malformed!("there is no function \"{}\"", short(name)))
    }
}

/// Functions by name.
pub(super) fn library<'a>(
    functions: Vec<Function<'a>>,
    budget: &mut Budget,
) -> Lowered<HashMap<&'a str, Body<'a>>> {
    let mut library = HashMap::new();
    for function in functions {
        budget.charge(96)?;
        let body = Body::of_function(function, budget)?;
        if library.contains_key(body.name) {
            return Err(Refusal::Malformed(format!("there are two functions \"{}\"", short(body.name))));
        }
        library.insert(body.name, body);
    }
    Ok(library)
}
