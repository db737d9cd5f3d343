//! Which kernels read and write planar images.
//!
//! The layout pass asks this of a graph in any layout. There are no portable kernels for planar images to fall back to.

use super::{packs, tiles, Asked, Gains, Sizes as Shape};
use crate::ir::{DType, Graph, Layout, Node, Op, Order, ValueId};

/// Whether a node's result can be planar: that of a convolution in tiles.
pub(super) fn writes(asked: &Asked<'_>) -> bool {
    let (graph, node) = (asked.graph, asked.node);
    let Op::Conv2d { groups: 1, .. } = node.op else { return false };
    let layout = Layout { x: Order::ChannelLast, y: Order::Planar };
    Shape::of(graph, node).is_some_and(|shape| tiles(&Shape { layout, ..shape }))
        && packs(asked)
        && has_kernel(asked, Gains::Alternating)
}

/// Whether a node's first operand can be planar: that of a depthwise convolution 3 × 3, whose taps are at most one pixel beyond the row.
pub(super) fn reads(asked: &Asked<'_>) -> bool {
    let (graph, node) = (asked.graph, asked.node);
    let Op::Conv2d { window, .. } = &node.op else { return false };
    let Some(shape) = Shape::of(graph, node) else { return false };
    let depthwise = shape.groups > 1 && shape.groups == shape.in_c && shape.out_c == shape.in_c;
    let taps = window.size == [3, 3] && matches!(shape.stride_w, 1 | 2) && window.dilation == [1, 1];
    let pads = window.pad.left <= 1 && window.pad.right <= 1;
    // Shorter rows are in registers as a whole, for which they need padding on both sides.
    let both = shape.stride_w == 1 && window.pad.left + window.pad.right == 2;
    let long = shape.in_w >= if both { LEAST_WIDTH } else { LEAST_WIDTH + 1 };
    let fits = depthwise && taps && pads && long && shape.out_c < MOST_CHANNELS;
    fits && constants(graph, node) && has_kernel(asked, Gains::None)
}

/// Whether a layer need not be left to portable kernels, which know no such images. The search for a cheap form takes a while, so it comes last.
fn has_kernel(asked: &Asked<'_>, gains: Gains) -> bool {
    asked.layer().is_some_and(|layer| layer.has_reference_kernel || asked.proof(gains).is_some())
}

/// Pixels of a row at least.
const LEAST_WIDTH: usize = 3;

/// Channels that a result must not have, for its pixels to be in reach of the kernel's stores.
const MOST_CHANNELS: usize = 2048;

/// Whether a depthwise convolution of channel-last images can be computed four channels at a time.
pub(super) fn by_fours(graph: &Graph, node: &Node, shape: &Shape) -> bool {
    let depthwise = shape.groups >= 4 && shape.groups == shape.in_c && shape.out_c == shape.in_c;
    let last = shape.layout == Layout { x: Order::ChannelLast, y: Order::ChannelLast };
    // Taps are in reach of a load.
    depthwise && last && shape.tap_distance() <= 4095 && constants(graph, node)
}

/// Whether image, weights and result are int8, and the weights known.
fn constants(graph: &Graph, node: &Node) -> bool {
    let i8 = |&id: &ValueId| graph.ty(id).dtype == DType::I8;
    node.operands.iter().take(2).chain([&node.result]).all(i8)
        && node.operands.iter().skip(1).all(|&id| graph.const_data(id).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::select::{planar_operand, planar_result};

    /// Whether result and operand of a convolution of an image of two channels, `width` pixels wide, can be planar.
    fn planar(weights: &str, width: usize, window: &str, groups: usize, out: &str) -> (bool, bool) {
        let graph = Graph::parse(&format!(
            "graph \"g\" {{
               input %x: i8[1,4,{width},2] q(0.5 : -3)
               const %w: {weights}
               %y: i8[1,{out}] q(0.5 : -3) = conv2d(%x, %w) {{window = {window}, groups = {groups}, rescale = [1073741824 * 2^-1], clamp = -128..=127}}
               return %y
             }}"
        ))
        .unwrap();
        assert_eq!(crate::verify::verify(&graph), Ok(()));
        let (id, _) = graph.nodes().next().unwrap();
        let options = crate::Options { target: Some(crate::Target::CortexMDsp), ..Default::default() };
        (planar_result(&graph, id, &options), planar_operand(&graph, id, &options))
    }

    #[test]
    fn tiles_write_planar_rows_if_their_filters_pack() {
        let filters = |last: &str| format!("i8[2,1,1,2] q(0.5 : 0) = [1, -1, 2, {last}]");
        let written = |last: &str| planar(&filters(last), 5, "[1, 1]", 1, "4,5,2");
        assert_eq!((written("-127"), written("-128")), ((true, false), (false, false)));
    }

    #[test]
    fn depthwise_kernels_read_planar_rows() {
        let filters = "i8[2,3,3,1] q(0.5 : 0) = splat 3";
        let read = |width, window: &str, out: &str| planar(filters, width, window, 2, out);
        let padded = "[3, 3] pad [1, 1, 1, 1]";
        assert_eq!(read(5, padded, "4,5,2"), (false, true));
        assert_eq!(read(3, padded, "4,3,2"), (false, true));
        assert_eq!(read(6, "[3, 3] stride [2, 2] pad [0, 1, 0, 1]", "2,3,2"), (false, true));
        // Short rows, distant taps and pixels, several filters for a channel.
        assert_eq!(read(2, padded, "4,2,2"), (false, false));
        assert_eq!(read(5, "[3, 3] dilation [1, 2] pad [1, 1, 2, 2]", "4,5,2"), (false, false));
        assert_eq!(read(9, "[3, 3] stride [1, 3] pad [1, 1, 0, 0]", "4,3,2"), (false, false));
        let several = "i8[4,3,3,1] q(0.5 : 0) = splat 3";
        assert_eq!(planar(several, 5, padded, 2, "4,5,4"), (false, false));
    }
}
