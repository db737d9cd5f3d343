//! Whether sums that portable kernels alone rescale as the graph says have a cheap form that is exactly that.

use crate::ir::{Graph, Node, Op};
use crate::passes::zero_point::folded_bias;
use crate::requant::{choose, reachable, Channel, Reference};

/// Whether [`select`](crate::select) finds a cheap form for all filters of a layer, whatever gain its sums have. It takes a while.
pub(super) fn has_cheap_form(graph: &Graph, node: &Node) -> bool {
    channels(graph, node).is_some_and(|channels| choose(&channels, &[]).is_ok())
}

/// The filters of a layer of 8 bits, for kernels whose sums have no gain and for those whose sums have 8 bits of it.
fn channels(graph: &Graph, node: &Node) -> Option<Vec<Channel>> {
    let (Op::Conv2d { rescale, clamp, .. } | Op::Dense { rescale, clamp }) = &node.op else { return None };
    let (&x, &w) = (node.operands.first()?, node.operands.get(1)?);
    let weights = graph.const_data(w)?.to_i8();
    let filters = graph.ty(w).shape.dims().first().copied().filter(|&filters| filters > 0)?;
    let bias = match node.operands.get(2) {
        Some(&bias) => graph.const_data(bias)?.to_i32(),
        None => vec![0; filters],
    };
    let bias = folded_bias(&weights, &bias, graph.ty(x).zero_point(), filters);
    let zero_point = graph.ty(node.result).zero_point();
    let size = (weights.len() / filters).max(1);
    let of = |(o, (filter, bias)): (usize, (&[i8], i32))| {
        let reference = Reference::of(rescale, o, zero_point, clamp.int_bounds())?;
        let range = reachable(filter.iter().copied(), bias, (i8::MIN.into(), i8::MAX.into()));
        Some([0, 8].map(|gain_bits| Channel { reference, range, gain_bits }))
    };
    let each = weights.chunks(size).zip(bias).enumerate().map(of);
    each.collect::<Option<Vec<_>>>().map(|channels| channels.concat())
}
