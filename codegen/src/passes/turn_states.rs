//! States in the order of axes that their readers want: afterwards no state is joined with what is new, and the whole transposed, where it would be less to transpose what is new.
//!
//! Such are the histories of streaming convolutions in channel-first models. Turned once, the history of a convolution needs no transpose, and its parts are copied in one piece.
//!
//! Exact: every element is computed from the same elements.

use super::rewrite::{each_split, node_before};
use super::sink_transposes::{inverse, permuted};
use crate::ir::{Graph, Node, NodeId, Op, Shape, ValueId};
use std::collections::BTreeSet;

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let mut changed = false;
    for index in 0..graph.states.len() {
        if let Some(plan) = plan(graph, index) {
            changed |= apply(graph, index, &plan).is_some();
        }
    }
    changed
}

/// What is to be turned, and how.
struct Plan {
    /// New axis `i` is old axis `perm[i]`.
    perm: Vec<usize>,
    /// The state, and what is made of it by joining, cutting and padding.
    values: BTreeSet<ValueId>,
}

fn plan(graph: &Graph, index: usize) -> Option<Plan> {
    let state = graph.states.get(index)?;
    let values = &made_of(graph, state.current);
    let (rank, outside) = (graph.ty(state.current).shape.rank(), |id: &ValueId| graph.outputs.contains(id));
    let is_next =
        |id: &ValueId| graph.states.iter().any(|other| other.next == *id && other.current != state.current);
    if values.iter().any(|id| outside(id) || is_next(id) || graph.ty(*id).is_per_axis()) {
        return None;
    }
    let perm = graph.nodes().find_map(|(_, node)| wanted(graph, values, node))?;
    if perm.iter().copied().eq(0..rank) {
        return None;
    }
    let size = |id: ValueId| graph.ty(id).shape.numel();
    let turn = |id: ValueId| if is_trivial(&perm, graph.ty(id).shape.dims()) { 0 } else { size(id) };
    // Elements that are transposed no more, and those that will be.
    let (mut less, mut more) = (0, 0);
    for (_, node) in graph.nodes() {
        let of = |inside: bool| node.operands.iter().filter(move |&id| values.contains(id) == inside);
        if values.contains(&node.result) {
            more += of(false).map(|&id| turn(id)).sum::<usize>();
        } else if let Some(order) = wanted(graph, values, node) {
            let count = if order == perm { &mut less } else { &mut more };
            *count += size(node.result);
        } else if !is_reshaped_for(graph, node, values, &perm) {
            more += of(true).map(|&id| turn(id)).sum::<usize>();
        }
    }
    more += if values.contains(&state.next) { 0 } else { turn(state.next) };
    (less > more).then(|| Plan { perm, values: values.clone() })
}

/// A value, and all that follows from it by operations that treat all axes alike.
fn made_of(graph: &Graph, value: ValueId) -> BTreeSet<ValueId> {
    let mut values = BTreeSet::from([value]);
    let rank = graph.ty(value).shape.rank();
    for (_, node) in graph.nodes() {
        let moves = matches!(node.op, Op::Concat { .. } | Op::Slice { .. } | Op::Pad { .. });
        if moves
            && graph.ty(node.result).shape.rank() == rank
            && node.operands.iter().any(|o| values.contains(o))
        {
            values.insert(node.result);
        }
    }
    values
}

/// The order of axes in which a node wants one of the values: it transposes it, or a reshape of it that has other axes of one element.
fn wanted(graph: &Graph, values: &BTreeSet<ValueId>, node: &Node) -> Option<Vec<usize>> {
    let Op::Transpose { perm } = &node.op else { return None };
    let value = source(graph, values, *node.operands.first()?)?;
    let (own, read) = (graph.ty(value).shape.dims(), graph.ty(*node.operands.first()?).shape.dims());
    let axes: Vec<usize> = (0..own.len()).filter(|&axis| own[axis] != 1).collect();
    let of_read: Vec<usize> = (0..read.len()).filter(|&axis| read[axis] != 1).collect();
    let place =
        |axis: &usize| of_read.iter().position(|read| read == axis).and_then(|k| axes.get(k).copied());
    let order = perm.iter().filter(|axis| of_read.contains(axis)).map(place).collect::<Option<Vec<_>>>()?;
    let single = (0..own.len()).filter(|axis| !axes.contains(axis));
    Some(single.chain(order).collect())
}

/// Which of the values that is, or is a reshape of that has other axes of one element.
fn source(graph: &Graph, values: &BTreeSet<ValueId>, id: ValueId) -> Option<ValueId> {
    if values.contains(&id) {
        return Some(id);
    }
    let node = graph.node(graph.producer(id)?);
    let from = node.operands.first().copied().filter(|from| values.contains(from))?;
    let long = |id: ValueId| graph.ty(id).shape.dims().iter().copied().filter(|&dim| dim != 1);
    (matches!(node.op, Op::Reshape {}) && long(from).eq(long(id))).then_some(from)
}

/// Whether a node is a reshape that only transposes to that order read.
fn is_reshaped_for(graph: &Graph, node: &Node, values: &BTreeSet<ValueId>, perm: &[usize]) -> bool {
    let reads = |reader: &&Node| reader.operands.contains(&node.result);
    let ends = graph.outputs.contains(&node.result) || graph.states.iter().any(|s| s.next == node.result);
    matches!(node.op, Op::Reshape {})
        && !ends
        && graph
            .nodes()
            .map(|(_, reader)| reader)
            .filter(reads)
            .all(|reader| wanted(graph, values, reader).is_some_and(|order| order == perm))
}

/// Whether a permutation leaves all elements where they are.
fn is_trivial(perm: &[usize], dims: &[usize]) -> bool {
    perm.iter().filter(|&&axis| dims.get(axis) != Some(&1)).is_sorted()
}

fn apply(graph: &mut Graph, index: usize, plan: &Plan) -> Option<()> {
    let Plan { perm, values } = plan;
    let back = inverse(perm)?;
    let state = graph.states.get(index)?;
    let (current, next, ty) = (state.current, state.next, graph.ty(state.current).clone());
    let init = state.init.transposed(&Shape(ty.shape.dims().to_vec()), ty.dtype.size(), perm)?;
    let before = graph.clone();
    let turned =
        |ty: &crate::ir::Type, perm: &[usize]| Some(ty.with_shape(&permuted(ty.shape.dims(), perm)?));
    // Puts a value in the other order of axes before a node.
    let other = |graph: &mut Graph, order: &mut Vec<NodeId>, id: NodeId, value: ValueId, perm: &[usize]| {
        let from = match values.contains(&value) {
            true => turned(before.ty(value), &plan.perm)?,
            false => before.ty(value).clone(),
        };
        let op = match is_trivial(perm, from.shape.dims()) {
            true => Op::Reshape {},
            false => Op::Transpose { perm: perm.to_vec() },
        };
        Some(node_before(graph, order, id, op, &[value], turned(&from, perm)?))
    };
    each_split(graph, |graph, order, id| {
        let node = before.node(id);
        if values.contains(&node.result) {
            let operands = node.operands.iter().map(|&operand| match values.contains(&operand) {
                true => Some(operand),
                false => other(graph, order, id, operand, perm),
            });
            let operands: Option<Vec<ValueId>> = operands.collect();
            let (Some(operands), Some(op)) = (operands, permuted_op(&node.op, perm)) else { return false };
            let node = graph.node_mut(id);
            (node.op, node.operands) = (op, operands);
            return true;
        }
        if wanted(&before, values, node).is_some_and(|order| order == *perm) {
            let Some(value) = node.operands.first().and_then(|&read| source(&before, values, read)) else {
                return false;
            };
            let node = graph.node_mut(id);
            (node.op, node.operands) = (Op::Reshape {}, vec![value]);
            return true;
        }
        if node.operands.iter().all(|operand| !values.contains(operand)) {
            return false;
        }
        let operands = node.operands.iter().map(|&operand| match values.contains(&operand) {
            true => other(graph, order, id, operand, &back),
            false => Some(operand),
        });
        let Some(operands) = operands.collect::<Option<Vec<ValueId>>>() else { return false };
        graph.node_mut(id).operands = operands;
        true
    });
    for &value in values {
        let ty = turned(before.ty(value), perm)?;
        graph.value_mut(value).ty = ty;
    }
    let next = match values.contains(&next) {
        true => next,
        false => {
            let ty = turned(before.ty(next), perm)?;
            let (name, origin) = (graph.value(current).name.clone(), String::new());
            let op = Op::Transpose { perm: perm.clone() };
            let id = graph.add_detached_node(op, &[next], name, ty, origin);
            graph.order.push(id);
            graph.node(id).result
        }
    };
    let state = graph.states.get_mut(index)?;
    (state.init, state.next) = (init, next);
    Some(())
}

/// The operation whose operands and result have their axes in the other order.
fn permuted_op(op: &Op, perm: &[usize]) -> Option<Op> {
    let mut op = op.clone();
    match &mut op {
        Op::Concat { axis } => *axis = perm.iter().position(|from| from == axis)?,
        Op::Pad { before, after, .. } => {
            (*before, *after) = (permuted(before, perm)?, permuted(after, perm)?)
        }
        Op::Slice { begin, step } => {
            *begin = permuted(begin, perm)?;
            *step = perm.iter().map(|&axis| step.get(axis).copied()).collect::<Option<_>>()?;
        }
        _ => return None,
    }
    Some(op)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites_used};
    use super::*;

    #[test]
    fn a_history_of_channel_first_steps_is_turned() {
        rewrites_used(
            run,
            "state %s: f32[1,2,2] = [1.0, 2.0, 3.0, 4.0]
             input %x: f32[1,2,1]
             %c: f32[1,2,3] = concat(%s, %x) {axis = 2}
             %n: f32[1,2,2] = slice(%c) {begin = [0, 0, 1], step = [1, 1, 1]}
             %r: f32[1,2,1,3] = reshape(%c)
             %y: f32[1,1,3,2] = transpose(%r) {perm = [0, 2, 3, 1]}
             next %s = %n
             return %y",
            "state %s: f32[1,2,2] = [1.0, 3.0, 2.0, 4.0]
             input %x: f32[1,2,1]
             %e: f32[1,1,2] = reshape(%x)
             %c: f32[1,3,2] = concat(%s, %e) {axis = 1}
             %n: f32[1,2,2] = slice(%c) {begin = [0, 1, 0], step = [1, 1, 1]}
             %y: f32[1,1,3,2] = reshape(%c)
             next %s = %n
             return %y",
        );
    }

    #[test]
    fn what_else_reads_or_writes_it_is_transposed() {
        rewrites_used(
            run,
            "state %s: f32[2,4] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
             input %x: f32[2,2]
             input %z: f32[2,4]
             %c: f32[2,6] = concat(%s, %x) {axis = 1}
             %p: f32[2,7] = pad(%c) {before = [0, 1], after = [0, 0], value = 0}
             %y: f32[7,2] = transpose(%p) {perm = [1, 0]}
             %w: f32[7,2] = transpose(%p) {perm = [1, 0]}
             %n: f32[2,4] = unary(%z) {function = neg}
             next %s = %n
             return %y, %w",
            "state %s: f32[4,2] = [1.0, 5.0, 2.0, 6.0, 3.0, 7.0, 4.0, 8.0]
             input %x: f32[2,2]
             input %z: f32[2,4]
             %e: f32[2,2] = transpose(%x) {perm = [1, 0]}
             %c: f32[6,2] = concat(%s, %e) {axis = 0}
             %p: f32[7,2] = pad(%c) {before = [1, 0], after = [0, 0], value = 0}
             %y: f32[7,2] = reshape(%p)
             %w: f32[7,2] = reshape(%p)
             %n: f32[2,4] = unary(%z) {function = neg}
             %t: f32[4,2] = transpose(%n) {perm = [1, 0]}
             next %s = %t
             return %y, %w",
        );
    }

    #[test]
    fn nothing_is_turned_that_would_cost_as_much() {
        // What is new is as large as the whole.
        keeps(
            run,
            "state %s: f32[2,3] = splat 0.0
             input %x: f32[2,3]
             %y: f32[3,2] = transpose(%s) {perm = [1, 0]}
             next %s = %x
             return %y",
        );
        // The joined values are an output as they are.
        keeps(
            run,
            "state %s: f32[2,3] = splat 0.0
             input %x: f32[2,1]
             %c: f32[2,4] = concat(%s, %x) {axis = 1}
             %n: f32[2,3] = slice(%c) {begin = [0, 1], step = [1, 1]}
             %y: f32[4,2] = transpose(%c) {perm = [1, 0]}
             next %s = %n
             return %y, %c",
        );
    }
}
