//! What a schedule is predicted to take: the cycles of its kernels, and those of calling them.

use crate::ir::Graph;
use crate::schedule::{Schedule, StepKind};
use crate::select::{absorbed_cycles, Kernels};
use crate::Options;

/// Cycles around a call of a kernel: whether rows are due, where they lie, and what surrounds the kernel's loops.
const CALL: u64 = 150;

/// The predicted cycles of an inference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Prediction {
    /// Of all steps of whose kernels something is known, and of all calls.
    pub cycles: u64,
    /// Steps that compute something, and of whose kernels nothing is known.
    pub unknown: usize,
}

/// What a schedule is predicted to take with these kernels.
pub(super) fn predict(
    graph: &Graph,
    options: &Options,
    kernels: &mut Kernels,
    schedule: &Schedule,
) -> Prediction {
    let mut found = Prediction::default();
    for (index, step) in schedule.steps.iter().enumerate() {
        let node = match step.kind {
            StepKind::Compute(node) => node,
            StepKind::Absorb { node, .. } => {
                let cycles = absorbed_cycles(graph, graph.node(node), options);
                found.cycles = found.cycles.saturating_add(cycles.unwrap_or(0));
                continue;
            }
            StepKind::Copy { .. } => continue,
        };
        let choice = kernels.of(graph, node, options, schedule.pipeline_of(index).is_none());
        match choice.cycles {
            u64::MAX => found.unknown += 1,
            cycles => {
                let repeated = cycles.saturating_mul(step.computed() as u64) / step.rows.max(1) as u64;
                found.cycles = found.cycles.saturating_add(repeated);
            }
        }
    }
    found.cycles = found.cycles.saturating_add(CALL.saturating_mul(schedule.bands().count() as u64));
    found
}
