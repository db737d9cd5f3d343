//! Which nodes can be in a pipeline, and what a sliding one may leave to the steps behind it.

use super::{Draft, Obstacle};
use crate::ir::{Graph, Node, Op, ValueId};
use crate::schedule::geometry::{absorbs, needs};
use crate::schedule::{views, Feed, Flow};

impl Draft {
    /// Checks that a node fits, and says whether it absorbs its operand.
    pub(super) fn admit(&self, graph: &Graph, flow: &Flow, node: &Node) -> Result<bool, String> {
        let streams = |id: ValueId| self.streams(graph, flow, id);
        let sliding = self.feed == Feed::Sliding;
        if flow.is_next_state(node.result) {
            return Err("computes a state".into());
        }
        if self.feed != Feed::Whole && views::keeps_rows(graph, node) && self.takes_all(graph, flow, node) {
            return Err("is the input under another shape, and needed as a whole".into());
        }
        if matches!(node.op, Op::Concat { .. }) && views::concat_offsets(graph, node).is_some() {
            return Err("joins its operands one after the other".into());
        }
        if sliding && pads_rows(node) {
            return Err(
                "pads its operand along the rows, so that the rows of one window are not those of the next"
                    .into(),
            );
        }
        let varying = |k: &usize| graph.const_data(node.operands[*k]).is_none();
        let by_row = |k: &usize| needs(graph, node, *k, 0).is_some();
        let operands: Vec<usize> = (0..node.operands.len()).filter(varying).collect();
        let has_kernel = flow.takes_rows() || !matches!(node.op, Op::Conv2d { .. });
        let absorbable = absorbs(graph, node)
            && has_kernel
            && !sliding
            && streams(node.operands[0])
            && self.leaves(flow, node);
        if let Some(&k) = operands.iter().find(|k| streams(node.operands[**k]) && !by_row(k)) {
            return match absorbable {
                true => Ok(true),
                false => {
                    Err(format!("needs all rows of {:?} at once", graph.value(node.operands[k]).label()))
                }
            };
        }
        if !operands.iter().any(by_row) {
            return Err("does not go row by row".into());
        }
        if sliding && differs_by_row(graph, node) {
            return Err("has constants that differ from row to row".into());
        }
        if sliding && !operands.iter().all(|&k| streams(node.operands[k])) {
            return Err("reads something that does not slide along".into());
        }
        // Sums are better than the rows they stand for where they are smaller.
        let operand = graph.ty(node.operands[0]);
        let sums = 4 * graph.ty(node.result).shape.numel();
        Ok(absorbable && sums < operand.bytes())
    }

    /// Checks that what a sliding pipeline leaves to the steps behind it is one row of each value, all of the same pace.
    pub(super) fn ends_in_one_row(&self, graph: &Graph, flow: &Flow) -> Result<(), Obstacle> {
        let mut pace = None;
        for lane in &self.lanes {
            let value = graph.node(lane.node).result;
            let outside = |&(at, _): &(usize, usize)| !self.nodes.contains(&at);
            if self.is_internal(graph, flow, value) {
                continue;
            }
            if lane.rows == 1 {
                if *pace.get_or_insert(lane.beat.every) != lane.beat.every {
                    let why = "has another stride than a branch beside it".into();
                    return Err(Obstacle { node: lane.node, why });
                }
                continue;
            }
            let label = graph.value(value).label();
            return Err(match self.uses(graph, flow, value).1.into_iter().find(outside) {
                Some((at, _)) => Obstacle {
                    node: graph.order[at],
                    why: format!("needs all {} rows of {label:?} at once", lane.rows),
                },
                None => {
                    Obstacle { node: lane.node, why: format!("has {} rows, and is an output", lane.rows) }
                }
            });
        }
        Ok(())
    }

    /// Whether a view is one of the input, and of use behind the pipeline.
    fn takes_all(&self, graph: &Graph, flow: &Flow, node: &Node) -> bool {
        graph.inputs.contains(&self.viewed(graph, flow, node.result))
            && !self.is_internal(graph, flow, node.result)
    }

    /// Whether the result of a node is read outside of the pipeline only.
    fn leaves(&self, flow: &Flow, node: &Node) -> bool {
        flow.readers(node.result).iter().all(|(at, _)| !self.nodes.contains(at))
    }
}

/// Whether rows of the result are made of padding.
pub(super) fn pads_rows(node: &Node) -> bool {
    match &node.op {
        Op::Pad { before, after, .. } => {
            before.get(1).is_some_and(|&n| n > 0) || after.get(1).is_some_and(|&n| n > 0)
        }
        op => op.window().is_some_and(|window| window.pad.top + window.pad.bottom > 0),
    }
}

/// Whether a node has a constant operand of which each row is for one row of the result.
fn differs_by_row(graph: &Graph, node: &Node) -> bool {
    let rank = graph.ty(node.result).shape.rank();
    let rows = |id: &ValueId| {
        let dims = graph.ty(*id).shape.dims();
        // Axes are aligned at the right; rows are the second of the result.
        (dims.len() + 1).checked_sub(rank).and_then(|axis| dims.get(axis)).copied()
    };
    // Other constants, such as filters, are read whole for each row.
    let by_row = match node.op {
        Op::Concat { .. } => node.operands.len(),
        _ => node.op.elementwise_operands(),
    };
    let constants = node.operands.iter().take(by_row).filter(|&&id| graph.const_data(id).is_some());
    constants.filter_map(rows).any(|rows| rows > 1)
}
