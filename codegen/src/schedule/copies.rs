//! The steps, and the copies at the end: outputs that have no place of their own, and states.

use super::homes::Homes;
use super::{rows, Buffer, BufferId, Place, Role, Schedule, Step, StepKind, Storage};
use crate::ir::{Graph, ValueDef, ValueId};

/// A state's next value on its way.
#[derive(Clone, Copy)]
struct WriteBack {
    value: ValueId,
    from: Option<Place>,
    to: Place,
}

/// Writes a schedule.
pub(super) struct Writer<'g> {
    graph: &'g Graph,
    out: Schedule,
}

impl<'g> Writer<'g> {
    pub(super) fn new(graph: &'g Graph, storage: Storage) -> Self {
        Writer { graph, out: Schedule { steps: Vec::new(), storage, outputs: Vec::new() } }
    }

    /// Adds a step that makes all rows of a value.
    pub(super) fn step(&mut self, kind: StepKind, value: ValueId) {
        self.out.steps.push(Step { kind, rows: 0..rows(&self.graph.ty(value).shape) });
    }

    /// The finished schedule.
    pub(super) fn finish(self) -> Schedule {
        self.out
    }

    fn copy(&mut self, value: ValueId, from: Option<Place>, to: Place) {
        self.step(StepKind::Copy { value, from, to }, value);
    }

    fn scratch(&mut self, value: ValueId) -> Place {
        let ty = self.graph.ty(value);
        let buffer = BufferId(self.out.storage.buffers.len() as u32);
        let align = ty.dtype.size().max(4);
        self.out.storage.buffers.push(Buffer { bytes: ty.bytes(), align, role: Role::Scratch });
        Place { buffer, offset: 0 }
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
                let scratch = self.out.storage.buffer(p.buffer).role == Role::Scratch;
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

    /// Writes back the states whose next value was not computed in place. A state is written when no other still needs what it
    /// holds; where states exchange their values, one is saved in scratch first.
    pub(super) fn states(&mut self) {
        let buffers = &self.out.storage.buffers;
        let mut pending: Vec<WriteBack> = Vec::new();
        let mut written = vec![None; buffers.len()];
        let mut readers = vec![0usize; buffers.len()];
        for state in &self.graph.states {
            let (from, Some(to)) =
                (self.out.storage.place(state.next), self.out.storage.place(state.current))
            else {
                continue;
            };
            if from != Some(to) {
                written[to.buffer.0 as usize] = Some(pending.len());
                from.iter().for_each(|p| readers[p.buffer.0 as usize] += 1);
                pending.push(WriteBack { value: state.next, from, to });
            }
        }
        let unread = |copy: &WriteBack| readers[copy.to.buffer.0 as usize] == 0;
        let mut ready: Vec<usize> = (0..pending.len()).rev().filter(|&i| unread(&pending[i])).collect();
        let mut done = vec![false; pending.len()];
        for start in 0..pending.len() {
            if !done[start] && ready.is_empty() {
                // A cycle: exactly one other copy reads this state.
                let buffer = pending[start].to.buffer;
                for i in (0..pending.len()).filter(|&i| !done[i]) {
                    if pending[i].from.is_some_and(|p| p.buffer == buffer) {
                        let saved = self.scratch(pending[i].value);
                        self.copy(pending[i].value, pending[i].from, saved);
                        pending[i].from = Some(saved);
                    }
                }
                readers[buffer.0 as usize] = 0;
                ready.push(start);
            }
            while let Some(i) = ready.pop() {
                let WriteBack { value, from, to } = pending[i];
                self.copy(value, from, to);
                done[i] = true;
                let Some(read) = from.map(|p| p.buffer.0 as usize).filter(|&b| b < readers.len()) else {
                    continue;
                };
                readers[read] -= 1;
                if readers[read] == 0 {
                    ready.extend(written[read].filter(|&next| !done[next]));
                }
            }
        }
    }
}
