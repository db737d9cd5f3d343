//! Pads before convolutions: afterwards no convolution reads an image that was padded, in height and width alone, with what
//! its own padding would read: the zero point, or 0.0.
//!
//! Not for pooling, which does not count its padding.

use super::rewrite::{each_node, first_producer, Rewrite};
use crate::ir::{DType, Graph, NodeId, Op, Padding, ValueId};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    each_node(graph, |graph, id| match fused(graph, id) {
        Some((image, padding)) => {
            let node = graph.node_mut(id);
            node.operands[0] = image;
            if let Op::Conv2d { window, .. } = &mut node.op {
                window.pad = padding;
            }
            Rewrite::Changed
        }
        None => Rewrite::Keep,
    })
}

/// The image before the pad, and the convolution's new padding.
fn fused(graph: &Graph, id: NodeId) -> Option<(ValueId, Padding)> {
    let node = graph.node(id);
    let Op::Conv2d { window, layout, .. } = &node.op else { return None };
    let producer = first_producer(graph, node)?;
    let Op::Pad { before, after, value } = &producer.op else { return None };
    let image = *producer.operands.first()?;
    let (from, to) = (graph.ty(image), graph.ty(producer.result));
    let neutral = match from.dtype {
        DType::F32 => *value == 0,
        _ => *value == i64::from(from.zero_point()),
    };
    let ([0, top, left, 0], [0, bottom, right, 0]) = (layout.x.image(before)?, layout.x.image(after)?) else {
        return None;
    };
    let pad = window.pad;
    let padding = Padding {
        top: pad.top.checked_add(top)?,
        bottom: pad.bottom.checked_add(bottom)?,
        left: pad.left.checked_add(left)?,
        right: pad.right.checked_add(right)?,
    };
    (neutral && from.quant == to.quant).then_some((image, padding))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites};
    use super::*;

    const WEIGHTS: &str = "const %w: i8[1,2,2,1] q(0.5 : 0) = [1, 2, 3, 4]";
    const CONV: &str = "groups = 1, rescale = [1073741824 * 2^0], clamp = -128..=127}";

    fn padded(value: i32, before: &str) -> String {
        format!(
            "input %x: i8[1,3,3,1] q(0.5 : -3)
             {WEIGHTS}
             %p: i8[1,5,4,1] q(0.5 : -3) = pad(%x) {{before = {before}, after = [0, 1, 1, 0], value = {value}}}
             %y: i8[1,4,3,1] q(0.5 : 0) = conv2d(%p, %w) {{window = [2, 2], {CONV}
             return %y"
        )
    }

    #[test]
    fn zero_point_padding_joins_the_window() {
        let after = format!(
            "input %x: i8[1,3,3,1] q(0.5 : -3)
             {WEIGHTS}
             %p: i8[1,5,4,1] q(0.5 : -3) = pad(%x) {{before = [0, 1, 0, 0], after = [0, 1, 1, 0], value = -3}}
             %y: i8[1,4,3,1] q(0.5 : 0) = conv2d(%x, %w) {{window = [2, 2] pad [1, 1, 0, 1], {CONV}
             return %y"
        );
        rewrites(run, &padded(-3, "[0, 1, 0, 0]"), &after);
    }

    #[test]
    fn other_values_stay_outside() {
        keeps(run, &padded(0, "[0, 1, 0, 0]"));
    }

    #[test]
    fn pools_do_not_count_their_padding() {
        keeps(
            run,
            "input %x: f32[1,2,2,1]
             %p: f32[1,4,4,1] = pad(%x) {before = [0, 1, 1, 0], after = [0, 1, 1, 0], value = 0}
             %y: f32[1,2,2,1] = avg_pool2d(%p) {window = [2, 2] stride [2, 2], clamp = -inf..=inf}
             return %y",
        );
    }

    #[test]
    fn channels_are_no_padding() {
        keeps(
            run,
            "input %x: f32[1,2,2,1]
             const %w: f32[1,1,1,2] = [1.0, 2.0]
             %p: f32[1,2,2,2] = pad(%x) {before = [0, 0, 0, 0], after = [0, 0, 0, 1], value = 0}
             %y: f32[1,2,2,1] = conv2d(%p, %w) {window = [1, 1], groups = 1, rescale = real, clamp = -inf..=inf}
             return %y",
        );
    }
}
