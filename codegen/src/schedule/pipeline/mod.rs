//! Pipelines: consecutive nodes whose rows are computed in turn, each as soon as the rows it needs are there.
//!
//! A [`Draft`] says for every node when its rows are due (`rates` and delays), and how many rows of every value must be held.
//! Delays are the shortest possible, then longer ones are tried where they save memory: a value that is cheaper to hold
//! than its operands is better computed early, one that is larger late.

mod admit;
mod feed;
mod gap;
mod rates;
mod repeat;
mod rings;
mod shared;
#[cfg(test)]
mod tests;

use super::flow::Flow;
use super::geometry::needs;
use super::{rows, views, Beat, Feed};
use crate::ir::{Graph, Node, NodeId, ValueId};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

pub use feed::{fed, sliding, Refused};
pub use rings::Ring;
pub use shared::Shared;

/// Most nodes of a pipeline.
pub const MOST_NODES: usize = 48;

/// Most nodes of a pipeline in which rows are computed again: convolutions that are divided count as so many.
pub const MOST_REPEATING: usize = 96;

/// Rows beyond a window that a sliding pipeline is tried on: enough for every ring to go round.
const SLIDING_ROWS: usize = 64;

/// Why some nodes are no pipeline: the node and what prevents it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    /// The node that does not fit.
    pub node: NodeId,
    /// Why, as the end of a sentence that begins with the node's name.
    pub why: String,
}

/// One node of a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// The node.
    pub node: NodeId,
    /// Whether it absorbs its operand.
    pub absorbs: bool,
    /// Whether its result is its operand under another shape ([`views::keeps_rows`]): it has no step.
    pub view: bool,
    /// Rows it computes or absorbs.
    pub rows: usize,
    /// When.
    pub beat: Beat,
}

impl Lane {
    /// How many times its turn comes: once for each row, or for all rows that one row of its reader needs.
    pub fn turns(&self) -> usize {
        self.beat.again.map_or(self.rows, |again| again.times)
    }

    /// The tick of a turn: the one at which row `turn` is computed or absorbed, unless rows are computed again.
    pub fn tick(&self, turn: usize) -> usize {
        self.beat.first + self.beat.every * turn
    }

    /// The first turn at that tick or later.
    fn turn_from(&self, tick: usize) -> usize {
        tick.saturating_sub(self.beat.first).div_ceil(self.beat.every)
    }
}

/// A pipeline, before its values have places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Positions of its nodes in the order of the graph.
    pub nodes: Range<usize>,
    /// The nodes.
    pub lanes: Vec<Lane>,
    /// Where its input comes from.
    pub feed: Feed,
    /// What holds the values that live inside the pipeline only.
    pub rings: Vec<Ring>,
    /// Number of ticks.
    pub ticks: usize,
}

impl Draft {
    /// The pipeline of the nodes at those positions, with the delays that need least memory. With a feed, the graph's only input is
    /// one of its rings.
    ///
    /// # Errors
    /// The first node that does not go row by row with the others.
    pub fn new(graph: &Graph, flow: &Flow, nodes: Range<usize>, feed: Feed) -> Result<Draft, Obstacle> {
        Draft::repeating(graph, flow, nodes, feed, &BTreeSet::new())
    }

    /// As [`Draft::new`]. The nodes at the positions `again` compute, each time, all rows that one row of their reader needs: [`Draft::can_repeat`] says which may.
    ///
    /// # Errors
    /// As [`Draft::new`].
    pub fn repeating(
        graph: &Graph,
        flow: &Flow,
        nodes: Range<usize>,
        feed: Feed,
        again: &BTreeSet<usize>,
    ) -> Result<Draft, Obstacle> {
        let mut draft = Draft::sketch(graph, flow, nodes, feed, again)?;
        if feed == Feed::Sliding {
            draft.end_together(graph, flow);
        }
        draft.delay(graph, flow);
        if feed == Feed::Sliding {
            draft.ends_in_one_row(graph, flow)?;
        }
        Ok(draft)
    }

    /// As [`Draft::repeating`] with the shortest delays.
    ///
    /// # Errors
    /// As [`Draft::new`].
    pub fn sketch(
        graph: &Graph,
        flow: &Flow,
        nodes: Range<usize>,
        feed: Feed,
        again: &BTreeSet<usize>,
    ) -> Result<Draft, Obstacle> {
        let mut draft = Draft { lanes: Vec::new(), rings: Vec::new(), ticks: 0, nodes, feed };
        for at in draft.nodes.clone() {
            let id = graph.order[at];
            let absorbs =
                draft.admit(graph, flow, graph.node(id)).map_err(|why| Obstacle { node: id, why })?;
            let node = graph.node(id);
            let counted = if absorbs { node.operands[0] } else { node.result };
            let rows = rows(&graph.ty(counted).shape);
            draft.lanes.push(Lane {
                node: id,
                absorbs,
                view: views::keeps_rows(graph, node),
                rows,
                beat: Beat { first: 0, every: 1, band: 1, again: None },
            });
        }
        if let Some(view) = draft.lanes.first().filter(|_| draft.lanes.iter().all(|lane| lane.view)) {
            return Err(Obstacle { node: view.node, why: "computes nothing".into() });
        }
        rates::assign(graph, &mut draft)?;
        again.iter().for_each(|&at| draft.repeat(graph, flow, at));
        for lane in 0..draft.lanes.len() {
            let first = draft.earliest(graph, flow, lane);
            draft.lanes[lane].beat.first = first;
            for at in draft.repeated_by(graph, flow, lane) {
                draft.lanes[at].beat.first = first;
            }
        }
        draft.measure(graph, flow);
        Ok(draft)
    }

    /// Finds rings and ticks for the delays there are.
    fn measure(&mut self, graph: &Graph, flow: &Flow) {
        self.rings = rings::of(graph, flow, self);
        shared::share(graph, flow, self);
        let computed = self.lanes.iter().map(|l| l.tick(l.turns().saturating_sub(1)) + 1).max().unwrap_or(0);
        // Rows of the input that nothing reads come all the same.
        let fed = if self.feed == Feed::Whole { None } else { graph.inputs.first() };
        self.ticks = fed.map_or(0, |&input| rows(&graph.ty(input).shape)).max(computed);
    }

    /// How many turns of a lane to look at: all of them or, where there is no end, enough for every ring to go round.
    fn horizon(&self, lane: &Lane) -> usize {
        match self.feed {
            Feed::Sliding => lane.rows + SLIDING_ROWS,
            Feed::Whole | Feed::Rows => lane.turns(),
        }
    }

    /// Whether the rows of a value become available tick by tick, so that its readers have to go row by row.
    pub fn streams(&self, graph: &Graph, flow: &Flow, id: ValueId) -> bool {
        let id = self.viewed(graph, flow, id);
        let inside = flow.producer(id).is_some_and(|at| self.nodes.contains(&at));
        inside || (self.feed != Feed::Whole && graph.inputs.contains(&id))
    }

    /// Whether a value lives inside the pipeline only, and so does all that is the same under another shape.
    pub fn is_internal(&self, graph: &Graph, flow: &Flow, id: ValueId) -> bool {
        let (same, readers) = self.uses(graph, flow, id);
        self.streams(graph, flow, id)
            && !same.into_iter().any(|id| flow.is_kept(id))
            && readers.iter().all(|(at, _)| self.nodes.contains(at))
    }

    /// The node at a position, if it is one of the pipeline's views.
    fn view_at<'g>(&self, graph: &'g Graph, at: usize) -> Option<&'g Node> {
        let node = graph.node(*graph.order.get(at).filter(|_| self.nodes.contains(&at))?);
        // Of nodes that are not admitted yet it is found out here.
        let lane = self.lanes.get(at - self.nodes.start);
        lane.map_or_else(|| views::keeps_rows(graph, node), |lane| lane.view).then_some(node)
    }

    /// The value that a value is under another shape, by views of the pipeline.
    pub(super) fn viewed(&self, graph: &Graph, flow: &Flow, id: ValueId) -> ValueId {
        let operand = |&id: &ValueId| self.view_at(graph, flow.producer(id)?)?.operands.first().copied();
        std::iter::successors(Some(id), operand).last().unwrap_or(id)
    }

    /// All values that are the same as `id`, by views of the pipeline, and the nodes that read any of them as [`Flow::readers`] gives them, but for these views.
    pub(super) fn uses(
        &self,
        graph: &Graph,
        flow: &Flow,
        id: ValueId,
    ) -> (Vec<ValueId>, Vec<(usize, usize)>) {
        let (mut same, mut readers) = (vec![self.viewed(graph, flow, id)], Vec::new());
        let mut next = 0;
        while let Some(&id) = same.get(next) {
            for &(at, k) in flow.readers(id) {
                match self.view_at(graph, at) {
                    Some(view) => same.push(view.result),
                    None => readers.push((at, k)),
                }
            }
            next += 1;
        }
        (same, readers)
    }

    /// Lets views be there as soon as what they are views of.
    fn follow(&mut self, graph: &Graph, flow: &Flow) {
        for lane in 0..self.lanes.len() {
            if self.lanes[lane].view {
                self.lanes[lane].beat.first = self.earliest(graph, flow, lane);
            }
        }
    }

    /// Delays what a window has one row of until the window is complete: what is left to later steps is computed in the tick before them.
    fn end_together(&mut self, graph: &Graph, flow: &Flow) {
        let last = self.ticks.saturating_sub(1);
        self.lanes.iter_mut().filter(|lane| lane.rows == 1).for_each(|lane| lane.beat.first = last);
        self.follow(graph, flow);
        self.measure(graph, flow);
    }

    /// The lane that computes a value.
    pub fn lane_of(&self, flow: &Flow, id: ValueId) -> Option<&Lane> {
        self.lanes.get(flow.producer(id)?.checked_sub(self.nodes.start)?)
    }

    /// The tick at which row `row` of a value that streams is there.
    fn tick_of(&self, flow: &Flow, id: ValueId, row: usize) -> usize {
        // A fed input's rows come with the ticks.
        self.lane_of(flow, id).map_or(row, |lane| lane.tick(row))
    }

    /// The rows of an operand that a lane reads in a turn: all that the turn's rows are made of, or the one it absorbs.
    pub fn reads(&self, graph: &Graph, lane: &Lane, operand: usize, turn: usize) -> Option<Range<usize>> {
        let node = graph.node(lane.node);
        match lane.beat.again {
            _ if lane.absorbs => (operand == 0).then_some(turn..turn + 1),
            Some(again) => needs_of(graph, node, operand, again.rows(turn, lane.beat.band, lane.rows)),
            None if self.feed == Feed::Sliding => endless(graph, node, operand, turn),
            None => needs(graph, node, operand, turn),
        }
    }

    /// The shortest delay with which all that a lane reads is there in time.
    fn earliest(&self, graph: &Graph, flow: &Flow, lane: usize) -> usize {
        let lane = &self.lanes[lane];
        let node = graph.node(lane.node);
        let mut first = 0;
        for (k, &operand) in node.operands.iter().enumerate().filter(|(_, &id)| self.streams(graph, flow, id))
        {
            for row in 0..self.horizon(lane) {
                let Some(read) = self.reads(graph, lane, k, row).filter(|r| !r.is_empty()) else { continue };
                let there = match self.lane_of(flow, operand) {
                    Some(repeated) if repeated.beat.again.is_some() => repeated.tick(row),
                    _ => self.tick_of(flow, operand, read.end - 1),
                };
                first = first.max(there.saturating_sub(lane.beat.every * row));
            }
        }
        first
    }

    /// The longest delay with which a lane is in time for its readers in the pipeline; `None` if it has none.
    fn latest(&self, graph: &Graph, flow: &Flow, lane: usize) -> Option<usize> {
        let fixed = self.lanes[lane].view || self.lanes[lane].beat.again.is_some();
        if fixed || !self.repeated_by(graph, flow, lane).is_empty() {
            return None;
        }
        let lane = &self.lanes[lane];
        let mut first: Option<usize> = None;
        let value = graph.node(lane.node).result;
        for (at, k) in self.uses(graph, flow, value).1 {
            let reader = self.lanes.get(at.checked_sub(self.nodes.start)?)?;
            for row in 0..self.horizon(reader) {
                let Some(read) = self.reads(graph, reader, k, row).filter(|r| !r.is_empty()) else {
                    continue;
                };
                let room = reader.tick(row).checked_sub(lane.beat.every * (read.end - 1))?;
                first = Some(first.map_or(room, |first| first.min(room)));
            }
        }
        first.filter(|_| self.is_internal(graph, flow, value))
    }

    /// Lengthens delays where that saves memory.
    fn delay(&mut self, graph: &Graph, flow: &Flow) {
        let mut bytes = self.bytes(graph);
        for lane in (0..self.lanes.len()).rev() {
            let now = self.lanes[lane].beat.first;
            let Some(late) = self.latest(graph, flow, lane).filter(|&late| late > now) else { continue };
            let firsts: Vec<usize> = self.lanes.iter().map(|lane| lane.beat.first).collect();
            self.lanes[lane].beat.first = late;
            self.follow(graph, flow);
            let before = (std::mem::take(&mut self.rings), self.ticks);
            self.measure(graph, flow);
            let trial = self.bytes(graph);
            if trial < bytes {
                bytes = trial;
            } else {
                self.lanes.iter_mut().zip(firsts).for_each(|(lane, first)| lane.beat.first = first);
                (self.rings, self.ticks) = before;
            }
        }
    }

    /// Bytes that the pipeline needs for what lives inside it.
    pub fn bytes(&self, graph: &Graph) -> usize {
        let sums: usize = self
            .lanes
            .iter()
            .filter(|l| l.absorbs)
            .map(|l| 4 * graph.ty(graph.node(l.node).result).shape.numel())
            .sum();
        let rings = || self.rings.iter().enumerate();
        let held: usize = rings().filter(|(_, r)| !r.transient).map(|(index, ring)| ring.bytes(index)).sum();
        let mut passing = BTreeMap::<usize, usize>::new();
        for (index, ring) in rings().filter(|(_, r)| r.transient) {
            ring.steps.clone().for_each(|step| *passing.entry(step).or_default() += ring.bytes(index));
        }
        sums + held + passing.values().max().unwrap_or(&0)
    }

    /// Calls of kernels.
    pub fn calls(&self) -> usize {
        self.lanes.iter().filter(|lane| !lane.view).map(Lane::turns).sum()
    }
}

/// As [`needs`], for several rows.
fn needs_of(graph: &Graph, node: &Node, operand: usize, rows: Range<usize>) -> Option<Range<usize>> {
    let mut found = 0..0;
    for row in rows {
        let read = needs(graph, node, operand, row)?;
        found = match (found.is_empty(), read.is_empty()) {
            (true, _) => read,
            (false, true) => found,
            (false, false) => found.start.min(read.start)..found.end.max(read.end),
        };
    }
    Some(found)
}

/// As [`needs`], for rows without end: no row is outside.
fn endless(graph: &Graph, node: &Node, operand: usize, row: usize) -> Option<Range<usize>> {
    needs(graph, node, operand, 0)?;
    let Some(window) = node.op.window() else { return Some(row..row + 1) };
    let first = row * window.stride[0];
    Some(first..first + (window.size[0].max(1) - 1) * window.dilation[0] + 1)
}
