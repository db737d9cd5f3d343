//! When each value is defined and last used.
//!
//! Time 0 is before the first node (inputs and states are there), node `i` of the order runs at time `i + 1`, and `end`
//! is after the last node: outputs and next states are used there.

use super::pipeline::Draft;
use crate::ir::{Graph, ValueDef, ValueId};

/// Times of definition and last use, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Life {
    pub(super) first: usize,
    pub(super) last: usize,
}

/// The life of every value; `None` for constants and results of dead nodes.
pub(super) struct Lives {
    lives: Vec<Option<Life>>,
    /// As `lives`, but for uses as output or next state.
    in_nodes: Vec<Option<Life>>,
    outputs: Vec<bool>,
    next_states: Vec<usize>,
}

impl Lives {
    /// The lives of all values but those that live inside of one of the pipelines. A pipeline's nodes run at the same time, as far as others
    /// can tell: what they read lives to its end, and what they compute from its beginning on.
    pub(super) fn with(graph: &Graph, drafts: &[Draft]) -> Self {
        let mut lives = Lives::of(graph);
        for draft in drafts {
            let (start, end) = (draft.nodes.start + 1, draft.nodes.end);
            for life in lives.lives.iter_mut().chain(&mut lives.in_nodes).flatten() {
                if (start..=end).contains(&life.first) {
                    *life = Life { first: start, last: life.last.max(end) };
                } else if (start..=end).contains(&life.last) {
                    life.last = end;
                }
            }
            for id in draft.rings.iter().flat_map(|ring| &ring.values) {
                lives.lives[id.0 as usize] = None;
                lives.in_nodes[id.0 as usize] = None;
            }
        }
        lives
    }

    fn of(graph: &Graph) -> Self {
        let mut lives: Vec<Option<Life>> = graph
            .values()
            .map(|(_, v)| {
                matches!(v.def, ValueDef::Input | ValueDef::State).then_some(Life { first: 0, last: 0 })
            })
            .collect();
        for (i, (_, node)) in graph.nodes().enumerate() {
            let time = i + 1;
            node.operands.iter().for_each(|&id| touch(&mut lives, id, time));
            lives[node.result.0 as usize] = Some(Life { first: time, last: time });
        }
        let in_nodes = lives.clone();
        let end = graph.order.len() + 1;
        let mut outputs = vec![false; lives.len()];
        for &id in &graph.outputs {
            touch(&mut lives, id, end);
            outputs[id.0 as usize] = true;
        }
        let mut next_states = vec![0; lives.len()];
        for state in graph.states.iter().filter(|state| state.next != state.current) {
            touch(&mut lives, state.next, end);
            next_states[state.next.0 as usize] += 1;
        }
        Lives { lives, in_nodes, outputs, next_states }
    }

    pub(super) fn get(&self, id: ValueId) -> Option<Life> {
        self.lives[id.0 as usize]
    }

    /// As [`Lives::get`], leaving aside uses after the last node.
    pub(super) fn in_nodes(&self, id: ValueId) -> Option<Life> {
        self.in_nodes[id.0 as usize]
    }

    /// How many other states the value is the next value of.
    pub(super) fn next_states(&self, id: ValueId) -> usize {
        self.next_states[id.0 as usize]
    }

    /// Whether the value is an output of the graph.
    pub(super) fn is_output(&self, id: ValueId) -> bool {
        self.outputs[id.0 as usize]
    }
}

fn touch(lives: &mut [Option<Life>], id: ValueId, time: usize) {
    if let Some(life) = &mut lives[id.0 as usize] {
        life.last = life.last.max(time);
    }
}
