//! Groups of channels: a convolution whose channels a depthwise convolution reads, and nothing else, is divided, and so is the depthwise one. What they hold at a
//! time is a group instead of all channels. A concat joins the results.
//!
//! No option asks for it by itself: it costs calls and copies. The search divides what holds up the peak of memory, where rows may be computed again.

use super::dead_channels::{gather, gather_factors};
use super::rewrite::node_before;
use crate::ir::{Graph, Layout, Node, NodeId, Op, Order, ValueId};

/// The number of channels of a group is a multiple of this, where there are as many: kernels like it.
const LANES: usize = 4;

/// Whether [`split`] divides a node.
pub fn can_split(graph: &Graph, id: NodeId) -> bool {
    reader(graph, id).is_some()
}

/// Channels of each of `groups` groups: the last may have fewer. There may be fewer groups than asked for.
fn sizes(channels: usize, groups: usize) -> Vec<usize> {
    let size = channels.div_ceil(groups.max(1)).next_multiple_of(LANES).max(1);
    (0..channels.div_ceil(size)).map(|group| size.min(channels - group * size)).collect()
}

/// The depthwise convolution that alone reads a convolution, and the channels between them.
fn reader(graph: &Graph, id: NodeId) -> Option<(NodeId, usize)> {
    let node = graph.node(id);
    let Op::Conv2d { groups: 1, layout: Layout { y: between, .. }, .. } = node.op else { return None };
    let mut readers = graph.nodes().filter(|(_, reader)| reader.operands.contains(&node.result));
    let (to, depthwise) = readers.next().filter(|_| readers.next().is_none())?;
    let Op::Conv2d { groups, layout, .. } = depthwise.op else { return None };
    let channels = |order: Order, value: ValueId| {
        order.image(graph.ty(value).shape.dims()).map(|[_, _, _, channels]| channels)
    };
    let divides = |node: &Node| {
        let constants = node.operands.iter().skip(1).all(|&id| graph.const_data(id).is_some());
        constants && graph.ty(node.result).quant.as_ref().is_none_or(|quant| quant.axis.is_none())
    };
    let is_kept = graph.outputs.contains(&node.result) || graph.states.iter().any(|s| s.next == node.result);
    let alike = layout.x == between
        && channels(between, node.result) == Some(groups)
        && channels(layout.y, depthwise.result) == Some(groups);
    let fits = alike && groups > LANES && depthwise.operands.first() == Some(&node.result);
    (fits && divides(node) && divides(depthwise) && !is_kept).then_some((to, groups))
}

/// Divides a convolution and the depthwise convolution behind it. Gives the convolutions that take its place: none where it cannot be divided.
pub fn split(graph: &mut Graph, id: NodeId, groups: usize) -> Vec<NodeId> {
    let Some((to, channels)) = reader(graph, id) else { return Vec::new() };
    let sizes = sizes(channels, groups);
    if sizes.len() < 2 {
        return Vec::new();
    }
    let (mut first, mut halves, mut joined, mut order) = (0, Vec::new(), Vec::new(), Vec::new());
    for size in sizes {
        let keep: Vec<usize> = (first..first + size).collect();
        let mut operand = graph.node(id).operands[0];
        for from in [id, to] {
            operand = part(graph, &mut order, from, operand, &keep);
            if from == id {
                halves.extend(order.last().copied());
            }
        }
        joined.push(operand);
        first += size;
    }
    let Op::Conv2d { layout, .. } = graph.node(to).op else { return Vec::new() };
    let axis = channel_axis(layout.y);
    let node = graph.node_mut(to);
    (node.op, node.operands) = (Op::Concat { axis }, joined);
    let before = std::mem::take(&mut graph.order);
    for other in before.into_iter().filter(|&other| other != id) {
        if other == to {
            graph.order.append(&mut order);
        }
        graph.order.push(other);
    }
    halves
}

/// The axis that channels run along.
fn channel_axis(order: Order) -> usize {
    match order {
        Order::ChannelLast => 3,
        Order::Planar => 2,
    }
}

/// A convolution of some of the channels of another one.
fn part(graph: &mut Graph, order: &mut Vec<NodeId>, id: NodeId, operand: ValueId, keep: &[usize]) -> ValueId {
    let node = graph.node(id).clone();
    let mut op = node.op.clone();
    let Op::Conv2d { rescale, groups, layout, .. } = &mut op else { return operand };
    gather_factors(rescale, keep);
    if *groups > 1 {
        *groups = keep.len();
    }
    let ty = graph.ty(node.result).clone();
    let axis = channel_axis(layout.y);
    let mut dims = ty.shape.dims().to_vec();
    dims[axis] = keep.len();
    let mut operands = node.operands.clone();
    operands[0] = operand;
    let value = node_before(graph, order, id, op, &operands, ty.with_shape(&dims));
    let new = order.last().copied().unwrap_or(id);
    for constant in 1..operands.len() {
        gather(graph, new, constant, 0, keep);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_equivalent, parse};
    use super::*;
    use crate::verify::verify;

    /// A convolution to six channels, and a depthwise one behind it, in the order of `layout`.
    fn pair(layout: [&str; 2], image: &str) -> Graph {
        let list =
            |f: &dyn Fn(i32) -> i32, n: i32| (0..n).map(|i| f(i).to_string()).collect::<Vec<_>>().join(", ");
        let rescale = list(&|i| 1_200_000_000 + i * 7_000_000, 6).replace(',', " * 2^-5,");
        parse(&format!(
            "input %x: i8[1,5,4,3] q(0.5 : -3)
             const %w: i8[6,1,1,3] q(0.5 : 0) = [{}]
             const %b: i32[6] = [{}]
             const %d: i8[6,3,3,1] q(0.5 : 0) = [{}]
             const %e: i32[6] = [{}]
             %c: i8{image} q(0.5 : 2) = conv2d(%x, %w, %b) {{window = [1, 1], groups = 1, rescale = [{rescale} * 2^-5], clamp = -128..=127{}}}
             %p: i8[1,3,2,6] q(0.5 : 4) = conv2d(%c, %d, %e) {{window = [3, 3] stride [2, 2] pad [1, 1, 1, 1], groups = 6, rescale = [{rescale} * 2^-5], clamp = -128..=127{}}}
             return %p",
            list(&|i| i * 37 % 201 - 100, 18),
            list(&|i| i * 30 - 70, 6),
            list(&|i| i * 53 % 255 - 127, 54),
            list(&|i| 100 * i - 200, 6),
            layout[0],
            layout[1],
        ))
    }

    #[test]
    fn parts_compute_what_the_whole_did() {
        let planar = [", layout = channel_last to planar", ", layout = planar to channel_last"];
        for (layout, image) in [(["", ""], "[1,5,4,6]"), (planar, "[1,5,6,4]")] {
            let before = pair(layout, image);
            let mut graph = before.clone();
            let id = graph.order[0];
            assert!(can_split(&graph, id));
            assert_eq!(split(&mut graph, id, 2).len(), 2);
            verify(&graph).unwrap_or_else(|v| panic!("{v:#?}\n{graph}"));
            let ops: Vec<&str> = graph.nodes().map(|(_, node)| node.op.name()).collect();
            assert_eq!(ops, ["conv2d", "conv2d", "conv2d", "conv2d", "concat"]);
            assert_equivalent(&before, &graph);
        }
    }

    #[test]
    fn what_others_read_is_not_divided() {
        let mut graph = pair(["", ""], "[1,5,4,6]");
        let id = graph.order[0];
        graph.outputs.push(graph.node(id).result);
        assert!(!can_split(&graph, id));
        assert!(split(&mut graph, id, 2).is_empty());
    }
}
