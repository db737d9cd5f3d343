//! Where pipelines begin and end.
//!
//! The nodes, in their order, are divided into runs; a run of one node computes a whole tensor, a longer one is a pipeline. A run needs
//! the memory of what lives inside it, of what it leaves, and of what else is live. A division needs as much as the largest of its runs,
//! so that the best divisions of the first nodes are parts of the best divisions of all: a dynamic program over the number of nodes,
//! that keeps for each the divisions of which none needs both less memory and fewer calls than another.

use super::repeat::{self, Repeated};
use crate::ir::{Graph, ValueId};
use crate::schedule::geometry::in_order;
use crate::schedule::pipeline::{self, Draft, MOST_NODES, MOST_REPEATING};
use crate::schedule::{views, Feed, Flow};
use std::collections::BTreeSet;
use std::ops::Range;

/// Most divisions kept for each number of nodes.
const MOST_KEPT: usize = 16;

/// A division of the nodes before some position.
#[derive(Clone, Copy)]
struct Division {
    /// Bytes of its largest run.
    peak: usize,
    /// Kernel calls of all runs together.
    calls: usize,
    /// Where its last run begins, and which division of the nodes before that it continues.
    run: usize,
    before: usize,
}

/// The pipelines of at most `most` divisions worth planning, those that need least memory first.
pub(super) fn cuts(graph: &Graph, flow: &Flow, feed: Feed, most: usize) -> Vec<Vec<Draft>> {
    let memory = Memory::of(graph, flow, feed);
    divisions(graph, flow, feed, &memory, None, most).into_iter().map(|(_, drafts)| drafts).collect()
}

/// As [`cuts`], with rows that are computed again: each division with all of them that may be, and with fewer. What holds more than `limit` bytes is of no use.
pub(super) fn repeating(graph: &Graph, flow: &Flow, feed: Feed, limit: usize, most: usize) -> Vec<Repeated> {
    let memory = Memory::of(graph, flow, feed);
    let found = divisions(graph, flow, feed, &memory, Some(limit), most).into_iter();
    let levels = |(peak, drafts): (usize, Vec<Draft>)| {
        repeat::levels(graph, flow, &memory, &repeat::full(graph, flow, &drafts), peak)
    };
    found.flat_map(levels).collect()
}

/// The best divisions: the bytes of the largest run of each, and its pipelines. With a limit of memory, all rows are computed again that may be, but the pipelines that are given compute none
/// again.
fn divisions(
    graph: &Graph,
    flow: &Flow,
    feed: Feed,
    memory: &Memory<'_>,
    limit: Option<usize>,
    most: usize,
) -> Vec<(usize, Vec<Draft>)> {
    let longest = if limit.is_some() { MOST_REPEATING } else { MOST_NODES };
    let count = graph.order.len();
    let mut best: Vec<Vec<Division>> = vec![Vec::new(); count + 1];
    best[0].push(Division { peak: 0, calls: 0, run: 0, before: 0 });
    // A fed pipeline comes first, and reads all of the input.
    let fed = match feed {
        Feed::Whole => 0,
        Feed::Rows | Feed::Sliding => pipeline::fed(graph, flow).map_or(0, |draft| draft.nodes.end),
    };
    for start in 0..count {
        if best[start].is_empty() {
            continue;
        }
        if start > 0 || fed == 0 {
            // Views are no calls.
            let result = graph.node(graph.order[start]).result;
            let (peak, calls) = (memory.whole(start), usize::from(flow.base(result) == result));
            extend(&mut best, start..start + 1, peak, calls);
        }
        let feed = if start == 0 { feed } else { Feed::Whole };
        let shortest = if feed == Feed::Whole { start + 2 } else { fed };
        for end in shortest..=count.min(start + longest) {
            let Ok(draft) = Draft::sketch(graph, flow, start..end, feed, &BTreeSet::new()) else { break };
            let draft = match limit {
                Some(_) => repeat::sketch(graph, flow, draft),
                None => draft,
            };
            // A longer one holds more.
            if limit.is_some_and(|limit| draft.bytes(graph) > limit) {
                break;
            }
            let (peak, calls) = (memory.pipeline(&draft), draft.calls());
            extend(&mut best, start..end, peak, calls);
        }
    }
    let mut found = Vec::new();
    for last in 0..best[count].len().min(most) {
        let (mut end, mut at, mut drafts) = (count, last, Vec::new());
        while end > 0 {
            let Division { run, before, .. } = best[end][at];
            let feed = if run == 0 { feed } else { Feed::Whole };
            if end - run > 1 || feed != Feed::Whole {
                drafts.extend(Draft::new(graph, flow, run..end, feed));
            }
            (end, at) = (run, before);
        }
        drafts.reverse();
        found.push((best[count][last].peak, drafts));
    }
    found
}

/// Adds a run to all divisions that end where it begins.
fn extend(best: &mut [Vec<Division>], run: Range<usize>, peak: usize, calls: usize) {
    let (ended, rest) = best.split_at_mut(run.end);
    let Some(into) = rest.first_mut() else { return };
    for (before, division) in ended[run.start].iter().enumerate() {
        let new =
            Division { peak: division.peak.max(peak), calls: division.calls + calls, run: run.start, before };
        if into.iter().any(|old| old.peak <= new.peak && old.calls <= new.calls) {
            continue;
        }
        into.retain(|old| old.peak < new.peak || old.calls < new.calls);
        let at = into.partition_point(|old| old.peak < new.peak);
        into.insert(at, new);
        into.truncate(MOST_KEPT);
    }
}

/// What runs of nodes need.
pub(super) struct Memory<'g> {
    graph: &'g Graph,
    flow: &'g Flow,
    /// Whether inputs are there as a whole.
    whole_inputs: bool,
    /// By position: bytes of the values that were there before the node and are used by it or later.
    before: Vec<usize>,
    /// By value: the position of the last node that reads it or a view of it.
    last: Vec<usize>,
}

impl<'g> Memory<'g> {
    fn of(graph: &'g Graph, flow: &'g Flow, feed: Feed) -> Self {
        let count = graph.order.len();
        let mut last = vec![0; graph.values().count()];
        for (id, _) in graph.values() {
            let base = flow.base(id).0 as usize;
            let end = flow.readers(id).iter().map(|&(at, _)| at).max().unwrap_or(0);
            last[base] = last[base].max(if flow.is_kept(id) { count } else { end });
        }
        let mut change = vec![0isize; count + 2];
        for (id, value) in graph.values().filter(|&(id, _)| flow.base(id) == id) {
            let first = match flow.producer(id) {
                Some(at) => at + 1,
                None if graph.inputs.contains(&id) && feed == Feed::Whole => 0,
                None => continue,
            };
            let bytes = value.ty.bytes() as isize;
            if first <= last[id.0 as usize] {
                change[first] += bytes;
                change[last[id.0 as usize] + 1] -= bytes;
            }
        }
        let mut live = 0;
        let before = change
            .iter()
            .map(|c| {
                live += c;
                live.unsigned_abs()
            })
            .collect();
        Memory { graph, flow, whole_inputs: feed == Feed::Whole, before, last }
    }

    /// Bytes needed while the node at a position computes its whole result.
    fn whole(&self, at: usize) -> usize {
        let node = self.graph.node(self.graph.order[at]);
        if self.flow.base(node.result) != node.result {
            return self.before[at];
        }
        let bytes = self.graph.ty(node.result).bytes();
        let lane = Draft::sketch(self.graph, self.flow, at..at + 1, Feed::Whole, &BTreeSet::new()).ok();
        let shared = (0..node.operands.len()).map(|k| {
            let operand = node.operands[k];
            if !self.dies(operand, at..at + 1) {
                return 0;
            }
            match &lane {
                _ if views::elementwise(self.graph, node, k) => bytes,
                Some(draft) if in_order(self.graph, node) => {
                    bytes - draft.gap(self.graph, self.flow, operand, node.result)
                }
                _ => 0,
            }
        });
        self.before[at] + bytes - shared.max().unwrap_or(0)
    }

    /// Bytes needed while a pipeline runs.
    pub(super) fn pipeline(&self, draft: &Draft) -> usize {
        let (graph, flow) = (self.graph, self.flow);
        let computed = draft.lanes.iter().filter(|lane| !lane.view);
        let results = computed.map(|lane| graph.node(lane.node).result);
        let left: Vec<ValueId> = results.filter(|&id| !draft.is_internal(graph, flow, id)).collect();
        let mut read: Vec<ValueId> = Vec::new();
        for lane in &draft.lanes {
            let operands = graph.node(lane.node).operands.iter();
            read.extend(
                operands.filter(|&&id| graph.const_data(id).is_none() && self.dies(id, draft.nodes.clone())),
            );
        }
        let bytes = |id: ValueId| graph.ty(id).bytes();
        let shared = left.iter().flat_map(|&lower| {
            let read = &read;
            read.iter().map(move |&upper| bytes(lower) - draft.gap(graph, flow, upper, lower))
        });
        let left_bytes: usize = left.iter().map(|&id| bytes(id)).sum();
        self.before[draft.nodes.start] + draft.bytes(graph) + left_bytes - shared.max().unwrap_or(0)
    }

    /// Whether a value that is whole before those nodes is not used after them, in memory of its own.
    fn dies(&self, id: ValueId, nodes: Range<usize>) -> bool {
        let whole = match self.flow.producer(id) {
            Some(at) => at < nodes.start,
            None => self.whole_inputs && self.graph.inputs.contains(&id),
        };
        whole
            && self.graph.const_data(id).is_none()
            && self.flow.base(id) == id
            && self.last[id.0 as usize] < nodes.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_lie_over_inputs_that_are_there() {
        let text = "graph \"g\" {
            input %x: f32[1,12,4,2]
            %a: f32[1,12,4,2] = max_pool2d(%x) {window = [3, 3] pad [1, 1, 1, 1], clamp = -inf..=inf}
            return %a
        }";
        let graph = Graph::parse(text).unwrap();
        let flow = Flow::of(&graph);
        let needed = |feed: Feed| {
            let draft = Draft::new(&graph, &flow, 0..1, feed).unwrap();
            (Memory::of(&graph, &flow, feed).pipeline(&draft), draft.bytes(&graph))
        };
        // The input has 384 bytes, as the result has. While a row is written, the row before it is still read: the result begins two rows of 32 bytes before the input.
        assert_eq!(needed(Feed::Whole), (384 + 64, 0));
        // Of an input by rows, three are there, beside the result.
        assert_eq!(needed(Feed::Rows), (3 * 32 + 384, 3 * 32));
    }
}
