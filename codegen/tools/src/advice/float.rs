//! Floats in a model of integers, at its edges and in islands between integer layers; and models of floats.

use super::cost::{fast_layer, float_element, portable_layer, CONVERT};
use super::{is_quantized, place, Advice, Topic};
use kiln_codegen::{passes, Compiled};
use kiln_ir::{DType, Graph, Node, NodeId, Op};
use std::collections::{BTreeMap, BTreeSet};

/// Inputs and outputs that are floats although the model computes in integers.
pub(super) fn edges(imported: &Graph, compiled: &Compiled) -> Vec<Advice> {
    let mut graph = imported.clone();
    if compiled.options.io == kiln_codegen::Io::Quantized || !passes::quantized_io::run(&mut graph) {
        return Vec::new();
    }
    let ends = |graph: &Graph| graph.inputs.iter().chain(&graph.outputs).copied().collect::<Vec<_>>();
    let pairs = ends(imported).into_iter().zip(ends(&graph));
    let changed: Vec<(usize, usize)> = pairs
        .filter(|&(old, new)| imported.ty(old) != graph.ty(new))
        .map(|(old, new)| (imported.ty(old).shape.numel(), imported.ty(old).bytes() - graph.ty(new).bytes()))
        .collect();
    let elements: usize = changed.iter().map(|(elements, _)| elements).sum();
    vec![Advice {
        topic: Topic::Float,
        place: String::new(),
        what: format!(
            "{} of the inputs and outputs are floats, which the model converts to or from integers: {elements} elements",
            changed.len()
        ),
        help: "use integers as inputs and outputs: io = \"quantized\"".into(),
        cycles: elements as u64 * CONVERT,
        bytes: changed.iter().map(|(_, bytes)| *bytes as u64).sum(),
    }]
}

/// Float ops that are connected with each other, in a model whose layers are integer ones.
pub(super) fn islands(compiled: &Compiled) -> Vec<Advice> {
    let graph = &compiled.graph;
    if !is_quantized(graph) {
        return Vec::new();
    }
    let mut island_of: BTreeMap<NodeId, usize> = BTreeMap::new();
    let mut islands: Vec<BTreeSet<NodeId>> = Vec::new();
    for (id, node) in graph.nodes().filter(|(_, node)| is_float(graph, node)) {
        let joined: BTreeSet<usize> =
            neighbours(graph, node).filter_map(|n| island_of.get(&n).copied()).collect();
        let mut island = BTreeSet::from([id]);
        joined.iter().for_each(|&old| island.append(&mut islands[old]));
        island.iter().for_each(|&member| {
            island_of.insert(member, islands.len());
        });
        islands.push(island);
    }
    islands.iter().filter(|island| !island.is_empty()).filter_map(|island| advice(graph, island)).collect()
}

/// A model all of whose layers have float results: they compute in floats, or in integers that they make of floats as they come.
pub(super) fn whole(compiled: &Compiled) -> Option<Advice> {
    let (graph, target) = (&compiled.graph, compiled.options.target());
    let is_dynamic = |node: &Node| matches!(node.op, Op::DynamicConv2d { .. } | Op::DynamicDense { .. });
    let is_layer = |node: &Node| is_dynamic(node) || matches!(node.op, Op::Conv2d { .. } | Op::Dense { .. });
    let layers = || graph.nodes().filter(|(_, node)| is_layer(node));
    if layers().next().is_none() || layers().any(|(_, node)| graph.ty(node.result).dtype != DType::F32) {
        return None;
    }
    let saved = layers()
        .map(|(_, node)| portable_layer(graph, node, target).saturating_sub(fast_layer(graph, node, target)));
    let (ram, constants) = (compiled.plan.ram_bytes(), compiled.program.constant_bytes());
    let (what, bytes) = if layers().any(|(_, node)| is_dynamic(node)) {
        ("weights are integers, but everything else is computed in floats: int8 takes a quarter of the RAM, and fewer cycles", ram)
    } else {
        (
            "all layers compute in floats: int8 takes a quarter of the RAM and flash, and fewer cycles",
            ram + constants,
        )
    };
    Some(Advice {
        topic: Topic::Float,
        place: String::new(),
        what: what.into(),
        help: "`cargo kiln quantize` turns it into integers, with a hundred samples of its inputs".into(),
        cycles: saved.sum(),
        bytes: (bytes - bytes / 4) as u64,
    })
}

/// Whether a node computes in floats, and does more than to convert them.
fn is_float(graph: &Graph, node: &Node) -> bool {
    let float = graph.ty(node.result).dtype == DType::F32;
    float && !matches!(node.op, Op::Dequantize {} | Op::Reshape {})
}

/// The nodes that compute the operands, through conversions and reshapes.
fn neighbours<'g>(graph: &'g Graph, node: &'g Node) -> impl Iterator<Item = NodeId> + 'g {
    let through = |id: NodeId| match &graph.node(id).op {
        Op::Reshape {} => graph.node(id).operands.first().and_then(|&operand| graph.producer(operand)),
        _ => Some(id),
    };
    node.operands.iter().filter_map(|&operand| graph.producer(operand)).filter_map(through)
}

fn advice(graph: &Graph, island: &BTreeSet<NodeId>) -> Option<Advice> {
    let nodes = || island.iter().map(|&id| graph.node(id));
    let first = nodes().next()?;
    let cycles = |node: &Node| graph.ty(node.result).shape.numel() as u64 * float_element(&node.op);
    let mut names: Vec<&str> = nodes().map(|node| node.op.name()).collect();
    names.sort_unstable();
    names.dedup();
    let largest = nodes().map(|node| graph.ty(node.result)).max_by_key(|ty| ty.bytes())?;
    Some(Advice {
        topic: Topic::Float,
        place: place(graph, first),
        what: format!("{} float ops ({}) are left in an integer model", island.len(), names.join(", ")),
        help: "quantise them too: convert with a representative dataset and only TFLITE_BUILTINS_INT8; or remove a final softmax and compare the logits"
            .into(),
        cycles: nodes().map(cycles).sum(),
        bytes: (largest.bytes() - largest.bytes() / 4) as u64,
    })
}
