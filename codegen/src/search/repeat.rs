//! Which nodes of a pipeline compute rows again: those without which a division would need more memory, as long as there are multiply-accumulates for it.

use super::cuts::Memory;
use crate::ir::Graph;
use crate::schedule::pipeline::Draft;
use crate::schedule::Flow;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// A division may need so many parts more memory than the smallest, to compute fewer rows again.
const LEVELS: usize = 32;

/// The nodes of a pipeline that may compute rows again; of two that read each other the one that holds more.
fn all(graph: &Graph, flow: &Flow, draft: &Draft) -> BTreeSet<usize> {
    let mut rings: Vec<(usize, usize)> = draft
        .rings
        .iter()
        .filter_map(|ring| Some((ring.bytes_alone(), flow.producer(*ring.values.first()?)?)))
        .filter(|&(_, at)| draft.can_repeat(graph, flow, at))
        .collect();
    rings.sort_by_key(|&(bytes, at)| (Reverse(bytes), at));
    let mut again = BTreeSet::new();
    for (_, at) in rings {
        let reads = |a: usize, b: usize| {
            graph.node(graph.order[a]).operands.contains(&graph.node(graph.order[b]).result)
        };
        if !again.iter().any(|&other| reads(at, other) || reads(other, at)) {
            again.insert(at);
        }
    }
    again
}

/// The sketch of a pipeline in which all nodes compute rows again that may.
pub(super) fn sketch(graph: &Graph, flow: &Flow, draft: Draft) -> Draft {
    let again = all(graph, flow, &draft);
    Draft::sketch(graph, flow, draft.nodes.clone(), draft.feed, &again).unwrap_or(draft)
}

/// The pipelines in which all rows are computed again that may be.
pub(super) fn full(graph: &Graph, flow: &Flow, drafts: &[Draft]) -> Vec<Draft> {
    let full = |draft: &Draft| again_in(graph, flow, draft, &all(graph, flow, draft));
    drafts.iter().map(|draft| full(draft).unwrap_or_else(|| draft.clone())).collect()
}

/// The pipelines of a division in which rows are computed again.
pub(super) struct Repeated {
    /// All of its pipelines.
    pub(super) drafts: Vec<Draft>,
    /// Multiply-accumulates of rows that were computed before.
    pub(super) extra: u64,
}

/// The pipelines of a division that needs `peak` bytes if all rows are computed again that may be, with as few of them as it takes to need no more; then with ever more memory, so that fewer
/// are. `full` computes all of them again.
///
/// No limit of multiply-accumulates takes part: those that exceed one are left out later.
pub(super) fn levels(
    graph: &Graph,
    flow: &Flow,
    memory: &Memory<'_>,
    full: &[Draft],
    peak: usize,
) -> Vec<Repeated> {
    let (mut levels, mut level) = (Vec::<Repeated>::new(), 0);
    while level < LEVELS {
        let most = peak + peak * level / LEVELS;
        let (mut drafts, mut next) = (Vec::new(), usize::MAX);
        for draft in full {
            let (draft, more) = least(graph, flow, memory, draft, most);
            drafts.push(draft);
            next = next.min(more);
        }
        let extra = drafts.iter().flat_map(|draft| draft.repeated().map(|at| draft.extra(graph, at))).sum();
        if drafts.iter().all(|draft| draft.repeated().next().is_none()) {
            break;
        }
        if levels.last().is_none_or(|last| last.drafts != drafts) {
            levels.push(Repeated { drafts, extra });
        }
        // With less memory, nothing else is found.
        let enough = (next.saturating_sub(peak)).saturating_mul(LEVELS).div_ceil(peak.max(1));
        level = enough.max(level + 1);
    }
    levels
}

/// The pipeline with as few rows computed again as it takes to need at most so many bytes; those that cost most go first. And how many bytes it takes to find another one.
fn least(graph: &Graph, flow: &Flow, memory: &Memory<'_>, draft: &Draft, most: usize) -> (Draft, usize) {
    let (mut best, mut next) = (draft.clone(), usize::MAX);
    let mut by_cost: Vec<usize> = draft.repeated().collect();
    by_cost.sort_by_key(|&at| (Reverse(draft.extra(graph, at)), at));
    for at in by_cost {
        let again: BTreeSet<usize> = best.repeated().filter(|&other| other != at).collect();
        if let Some(trial) = again_in(graph, flow, &best, &again) {
            match memory.pipeline(&trial) {
                bytes if bytes <= most => best = trial,
                bytes => next = next.min(bytes),
            }
        }
    }
    (best, next)
}

/// The same pipeline with other rows computed again.
fn again_in(graph: &Graph, flow: &Flow, draft: &Draft, again: &BTreeSet<usize>) -> Option<Draft> {
    Draft::repeating(graph, flow, draft.nodes.clone(), draft.feed, again).ok()
}
