//! States in the order of axes that their readers want: afterwards no state is joined with what is new, and the whole transposed, where it would be less to transpose what is new.
//!
//! Such are the histories of streaming convolutions in channel-first models. Turned once, the history of a convolution needs no transpose, and its parts are copied in one piece.
//!
//! Exact: every element is computed from the same elements.

use super::rewrite::{each_split, node_before};
use super::sink_transposes::{inverse, keeps_order, permuted, permuted_op};
use crate::ir::{Graph, Node, NodeId, Op, Type, ValueId};
use std::collections::{BTreeMap, BTreeSet};

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
    /// Transposes that will be none, and what they read then.
    ends: BTreeMap<NodeId, ValueId>,
}

fn plan(graph: &Graph, index: usize) -> Option<Plan> {
    let state = graph.states.get(index)?;
    let values = made_of(graph, state.current);
    let is_next =
        |id: &ValueId| graph.states.iter().any(|other| other.next == *id && other.current != state.current);
    if values.iter().any(|id| graph.outputs.contains(id) || is_next(id) || graph.ty(*id).is_per_axis()) {
        return None;
    }
    let wish = |(id, node)| Some((id, wish(graph, &values, node)?));
    let wishes: Vec<(NodeId, Wish)> = graph.nodes().filter_map(wish).collect();
    let perm = wishes.first()?.1.order.clone();
    if perm.iter().copied().eq(0..perm.len()) {
        return None;
    }
    let wishes: BTreeMap<NodeId, Wish> = wishes.into_iter().collect();
    let size = |id: ValueId| graph.ty(id).shape.numel();
    let turn = |id: ValueId| if keeps_order(&perm, graph.ty(id).shape.dims()) { 0 } else { size(id) };
    // Elements that are transposed no more, and those that will be.
    let (mut less, mut more) = (0, 0);
    for (id, node) in graph.nodes() {
        let (inside, outside): (Vec<ValueId>, Vec<ValueId>) =
            node.operands.iter().partition(|id| values.contains(id));
        if values.contains(&node.result) {
            more += outside.into_iter().map(turn).sum::<usize>();
        } else if let Some(wish) = wishes.get(&id) {
            let count = if wish.order == perm { &mut less } else { &mut more };
            *count += size(node.result);
        } else if !inside.is_empty() && !is_reshaped_for(graph, node, &wishes, &perm) {
            more += inside.into_iter().map(turn).sum::<usize>();
        }
    }
    more += if values.contains(&state.next) { 0 } else { turn(state.next) };
    let ends = wishes.into_iter().filter(|(_, wish)| wish.order == perm).map(|(id, wish)| (id, wish.of));
    let ends = ends.collect();
    (less > more).then_some(Plan { perm, values, ends })
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

/// How a transpose wants one of the values.
struct Wish {
    of: ValueId,
    /// The order of its axes.
    order: Vec<usize>,
}

/// How a node wants one of the values: it transposes it, or a reshape of it that has other axes of one element.
fn wish(graph: &Graph, values: &BTreeSet<ValueId>, node: &Node) -> Option<Wish> {
    let Op::Transpose { perm } = &node.op else { return None };
    let read = *node.operands.first()?;
    let of = source(graph, values, read)?;
    let (own, read) = (graph.ty(of).shape.dims(), graph.ty(read).shape.dims());
    let axes: Vec<usize> = (0..own.len()).filter(|&axis| own[axis] != 1).collect();
    let of_read: Vec<usize> = (0..read.len()).filter(|&axis| read[axis] != 1).collect();
    let place =
        |axis: &usize| of_read.iter().position(|read| read == axis).and_then(|k| axes.get(k).copied());
    let order = perm.iter().filter(|axis| of_read.contains(axis)).map(place).collect::<Option<Vec<_>>>()?;
    let single = (0..own.len()).filter(|axis| !axes.contains(axis));
    Some(Wish { of, order: single.chain(order).collect() })
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
fn is_reshaped_for(graph: &Graph, node: &Node, wishes: &BTreeMap<NodeId, Wish>, perm: &[usize]) -> bool {
    let ends = graph.outputs.contains(&node.result) || graph.states.iter().any(|s| s.next == node.result);
    matches!(node.op, Op::Reshape {})
        && !ends
        && graph
            .nodes()
            .filter(|(_, reader)| reader.operands.contains(&node.result))
            .all(|(id, _)| wishes.get(&id).is_some_and(|wish| wish.order == perm))
}

/// A type with its axes in another order.
fn turned(ty: &Type, perm: &[usize]) -> Option<Type> {
    Some(ty.with_shape(&permuted(ty.shape.dims(), perm)?))
}

fn apply(graph: &mut Graph, index: usize, plan: &Plan) -> Option<()> {
    let Plan { perm, values, ends } = plan;
    let back = inverse(perm)?;
    let state = graph.states.get(index)?;
    let (current, next, ty) = (state.current, state.next, graph.ty(state.current));
    let init = state.init.transposed(&ty.shape, ty.dtype.size(), perm)?;
    for &value in values {
        let ty = turned(graph.ty(value), perm)?;
        graph.value_mut(value).ty = ty;
    }
    // Puts a value in another order of axes before a node.
    let other = |graph: &mut Graph, order: &mut Vec<NodeId>, id: NodeId, value: ValueId, perm: &[usize]| {
        let ty = graph.ty(value);
        let (to, keeps) = (turned(ty, perm)?, keeps_order(perm, ty.shape.dims()));
        let op = if keeps { Op::Reshape {} } else { Op::Transpose { perm: perm.to_vec() } };
        Some(node_before(graph, order, id, op, &[value], to))
    };
    each_split(graph, |graph, order, id| {
        if let Some(&value) = ends.get(&id) {
            let node = graph.node_mut(id);
            (node.op, node.operands) = (Op::Reshape {}, vec![value]);
            return true;
        }
        let node = graph.node(id).clone();
        let is_inside = values.contains(&node.result);
        if !is_inside && node.operands.iter().all(|operand| !values.contains(operand)) {
            return false;
        }
        // What comes from outside is turned, and what goes outside is turned back.
        let (op, to) = if is_inside { (permuted_op(&node.op, perm), perm) } else { (Some(node.op), &back) };
        let operands = node.operands.iter().map(|&operand| match values.contains(&operand) == is_inside {
            true => Some(operand),
            false => other(graph, order, id, operand, to),
        });
        let operands: Option<Vec<ValueId>> = operands.collect();
        let (Some(operands), Some(op)) = (operands, op) else { return false };
        let node = graph.node_mut(id);
        (node.op, node.operands) = (op, operands);
        true
    });
    let next = match values.contains(&next) {
        true => next,
        false => {
            let ty = turned(graph.ty(next), perm)?;
            let (name, op) = (graph.value(current).name.clone(), Op::Transpose { perm: perm.clone() });
            graph.add_node(op, &[next], name, ty, "")
        }
    };
    let state = graph.states.get_mut(index)?;
    (state.init, state.next) = (init, next);
    Some(())
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
