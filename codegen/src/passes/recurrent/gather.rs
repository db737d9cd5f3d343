//! What was stacked of a layer's outputs is a part of the op's result, once there is an op.

use super::build::{ordered, replace, Builder};
use super::trace::{roots_among, Run};
use super::Work;
use crate::ir::{DType, Graph, Op, ValueId};
use std::collections::HashMap;

/// Replaces concatenations of nothing but outputs of one recurrent op. Says whether there were any.
pub(super) fn run(graph: &mut Graph, work: &mut Work) -> bool {
    if !graph.nodes().any(|(_, node)| node.op.is_recurrent()) {
        return false;
    }
    let (mut known, mut parts) = (HashMap::new(), Vec::new());
    for (id, node) in graph.nodes().filter(|(_, node)| matches!(node.op, Op::Concat { .. })) {
        let ty = graph.ty(node.result);
        let run = Run { value: node.result, start: 0, len: ty.shape.numel() };
        let Some(runs) = roots_among(graph, run, &known, work) else { break };
        let source = runs.first().map(|run| run.value);
        let alone = source.filter(|&source| runs.iter().all(|run| run.value == source));
        let producer = alone.and_then(|source| graph.producer(source));
        if ty.dtype == DType::F32 && producer.is_some_and(|id| graph.node(id).op.is_recurrent()) {
            parts.push((id, runs.clone()));
        }
        known.insert(node.result, runs);
    }
    let mut new = HashMap::new();
    let mut after = graph.clone();
    for (id, runs) in parts {
        let node = graph.node(id);
        let dims = graph.ty(node.result).shape.dims();
        if let Some(value) = gathered(&mut Builder::at(&mut after, id), &runs, dims) {
            new.insert(node.result, value);
        }
    }
    if new.is_empty() {
        return false;
    }
    replace(&mut after, &new);
    let Some(order) = ordered(&after) else { return false };
    after.order = order;
    *graph = after;
    true
}

/// Rows at equal distances, in that order.
pub(super) fn gathered(builder: &mut Builder<'_>, runs: &[Run], dims: &[usize]) -> Option<ValueId> {
    let distance = |k: usize| Some(runs.get(k + 1)?.start.abs_diff(runs.get(k)?.start));
    let inner = match distance(0) {
        Some(first) => 1 + (0..).take_while(|&k| distance(k) == Some(first)).count(),
        None => 1,
    };
    if runs.len() % inner != 0 {
        return None;
    }
    // The inner axis is that of steps: the result has it behind the other.
    let steps: Vec<Vec<Run>> =
        (0..inner).map(|k| runs.iter().skip(k).step_by(inner).copied().collect()).collect();
    let value = builder.grid(&steps, *runs.first()?)?;
    Some(builder.reshaped(value, dims))
}
