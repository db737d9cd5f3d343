//! Invariants of the graph: references, order, data.

use super::Violation;
use crate::rules::{ensure, types};
use crate::{Graph, NodeId, Type, ValueDef, ValueId};

/// `%12 "sum" = add (3 ADD)`.
pub(super) fn node_place(graph: &Graph, id: NodeId) -> String {
    let node = graph.node(id);
    let origin = if node.origin.is_empty() { String::new() } else { format!(" ({})", node.origin) };
    format!("{} = {}{origin}", value_place(graph, node.result), node.op.name())
}

/// `%12 "sum"`.
fn value_place(graph: &Graph, id: ValueId) -> String {
    match graph.get_value(id) {
        Some(value) if !value.name.is_empty() => format!("%{} {:?}", id.0, value.name),
        _ => format!("%{}", id.0),
    }
}

/// Every handle is one of this graph, and definitions come before uses.
pub(super) fn check_references(graph: &Graph) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut report = |place: String, what: String| violations.push(Violation { place, what });
    let mut defined: Vec<bool> =
        graph.values().map(|(_, value)| matches!(value.def, ValueDef::Const(_))).collect();
    let is_defined = |defined: &[bool], id: ValueId| defined.get(id.0 as usize).copied().unwrap_or(false);

    let listed = graph.inputs.iter().map(|&id| (id, "input", ValueDef::Input));
    let states = graph.states.iter().map(|state| (state.current, "state", ValueDef::State));
    for (id, kind, def) in listed.chain(states) {
        let place = || format!("{kind} {}", value_place(graph, id));
        match graph.get_value(id) {
            None => report(place(), "does not exist".into()),
            Some(value) if value.def != def => {
                report(place(), format!("is defined as {}", describe(&value.def)))
            }
            Some(_) if is_defined(&defined, id) => report(place(), "is listed twice".into()),
            Some(_) => defined[id.0 as usize] = true,
        }
    }
    for (id, value) in graph.values() {
        let is_entry = matches!(value.def, ValueDef::Input | ValueDef::State);
        if is_entry && !is_defined(&defined, id) {
            report(value_place(graph, id), format!("is defined as {}, but not listed", describe(&value.def)));
        }
    }

    for &id in &graph.order {
        let Some(node) = graph.get_node(id) else {
            report(String::new(), format!("node {} in the evaluation order does not exist", id.0));
            continue;
        };
        let Some(result) = graph.get_value(node.result) else {
            report(String::new(), format!("the result %{} of node {} does not exist", node.result.0, id.0));
            continue;
        };
        let place = || node_place(graph, id);
        for &operand in &node.operands {
            if !is_defined(&defined, operand) {
                report(place(), format!("uses {} before it is defined", value_place(graph, operand)));
            }
        }
        if result.def != ValueDef::Node(id) {
            report(place(), format!("its result is defined as {}", describe(&result.def)));
        } else if std::mem::replace(&mut defined[node.result.0 as usize], true) {
            report(place(), "is evaluated twice".into());
        }
    }

    for &id in &graph.outputs {
        if !is_defined(&defined, id) {
            report(format!("output {}", value_place(graph, id)), "is never defined".into());
        }
    }
    for state in &graph.states {
        if !is_defined(&defined, state.next) {
            let place = format!("state {}", value_place(graph, state.current));
            report(place, format!("its next value {} is never defined", value_place(graph, state.next)));
        }
    }
    violations
}

fn describe(def: &ValueDef) -> String {
    match def {
        ValueDef::Input => "an input".into(),
        ValueDef::State => "a state".into(),
        ValueDef::Const(_) => "a constant".into(),
        ValueDef::Node(node) => format!("the result of node {}", node.0),
    }
}

/// Types of what is not a node's result, and the data of constants and states. All references hold.
pub(super) fn check_values(graph: &Graph) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut report = |place: String, what: String| violations.push(Violation { place, what });
    for (id, value) in graph.values() {
        let (kind, data) = match &value.def {
            // With its node, if that is live.
            ValueDef::Node(_) => continue,
            ValueDef::Input => ("input", None),
            ValueDef::State => ("state", graph.states.iter().find(|s| s.current == id).map(|s| &s.init)),
            ValueDef::Const(data) => ("const", Some(data)),
        };
        let problem = types::check_type(&value.ty, kind != "const")
            .and_then(|()| data.map_or(Ok(()), |data| check_data(&value.ty, data.bytes())));
        if let Err(what) = problem {
            report(format!("{kind} {}", value_place(graph, id)), what);
        }
    }
    for state in &graph.states {
        let (current, next) = (graph.ty(state.current), graph.ty(state.next));
        if (current.dtype, &current.shape) != (next.dtype, &next.shape) {
            let place = format!("state {}", value_place(graph, state.current));
            report(place, format!("is of type {current}, its next value of type {next}"));
        }
    }
    violations
}

fn check_data(ty: &Type, bytes: &[u8]) -> Result<(), String> {
    let (have, want) = (bytes.len(), ty.bytes());
    ensure!(have == want, "has {have} bytes of data, {want} wanted for {ty}");
    Ok(())
}
