//! Multiply-accumulates of a step.

use kiln_codegen::report;
use kiln_codegen::schedule::StepKind;
use kiln_codegen::Compiled;

/// Multiply-accumulates of a step for a whole input. 0 for what absorbs or copies.
pub(crate) fn macs(compiled: &Compiled, step: usize) -> u64 {
    match compiled.schedule.steps[step].kind {
        StepKind::Compute(id) => report::macs(&compiled.graph, compiled.graph.node(id)),
        StepKind::Absorb { .. } | StepKind::Copy { .. } => 0,
    }
}
