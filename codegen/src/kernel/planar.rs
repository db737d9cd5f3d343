//! Which kernels of cores with the DSP extension read and write planar images.
//!
//! The layout pass asks this of a graph in any layout, and what it finds here `select` has kernels for: there are no portable ones to fall back to.

use super::{packs, tiles, Shape};
use crate::ir::{DType, Graph, Layout, Node, Op, Order, ValueId};

/// Whether a node's result can be planar: that of a convolution in tiles.
pub fn planar_result(graph: &Graph, node: &Node) -> bool {
    let Op::Conv2d { groups: 1, .. } = node.op else { return false };
    let layout = Layout { x: Order::ChannelLast, y: Order::Planar };
    Shape::of(graph, node).is_some_and(|shape| tiles(&Shape { layout, ..shape })) && packs(graph, node)
}

/// Whether a node's first operand can be planar: that of a depthwise convolution 3 × 3, whose taps are at most one pixel beyond the row.
pub fn planar_operand(graph: &Graph, node: &Node) -> bool {
    let Op::Conv2d { window, .. } = &node.op else { return false };
    let Some(shape) = Shape::of(graph, node) else { return false };
    let depthwise = shape.groups > 1 && shape.groups == shape.in_c && shape.out_c == shape.in_c;
    let taps = window.size == [3, 3] && matches!(shape.stride_w, 1 | 2) && window.dilation == [1, 1];
    let pads = window.pad.left <= 1 && window.pad.right <= 1;
    // Shorter rows are in registers as a whole, for which they need padding on both sides.
    let both = shape.stride_w == 1 && window.pad.left + window.pad.right == 2;
    let long = shape.in_w >= if both { LEAST_WIDTH } else { LEAST_WIDTH + 1 };
    depthwise && taps && pads && long && shape.out_c < MOST_CHANNELS && constants(graph, node)
}

/// Pixels of a row at least.
const LEAST_WIDTH: usize = 3;

/// Channels that a result must not have, for its pixels to be in reach of the kernel's stores.
const MOST_CHANNELS: usize = 2048;

/// Whether image, weights and result are int8, and the weights known.
fn constants(graph: &Graph, node: &Node) -> bool {
    let i8 = |&id: &ValueId| graph.ty(id).dtype == DType::I8;
    node.operands.iter().take(2).chain([&node.result]).all(i8)
        && node.operands.iter().skip(1).all(|&id| graph.const_data(id).is_some())
}
