//! Cross-layer equalisation: where a layer follows another one with nothing but a ReLU between them, the channels between them are scaled, and what follows undoes it. Two ways:
//!
//! - By weights (M. Nagel et al., "Data-Free Quantization Through Weight Equalization and Bias Correction", 2019, section 4.1): those before and those behind a channel have the
//!   same range. For weights with one scale in a layer.
//! - By activations: channels use more of the range that they share. Behind a depthwise convolution, whose filters have scales of their own, each uses all of it; otherwise, as the weights
//!   behind become less alike in turn, half of that, as G. Xiao et al. balance it ("SmoothQuant", 2022, α = 1/2).
//!
//! The float graph computes the same but for rounding.

use kiln_ir::{Clamp, Data, Graph, NodeId, Op, ValueId};
use std::collections::HashMap;

/// How often all pairs are gone through by weights; more changes little.
const ROUNDS: usize = 4;

/// Bounds of factors: what hardly ever counts shall not become large.
const FACTORS: (f32, f32) = (1.0 / 256.0, 256.0);

/// Equalises all pairs of layers by their weights; says whether there are any to equalise.
pub(super) fn by_weights(graph: &mut Graph) -> bool {
    let mut changed = false;
    for _ in 0..ROUNDS {
        for (first, second) in pairs(graph) {
            let factors = weight_factors(graph, first, second);
            changed |= factors.is_some_and(|factors| scale(graph, first, second, &factors));
        }
    }
    changed
}

/// Equalises all pairs of layers by the largest magnitudes of the channels between them; says whether there are any to equalise.
pub(super) fn by_activations(graph: &mut Graph, largest: &HashMap<ValueId, Vec<f32>>) -> bool {
    let mut changed = false;
    for (first, second) in pairs(graph) {
        let Some(largest) = largest.get(&graph.node(first).result) else { continue };
        let most = largest.iter().copied().fold(0f32, f32::max);
        let power = if is_depthwise(graph, second) { 1.0 } else { 0.5 };
        let factor = |&x: &f32| if x > 0.0 { (x / most).powf(power).clamp(FACTORS.0, 1.0) } else { 1.0 };
        let factors: Vec<f32> = largest.iter().map(factor).collect();
        changed |= scale(graph, first, second, &factors);
    }
    changed
}

/// The results between layers that can be equalised.
pub(super) fn between(graph: &Graph) -> Vec<ValueId> {
    pairs(graph).into_iter().map(|(first, _)| graph.node(first).result).collect()
}

fn is_depthwise(graph: &Graph, id: NodeId) -> bool {
    let node = graph.node(id);
    matches!(node.op, Op::Conv2d { groups, .. } if groups > 1 && groups == graph.ty(node.operands[0]).shape.last())
}

/// Layers of which the second alone reads the first.
fn pairs(graph: &Graph) -> Vec<(NodeId, NodeId)> {
    let uses = graph.use_counts();
    let constants = |id: NodeId| {
        let node = graph.node(id);
        node.operands
            .iter()
            .skip(1)
            .all(|&operand| graph.const_data(operand).is_some() && uses[operand.0 as usize] == 1)
    };
    let passes_factors = |op: &Op| match op {
        Op::Conv2d { clamp, .. } | Op::Dense { clamp, .. } => {
            matches!(clamp, Clamp::Float { lo, hi } if hi.0 >= f32::MAX && (lo.0 == 0.0 || lo.0 <= f32::MIN))
        }
        _ => false,
    };
    let pair = |(id, node): (NodeId, &kiln_ir::Node)| {
        let first = graph.producer(*node.operands.first()?)?;
        let before = graph.node(first);
        let layer = matches!(node.op, Op::Conv2d { .. } | Op::Dense { .. });
        let alone = uses[before.result.0 as usize] == 1 && passes_factors(&before.op);
        (layer && alone && constants(id) && constants(first)).then_some((first, id))
    };
    graph.nodes().filter_map(pair).collect()
}

/// By what the first layer is divided, and the second multiplied: the root of the quotient of ranges.
fn weight_factors(graph: &Graph, first: NodeId, second: NodeId) -> Option<Vec<f32>> {
    let (a, b) = (graph.node(first), graph.node(second));
    let (before, behind) = (numbers(graph, a.operands[1])?, numbers(graph, b.operands[1])?);
    let channels = graph.ty(a.result).shape.last();
    let taps = before.len() / channels.max(1);
    let channel = channel_of(graph, &b.op, b.operands[1], channels);
    let mut largest = vec![(0f32, 0f32); channels];
    before.iter().enumerate().for_each(|(i, w)| {
        let entry = &mut largest[i / taps].0;
        *entry = entry.max(w.abs());
    });
    behind.iter().enumerate().for_each(|(i, w)| {
        let entry = &mut largest[channel(i)].1;
        *entry = entry.max(w.abs());
    });
    let factor = |&(a, b): &(f32, f32)| {
        if a > 0.0 && b > 0.0 {
            (a / b).sqrt().clamp(FACTORS.0, FACTORS.1)
        } else {
            1.0
        }
    };
    Some(largest.iter().map(factor).collect())
}

/// Divides the channels of the first layer's result, and undoes it in the second layer.
fn scale(graph: &mut Graph, first: NodeId, second: NodeId, factors: &[f32]) -> bool {
    let (a, b) = (graph.node(first).clone(), graph.node(second).clone());
    let (Some(before), Some(behind)) = (numbers(graph, a.operands[1]), numbers(graph, b.operands[1])) else {
        return false;
    };
    let channels = graph.ty(a.result).shape.last();
    if factors.len() != channels || factors.iter().all(|factor| (factor - 1.0).abs() < 0.01) {
        return false;
    }
    let taps = before.len() / channels;
    let channel = channel_of(graph, &b.op, b.operands[1], channels);
    let scaled: Vec<f32> = before.iter().enumerate().map(|(i, w)| w / factors[i / taps]).collect();
    replace(graph, first, 1, &scaled);
    if let Some(bias) = a.operands.get(2).and_then(|&bias| numbers(graph, bias)) {
        let scaled: Vec<f32> = bias.iter().zip(factors).map(|(b, factor)| b / factor).collect();
        replace(graph, first, 2, &scaled);
    }
    let scaled: Vec<f32> = behind.iter().enumerate().map(|(i, w)| w * factors[channel(i)]).collect();
    replace(graph, second, 1, &scaled);
    true
}

/// The channel of the operand that a weight is for.
fn channel_of(graph: &Graph, op: &Op, weights: ValueId, channels: usize) -> impl Fn(usize) -> usize {
    let dims = graph.ty(weights).shape.dims().to_vec();
    let depth = dims.last().copied().unwrap_or(1).max(1);
    let filters = dims.first().copied().unwrap_or(1).max(1);
    let taps = dims.iter().product::<usize>() / filters;
    let groups = if let Op::Conv2d { groups, .. } = op { *groups } else { 1 };
    let per_group = (filters / groups.max(1)).max(1);
    move |i| ((i / taps / per_group) * depth + i % depth).min(channels - 1)
}

fn numbers(graph: &Graph, id: ValueId) -> Option<Vec<f32>> {
    graph.const_data(id).map(Data::to_f32)
}

fn replace(graph: &mut Graph, node: NodeId, operand: usize, numbers: &[f32]) {
    let old = graph.node(node).operands[operand];
    let (name, ty) = (graph.value(old).name.clone(), graph.ty(old).clone());
    let new = graph.add_const(name, ty, Data::from_f32(numbers));
    graph.node_mut(node).operands[operand] = new;
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_interp::Machine;

    fn chain(clamp: &str) -> Graph {
        let text = format!(
            "graph \"test\" {{
             input %x: f32[1,1,2,2]
             const %w: f32[2,1,1,2] = [64.0, 32.0, 0.5, 0.25]
             const %b: f32[2] = [-3.0, 1.5]
             const %d: f32[2,1,1,1] = [0.25, 8.0]
             const %e: f32[1,2] = [2.0, -4.0]
             %c: f32[1,1,2,2] = conv2d(%x, %w, %b) {{window = [1, 1], groups = 1, rescale = real, clamp = {clamp}}}
             %y: f32[1,1,2,2] = conv2d(%c, %d) {{window = [1, 1], groups = 2, rescale = real, clamp = -inf..=inf}}
             %z: f32[1,1,2,1] = dense(%y, %e) {{rescale = real, clamp = -inf..=inf}}
             return %z
             }}"
        );
        Graph::parse(&text).unwrap()
    }

    fn outputs(graph: &Graph) -> Vec<f32> {
        Machine::new(graph).run(&[Data::from_f32(&[0.3, -0.7, 0.1, 0.9])]).unwrap()[0].to_f32()
    }

    fn weights(graph: &Graph, node: usize) -> Vec<f32> {
        numbers(graph, graph.node(graph.order[node]).operands[1]).unwrap()
    }

    fn near(a: &[f32], b: &[f32]) {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-5 * b.abs()), "{a:?} {b:?}");
    }

    #[test]
    fn ranges_of_weights_meet_and_results_stay() {
        let mut graph = chain("0.0..=inf");
        let before = outputs(&graph);
        assert!(by_weights(&mut graph));
        near(&outputs(&graph), &before);
        // Before and behind each channel.
        near(
            &[weights(&graph, 0)[0], weights(&graph, 0)[2]],
            &[weights(&graph, 1)[0].abs(), weights(&graph, 1)[1].abs()],
        );
    }

    #[test]
    fn channels_use_the_range_that_they_share() {
        let mut graph = chain("0.0..=inf");
        let before = outputs(&graph);
        let between = between(&graph);
        assert_eq!(between.len(), 2);
        let largest = [(between[0], vec![100.0, 1.0])].into_iter().collect();
        assert!(by_activations(&mut graph, &largest));
        near(&outputs(&graph), &before);
        near(&weights(&graph, 0), &[64.0, 32.0, 50.0, 25.0]);
        near(&weights(&graph, 1), &[0.25, 0.08]);
    }

    #[test]
    fn a_bounded_activation_stands_between() {
        assert_eq!(between(&chain("0.0..=6.0")).len(), 1);
    }
}
