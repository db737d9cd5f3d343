//! Scales of weights: one for all filters of a layer where each could have its own.

use super::{place, Advice, Topic};
use kiln_codegen::Compiled;
use kiln_ir::{DType, Graph, Node, Op};

/// A filter whose largest weight is below this uses less than a quarter of the 127 steps.
const COARSE: u8 = 32;

pub(super) fn advise(compiled: &Compiled) -> Option<Advice> {
    let graph = &compiled.graph;
    let coarse: Vec<(&Node, usize, u8)> =
        graph.nodes().filter_map(|(_, node)| coarsest(graph, node)).collect();
    let &(worst, _, steps) = coarse.iter().min_by_key(|(_, _, steps)| *steps)?;
    let filters: usize = coarse.iter().map(|(_, filters, _)| filters).sum();
    Some(Advice {
        topic: Topic::Weights,
        place: place(graph, worst),
        what: format!(
            "in {} layers all filters share one scale; filters that use less than a quarter of the 8-bit range: {filters}; one filter here uses {steps} of 127 steps",
            coarse.len()
        ),
        help: "convert with per-channel quantisation: it costs nothing and loses less accuracy".into(),
        cycles: 0,
        bytes: 0,
    })
}

/// Of a layer with one scale: how many filters have small weights only, and the largest weight of the smallest of them.
fn coarsest<'g>(graph: &Graph, node: &'g Node) -> Option<(&'g Node, usize, u8)> {
    let (Op::Conv2d { .. } | Op::Dense { .. }) = node.op else { return None };
    let weights = *node.operands.get(1)?;
    let ty = graph.ty(weights);
    let shared = ty.quant.as_ref().is_some_and(|quant| quant.axis.is_none());
    let filters = ty.shape.dims().first().copied().filter(|&n| n > 1 && shared && ty.dtype == DType::I8)?;
    let data = graph.const_data(weights)?.to_i8();
    let largest = |filter: &[i8]| filter.iter().map(|w| w.unsigned_abs()).max().unwrap_or(0);
    // A filter of zeros loses nothing.
    let coarse: Vec<u8> = data
        .chunks((data.len() / filters).max(1))
        .map(largest)
        .filter(|most| (1..COARSE).contains(most))
        .collect();
    Some((node, coarse.len(), *coarse.iter().min()?))
}
