//! Multiply-accumulates.

use super::{Graph, Node, Op};

/// Multiply-accumulates of a node: for every element of the result of a convolution or matrix product one for each weight of its filter, also where
/// that lies in the padding. 0 for anything else.
pub fn macs(graph: &Graph, node: &Node) -> u64 {
    let recurrent = match (&node.op, &node.operands[..]) {
        (Op::Lstm { .. }, [x, _, _, w, r, _]) => Some([x, w, r]),
        (Op::Gru { .. }, [x, _, w, r, ..]) | (Op::Rnn { .. }, [x, _, w, r, _]) => Some([x, w, r]),
        _ => None,
    };
    if let Some([x, w, r]) = recurrent {
        let steps: usize = graph.ty(*x).shape.dims().iter().take(2).product();
        return (steps * (graph.ty(*w).shape.numel() + graph.ty(*r).shape.numel())) as u64;
    }
    let Some(&weights) = node.op.facts().filters.and_then(|at| node.operands.get(at)) else { return 0 };
    // The filters come first.
    let filter: usize = graph.ty(weights).shape.dims().iter().skip(1).product();
    (graph.ty(node.result).shape.numel() * filter) as u64
}
