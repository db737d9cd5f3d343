//! Pads before windows: afterwards no convolution reads an image that was padded, in height and width alone, with what its own padding would read: the zero
//! point, or 0.0. And no maximum is taken over an image that was so padded with what is not larger than anything in it.
//!
//! Not for averages, which count what was padded, but not their own padding.

use super::fuse_activation::clamp_of;
use super::rewrite::{each_node, first_producer, Rewrite};
use crate::ir::{DType, Data, Graph, NodeId, Op, Padding, ValueId, Window};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    each_node(graph, |graph, id| match fused(graph, id) {
        Some((image, padding)) => {
            let node = graph.node_mut(id);
            node.operands[0] = image;
            if let Op::Conv2d { window, .. } | Op::MaxPool2d { window, .. } = &mut node.op {
                window.pad = padding;
            }
            Rewrite::Changed
        }
        None => Rewrite::Keep,
    })
}

/// The image before the pad, and the new padding of the window.
fn fused(graph: &Graph, id: NodeId) -> Option<(ValueId, Padding)> {
    let node = graph.node(id);
    let window = node.op.window()?;
    let producer = first_producer(graph, node)?;
    let Op::Pad { before, after, value } = &producer.op else { return None };
    let image = *producer.operands.first()?;
    let order = node.op.layout().x;
    let ([0, top, left, 0], [0, bottom, right, 0]) = (order.image(before)?, order.image(after)?) else {
        return None;
    };
    let pad = window.pad;
    let pad = Padding {
        top: pad.top.checked_add(top)?,
        bottom: pad.bottom.checked_add(bottom)?,
        left: pad.left.checked_add(left)?,
        right: pad.right.checked_add(right)?,
    };
    let neutral = match &node.op {
        Op::Conv2d { .. } => reads_as_nothing(graph, image, *value) && finite(graph, *node.operands.get(1)?),
        Op::MaxPool2d { .. } => {
            let [_, height, width, _] = order.image(graph.ty(image).shape.dims())?;
            never_largest(graph, image, *value) && Window { pad, ..*window }.meets([height, width])
        }
        _ => false,
    };
    let same = graph.ty(image).quant == graph.ty(producer.result).quant;
    (neutral && same).then_some((image, pad))
}

/// Whether a stored value counts as zero in an image.
fn reads_as_nothing(graph: &Graph, image: ValueId, value: i64) -> bool {
    let ty = graph.ty(image);
    value == if ty.dtype == DType::F32 { 0 } else { i64::from(ty.zero_point()) }
}

/// Whether zero times each of these weights is zero. Otherwise the pad's zeros count, and a window's own padding does not.
fn finite(graph: &Graph, weights: ValueId) -> bool {
    let is_float = graph.ty(weights).dtype == DType::F32;
    !is_float || graph.const_data(weights).is_some_and(Data::is_finite)
}

/// Whether no element of an image is smaller than a stored value. (The maximum of floats begins with the smallest finite one.)
fn never_largest(graph: &Graph, image: ValueId, value: i64) -> bool {
    let Some((lowest, _)) = graph.ty(image).dtype.int_range() else {
        return u32::try_from(value).is_ok_and(|bits| f32::from_bits(bits) <= f32::MIN);
    };
    let clamp = graph.producer(image).and_then(|id| clamp_of(&graph.node(id).op));
    value <= clamp.map_or(lowest, |clamp| lowest.max(clamp.int_bounds().0.into()))
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

    /// Zero times infinity is NaN, which a window's own padding would not give.
    #[test]
    fn weights_that_are_not_finite_read_their_padding() {
        let padded = |weight: &str| {
            format!(
                "input %x: f32[1,2,2,1]
                 const %w: f32[1,2,2,1] = [1.0, 2.0, 3.0, {weight}]
                 %p: f32[1,3,3,1] = pad(%x) {{before = [0, 1, 1, 0], after = [0, 0, 0, 0], value = 0}}
                 %y: f32[1,2,2,1] = conv2d(%p, %w) {{window = [2, 2], groups = 1, rescale = real, clamp = -inf..=inf}}
                 return %y"
            )
        };
        keeps(run, &padded("inf"));
        let fused = padded("4.0")
            .replace("conv2d(%p, %w) {window = [2, 2]", "conv2d(%x, %w) {window = [2, 2] pad [1, 0, 1, 0]");
        rewrites(run, &padded("4.0"), &fused);
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

    /// A maximum over %i, padded with the value, or over `of` with a padding of its own.
    fn maximum(before: &str, value: i32, of: &str, pad: &str) -> String {
        format!(
            "input %x: i8[1,3,3,1] q(0.5 : -3)
             %i: i8[1,3,3,1] q(0.5 : -3) = clip(%x) {{clamp = -3..=100}}
             %p: i8[1,5,4,1] q(0.5 : -3) = pad(%i) {{before = {before}, after = [0, 1, 0, 0], value = {value}}}
             %y: i8[1,2,2,1] q(0.5 : -3) = max_pool2d({of}) {{window = [3, 2] stride [2, 2]{pad}, clamp = -128..=127}}
             return %y"
        )
    }

    #[test]
    fn the_smallest_value_joins_the_window_of_a_maximum() {
        let before = "[0, 1, 1, 0]";
        for value in [-128, -3] {
            rewrites(
                run,
                &maximum(before, value, "%p", ""),
                &maximum(before, value, "%i", " pad [1, 1, 1, 0]"),
            );
        }
        // What may be larger, and a window of nothing else.
        keeps(run, &maximum(before, -2, "%p", ""));
        let outside = "input %x: i8[1,1,1,1] q(0.5 : -3)
             %p: i8[1,3,1,1] q(0.5 : -3) = pad(%x) {before = [0, 2, 0, 0], after = [0, 0, 0, 0], value = -128}
             %y: i8[1,2,1,1] q(0.5 : -3) = max_pool2d(%p) {window = [2, 1], clamp = -128..=127}
             return %y";
        keeps(run, outside);
    }

    #[test]
    fn floats_smaller_than_any_join_the_window_of_a_maximum() {
        let lines = |of: &str, pad: &str| {
            format!(
                "input %x: f32[1,3,3,1]
                 %p: f32[1,5,3,1] = pad(%x) {{before = [0, 1, 0, 0], after = [0, 1, 0, 0], value = 4286578688}}
                 %y: f32[1,3,3,1] = max_pool2d({of}) {{window = [3, 1]{pad}, clamp = -inf..=inf}}
                 return %y"
            )
        };
        rewrites(run, &lines("%p", ""), &lines("%x", " pad [1, 1, 0, 0]"));
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
