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
            "the image is copied into a larger one: no convolution or max pooling can do this padding".to_string(),
            "pad with zeros, only in height and width, directly before a convolution",
        ),
        Op::Requantize { .. } => (
            Topic::Movement,
            "it only changes the scale".to_string(),
            "give operand and result the same scale: quantisation-aware training can tie them, as for concatenations",
        ),
        Op::Transpose { .. } => (
            Topic::Movement,
            "it only changes the order of axes".to_string(),
            "keep channels last throughout; for an input or output of an ONNX model, use the option `channels_last`",
        ),
        Op::Mul { .. } | Op::Add { .. } | Op::Sub { .. } => {
            let layer = producer.map(|id| graph.node(id)).filter(|n| matches!(n.op, Op::Conv2d { .. } | Op::Dense { .. }))?;
            let constant = node.operands.iter().skip(1).find(|&&id| graph.const_data(id).is_some())?;
            let per_channel = graph.ty(*constant).shape.numel() <= graph.ty(layer.result).shape.last();
            let (true, Some(1)) = (per_channel, uses.get(layer.result.0 as usize)) else { return None };
            (
                Topic::Fusion,
                format!("a constant per channel is applied after {}; its weights and biases could contain it", place(graph, layer)),
                "fold batch normalisation before quantising: the converter does so if it directly follows the layer",
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
                "the activation is not fused into {}, because its result has other readers ({})",
                place(graph, before),
                read - 1
            ),
            "let the other operators read the activated result",
        ),
        Some(before) if graph.ty(value) != graph.ty(node.result) => (
            format!(
                "the activation is not fused into {}, because it changes the scale",
                place(graph, before)
            ),
            "put the activation directly after the layer, so that the converter fuses it",
        ),
        _ => (
            "the activation is a separate step".into(),
            "put it directly after a convolution, dense layer or sum",
        ),
    })
}
