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

/// Whether a node's first operand can be planar: that of a depthwise convolution of three taps in a row, each at most one pixel beyond the image.
pub fn planar_operand(graph: &Graph, node: &Node) -> bool {
    let Op::Conv2d { window, .. } = &node.op else { return false };
    let Some(shape) = Shape::of(graph, node) else { return false };
    let depthwise = shape.groups > 1 && shape.groups == shape.in_c && shape.out_c == shape.in_c;
    let row = shape.k_w == 3 && matches!(shape.stride_w, 1 | 2) && window.dilation == [1, 1];
    let pads = window.pad.left <= 1 && window.pad.right <= 1;
    depthwise && row && pads && shape.in_w >= LEAST_WIDTH && constants(graph, node)
}

/// Pixels of a row at least.
const LEAST_WIDTH: usize = 3;

/// Whether image, weights and result are int8, and the weights known.
fn constants(graph: &Graph, node: &Node) -> bool {
    let i8 = |&id: &ValueId| graph.ty(id).dtype == DType::I8;
    node.operands.iter().take(2).chain([&node.result]).all(i8)
        && node.operands.iter().skip(1).all(|&id| graph.const_data(id).is_some())
}
