//! The walk that rewriting passes share.

use crate::ir::{Graph, Node, NodeId, Op, Type, ValueId};

/// What a rule did to a node.
pub(super) enum Rewrite {
    /// Nothing.
    Keep,
    /// It changed the node's op or operands; the result keeps its type.
    Changed,
    /// The result is always equal to this earlier value, of the same type: the node is not needed.
    Same(ValueId),
}

/// Applies a rule to every live node in evaluation order; the operands of a node are already replaced when the rule sees it. Takes
/// time linear in the graph. Says whether anything changed.
pub(super) fn each_node(graph: &mut Graph, mut rule: impl FnMut(&mut Graph, NodeId) -> Rewrite) -> bool {
    let mut replaced: Vec<Option<ValueId>> = vec![None; graph.values().count()];
    let swap = |replaced: &[Option<ValueId>], id: &mut ValueId| {
        if let Some(Some(new)) = replaced.get(id.0 as usize) {
            *id = *new;
        }
    };
    let mut changed = false;
    let mut order = Vec::with_capacity(graph.order.len());
    for id in std::mem::take(&mut graph.order) {
        graph.node_mut(id).operands.iter_mut().for_each(|operand| swap(&replaced, operand));
        match rule(graph, id) {
            Rewrite::Keep => order.push(id),
            Rewrite::Changed => {
                changed = true;
                order.push(id);
            }
            Rewrite::Same(new) => {
                changed = true;
                let old = graph.node(id).result;
                keep_output_name(graph, old, new);
                replaced[old.0 as usize] = Some(new);
            }
        }
    }
    graph.order = order;
    let mut outputs = std::mem::take(&mut graph.outputs);
    outputs.iter_mut().for_each(|id| swap(&replaced, id));
    graph.outputs = outputs;
    graph.states.iter_mut().for_each(|state| swap(&replaced, &mut state.next));
    changed
}

/// Applies a rule to every live node in evaluation order, which says whether it changed the node. It may put nodes before it ([`node_before`]). Says whether anything changed.
pub(super) fn each_split(
    graph: &mut Graph,
    mut rule: impl FnMut(&mut Graph, &mut Vec<NodeId>, NodeId) -> bool,
) -> bool {
    let mut order = Vec::with_capacity(graph.order.len());
    let mut changed = false;
    for id in std::mem::take(&mut graph.order) {
        changed |= rule(graph, &mut order, id);
        order.push(id);
    }
    graph.order = order;
    changed
}

/// Puts a node at the end of an order, where a node of the same name and origin follows; gives its result.
pub(super) fn node_before(
    graph: &mut Graph,
    order: &mut Vec<NodeId>,
    id: NodeId,
    op: Op,
    operands: &[ValueId],
    ty: Type,
) -> ValueId {
    let node = graph.node(id);
    let (name, origin) = (graph.value(node.result).name.clone(), node.origin.clone());
    let new = graph.add_detached_node(op, operands, name, ty, origin);
    order.push(new);
    graph.node(new).result
}

/// What computes the elements of a node's result, under another shape.
pub(super) struct Reshaped {
    pub(super) op: Op,
    pub(super) operands: Vec<ValueId>,
    pub(super) result: Type,
}

/// As [`each_split`]. Where the rule gives something, that becomes a node of its own, and the node a reshape of its result.
pub(super) fn each_reshaped(
    graph: &mut Graph,
    mut rule: impl FnMut(&mut Graph, &mut Vec<NodeId>, NodeId) -> Option<Reshaped>,
) -> bool {
    each_split(graph, |graph, order, id| {
        let Some(Reshaped { op, operands, result }) = rule(graph, order, id) else { return false };
        let value = node_before(graph, order, id, op, &operands, result);
        let node = graph.node_mut(id);
        (node.op, node.operands) = (Op::Reshape {}, vec![value]);
        true
    })
}

/// An output is known to the user by its name: a computed value that takes its place takes its name.
fn keep_output_name(graph: &mut Graph, old: ValueId, new: ValueId) {
    if graph.outputs.contains(&old) && !graph.outputs.contains(&new) && graph.producer(new).is_some() {
        let name = graph.value(old).name.clone();
        graph.value_mut(new).name = name;
    }
}

/// The live node that computes a value.
pub(super) fn producer(graph: &Graph, value: ValueId) -> Option<&Node> {
    graph.producer(value).map(|id| graph.node(id))
}

/// The live node that computes a node's first operand.
pub(super) fn first_producer<'g>(graph: &'g Graph, node: &Node) -> Option<&'g Node> {
    producer(graph, *node.operands.first()?)
}
