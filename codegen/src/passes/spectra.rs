//! Parts of spectra that are computed apart: afterwards no two layers of one operand have waves of the same length and window as filters. One layer with the filters of all has a
//! slice for each.
//!
//! Networks often have one layer for real and one for imaginary parts. A Fourier transform computes both at once.
//!
//! Exact: each result has the filter that it had.

use super::rewrite::{each_split, node_before};
use crate::ir::{DType, Data, Graph, Layout, NodeId, Op, Type, ValueId};
use crate::waves::Waves;

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let groups = groups(graph);
    let mut merged: Vec<Option<ValueId>> = vec![None; groups.len()];
    !groups.is_empty()
        && each_split(graph, |graph, order, id| {
            let place = groups.iter().zip(&mut merged).find_map(|(group, merged)| {
                let at = group.iter().position(|layer| *layer == id)?;
                Some((group, merged, at))
            });
            let Some((group, merged, at)) = place else { return false };
            let all = *merged.get_or_insert_with(|| together(graph, order, group));
            let first: usize = group.iter().take(at).map(|&layer| filters(graph, layer)).sum();
            let rank = graph.ty(all).shape.rank();
            let begin = [vec![0; rank - 1], vec![first]].concat();
            let node = graph.node_mut(id);
            (node.op, node.operands) = (Op::Slice { begin, step: vec![1; rank] }, vec![all]);
            true
        })
}

/// Results of a layer for each pixel or row. It is that of its slice, too.
fn filters(graph: &Graph, layer: NodeId) -> usize {
    graph.ty(graph.node(layer).result).shape.last()
}

/// Layers that are computed together, each in the order of the graph.
fn groups(graph: &Graph) -> Vec<Vec<NodeId>> {
    let mut groups: Vec<Vec<NodeId>> = Vec::new();
    for &id in &graph.order {
        if !is_layer(graph, id) {
            continue;
        }
        match groups.iter_mut().find(|group| group.first().is_some_and(|&first| is_alike(graph, first, id))) {
            Some(group) => group.push(id),
            None => groups.push(vec![id]),
        }
    }
    // Those of two and more are few. Sines alone do not show their window.
    groups.retain(|group| {
        let count = group.iter().map(|&layer| filters(graph, layer)).sum();
        group.len() > 1 && Waves::of(&weights(graph, group), count).is_some()
    });
    groups
}

/// The filters of all of these layers.
fn weights(graph: &Graph, group: &[NodeId]) -> Data {
    let stored = group.iter().filter_map(|&layer| graph.const_data(*graph.node(layer).operands.get(1)?));
    Data::new(stored.flat_map(|data| data.bytes().to_vec()).collect::<Vec<u8>>())
}

/// Whether it is a layer of floats without groups.
fn is_layer(graph: &Graph, id: NodeId) -> bool {
    let node = graph.node(id);
    let is_plain = match &node.op {
        Op::Conv2d { groups, layout, .. } => *groups == 1 && *layout == Layout::default(),
        Op::Dense { .. } => true,
        _ => false,
    };
    let (Some(&x), Some(constants)) = (node.operands.first(), node.operands.get(1..)) else { return false };
    let mut ids = constants.iter().chain([&x, &node.result]);
    let floats = ids.all(|&id| graph.ty(id).dtype == DType::F32);
    is_plain && floats && constants.iter().all(|&id| graph.const_data(id).is_some())
}

/// Whether the filters of two layers see the same numbers.
fn is_alike(graph: &Graph, a: NodeId, b: NodeId) -> bool {
    let (a, b) = (graph.node(a), graph.node(b));
    let taps = |weights: &ValueId| graph.ty(*weights).shape.dims().get(1..).map(<[usize]>::to_vec);
    a.op == b.op
        && a.operands.first() == b.operands.first()
        && a.operands.get(1).map(taps) == b.operands.get(1).map(taps)
}

/// The biases of all of these layers, if one has some.
fn biases(graph: &Graph, group: &[NodeId]) -> Option<Vec<f32>> {
    let own = |&layer: &NodeId| graph.const_data(*graph.node(layer).operands.get(2)?).map(Data::to_f32);
    let each = |layer: &NodeId| own(layer).unwrap_or_else(|| vec![0.0; filters(graph, *layer)]);
    group.iter().any(|layer| own(layer).is_some()).then(|| group.iter().flat_map(each).collect())
}

/// Adds the layer with the filters of all.
fn together(graph: &mut Graph, order: &mut Vec<NodeId>, group: &[NodeId]) -> ValueId {
    let lead = group[0];
    let node = graph.node(lead);
    let (op, x, first) = (node.op.clone(), node.operands[0], node.operands[1]);
    let count: usize = group.iter().map(|&layer| filters(graph, layer)).sum();
    let last = |dims: &[usize], at: usize| {
        let mut dims = dims.to_vec();
        dims[at] = count;
        dims
    };
    let shape = &graph.ty(graph.node(lead).result).shape;
    let result = Type::plain(DType::F32, &last(shape.dims(), shape.rank() - 1));
    let stored = Type::plain(DType::F32, &last(graph.ty(first).shape.dims(), 0));
    let data = weights(graph, group);
    let filters = graph.add_const("waves", stored, data);
    let bias = biases(graph, group).map(|biases| {
        let ty = Type::plain(DType::F32, &[count]);
        graph.add_const("biases", ty, Data::from_f32(&biases))
    });
    let operands: Vec<ValueId> = [x, filters].into_iter().chain(bias).collect();
    node_before(graph, order, lead, op, &operands, result)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites_used};
    use super::*;
    use std::f64::consts::TAU;

    /// Waves of a transform of 16 numbers, without a window.
    fn waves(function: fn(f64) -> f64, sign: f64) -> String {
        let wave =
            |k: usize| (0..16).map(move |t| (sign * function(TAU * ((k * t) % 16) as f64 / 16.0)) as f32);
        (0..16).flat_map(wave).map(|w| format!("{w:?}")).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn real_and_imaginary_parts_are_one_layer() {
        let (cosines, sines) = (waves(f64::cos, 1.0), waves(f64::sin, -1.0));
        rewrites_used(
            run,
            &format!(
                "input %x: f32[3,16]
                 const %c: f32[16,16] = [{cosines}]
                 const %s: f32[16,16] = [{sines}]
                 %re: f32[3,16] = dense(%x, %c) {{rescale = real, clamp = -inf..=inf}}
                 %im: f32[3,16] = dense(%x, %s) {{rescale = real, clamp = -inf..=inf}}
                 return %re, %im"
            ),
            &format!(
                "input %x: f32[3,16]
                 const %waves \"waves\": f32[32,16] = [{cosines}, {sines}]
                 %all: f32[3,32] = dense(%x, %waves) {{rescale = real, clamp = -inf..=inf}}
                 %re: f32[3,16] = slice(%all) {{begin = [0, 0], step = [1, 1]}}
                 %im: f32[3,16] = slice(%all) {{begin = [0, 16], step = [1, 1]}}
                 return %re, %im"
            ),
        );
    }

    #[test]
    fn biases_stay_with_their_filters() {
        let (cosines, sines) = (waves(f64::cos, 1.0), waves(f64::sin, -1.0));
        rewrites_used(
            run,
            &format!(
                "input %x: f32[3,16]
                 const %c: f32[16,16] = [{cosines}]
                 const %s: f32[16,16] = [{sines}]
                 const %b: f32[16] = splat 0.5
                 %re: f32[3,16] = dense(%x, %c, %b) {{rescale = real, clamp = 0.0..=inf}}
                 %im: f32[3,16] = dense(%x, %s) {{rescale = real, clamp = 0.0..=inf}}
                 return %re, %im"
            ),
            &format!(
                "input %x: f32[3,16]
                 const %waves \"waves\": f32[32,16] = [{cosines}, {sines}]
                 const %biases \"biases\": f32[32] = [{halves}, {zeros}]
                 %all: f32[3,32] = dense(%x, %waves, %biases) {{rescale = real, clamp = 0.0..=inf}}
                 %re: f32[3,16] = slice(%all) {{begin = [0, 0], step = [1, 1]}}
                 %im: f32[3,16] = slice(%all) {{begin = [0, 16], step = [1, 1]}}
                 return %re, %im",
                halves = ["0.5"; 16].join(", "),
                zeros = ["0.0"; 16].join(", "),
            ),
        );
    }

    #[test]
    fn other_layers_stay() {
        let cosines = waves(f64::cos, 1.0);
        keeps(
            run,
            &format!(
                "input %x: f32[3,16]
                 input %z: f32[3,16]
                 const %c: f32[16,16] = [{cosines}]
                 const %n: f32[16,16] = [{}]
                 %a: f32[3,16] = dense(%x, %c) {{rescale = real, clamp = -inf..=inf}}
                 %b: f32[3,16] = dense(%x, %n) {{rescale = real, clamp = -inf..=inf}}
                 %d: f32[3,16] = dense(%z, %c) {{rescale = real, clamp = -inf..=inf}}
                 return %a, %b, %d",
                (0..256).map(|i| format!("{}.0", i % 7)).collect::<Vec<_>>().join(", ")
            ),
        );
    }
}
