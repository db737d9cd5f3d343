//! Activations: afterwards no clip follows an op that clamps its result anyway and has no other use.

use super::rewrite::{each_node, Rewrite};
use crate::ir::{Clamp, Graph, NodeId, Op, Real, ValueId};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let mut uses = graph.use_counts();
    each_node(graph, |graph, id| match fused(graph, &uses, id) {
        Some((producer, value, clamp)) => {
            if let Some(slot) = clamp_mut(&mut graph.node_mut(producer).op) {
                *slot = clamp;
            }
            uses[value.0 as usize] = uses[graph.node(id).result.0 as usize];
            Rewrite::Same(value)
        }
        None => Rewrite::Keep,
    })
}

/// The producer whose clamp takes over, its result, and the new clamp.
fn fused(graph: &Graph, uses: &[usize], id: NodeId) -> Option<(NodeId, ValueId, Clamp)> {
    let node = graph.node(id);
    let Op::Clip { clamp } = node.op else { return None };
    let value = *node.operands.first()?;
    let producer = graph.producer(value)?;
    let inner = clamp_of(&graph.node(producer).op)?;
    let fits = uses[value.0 as usize] == 1 && graph.ty(value) == graph.ty(node.result);
    Some((producer, value, then(inner, clamp)?)).filter(|_| fits)
}

fn clamp_mut(op: &mut Op) -> Option<&mut Clamp> {
    match op {
        Op::Conv2d { clamp, .. }
        | Op::ComputedConv2d { clamp, .. }
        | Op::Dense { clamp, .. }
        | Op::DynamicConv2d { clamp, .. }
        | Op::DynamicDense { clamp }
        | Op::AvgPool2d { clamp, .. }
        | Op::MaxPool2d { clamp, .. }
        | Op::Add { clamp, .. }
        | Op::Sub { clamp, .. }
        | Op::Mul { clamp, .. }
        | Op::Mean { clamp, .. }
        | Op::Requantize { clamp, .. }
        | Op::Clip { clamp } => Some(clamp),
        _ => None,
    }
}

/// The range that an op clamps its result to.
pub(super) fn clamp_of(op: &Op) -> Option<Clamp> {
    clamp_mut(&mut op.clone()).map(|clamp| *clamp)
}

/// One clamp after another as one: the second applied to the bounds of the first. Exact, as clamping is monotone; `None` for bounds
/// that contradict or are no numbers.
pub(super) fn then(first: Clamp, second: Clamp) -> Option<Clamp> {
    match (first, second) {
        (Clamp::Int { lo, hi }, Clamp::Int { lo: low, hi: high }) if lo <= hi && low <= high => {
            Some(Clamp::Int { lo: lo.clamp(low, high), hi: hi.clamp(low, high) })
        }
        (Clamp::Float { lo: Real(lo), hi: Real(hi) }, Clamp::Float { lo: Real(low), hi: Real(high) })
            if lo <= hi && low <= high =>
        {
            Some(Clamp::Float { lo: Real(lo.clamp(low, high)), hi: Real(hi.clamp(low, high)) })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites};
    use super::*;

    #[test]
    fn a_chain_of_clips_joins_a_convolution() {
        rewrites(
            run,
            "input %x: i8[1,2,2,1] q(0.5 : -3)
             const %w: i8[1,1,1,1] q(0.5 : 0) = [100]
             %c: i8[1,2,2,1] q(0.5 : 0) = conv2d(%x, %w) {window = [1, 1], groups = 1, rescale = [1073741824 * 2^0], clamp = -128..=90}
             %r: i8[1,2,2,1] q(0.5 : 0) = clip(%c) {clamp = 0..=127}
             %y: i8[1,2,2,1] q(0.5 : 0) = clip(%r) {clamp = -5..=60}
             return %y",
            "input %x: i8[1,2,2,1] q(0.5 : -3)
             const %w: i8[1,1,1,1] q(0.5 : 0) = [100]
             %c: i8[1,2,2,1] q(0.5 : 0) = conv2d(%x, %w) {window = [1, 1], groups = 1, rescale = [1073741824 * 2^0], clamp = 0..=60}
             return %c",
        );
    }

    #[test]
    fn floats_keep_open_ends() {
        rewrites(
            run,
            "input %x: f32[4]
             %s: f32[4] = add(%x, %x) {rescale = real, clamp = -inf..=inf}
             %y: f32[4] = clip(%s) {clamp = 0.0..=inf}
             return %y",
            "input %x: f32[4]
             %s: f32[4] = add(%x, %x) {rescale = real, clamp = 0.0..=inf}
             return %s",
        );
    }

    #[test]
    fn a_result_that_is_used_elsewhere_is_not_clamped() {
        keeps(
            run,
            "input %x: f32[4]
             %s: f32[4] = add(%x, %x) {rescale = real, clamp = -inf..=inf}
             %y: f32[4] = clip(%s) {clamp = 0.0..=inf}
             return %y, %s",
        );
    }

    #[test]
    fn clamps_compose_exactly() {
        let ranges: Vec<(i32, i32)> = (-3..4).flat_map(|lo| (lo..4).map(move |hi| (lo, hi))).collect();
        for &(a, b) in &ranges {
            for &(c, d) in &ranges {
                let both = then(Clamp::Int { lo: a, hi: b }, Clamp::Int { lo: c, hi: d }).unwrap();
                let (lo, hi) = both.int_bounds();
                assert!((-9..9).all(|x: i32| x.clamp(a, b).clamp(c, d) == x.clamp(lo, hi)));
            }
        }
    }
}
