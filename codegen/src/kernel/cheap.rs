//! Whether sums that portable kernels alone rescale as the graph says have a cheap form that is exactly that.

use crate::ir::{Graph, Node, Op};
use crate::requant::{choose, filters, folded_bias, Channel, Reference};

/// Whether [`select`](crate::select) finds a cheap form for all filters of a layer, whatever gain its sums have. It takes a while.
pub(super) fn has_cheap_form(graph: &Graph, node: &Node) -> bool {
    channels(graph, node).is_some_and(|channels| choose(&channels.concat(), &[]).is_ok())
}

fn channels(graph: &Graph, node: &Node) -> Option<Vec<[Channel; 2]>> {
    let (Op::Conv2d { rescale, clamp, .. } | Op::Dense { rescale, clamp }) = &node.op else { return None };
    let (&x, &w) = (node.operands.first()?, node.operands.get(1)?);
    let weights = graph.const_data(w)?.to_i8();
    let count = graph.ty(w).shape.dims().first().copied().filter(|&count| count > 0)?;
    let bias = match node.operands.get(2) {
        Some(&bias) => graph.const_data(bias)?.to_i32(),
        None => vec![0; count],
    };
    let bias = folded_bias(&weights, &bias, graph.ty(x).zero_point(), count);
    let zero_point = graph.ty(node.result).zero_point();
    filters(&weights, &bias, |o| Reference::of(rescale, o, zero_point, clamp.int_bounds()))
}
