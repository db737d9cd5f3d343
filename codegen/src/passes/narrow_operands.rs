//! Operands that repeat: afterwards no element-wise op reads a constant or a broadcast that holds the same numbers several times, where the other operand has all sizes of the result.
//!
//! The op repeats them itself, as NumPy does it. A summand of channels that was written out for each pixel becomes a bias this way ([`fold_scale`](super::fold_scale)).
//!
//! Exact: every element is computed from the same elements.

use super::rewrite::{each_node, Rewrite};
use crate::ir::{Data, Graph, NodeId, Op, Type, ValueId};
use std::borrow::Cow;

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    each_node(graph, |graph, id| {
        let mut changed = false;
        for k in 0..graph.node(id).op.elementwise_operands() {
            changed |= narrowed(graph, id, k).is_some();
        }
        if changed {
            Rewrite::Changed
        } else {
            Rewrite::Keep
        }
    })
}

/// Narrows one operand of a node.
fn narrowed(graph: &mut Graph, id: NodeId, k: usize) -> Option<()> {
    let node = graph.node(id);
    let along = node.operands.get(..node.op.elementwise_operands())?;
    let (&operand, result) = (along.get(k)?, graph.ty(node.result).shape.dims());
    let ty = graph.ty(operand);
    if along.len() < 2 || ty.is_per_axis() {
        return None;
    }
    // Sizes that the other operands give the result without this one.
    let others = along.iter().enumerate().filter(|&(other, _)| other != k).map(|(_, &other)| other);
    let others: Vec<&[usize]> = others.map(|other| graph.ty(other).shape.dims()).collect();
    let given = |axis: usize| {
        let from_end = result.len() - axis;
        let of = |dims: &[usize]| dims.len().checked_sub(from_end).and_then(|at| dims.get(at).copied());
        others.iter().any(|dims| of(dims) == result.get(axis).copied())
    };
    let first = result.len().checked_sub(ty.shape.rank())?;
    let narrow = match graph.const_data(operand) {
        Some(data) => {
            let (ty, data) = without_repetition(ty, data, |axis| given(first + axis))?;
            let name = graph.value(operand).name.clone();
            graph.add_const(name, ty, data)
        }
        None => before_broadcast(graph, operand, |axis| given(first + axis))?,
    };
    *graph.node_mut(id).operands.get_mut(k)? = narrow;
    Some(())
}

/// What a broadcast repeats, if only along axes that may be repeated later.
fn before_broadcast(graph: &Graph, value: ValueId, may: impl Fn(usize) -> bool) -> Option<ValueId> {
    let node = graph.node(graph.producer(value)?);
    let &from = node.operands.first().filter(|_| matches!(node.op, Op::Broadcast {}))?;
    let (to, dims) = (graph.ty(value).shape.dims(), graph.ty(from).shape.dims());
    let new = to.len().checked_sub(dims.len())?;
    let repeats = |axis: usize| axis < new || dims.get(axis - new) != to.get(axis);
    (0..to.len()).all(|axis| !repeats(axis) || may(axis)).then_some(from)
}

/// A constant whose axes are 1 where all that lies along them is the same.
fn without_repetition(ty: &Type, data: &Data, may: impl Fn(usize) -> bool) -> Option<(Type, Data)> {
    let mut dims = ty.shape.dims().to_vec();
    let mut bytes = Cow::Borrowed(data.bytes());
    for axis in 0..dims.len() {
        let inner = dims.get(axis + 1..)?.iter().product::<usize>() * ty.dtype.size();
        let all = dims[axis] * inner;
        let repeats = |block: &[u8]| block.chunks_exact(inner).all(|part| Some(part) == block.get(..inner));
        if dims[axis] < 2 || all == 0 || !may(axis) || !bytes.chunks_exact(all).all(repeats) {
            continue;
        }
        let once = bytes.chunks_exact(all).flat_map(|block| block.get(..inner).unwrap_or_default());
        bytes = Cow::Owned(once.copied().collect());
        dims[axis] = 1;
    }
    // Numbers of channels are known by having no other axes.
    let leading = (0..dims.len()).take_while(|&axis| dims[axis] == 1 && may(axis)).count();
    if leading + 1 >= dims.len() {
        dims.drain(..dims.len().saturating_sub(1));
    }
    (dims != ty.shape.dims()).then(|| (ty.with_shape(&dims), Data::new(bytes.as_ref())))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites_used};
    use super::*;

    #[test]
    fn constants_are_held_once() {
        rewrites_used(
            run,
            "input %x: f32[1,2,3]
             const %c: f32[1,2,3] = [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]
             const %d: f32[2,3] = [5.0, 5.0, 5.0, 6.0, 6.0, 6.0]
             const %e: f32[3] = [7.0, 7.0, 7.0]
             %a: f32[1,2,3] = add(%x, %c) {rescale = real, clamp = -inf..=inf}
             %b: f32[1,2,3] = mul(%d, %a) {rescale = real, clamp = -inf..=inf}
             %y: f32[1,2,3] = binary(%b, %e) {function = max, rescale = real, clamp = -inf..=inf}
             return %y",
            "input %x: f32[1,2,3]
             const %c: f32[3] = [1.0, 2.0, 3.0]
             const %d: f32[2,1] = [5.0, 6.0]
             const %e: f32[1] = [7.0]
             %a: f32[1,2,3] = add(%x, %c) {rescale = real, clamp = -inf..=inf}
             %b: f32[1,2,3] = mul(%d, %a) {rescale = real, clamp = -inf..=inf}
             %y: f32[1,2,3] = binary(%b, %e) {function = max, rescale = real, clamp = -inf..=inf}
             return %y",
        );
    }

    #[test]
    fn broadcasts_are_left_to_the_op() {
        rewrites_used(
            run,
            "input %x: f32[2,3]
             input %m: f32[2,1]
             input %z: f32[3]
             %b: f32[2,3] = broadcast(%m)
             %c: f32[2,3] = broadcast(%z)
             %s: f32[2,3] = sub(%x, %b) {rescale = real, clamp = -inf..=inf}
             %y: f32[2,3] = mul(%c, %s) {rescale = real, clamp = -inf..=inf}
             return %y",
            "input %x: f32[2,3]
             input %m: f32[2,1]
             input %z: f32[3]
             %s: f32[2,3] = sub(%x, %m) {rescale = real, clamp = -inf..=inf}
             %y: f32[2,3] = mul(%z, %s) {rescale = real, clamp = -inf..=inf}
             return %y",
        );
    }

    #[test]
    fn what_gives_the_result_its_sizes_stays() {
        keeps(
            run,
            "input %x: f32[1,3]
             input %m: f32[1]
             const %c: f32[2,3] = [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]
             %a: f32[2,3] = add(%x, %c) {rescale = real, clamp = -inf..=inf}
             %b: f32[2,1] = broadcast(%m)
             %y: f32[2,3] = mul(%x, %b) {rescale = real, clamp = -inf..=inf}
             return %a, %y",
        );
    }
}
