//! The float graph in the form that is quantised, and which of its nodes can be.

use kiln_codegen::{passes, verify};
use kiln_ir::error::Error;
use kiln_ir::{Clamp, DType, Graph, Node, NodeId, Op, Reduction, Rescale, Unary};
use std::collections::BTreeSet;

/// Folds what can be folded and fuses what can be fused. Then every dense layer has a matrix for its operand, and means of whole images are means, which have a scale of their own.
///
/// # Errors
/// Where a pass breaks an invariant: a bug in Kiln.
pub(super) fn prepare(graph: &Graph) -> Result<Graph, Error> {
    let mut graph = graph.clone();
    passes::run_to_quantize(&mut graph)?;
    let mut order = Vec::new();
    for id in std::mem::take(&mut graph.order) {
        let node = graph.node(id).clone();
        match &node.op {
            Op::Dense { .. } if graph.ty(node.operands[0]).shape.rank() != 2 => {
                dense_of_matrix(&mut graph, id, &node, &mut order);
            }
            Op::AvgPool2d { window, clamp } if clamp.holds_finite() => {
                let dims = graph.ty(node.operands[0]).shape.dims();
                if dims.get(1..3) == Some(&window.size) && window.pad == Default::default() {
                    let axes = vec![1, 2];
                    graph.node_mut(id).op = Op::Mean { axes, rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
                }
            }
            _ => {}
        }
        order.push(id);
    }
    graph.order = order;
    verify::after_stage("quantize", &graph)?;
    Ok(graph)
}

/// The rows of all other axes as those of one matrix; and back.
fn dense_of_matrix(graph: &mut Graph, id: NodeId, node: &Node, order: &mut Vec<NodeId>) {
    let x = node.operands[0];
    let ty = graph.ty(x).clone();
    let k = ty.shape.last();
    let rows = ty.shape.numel() / k.max(1);
    let mut add = |graph: &mut Graph, op: Op, operands: &[_], dims: &[usize]| {
        let name = graph.value(node.result).name.clone();
        let id = graph.add_detached_node(op, operands, name, ty.with_shape(dims), node.origin.clone());
        order.push(id);
        graph.node(id).result
    };
    let matrix = add(graph, Op::Reshape {}, &[x], &[rows, k]);
    let n = graph.ty(node.result).shape.last();
    let mut operands = node.operands.clone();
    operands[0] = matrix;
    let product = add(graph, node.op.clone(), &operands, &[rows, n]);
    let changed = graph.node_mut(id);
    (changed.op, changed.operands) = (Op::Reshape {}, vec![product]);
}

/// Nodes that are quantised unless something speaks against it.
pub(super) fn quantisable(graph: &Graph) -> BTreeSet<NodeId> {
    let delicate = delicate(graph);
    let fits = |&(id, node): &(NodeId, &Node)| {
        let floats = graph.ty(node.result).dtype == DType::F32
            && node.operands.first().is_some_and(|&operand| graph.ty(operand).dtype == DType::F32);
        let computed = node.operands.iter().any(|&operand| graph.const_data(operand).is_none());
        floats && computed && has_integers(graph, node) && !delicate.contains(&id)
    };
    graph.nodes().filter(fits).map(|(id, _)| id).collect()
}

/// Whether there is integer arithmetic for an op.
fn has_integers(graph: &Graph, node: &Node) -> bool {
    let constant = |k: usize| node.operands.get(k).is_none_or(|&operand| graph.const_data(operand).is_some());
    match &node.op {
        // Weights and bias have formats of their own.
        Op::Conv2d { .. } | Op::Dense { .. } => constant(1) && constant(2),
        Op::Reduce { function, .. } => *function != Reduction::Product,
        Op::Unary { function } => matches!(
            function,
            Unary::Abs | Unary::Elu | Unary::Gelu | Unary::GeluTanh | Unary::HardSwish | Unary::Neg
        ),
        op => {
            shares(op)
                || matches!(
                    op,
                    Op::MatMul { .. }
                        | Op::Add { .. }
                        | Op::Sub { .. }
                        | Op::Mul { .. }
                        | Op::Clip { .. }
                        | Op::LeakyRelu { .. }
                        | Op::Logistic {}
                        | Op::Tanh {}
                        | Op::Softmax { .. }
                        | Op::Mean { .. }
                )
        }
    }
}

/// Whether stored values are copied, compared or averaged as they are, so that operands and result have one format.
pub(super) fn shares(op: &Op) -> bool {
    use kiln_ir::Binary;
    match op {
        Op::MaxPool2d { .. }
        | Op::AvgPool2d { .. }
        | Op::Reshape {}
        | Op::Transpose { .. }
        | Op::Slice { .. }
        | Op::Pad { value: 0, .. }
        | Op::Concat { .. }
        | Op::Broadcast {}
        | Op::Gather { .. }
        | Op::ResizeBilinear { .. } => true,
        Op::Reduce { function, .. } => matches!(function, Reduction::Max | Reduction::Min),
        Op::Binary { function, .. } => matches!(function, Binary::Max | Binary::Min),
        _ => false,
    }
}

/// Normalisations stay in floats: variances and their roots have too wide a range. These are squares, roots, powers and quotients with what is next to them, and
/// means that nothing else reads.
fn delicate(graph: &Graph) -> BTreeSet<NodeId> {
    let root = |op: &Op| match op {
        Op::Unary { function } => {
            matches!(function, Unary::Rsqrt | Unary::Sqrt | Unary::Square | Unary::Exp | Unary::Log)
        }
        Op::Binary { function, .. } => {
            use kiln_ir::Binary;
            matches!(function, Binary::Div | Binary::Pow | Binary::SquaredDifference)
        }
        _ => false,
    };
    let arithmetic = |op: &Op| {
        matches!(op, Op::Add { .. } | Op::Sub { .. } | Op::Mul { .. } | Op::Mean { .. } | Op::Reduce { .. })
    };
    let mut found: BTreeSet<NodeId> =
        graph.nodes().filter(|(_, node)| root(&node.op)).map(|(id, _)| id).collect();
    for (id, node) in graph.nodes().collect::<Vec<_>>() {
        for producer in node.operands.iter().filter_map(|&operand| graph.producer(operand)) {
            if root(&node.op) && arithmetic(&graph.node(producer).op) {
                found.insert(producer);
            }
            if arithmetic(&node.op) && root(&graph.node(producer).op) {
                found.insert(id);
            }
        }
    }
    let means = graph.nodes().filter(|(_, node)| matches!(node.op, Op::Mean { .. }));
    let only_for_them = |&(_, node): &(NodeId, &Node)| {
        let mut readers =
            graph.nodes().filter(|(_, reader)| reader.operands.contains(&node.result)).peekable();
        readers.peek().is_some() && readers.all(|(id, _)| found.contains(&id))
    };
    let more: Vec<NodeId> = means.filter(only_for_them).map(|(id, _)| id).collect();
    found.extend(more);
    found
}
