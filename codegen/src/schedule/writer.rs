//! Writes the steps: also the copies of outputs that have no place of their own.

use super::homes::Homes;
use super::pipeline::{Draft, Ring};
use super::{rows, Buffer, BufferId, Feed, Pipeline, Place, Role, Schedule, Step, StepKind, Storage};
use crate::ir::{Graph, ValueDef, ValueId};

/// Writes a schedule.
pub(super) struct Writer<'g> {
    graph: &'g Graph,
    out: Schedule,
}

impl<'g> Writer<'g> {
    pub(super) fn new(graph: &'g Graph, storage: Storage) -> Self {
        Writer {
            graph,
            out: Schedule { steps: Vec::new(), pipelines: Vec::new(), storage, outputs: Vec::new() },
        }
    }

    /// Adds a step that makes all rows of a value.
    pub(super) fn step(&mut self, kind: StepKind, value: ValueId) {
        self.out.steps.push(Step::whole(kind, rows(&self.graph.ty(value).shape)));
    }

    /// Adds the steps of a pipeline, and the rings that its values live in.
    pub(super) fn pipeline(&mut self, draft: &Draft) {
        for ring in &draft.rings {
            let within = ring.within.and_then(|id| self.out.storage.place(id));
            // The first of several that share a ring is written first.
            let first = ring
                .shared
                .and_then(|shared| self.out.storage.place(*draft.rings[shared.with].values.first()?));
            let place = match within.or(first) {
                Some(place) => place,
                None => self.ring(ring, draft.feed),
            };
            let place = Place { slot: ring.shared.map_or(0, |shared| shared.slot), ..place };
            ring.values.iter().for_each(|id| self.out.storage.places[id.0 as usize] = Some(place));
        }
        let start = self.out.steps.len();
        for lane in &draft.lanes {
            let result = self.graph.node(lane.node).result;
            if draft.feed == Feed::Sliding {
                // What is left to later steps is the latest row.
                let outside = self.out.storage.places[result.0 as usize].as_mut();
                outside.into_iter().for_each(|place| place.ring = place.ring.or(Some(1)));
            }
            if lane.view {
                continue;
            }
            let kind = match lane.absorbs {
                true => StepKind::Absorb { node: lane.node, sums: self.sums(result) },
                false => StepKind::Compute(lane.node),
            };
            self.out.steps.push(Step {
                kind,
                rows: lane.rows,
                beat: lane.beat,
                workspace: None,
                shared: false,
                at_once: 1,
                apart: false,
            });
        }
        let steps = start..self.out.steps.len();
        self.out.pipelines.push(Pipeline { steps, ticks: draft.ticks, feed: draft.feed });
    }

    fn ring(&mut self, ring: &Ring, feed: Feed) -> Place {
        let role = match (ring.transient, feed) {
            (true, _) => Role::Transient,
            (false, Feed::Sliding) => Role::Retained,
            (false, Feed::Whole | Feed::Rows) => Role::Scratch,
        };
        let align = ring.values.first().map_or(1, |&id| self.graph.ty(id).dtype.size()).max(4);
        let rows = ring.shared.map_or(ring.rows, |shared| shared.slots);
        Place { ring: Some(rows), ..self.buffer(rows * ring.row_bytes, align, role) }
    }

    /// A scratch buffer of one sum for each element of a value.
    fn sums(&mut self, value: ValueId) -> Place {
        self.buffer(4 * self.graph.ty(value).shape.numel(), 4, Role::Scratch)
    }

    /// A new buffer.
    fn buffer(&mut self, bytes: usize, align: usize, role: Role) -> Place {
        let buffer = BufferId(self.out.storage.buffers.len() as u32);
        self.out.storage.buffers.push(Buffer { bytes, align, role });
        Place::whole(buffer, 0)
    }

    /// Where values live so far.
    pub(super) fn storage(&self) -> &Storage {
        &self.out.storage
    }

    /// The finished schedule.
    pub(super) fn finish(self) -> Schedule {
        self.out
    }

    /// Adds a step that copies a value.
    pub(super) fn copy(&mut self, value: ValueId, from: Option<Place>, to: Place) {
        self.step(StepKind::Copy { value, from, to }, value);
    }

    /// A new scratch buffer for a value.
    pub(super) fn scratch(&mut self, value: ValueId) -> Place {
        let ty = self.graph.ty(value);
        self.buffer(ty.bytes(), ty.dtype.size().max(4), Role::Scratch)
    }

    /// Gives every output a place in scratch that it shares with no input, state or other output.
    pub(super) fn outputs(&mut self, homes: &Homes) {
        let mut taken: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.out.storage.buffers.len()];
        for &id in &self.graph.outputs {
            let place = self.out.storage.place(id);
            let computed = matches!(self.graph.value(homes.spot(id).data).def, ValueDef::Node(_));
            let range = |p: Place| (p.offset, p.offset + homes.bytes(id));
            let own = place.filter(|&p| {
                let (first, end) = range(p);
                let scratch = self.out.storage.buffer(p.buffer).role.in_arena();
                let overlap = |&(from, to): &(usize, usize)| first < to && from < end;
                computed && scratch && !taken[p.buffer.0 as usize].iter().any(overlap)
            });
            let output = own.unwrap_or_else(|| {
                let to = self.scratch(id);
                taken.push(Vec::new());
                self.copy(id, place, to);
                to
            });
            taken[output.buffer.0 as usize].push(range(output));
            self.out.outputs.push(output);
        }
    }
}
