//! Ops that are still there although most of their kind are fused, folded or avoided.

use super::{cost, place, Advice, Topic};
use kiln_codegen::Compiled;
use kiln_ir::{Graph, Node, NodeId, Op};

pub(super) fn advise(compiled: &Compiled) -> Vec<Advice> {
    let graph = &compiled.graph;
    let uses = graph.use_counts();
    graph.nodes().filter_map(|(_, node)| leftover(graph, &uses, node)).collect()
}

fn leftover(graph: &Graph, uses: &[usize], node: &Node) -> Option<Advice> {
    let producer = graph.producer(*node.operands.first()?);
    let (topic, what, help) = match &node.op {
        // Of 8-bit values it has become a table.
        Op::Clip { .. } | Op::Lookup {} if is_relu(node) => {
            let (what, help) = unfused(graph, uses, node, producer)?;
            (Topic::Fusion, what, help)
        }
        Op::Pad { .. } => (
            Topic::Movement,
            "the image is copied into a larger one: no convolution or maximum takes the padding over".to_string(),
            "pad with zeros, in height and width alone, right before a convolution",
        ),
        Op::Requantize { .. } => (
            Topic::Movement,
            "it only changes the scale".to_string(),
            "let both sides have one scale: quantisation-aware training can tie them, as concatenations need it",
        ),
        Op::Transpose { .. } => (
            Topic::Movement,
            "it only changes the order of axes".to_string(),
            "keep channels last throughout; of an ONNX model's input or output, say so with the option `channels_last`",
        ),
        Op::Mul { .. } | Op::Add { .. } | Op::Sub { .. } => {
            let layer = producer.map(|id| graph.node(id)).filter(|n| matches!(n.op, Op::Conv2d { .. } | Op::Dense { .. }))?;
            let constant = node.operands.iter().skip(1).find(|&&id| graph.const_data(id).is_some())?;
            let per_channel = graph.ty(*constant).shape.numel() <= graph.ty(layer.result).shape.last();
            let (true, Some(1)) = (per_channel, uses.get(layer.result.0 as usize)) else { return None };
            (
                Topic::Fusion,
                format!("a constant for each channel behind {}, which could be in its weights and biases", place(graph, layer)),
                "fold batch normalisation before quantising: the converter does so where it follows the layer directly",
            )
        }
        _ => return None,
    };
    let ty = graph.ty(node.result);
    let cycles = ty.shape.numel() as u64 * cost::ELEMENT;
    Some(Advice {
        topic,
        place: place(graph, node),
        what,
        help: help.into(),
        cycles,
        bytes: ty.bytes() as u64,
    })
}

/// Whether an op is an activation that only clamps.
fn is_relu(node: &Node) -> bool {
    matches!(node.op, Op::Clip { .. })
        || node.origin.split(' ').nth(1).is_some_and(|name| name.starts_with("RELU"))
}

/// Why an activation is an op of its own.
fn unfused(
    graph: &Graph,
    uses: &[usize],
    node: &Node,
    producer: Option<NodeId>,
) -> Option<(String, &'static str)> {
    let before = producer.map(|id| graph.node(id));
    let value = *node.operands.first()?;
    let read = uses.get(value.0 as usize).copied().unwrap_or(0);
    Some(match before {
        Some(before) if read > 1 => (
            format!(
                "the activation is no part of {}, whose result is read {} more times",
                place(graph, before),
                read - 1
            ),
            "let the others read the activated result",
        ),
        Some(before) if graph.ty(value) != graph.ty(node.result) => (
            format!("the activation is no part of {}, since it changes the scale", place(graph, before)),
            "let the converter fuse it: put the activation right behind the layer",
        ),
        _ => ("the activation stands alone".into(), "put it right behind a convolution, dense layer or sum"),
    })
}
