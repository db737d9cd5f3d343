//! Rows that are computed more than once: a node computes, each time, all rows that one row of its reader needs. No row of it outlasts a tick, so that what several
//! nodes hold so is never held at the same time.

use super::{Draft, Lane};
use crate::ir::{macs, Graph};
use crate::schedule::{rows, Again, Feed, Flow};

impl Draft {
    /// Whether the node at a position may compute rows again: a node of the same pipeline alone reads it, through a window that leaves out no row.
    pub fn can_repeat(&self, graph: &Graph, flow: &Flow, at: usize) -> bool {
        self.repetition(graph, flow, at).is_some()
    }

    /// The lane that reads what a lane repeats, and how it does.
    fn repetition(&self, graph: &Graph, flow: &Flow, at: usize) -> Option<(usize, usize, Again)> {
        let lane = self.lanes.get(at.checked_sub(self.nodes.start)?)?;
        let value = graph.node(lane.node).result;
        let &[(reader, 0)] = flow.readers(value) else { return None };
        let to = reader.checked_sub(self.nodes.start)?;
        let reader = self.lanes.get(to)?;
        let window = graph.node(reader.node).op.window()?;
        let (size, stride, before) = (window.size[0], window.stride[0], window.pad.top);
        let again = Again { stride, before, times: reader.rows };
        let covers =
            size >= stride && (reader.rows * stride + size).saturating_sub(stride + before) >= lane.rows;
        let apart = |lane: &Lane| lane.beat.again.is_none() && !lane.absorbs;
        let alone = self.is_internal(graph, flow, value) && flow.base(value) == value;
        let fits = self.feed != Feed::Sliding && size > 1 && window.dilation[0] == 1 && before < size;
        (fits
            && covers
            && alone
            && apart(reader)
            && apart(lane)
            && self.repeated_by(graph, flow, at - self.nodes.start).is_empty())
        .then_some((to, size.min(rows(&graph.ty(value).shape)), again))
    }

    /// Lets the node at a position compute rows again, if it may.
    pub(super) fn repeat(&mut self, graph: &Graph, flow: &Flow, at: usize) {
        let Some((reader, band, again)) = self.repetition(graph, flow, at) else { return };
        let every = self.lanes[reader].beat.every;
        let beat = &mut self.lanes[at - self.nodes.start].beat;
        (beat.every, beat.band, beat.again) = (every, band, Some(again));
    }

    /// The lanes whose rows a lane reads that are computed again.
    pub(super) fn repeated_by(&self, graph: &Graph, flow: &Flow, lane: usize) -> Vec<usize> {
        let operands = graph.node(self.lanes[lane].node).operands.iter();
        let lanes = operands.filter_map(|&id| flow.producer(id)?.checked_sub(self.nodes.start));
        let again = |&at: &usize| self.lanes.get(at).is_some_and(|lane| lane.beat.again.is_some());
        lanes.filter(again).collect()
    }

    /// Positions of the nodes that compute rows again.
    pub fn repeated(&self) -> impl Iterator<Item = usize> + '_ {
        let again = |(_, lane): &(usize, &Lane)| lane.beat.again.is_some();
        self.lanes.iter().enumerate().filter(again).map(|(lane, _)| self.nodes.start + lane)
    }

    /// The multiply-accumulates of rows that the node at a position has computed before.
    pub fn extra(&self, graph: &Graph, at: usize) -> u64 {
        let Some(lane) = at.checked_sub(self.nodes.start).and_then(|lane| self.lanes.get(lane)) else {
            return 0;
        };
        let more = lane.beat.computed(lane.rows).saturating_sub(lane.rows);
        let macs = macs(graph, graph.node(lane.node));
        macs.saturating_mul(more as u64) / lane.rows.max(1) as u64
    }
}
