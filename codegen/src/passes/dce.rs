//! Dead code: afterwards every node contributes to an output, every constant is used and every state is read.

use crate::ir::{Graph, ValueDef, ValueId};

/// Runs the pass. Handles of values and nodes change.
pub fn run(graph: &mut Graph) -> bool {
    let live = live_values(graph);
    let is_live = |id: ValueId| live[id.0 as usize];
    let nodes = graph.order.len();
    let states = graph.states.len();
    let mut order = std::mem::take(&mut graph.order);
    order.retain(|&id| is_live(graph.node(id).result));
    graph.order = order;
    graph.states.retain(|state| is_live(state.current));
    let garbage = live.contains(&false) && has_garbage(graph, &live);
    let changed = graph.order.len() != nodes || graph.states.len() != states || garbage;
    if changed {
        *graph = graph.compact();
    }
    changed
}

/// Whether there is anything but unused inputs that is not live.
fn has_garbage(graph: &Graph, live: &[bool]) -> bool {
    graph.values().any(|(id, value)| !live[id.0 as usize] && value.def != ValueDef::Input)
}

/// The values that outputs depend on. A state that is read keeps what it will hold alive.
fn live_values(graph: &Graph) -> Vec<bool> {
    let mut live = vec![false; graph.values().count()];
    let mut next = vec![None; live.len()];
    graph.states.iter().for_each(|state| next[state.current.0 as usize] = Some(state.next));
    let mut pending = graph.outputs.clone();
    while let Some(id) = pending.pop() {
        if std::mem::replace(&mut live[id.0 as usize], true) {
            continue;
        }
        pending.extend(next[id.0 as usize]);
        if let Some(node) = graph.producer(id) {
            pending.extend(&graph.node(node).operands);
        }
    }
    live
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites};
    use super::*;

    #[test]
    fn dead_nodes_constants_and_states_go_and_unused_inputs_stay() {
        rewrites(
            run,
            "input %x: f32[2]
             input %unused: f32[3]
             state %counter: f32[2] = splat 0.0
             state %kept: f32[2] = splat 1.0
             state %idle: f32[2] = splat 2.0
             const %one: f32[1] = [1.0]
             %more: f32[2] = add(%counter, %one) {rescale = real, clamp = -inf..=inf}
             %y: f32[2] = mul(%x, %kept) {rescale = real, clamp = -inf..=inf}
             next %counter = %more
             next %kept = %x
             return %y",
            "input %x: f32[2]
             input %unused: f32[3]
             state %kept: f32[2] = splat 1.0
             %y: f32[2] = mul(%x, %kept) {rescale = real, clamp = -inf..=inf}
             next %kept = %x
             return %y",
        );
    }

    #[test]
    fn a_state_that_another_state_reads_stays() {
        keeps(
            run,
            "input %x: f32[2]
             state %a: f32[2] = splat 0.0
             state %b: f32[2] = splat 0.0
             next %a = %x
             next %b = %a
             return %b",
        );
    }
}
