//! Dense layers on transposed values: afterwards no dense layer whose weights nothing else reads takes for a vector what was transposed before, as one does behind the images
//! of models whose images are channel-first; it reads the values as they were, with weights in their order.
//!
//! Exact for integers. Floats are added in another order.

use super::rewrite::{each_node, first_producer, Rewrite};
use crate::ir::{Data, Graph, NodeId, Op, Shape, ValueId};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let uses = graph.use_counts();
    each_node(graph, |graph, id| match untransposed(graph, &uses, id) {
        Some(Untransposed { source, weights, vector }) => {
            let old = graph.value(graph.node(id).operands[1]).clone();
            let weights = graph.add_const(old.name, old.ty, weights);
            graph.node_mut(id).operands[1] = weights;
            // Nothing else reads the vector, so that its node can be changed.
            graph.node_mut(vector).operands = vec![source];
            Rewrite::Changed
        }
        None => Rewrite::Keep,
    })
}

struct Untransposed {
    /// What was transposed.
    source: ValueId,
    weights: Data,
    /// The reshape to vectors.
    vector: NodeId,
}

fn untransposed(graph: &Graph, uses: &[usize], id: NodeId) -> Option<Untransposed> {
    let node = graph.node(id);
    let (Op::Dense { .. }, &[x, w, ..]) = (&node.op, node.operands.as_slice()) else { return None };
    let vector = graph.producer(x)?;
    let reshape = graph.node(vector);
    let transpose = first_producer(graph, reshape)?;
    let (Op::Reshape {}, Op::Transpose { perm }) = (&reshape.op, &transpose.op) else { return None };
    let once = |value: ValueId| uses.get(value.0 as usize) == Some(&1);
    let &[n, k] = graph.ty(x).shape.dims() else { return None };
    let dims = graph.ty(transpose.result).shape.dims();
    if !once(x) || !once(transpose.result) || perm.first() != Some(&0) || dims.first() != Some(&n) {
        return None;
    }
    let source = *transpose.operands.first()?;
    let (data, ty) = (graph.const_data(w)?, graph.ty(w));
    let size = ty.dtype.size();
    // Of each element of the source, in order, its place in the transposed vector.
    let vectors = Shape(dims.get(1..)?.to_vec());
    let strides = vectors.strides();
    let own = Shape(graph.ty(source).shape.dims().get(1..)?.to_vec());
    let own_strides = own.strides();
    let place = |at: usize| -> Option<usize> {
        let axis = |axis: usize| {
            let from = perm.get(axis + 1)?.checked_sub(1)?;
            Some(at / own_strides.get(from)? % own.dims().get(from)? * strides.get(axis)?)
        };
        (0..strides.len()).map(axis).sum()
    };
    let places = (0..k).map(place).collect::<Option<Vec<usize>>>()?;
    let mut bytes = Vec::with_capacity(data.bytes().len());
    for row in data.bytes().chunks_exact(k.checked_mul(size)?.max(1)) {
        for &at in &places {
            bytes.extend_from_slice(row.get(at * size..(at + 1) * size)?);
        }
    }
    Some(Untransposed { source, weights: Data::new(bytes), vector })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites_used};
    use super::*;

    #[test]
    fn weights_are_put_in_the_order_of_the_image() {
        rewrites_used(
            run,
            "input %x: i8[1,2,1,3] q(0.5 : -3)
             const %w: i8[1,6] q(axis 0, [0.5] : [0]) = [1, 2, 3, 4, 5, 6]
             %t: i8[1,3,2,1] q(0.5 : -3) = transpose(%x) {perm = [0, 3, 1, 2]}
             %v: i8[1,6] q(0.5 : -3) = reshape(%t)
             %y: i8[1,1] q(0.5 : 0) = dense(%v, %w) {rescale = [1073741824 * 2^0], clamp = -128..=127}
             return %y",
            "input %x: i8[1,2,1,3] q(0.5 : -3)
             const %w: i8[1,6] q(axis 0, [0.5] : [0]) = [1, 3, 5, 2, 4, 6]
             %v: i8[1,6] q(0.5 : -3) = reshape(%x)
             %y: i8[1,1] q(0.5 : 0) = dense(%v, %w) {rescale = [1073741824 * 2^0], clamp = -128..=127}
             return %y",
        );
    }

    #[test]
    fn others_stay() {
        // The batch moves; something else reads the vector.
        keeps(
            run,
            "input %x: f32[2,3,2]
             const %w: f32[1,6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
             const %u: f32[1,6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
             %t: f32[2,2,3] = transpose(%x) {perm = [2, 0, 1]}
             %v: f32[2,6] = reshape(%t)
             %y: f32[2,1] = dense(%v, %w) {rescale = real, clamp = -inf..=inf}
             %s: f32[2,2,3] = transpose(%x) {perm = [0, 2, 1]}
             %q: f32[2,6] = reshape(%s)
             %z: f32[2,1] = dense(%q, %u) {rescale = real, clamp = -inf..=inf}
             return %y, %z, %q",
        );
    }
}
