//! Writes the steps: also the copies of outputs that have no place of their own.

use super::homes::Homes;
use super::{rows, Buffer, BufferId, Place, Role, Schedule, Step, StepKind, Storage};
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
        let buffer = BufferId(self.out.storage.buffers.len() as u32);
        let align = ty.dtype.size().max(4);
        self.out.storage.buffers.push(Buffer { bytes: ty.bytes(), align, role: Role::Scratch });
        Place::whole(buffer, 0)
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
