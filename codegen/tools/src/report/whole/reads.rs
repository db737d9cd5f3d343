//! What steps read, seen through everything that has no step.

use super::data::Read;
use kiln_codegen::ir::{NodeId, ValueDef, ValueId};
use kiln_codegen::schedule::StepKind;
use kiln_codegen::Compiled;
use std::collections::{BTreeMap, BTreeSet};

/// The step that computes each node.
pub(super) fn steps_of_nodes(compiled: &Compiled) -> BTreeMap<NodeId, usize> {
    let steps = compiled.schedule.steps.iter().enumerate();
    let node = |(index, kind): (usize, &StepKind)| match kind {
        StepKind::Compute(node) | StepKind::Absorb { node, .. } => Some((*node, index)),
        StepKind::Copy { .. } => None,
    };
    steps.filter_map(|(index, step)| node((index, &step.kind))).collect()
}

/// What a step reads but for constants, in a fixed order.
pub(super) fn reads(compiled: &Compiled, steps: &BTreeMap<NodeId, usize>, kind: &StepKind) -> Vec<Read> {
    let mut todo: Vec<ValueId> = match kind {
        StepKind::Compute(node) | StepKind::Absorb { node, .. } => {
            compiled.graph.node(*node).operands.clone()
        }
        StepKind::Copy { value, .. } => vec![*value],
    };
    let (mut seen, mut found) = (BTreeSet::new(), BTreeSet::new());
    while let Some(id) = todo.pop() {
        let value = compiled.graph.value(id);
        if !seen.insert(id) {
            continue;
        }
        match &value.def {
            ValueDef::Const(_) => {}
            ValueDef::Input => {
                found.insert(Read::Input(value.label().into()));
            }
            ValueDef::State => {
                found.insert(Read::State(value.label().into()));
            }
            ValueDef::Node(node) => match steps.get(node) {
                Some(&step) => {
                    found.insert(Read::Step(step));
                }
                None => todo.extend(&compiled.graph.node(*node).operands),
            },
        }
    }
    found.into_iter().collect()
}
