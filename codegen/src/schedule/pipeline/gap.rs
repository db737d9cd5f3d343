//! How far a value that a pipeline computes may lie over one that it reads.

use super::Draft;
use crate::ir::{Graph, ValueId};
use crate::schedule::{row_bytes, views, Flow};

impl Draft {
    /// How far behind the start of `lower`, which the pipeline computes, `upper` must begin, whose rows it reads; at most the size of `lower`.
    pub fn gap(&self, graph: &Graph, flow: &Flow, upper: ValueId, lower: ValueId) -> usize {
        let (row_up, row_low) = (row_bytes(graph, upper), row_bytes(graph, lower));
        let whole = graph.ty(lower).bytes();
        let is_upper = |id: ValueId| self.viewed(graph, flow, id) == upper;
        // What is read, as (tick, lane, row of the lane) and the first byte.
        let mut reads = Vec::new();
        let mut writes = Vec::new();
        for (l, lane) in self.lanes.iter().enumerate().filter(|(_, lane)| !lane.view) {
            let node = graph.node(lane.node);
            for (k, _) in node.operands.iter().enumerate().filter(|(_, &id)| is_upper(id)) {
                let elementwise = views::elementwise(graph, node, k);
                for row in 0..lane.turns() {
                    let Some(read) = self.reads(graph, lane, k, row) else { return whole };
                    // An element is read before it is written.
                    let ahead = elementwise && lane.beat.again.is_none();
                    let start = if ahead { read.end } else { read.start };
                    if !read.is_empty() {
                        reads.push(((lane.tick(row), l), start * row_up));
                    }
                }
            }
            if node.result == lower {
                writes.extend((0..lane.rows).map(|row| ((lane.tick(row), l), (row + 1) * row_low)));
            }
        }
        reads.sort_unstable();
        let mut gap = 0;
        let mut future = usize::MAX;
        let mut next = reads.len();
        for (when, end) in writes.into_iter().rev() {
            while next > 0 && reads[next - 1].0 >= when {
                next -= 1;
                future = future.min(reads[next].1);
            }
            gap = gap.max(end.saturating_sub(future));
        }
        gap.min(whole)
    }
}
