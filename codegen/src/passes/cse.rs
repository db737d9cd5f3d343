//! Common subexpressions: afterwards no two live nodes compute the same, and no two used constants are equal.

use super::rewrite::{each_node, Rewrite};
use crate::ir::{Data, Graph, Node, Op, Type, ValueId};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Runs the pass. The earlier of two equal values stays.
pub fn run(graph: &mut Graph) -> bool {
    let constants = equal_constants(graph);
    // Results by the hash of what computes them: copies of the nodes would be as large as the graph.
    let mut seen: HashMap<u64, Vec<ValueId>> = HashMap::new();
    let mut changed = unify(&mut graph.outputs, &constants);
    for state in &mut graph.states {
        changed |= unify(std::slice::from_mut(&mut state.next), &constants);
    }
    let nodes = each_node(graph, |graph, id| {
        let unified = unify(&mut graph.node_mut(id).operands, &constants);
        let kept = if unified { Rewrite::Changed } else { Rewrite::Keep };
        let node = graph.node(id);
        // What a function of the user's does besides, no one knows.
        if matches!(node.op, Op::Custom { .. }) {
            return kept;
        }
        let key = key(graph, node);
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let alike = seen.entry(hasher.finish()).or_default();
        let is_same = |&earlier: &ValueId| {
            graph.producer(earlier).is_some_and(|earlier| self::key(graph, graph.node(earlier)) == key)
        };
        match alike.iter().copied().find(is_same) {
            Some(earlier) => Rewrite::Same(earlier),
            None => {
                alike.push(node.result);
                kept
            }
        }
    });
    changed | nodes
}

/// What a node computes: equal for two that compute the same.
fn key<'g>(graph: &'g Graph, node: &'g Node) -> (&'g Op, &'g [ValueId], &'g Type) {
    (&node.op, &node.operands, graph.ty(node.result))
}

/// By value: the first used constant of the same type and data.
fn equal_constants(graph: &Graph) -> Vec<ValueId> {
    let uses = graph.use_counts();
    let mut first: HashMap<(&Type, &Data), ValueId> = HashMap::new();
    let canonical = |id: ValueId| match graph.const_data(id) {
        Some(data) if uses[id.0 as usize] > 0 => *first.entry((graph.ty(id), data)).or_insert(id),
        _ => id,
    };
    graph.values().map(|(id, _)| id).map(canonical).collect()
}

fn unify(ids: &mut [ValueId], canonical: &[ValueId]) -> bool {
    let mut changed = false;
    for id in ids {
        if let Some(&new) = canonical.get(id.0 as usize).filter(|&new| new != id) {
            *id = new;
            changed = true;
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites};
    use super::*;

    #[test]
    fn equal_nodes_and_constants_become_one() {
        rewrites(
            run,
            "input %x: f32[2]
             const %a: f32[2] = [1.0, 2.0]
             const %b: f32[2] = [1.0, 2.0]
             %p: f32[2] = add(%x, %a) {rescale = real, clamp = -inf..=inf}
             %q: f32[2] = add(%x, %b) {rescale = real, clamp = -inf..=inf}
             %r: f32[2] = tanh(%p)
             %s: f32[2] = tanh(%q)
             %y: f32[2] = mul(%r, %s) {rescale = real, clamp = -inf..=inf}
             return %y, %b",
            "input %x: f32[2]
             const %a: f32[2] = [1.0, 2.0]
             %p: f32[2] = add(%x, %a) {rescale = real, clamp = -inf..=inf}
             %r: f32[2] = tanh(%p)
             %y: f32[2] = mul(%r, %r) {rescale = real, clamp = -inf..=inf}
             return %y, %a",
        );
    }

    #[test]
    fn what_differs_in_type_or_attributes_stays() {
        keeps(
            run,
            "input %x: f32[2]
             const %a: f32[2] = [0.0, 1.0]
             const %b: f32[2] = [-0.0, 1.0]
             %p: f32[2] = add(%x, %a) {rescale = real, clamp = -inf..=inf}
             %q: f32[2] = add(%x, %b) {rescale = real, clamp = -inf..=inf}
             %r: f32[2] = clip(%p) {clamp = 0.0..=1.0}
             %s: f32[2] = clip(%p) {clamp = 0.0..=6.0}
             %t: f32[1,2] = reshape(%x)
             %u: f32[2,1] = reshape(%x)
             return %q, %r, %s, %t, %u",
        );
    }
}
