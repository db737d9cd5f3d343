//! A graph without what is dead, and the order in which values are printed.

use crate::{Graph, NodeId, ValueDef, ValueId};

/// A line of the textual form that declares a value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Declaration {
    Input(ValueId),
    State(ValueId),
    Const(ValueId),
    Node(NodeId),
}

/// Every live declaration: inputs, states, then nodes in evaluation order, each after the constants it is the first to use.
pub(super) fn declarations(graph: &Graph) -> Vec<Declaration> {
    let mut seen = vec![false; graph.values().count()];
    let mut lines = Vec::new();
    let mut fresh_const = |lines: &mut Vec<Declaration>, id: ValueId| {
        let is_const = graph.get_value(id).is_some_and(|v| matches!(v.def, ValueDef::Const(_)));
        if is_const && !std::mem::replace(&mut seen[id.0 as usize], true) {
            lines.push(Declaration::Const(id));
        }
    };
    lines.extend(graph.inputs.iter().map(|&id| Declaration::Input(id)));
    lines.extend(graph.states.iter().map(|state| Declaration::State(state.current)));
    for &id in &graph.order {
        let Some(node) = graph.get_node(id) else { continue };
        node.operands.iter().for_each(|&operand| fresh_const(&mut lines, operand));
        lines.push(Declaration::Node(id));
    }
    graph.states.iter().for_each(|state| fresh_const(&mut lines, state.next));
    graph.outputs.iter().for_each(|&id| fresh_const(&mut lines, id));
    lines
}

impl Graph {
    /// The same graph without dead nodes and unused constants, with handles counted in the order of the textual form: two
    /// graphs that print alike but for their handles are equal when compact. The graph must be well formed (verified);
    /// references to what does not exist are kept as they are, and a state is named like its value.
    pub fn compact(&self) -> Graph {
        let mut graph = Graph::new(self.name.clone());
        let mut renamed: Vec<Option<ValueId>> = vec![None; self.values().count()];
        let mut nodes = Vec::new();
        let lines = declarations(self);
        graph.reserve(lines.len(), self.order.len());
        for line in lines {
            let (old, new) = match line {
                Declaration::Input(id) => {
                    let Some(v) = self.get_value(id) else { continue };
                    (id, graph.add_input(v.name.clone(), v.ty.clone()))
                }
                Declaration::State(id) => {
                    let state = self.states.iter().find(|s| s.current == id);
                    let (Some(v), Some(state)) = (self.get_value(id), state) else { continue };
                    let current = graph.add_state(v.name.clone(), v.ty.clone(), state.init.clone());
                    (id, current)
                }
                Declaration::Const(id) => {
                    let (Some(v), Some(data)) = (self.get_value(id), self.const_data(id)) else { continue };
                    (id, graph.add_const(v.name.clone(), v.ty.clone(), data.clone()))
                }
                Declaration::Node(id) => {
                    let Some(node) = self.get_node(id) else { continue };
                    let Some(v) = self.get_value(node.result) else { continue };
                    let (op, origin) = (node.op.clone(), node.origin.clone());
                    let new = graph.add_detached_node(op, &[], v.name.clone(), v.ty.clone(), origin);
                    graph.order.push(new);
                    nodes.push((id, new));
                    (node.result, graph.node(new).result)
                }
            };
            renamed[old.0 as usize] = Some(new);
        }
        let rename = |id: ValueId| renamed.get(id.0 as usize).copied().flatten().unwrap_or(id);
        for (old, new) in nodes {
            graph.node_mut(new).operands = self.node(old).operands.iter().map(|&id| rename(id)).collect();
        }
        for (state, old) in graph.states.iter_mut().zip(&self.states) {
            state.next = rename(old.next);
        }
        graph.outputs = self.outputs.iter().map(|&id| rename(id)).collect();
        graph
    }
}
