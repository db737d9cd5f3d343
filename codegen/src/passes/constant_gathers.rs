//! Elements at one constant index: afterwards no gather reads a single constant index. A slice takes the elements, and a reshape gives them the result's shape.
//!
//! Exact: elements are moved.

use super::rewrite::{each_reshaped, Reshaped};
use crate::ir::{Graph, NodeId, Op};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    each_reshaped(graph, |graph, _, id| sliced(graph, id))
}

fn sliced(graph: &Graph, id: NodeId) -> Option<Reshaped> {
    let node = graph.node(id);
    let &Op::Gather { batch: 0, axis, depth: 1 } = &node.op else { return None };
    let &[x, indices] = node.operands.as_slice() else { return None };
    let ty = graph.ty(indices);
    let &[index] = graph.const_data(indices)?.to_ints(ty.dtype).as_slice() else { return None };
    let mut dims = graph.ty(x).shape.dims().to_vec();
    let size = dims.get_mut(axis)?;
    let index = usize::try_from(index).ok().filter(|index| index < size)?;
    *size = 1;
    let mut begin = vec![0; dims.len()];
    *begin.get_mut(axis)? = index;
    let op = Op::Slice { begin, step: vec![1; dims.len()] };
    Some(Reshaped { op, operands: vec![x], result: graph.ty(x).with_shape(&dims) })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites_used};
    use super::*;

    #[test]
    fn one_index_is_a_slice() {
        rewrites_used(
            run,
            "input %x: f32[2,3,4]
             const %i: i32[1] = [2]
             %y: f32[2,4] = gather(%x, %i) {batch = 0, axis = 1, depth = 1}
             return %y",
            "input %x: f32[2,3,4]
             %s: f32[2,1,4] = slice(%x) {begin = [0, 2, 0], step = [1, 1, 1]}
             %y: f32[2,4] = reshape(%s)
             return %y",
        );
    }

    #[test]
    fn several_and_computed_indices_stay() {
        keeps(
            run,
            "input %x: f32[3,4]
             input %k: i32[1,1]
             const %i: i32[2,1] = [2, 0]
             %y: f32[2,4] = gather(%x, %i) {batch = 0, axis = 0, depth = 1}
             %z: f32[1,4] = gather(%x, %k) {batch = 0, axis = 0, depth = 1}
             return %y, %z",
        );
    }
}
