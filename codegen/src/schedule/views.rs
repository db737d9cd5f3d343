//! When the elements of a value are adjacent in another: the geometry behind views.

use super::geometry::needs;
use crate::ir::{Graph, Node, Op, Shape, ValueId};

/// Index of the first element of a slice in its operand, if the slice's elements are adjacent there and in order: every
/// axis before the last one that is cut has a single element left.
pub fn slice_offset(operand: &Shape, begin: &[usize], step: &[i64], result: &Shape) -> Option<usize> {
    let (from, to) = (operand.dims(), result.dims());
    if from.len() != to.len() || begin.len() != to.len() || step.len() != to.len() {
        return None;
    }
    let cut = (0..to.len()).rev().find(|&axis| from[axis] != to[axis]).unwrap_or(0);
    for axis in 0..to.len() {
        let in_order = step[axis] == 1 || to[axis] <= 1;
        if !in_order || (axis < cut && to[axis] != 1) {
            return None;
        }
    }
    Some(begin.iter().zip(operand.strides()).map(|(&b, stride)| b * stride).sum())
}

/// Index of the first element of each operand in the result of a concat along `axis`, if every operand's elements stay adjacent
/// there: every axis before `axis` has one element.
pub fn concat_offsets(graph: &Graph, node: &Node) -> Option<Vec<usize>> {
    let Op::Concat { axis } = node.op else { return None };
    let dims = graph.ty(node.result).shape.dims();
    if dims.iter().take(axis).any(|&d| d != 1) {
        return None;
    }
    let mut next = 0;
    let place = |&operand: &ValueId| {
        let first = next;
        next += graph.ty(operand).shape.numel();
        first
    };
    Some(node.operands.iter().map(place).collect())
}

/// The operand a node's result can be a view of, and the index of its first element there.
pub fn view_of(graph: &Graph, node: &Node) -> Option<(ValueId, usize)> {
    let operand = *node.operands.first()?;
    match &node.op {
        Op::Reshape {} => Some((operand, 0)),
        Op::Slice { begin, step } => {
            let shape = |id| &graph.ty(id).shape;
            Some((operand, slice_offset(shape(operand), begin, step, shape(node.result))?))
        }
        _ => None,
    }
}

/// Whether a node is a view of an operand that is no constant, and each of its rows is that row of the operand: then it needs no step in pipelines, either.
pub fn keeps_rows(graph: &Graph, node: &Node) -> bool {
    let varies = |id: &ValueId| graph.const_data(*id).is_none();
    matches!(node.op, Op::Reshape {})
        && node.operands.first().is_some_and(varies)
        && needs(graph, node, 0, 0).is_some()
}

/// Whether element `i` of the node's result depends on element `i` of that operand alone (and, where there are two, on elements
/// of the other), and has the same size: then the result may take that operand's place.
pub fn elementwise(graph: &Graph, node: &Node, operand: usize) -> bool {
    let Some(&id) = node.operands.get(operand) else { return false };
    let in_place = operand < node.op.elementwise_operands();
    let (from, to) = (graph.ty(id), graph.ty(node.result));
    in_place && from.dtype.size() == to.dtype.size() && from.shape.numel() == to.shape.numel()
}
