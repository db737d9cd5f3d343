//! Convolutions of floats with padding, some of whose weights are infinite or NaN: afterwards they are `computed_conv2d`.
//!
//! Padding does not count. Kernels for constant weights add products of zeros instead, which is the same where all weights are finite. The
//! kernel of `computed_conv2d` leaves those products out. It is slower, but such a model is a broken one, or a test.

use super::rewrite::{each_node, Rewrite};
use crate::ir::{DType, Data, Graph, Layout, NodeId, Op, Padding, Rescale, Type};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    each_node(graph, |graph, id| as_computed(graph, id).map_or(Rewrite::Keep, |()| Rewrite::Changed))
}

fn as_computed(graph: &mut Graph, id: NodeId) -> Option<()> {
    let node = graph.node(id);
    let Op::Conv2d { window, groups, rescale: Rescale::Real, clamp, layout } = node.op else { return None };
    if window.pad == Padding::default() || layout != Layout::default() {
        return None;
    }
    let (result, weights) = (node.result, *node.operands.get(1)?);
    let is_float = |id| graph.ty(id).dtype == DType::F32;
    if !is_float(weights) || graph.const_data(weights)?.is_finite() {
        return None;
    }
    if node.operands.len() == 2 {
        let filters = graph.ty(result).shape.last();
        let ty = Type::plain(DType::F32, &[filters]);
        let bias = graph.add_const("no bias", ty, Data::new(vec![0; 4 * filters]));
        graph.node_mut(id).operands.push(bias);
    }
    graph.node_mut(id).op = Op::ComputedConv2d { window, groups, rescale: Rescale::Real, clamp };
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites};
    use super::*;

    fn layer(operands: &str, op: &str, pad: &str) -> String {
        format!("%y: f32[1,1,3,1] = {op}({operands}) {{window = [1, 3]{pad}, groups = 1, rescale = real, clamp = -inf..=inf}}\n return %y")
    }

    #[test]
    fn padding_does_not_meet_them() {
        let x = "input %x: f32[1,1,3,1]\n const %w: f32[1,1,3,1] = [1, inf, nan]";
        let pad = " pad [0, 0, 1, 1]";
        rewrites(
            run,
            &format!("{x}\n {}", layer("%x, %w", "conv2d", pad)),
            &format!(
                "{x}\n const %c \"no bias\": f32[1] = [0]\n {}",
                layer("%x, %w, %c", "computed_conv2d", pad)
            ),
        );
    }

    #[test]
    fn finite_weights_and_windows_inside_the_image_stay() {
        let finite = "input %x: f32[1,1,3,1]\n const %w: f32[1,1,3,1] = [1, 2, 3]";
        keeps(run, &format!("{finite}\n {}", layer("%x, %w", "conv2d", " pad [0, 0, 1, 1]")));
        let inside = "input %x: f32[1,1,5,1]\n const %w: f32[1,1,3,1] = [1, inf, nan]";
        keeps(run, &format!("{inside}\n {}", layer("%x, %w", "conv2d", "")));
    }
}
