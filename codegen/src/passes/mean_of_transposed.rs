//! Means of transposed values: afterwards no mean reads a transpose that nothing else reads, if there is a mean of what was transposed; its result is
//! transposed instead, which is smaller or does not move at all.
//!
//! Exact: a mean is rounded once, from the sum of the same elements. Floats are added in the order in which they are stored, so that the axes that are
//! reduced must keep their order.

use super::rewrite::{each_split, first_producer, node_before};
use crate::ir::{DType, Graph, NodeId, Op, Type, ValueId};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let uses = graph.use_counts();
    each_split(graph, |graph, order, id| {
        let Some(Untransposed { operand, axes, result, perm }) = untransposed(graph, &uses, id) else {
            return false;
        };
        let mut op = graph.node(id).op.clone();
        if let Op::Mean { axes: slot, .. } = &mut op {
            *slot = axes;
        }
        let value = node_before(graph, order, id, op, &[operand], result);
        let node = graph.node_mut(id);
        (node.op, node.operands) = (Op::Transpose { perm }, vec![value]);
        true
    })
}

/// A mean before the transpose.
struct Untransposed {
    /// What was transposed.
    operand: ValueId,
    /// The reduced axes there.
    axes: Vec<usize>,
    /// The mean's type.
    result: Type,
    /// What transposes the mean.
    perm: Vec<usize>,
}

fn untransposed(graph: &Graph, uses: &[usize], id: NodeId) -> Option<Untransposed> {
    let node = graph.node(id);
    let Op::Mean { axes, .. } = &node.op else { return None };
    let transpose = first_producer(graph, node)?;
    let Op::Transpose { perm } = &transpose.op else { return None };
    if uses.get(transpose.result.0 as usize) != Some(&1) {
        return None;
    }
    let operand = *transpose.operands.first()?;
    let from = axes.iter().map(|&axis| perm.get(axis).copied()).collect::<Option<Vec<usize>>>()?;
    let mut sorted = from.clone();
    sorted.sort_unstable();
    let (x, y) = (graph.ty(operand), graph.ty(node.result));
    if x.dtype == DType::F32 && sorted != from {
        return None;
    }
    let dims = x.shape.dims();
    let keeps_axes = y.shape.rank() == dims.len();
    let left = |axis: &usize| keeps_axes || !sorted.contains(axis);
    // The axes of the mean before the transpose, and their order behind it.
    let own: Vec<usize> = (0..dims.len()).filter(left).collect();
    let behind = perm.iter().filter(|axis| left(axis));
    let perm = behind.map(|axis| own.iter().position(|a| a == axis)).collect::<Option<Vec<usize>>>()?;
    let size = |axis: &usize| if sorted.contains(axis) { 1 } else { dims[*axis] };
    let result = y.with_shape(&own.iter().map(size).collect::<Vec<_>>());
    Some(Untransposed { operand, axes: sorted, result, perm })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites};
    use super::*;

    const SUM: &str = "rescale = [1431655765 * 2^-1], clamp = -128..=127";

    #[test]
    fn the_mean_is_transposed_instead() {
        rewrites(
            run,
            &format!(
                "input %x: i8[1,3,4,5] q(0.5 : -3)
                 %t: i8[1,5,3,4] q(0.5 : -3) = transpose(%x) {{perm = [0, 3, 1, 2]}}
                 %m: i8[1,5,3] q(0.5 : -3) = mean(%t) {{axes = [3], {SUM}}}
                 %y: i8[1,5] q(0.5 : -3) = mean(%m) {{axes = [2], {SUM}}}
                 return %y"
            ),
            &format!(
                "input %x: i8[1,3,4,5] q(0.5 : -3)
                 %t: i8[1,5,3,4] q(0.5 : -3) = transpose(%x) {{perm = [0, 3, 1, 2]}}
                 %m: i8[1,3,5] q(0.5 : -3) = mean(%x) {{axes = [2], {SUM}}}
                 %u: i8[1,5,3] q(0.5 : -3) = transpose(%m) {{perm = [0, 2, 1]}}
                 %y: i8[1,5] q(0.5 : -3) = mean(%m) {{axes = [1], {SUM}}}
                 %z: i8[1,5] q(0.5 : -3) = transpose(%y) {{perm = [0, 1]}}
                 return %z"
            ),
        );
    }

    #[test]
    fn axes_of_one_element_stay_where_they_are() {
        rewrites(
            run,
            "input %x: f32[2,3,4]
             %t: f32[4,2,3] = transpose(%x) {perm = [2, 0, 1]}
             %y: f32[4,1,1] = mean(%t) {axes = [1, 2], rescale = real, clamp = -inf..=inf}
             return %y",
            "input %x: f32[2,3,4]
             %t: f32[4,2,3] = transpose(%x) {perm = [2, 0, 1]}
             %m: f32[1,1,4] = mean(%x) {axes = [0, 1], rescale = real, clamp = -inf..=inf}
             %y: f32[4,1,1] = transpose(%m) {perm = [2, 0, 1]}
             return %y",
        );
    }

    #[test]
    fn floats_in_another_order_and_other_readers_keep_the_transpose() {
        keeps(
            run,
            "input %x: f32[2,3,4]
             %t: f32[4,3,2] = transpose(%x) {perm = [2, 1, 0]}
             %y: f32[4] = mean(%t) {axes = [1, 2], rescale = real, clamp = -inf..=inf}
             return %y",
        );
        keeps(
            run,
            "input %x: f32[2,3]
             %t: f32[3,2] = transpose(%x) {perm = [1, 0]}
             %y: f32[3] = mean(%t) {axes = [1], rescale = real, clamp = -inf..=inf}
             return %y, %t",
        );
    }
}
