//! How many rows of each value a pipeline must hold, and which values take each other's place row by row.

use super::shared::Shared;
use super::{Draft, Lane};
use crate::ir::{Graph, ValueId};
use crate::schedule::flow::{row_bytes, Flow};
use crate::schedule::{rows, views, Feed};
use std::ops::Range;

/// Memory for rows inside a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ring {
    /// The values that live there, in the order in which they are computed: each but the first is computed, element by element, from
    /// one before it, or is one before it under another shape.
    pub values: Vec<ValueId>,
    /// The value that all of them become, where that lives on after the pipeline: the ring is its memory, and holds all rows.
    pub within: Option<ValueId>,
    /// Rows held.
    pub rows: usize,
    /// Bytes of a row.
    pub row_bytes: usize,
    /// Whether nothing in it outlasts a tick.
    pub transient: bool,
    /// The lanes from the first that writes it to the last that reads it.
    pub steps: Range<usize>,
    /// The ring that it shares with others.
    pub shared: Option<Shared>,
}

impl Ring {
    /// Bytes it takes if it is not shared.
    pub fn bytes_alone(&self) -> usize {
        match self.within {
            Some(_) => 0,
            None => self.rows * self.row_bytes,
        }
    }

    /// Bytes it takes. The slots of a shared ring count for the first of those that share it, whose index in [`Draft::rings`] is `index`.
    pub fn bytes(&self, index: usize) -> usize {
        match self.shared {
            Some(shared) if shared.with == index => shared.slots * self.row_bytes,
            Some(_) => 0,
            None => self.bytes_alone(),
        }
    }
}

/// The rings of a pipeline whose beats are known.
pub(super) fn of(graph: &Graph, flow: &Flow, draft: &Draft) -> Vec<Ring> {
    let mut groups: Vec<(Vec<ValueId>, Option<ValueId>)> = Vec::new();
    if draft.feed != Feed::Whole {
        groups.extend(graph.inputs.first().map(|&input| (vec![input], None)));
    }
    for (index, lane) in draft.lanes.iter().enumerate() {
        let node = graph.node(lane.node);
        let internal = draft.is_internal(graph, flow, node.result);
        if lane.view {
            let group = groups.iter_mut().find(|(values, _)| values.contains(&node.operands[0]));
            group.into_iter().for_each(|(values, _)| values.push(node.result));
            continue;
        }
        let viewed = |id: ValueId| draft.viewed(graph, flow, id);
        let moves = !lane.absorbs && lane.beat.again.is_none();
        let by_element = |&k: &usize| moves && views::elementwise(graph, node, k);
        let heir = (0..node.operands.len()).filter(by_element).find_map(|k| {
            let group = groups.iter().position(|(values, _)| {
                values.last().copied().map(viewed) == Some(viewed(node.operands[k]))
            })?;
            takes_over(graph, flow, draft, index, k).then_some(group)
        });
        match heir {
            Some(group) if internal => groups[group].0.push(node.result),
            Some(group) if draft.feed != Feed::Sliding && groups[group].1.is_none() => {
                groups[group].1 = Some(node.result)
            }
            _ if internal => groups.push((vec![node.result], None)),
            _ => {}
        }
    }
    groups.into_iter().map(|(values, within)| ring(graph, flow, draft, values, within)).collect()
}

/// Whether a lane's result can take the place of operand `k`, row by row: nobody else reads a row of it later.
fn takes_over(graph: &Graph, flow: &Flow, draft: &Draft, index: usize, k: usize) -> bool {
    let lane = &draft.lanes[index];
    let node = graph.node(lane.node);
    let operand = draft.viewed(graph, flow, node.operands[k]);
    let (same, readers) = draft.uses(graph, flow, operand);
    let by_element = |k: usize| {
        let id = node.operands[k];
        draft.viewed(graph, flow, id) != operand
            || (views::elementwise(graph, node, k) && row_bytes(graph, id) == row_bytes(graph, node.result))
    };
    if !(0..node.operands.len()).all(by_element) || same.into_iter().any(|id| flow.is_kept(id)) {
        return false;
    }
    let others = readers.into_iter().filter(|(at, _)| at - draft.nodes.start != index);
    others.into_iter().all(|(at, k)| {
        let there = at - draft.nodes.start;
        let reader = &draft.lanes[there];
        (0..draft.horizon(reader)).all(|row| match draft.reads(graph, reader, k, row) {
            Some(read) => read.is_empty() || (reader.tick(row), there) < (lane.tick(read.start), index),
            None => false,
        })
    })
}

/// The ring of some values, as large as its readers need.
fn ring(graph: &Graph, flow: &Flow, draft: &Draft, values: Vec<ValueId>, within: Option<ValueId>) -> Ring {
    let root = values[0];
    let height = rows(&graph.ty(root).shape);
    let lane_of = |id: ValueId| flow.producer(id).map(|at| at - draft.nodes.start);
    let first = lane_of(root).unwrap_or(0);
    if let Some(lane) = draft.lane_of(flow, root).filter(|lane| lane.beat.again.is_some()) {
        let last = flow.readers(root).iter().map(|(reader, _)| reader - draft.nodes.start).max();
        return Ring {
            rows: lane.beat.band,
            row_bytes: row_bytes(graph, root),
            transient: true,
            steps: first..last.unwrap_or(first) + 1,
            values,
            within,
            shared: None,
        };
    }
    let written = |row: usize| draft.tick_of(flow, root, row);
    let total = draft.lane_of(flow, root).map_or(height, |lane| draft.horizon(lane));
    let (mut held, mut transient, mut last) = (1, true, first);
    for (reader, k) in values.iter().flat_map(|&id| flow.readers(id)) {
        let there = reader - draft.nodes.start;
        let Some(lane) = draft.lanes.get(there) else { continue };
        last = last.max(there);
        let reads = |row: usize| draft.reads(graph, lane, *k, row).filter(|r| !r.is_empty());
        held = held.max(rows_held(lane, draft.horizon(lane), total, &written, &reads));
        transient &= (0..draft.horizon(lane))
            .filter_map(|row| Some((row, reads(row)?)))
            .all(|(row, read)| read.end - read.start == 1 && written(read.start) == lane.tick(row));
    }
    // A fed input comes in between the ticks.
    transient &= within.is_none() && lane_of(root).is_some();
    Ring {
        rows: if draft.feed == Feed::Sliding { held } else { held.min(height) },
        row_bytes: row_bytes(graph, root),
        transient,
        steps: first..last + 1,
        values,
        within,
        shared: None,
    }
}

/// How many rows must be held so that no row is overwritten before `lane` has read it.
fn rows_held(
    lane: &Lane,
    horizon: usize,
    total: usize,
    written: &dyn Fn(usize) -> usize,
    reads: &dyn Fn(usize) -> Option<Range<usize>>,
) -> usize {
    let mut held = 1;
    for row in 0..total {
        // The first rows that are read after this one is written.
        let next = (lane.turn_from(written(row))..horizon).find_map(reads);
        if let Some(next) = next.filter(|next| next.start <= row) {
            held = held.max(row - next.start + 1);
        }
    }
    held
}
