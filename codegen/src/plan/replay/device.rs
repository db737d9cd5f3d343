//! A device: the arena and the states as bytes.

use super::truth::Truth;
use crate::interp::Machine;
use crate::ir::{Data, Graph, Node, NodeId, Op, ValueId};
use crate::plan::Plan;
use crate::schedule::{geometry, rows, views, Place, Role, Schedule, StepKind};
use std::ops::Range;

pub(super) struct Device<'a> {
    pub(super) graph: &'a Graph,
    pub(super) schedule: &'a Schedule,
    plan: &'a Plan,
    /// The arena, and the fast one behind it.
    arena: Vec<u8>,
    states: Vec<u8>,
}

impl<'a> Device<'a> {
    pub(super) fn new(graph: &'a Graph, schedule: &'a Schedule, plan: &'a Plan) -> Self {
        let (arena, states) = (vec![0; plan.scratch_bytes()], vec![0; plan.state_bytes]);
        Device { graph, schedule, plan, arena, states }
    }

    /// What an earlier run left in the arena must not matter.
    pub(super) fn scramble(&mut self) {
        self.arena.fill(0xA5);
    }

    /// Stores a whole value that is not computed.
    pub(super) fn store_all(&mut self, id: ValueId, data: &Data) -> Result<(), String> {
        let place = self.place(id)?;
        self.at(place, 0..data.bytes().len())?.copy_from_slice(data.bytes());
        Ok(())
    }

    /// Writes a row of the model's only input, where it is fed by rows.
    pub(super) fn feed(&mut self, truth: &Truth, tick: usize) -> Result<(), String> {
        let fed = self.schedule.feed() != crate::schedule::Feed::Whole;
        for &id in self.graph.inputs.iter().filter(|_| fed) {
            if tick < truth.bytes(id).len() / self.row(id).max(1) {
                let place = self.place(id)?;
                self.store(truth, id, place, tick)?;
            }
        }
        Ok(())
    }

    /// Runs those of some steps that are due at a tick.
    pub(super) fn tick(
        &mut self,
        truth: &Truth,
        steps: Range<usize>,
        tick: usize,
        endless: bool,
    ) -> Result<(), String> {
        for index in steps {
            let step = &self.schedule.steps[index];
            let Some(band) = step.due(tick, endless) else { continue };
            self.work(index)?;
            let done = match step.kind {
                StepKind::Compute(id) => self.compute(truth, id, band, endless),
                StepKind::Absorb { node, sums } => {
                    let count = step.rows;
                    self.absorb(truth, self.graph.node(node), sums, band, count)
                }
                StepKind::Copy { value, from, to } => self.copy(truth, value, from, to),
            };
            done.map_err(|e| format!("step {index}, tick {tick}: {e}"))?;
            self.work(index)?;
        }
        Ok(())
    }

    /// The kernel of a step leaves anything in its workspace.
    fn work(&mut self, step: usize) -> Result<(), String> {
        if let Some(buffer) = self.schedule.steps[step].workspace {
            let bytes = self.schedule.storage.buffer(buffer).bytes;
            self.at(Place::whole(buffer, 0), 0..bytes)?.fill(0x5A);
        }
        Ok(())
    }

    /// Compares outputs and states with those of the interpreter, which has just run.
    pub(super) fn ends(&mut self, truth: &Truth, machine: &Machine) -> Result<(), String> {
        for (&id, &place) in self.graph.outputs.iter().zip(&self.schedule.outputs) {
            if self.at(place, 0..self.graph.ty(id).bytes())? != truth.bytes(id) {
                return Err(format!("the output %{} differs", id.0));
            }
        }
        for (state, want) in self.graph.states.iter().zip(machine.state()) {
            let place = self.place(state.current)?;
            if self.at(place, 0..want.bytes().len())? != want.bytes() {
                return Err(format!("the state {} differs", state.name));
            }
        }
        Ok(())
    }

    fn compute(
        &mut self,
        truth: &Truth,
        id: NodeId,
        band: Range<usize>,
        endless: bool,
    ) -> Result<(), String> {
        let node = self.graph.node(id);
        let unit = if geometry::in_order(self.graph, node) { 1 } else { band.len() };
        let varying = |k: &usize| self.graph.const_data(node.operands[*k]).is_none();
        // Elements of operands in place of which those of the result may come, and operands that are read at any time.
        let (paired, others): (Vec<usize>, Vec<usize>) =
            (0..node.operands.len()).filter(varying).partition(|&k| {
                // Elements of another size are read in the same order.
                let converts = matches!(node.op, Op::Quantize { .. } | Op::Dequantize {});
                converts || views::elementwise(self.graph, node, k)
            });
        let paired: Vec<ValueId> = paired.into_iter().map(|k| node.operands[k]).collect();
        let mut first = band.start;
        while first < band.end {
            let part = first..(first + unit).min(band.end);
            first = part.end;
            let read = |device: &mut Self| {
                others.iter().try_for_each(|&k| {
                    let rows = device.needed(node, k, &part, endless);
                    device.rows(truth, node.operands[k], rows)
                })
            };
            read(self)?;
            part.clone().try_for_each(|row| self.elements(truth, node.result, row, &paired))?;
            read(self)?;
        }
        Ok(())
    }

    /// Stores a row of a result element by element; the same element of each of the paired operands must be there just before.
    fn elements(&mut self, truth: &Truth, id: ValueId, row: usize, paired: &[ValueId]) -> Result<(), String> {
        let place = self.place(id)?;
        if paired.is_empty() {
            return self.store(truth, id, place, row);
        }
        let ty = self.graph.ty(id);
        let (size, height, bytes) = (ty.dtype.size(), rows(&ty.shape), self.row(id));
        for at in (0..bytes).step_by(size) {
            let element = row * bytes + at;
            for &operand in paired {
                let from = self.place(operand)?;
                let read = self.graph.ty(operand).dtype.size();
                let start = match rows(&self.graph.ty(operand).shape) == height {
                    true => self.slot(operand, from, row) + at / size * read,
                    false => from.offset + element / size * read,
                };
                let place = Place { offset: 0, ..from };
                self.expect(truth, operand, place, start..start + read, element / size * read)?;
            }
            let to = self.slot(id, place, row) + at;
            let data = truth.bytes(id).get(element..element + size).ok_or("a row of nothing")?.to_vec();
            self.at(Place { offset: 0, ..place }, to..to + size)?.copy_from_slice(&data);
        }
        Ok(())
    }

    fn absorb(
        &mut self,
        truth: &Truth,
        node: &Node,
        sums: Place,
        band: Range<usize>,
        count: usize,
    ) -> Result<(), String> {
        let len = 4 * self.graph.ty(node.result).shape.numel();
        // Any bytes that tell how far the sums are.
        let state = |rows: usize| (0..len).map(move |i| (i + 7 * rows + 1) as u8);
        if band.start > 0 && !self.at(sums, 0..len)?.iter().copied().eq(state(band.start)) {
            return Err("the sums are overwritten".into());
        }
        let (first, end) = (band.start, band.end);
        if let Some(&operand) = node.operands.first() {
            self.rows(truth, operand, Some(first..end))?;
            for (byte, value) in self.at(sums, 0..len)?.iter_mut().zip(state(end)) {
                *byte = value;
            }
            self.rows(truth, operand, Some(first..end))?;
        }
        if end >= count {
            let place = self.place(node.result)?;
            (0..rows(&self.graph.ty(node.result).shape))
                .try_for_each(|row| self.store(truth, node.result, place, row))?;
        }
        Ok(())
    }

    fn copy(&mut self, truth: &Truth, value: ValueId, from: Option<Place>, to: Place) -> Result<(), String> {
        let constant = self.graph.const_data(value).is_some();
        let from = match from {
            None if !constant => Some(self.place(value)?),
            from => from,
        };
        let bytes = truth.bytes(value).to_vec();
        let size = self.graph.ty(value).dtype.size();
        for (i, element) in bytes.chunks(size).enumerate() {
            let range = i * size..i * size + element.len();
            if let Some(from) = from {
                let at = range.start + from.offset..range.end + from.offset;
                self.expect(truth, value, Place { offset: 0, ..from }, at, range.start)?;
            }
            self.at(to, range)?.copy_from_slice(element);
        }
        Ok(())
    }

    /// The rows of an operand that some rows of the result need; `None` for all.
    fn needed(&self, node: &Node, k: usize, part: &Range<usize>, endless: bool) -> Option<Range<usize>> {
        let mut all: Option<Range<usize>> = None;
        for row in part.clone() {
            let read = match endless {
                false => geometry::needs(self.graph, node, k, row)?,
                true => {
                    let stride = node.op.window().map_or(1, |window| window.stride[0]);
                    shift(geometry::needs(self.graph, node, k, 0)?, row * stride)
                }
            };
            if !read.is_empty() {
                all = Some(all.map_or(read.clone(), |all| all.start.min(read.start)..all.end.max(read.end)));
            }
        }
        Some(all.unwrap_or(0..0))
    }

    /// Some rows of a value must be there; `None`: all.
    fn rows(&mut self, truth: &Truth, id: ValueId, rows: Option<Range<usize>>) -> Result<(), String> {
        let (row, place) = (self.row(id), self.place(id)?);
        for r in rows.unwrap_or(0..crate::schedule::rows(&self.graph.ty(id).shape)) {
            let slot = self.slot(id, place, r);
            self.expect(truth, id, Place { offset: 0, ..place }, slot..slot + row, r * row)?;
        }
        Ok(())
    }

    /// Bytes of a buffer must be those of a value from byte `start` on.
    fn expect(
        &mut self,
        truth: &Truth,
        id: ValueId,
        place: Place,
        bytes: Range<usize>,
        start: usize,
    ) -> Result<(), String> {
        let want = truth.bytes(id).get(start..start + bytes.len()).ok_or("a row that was never computed")?;
        if self.at(place, bytes)? != want {
            let row = start / self.row(id).max(1);
            return Err(format!("row {row} of %{} is not there", id.0));
        }
        Ok(())
    }

    fn store(&mut self, truth: &Truth, id: ValueId, place: Place, row: usize) -> Result<(), String> {
        let bytes = self.row(id);
        let slot = self.slot(id, place, row);
        let data = truth.bytes(id).get(row * bytes..(row + 1) * bytes).ok_or("a row of nothing")?;
        let data = data.to_vec();
        self.at(Place { offset: 0, ..place }, slot..slot + bytes)?.copy_from_slice(&data);
        Ok(())
    }

    /// Where a row is, from the start of the buffer.
    fn slot(&self, id: ValueId, place: Place, row: usize) -> usize {
        // Rows that never end come round to the first one.
        let held = place.ring.unwrap_or_else(|| rows(&self.graph.ty(id).shape));
        place.offset + (row + place.slot) % held.max(1) * self.row(id)
    }

    /// Bytes of a row: of the second axis, if the first has one element; else of all.
    fn row(&self, id: ValueId) -> usize {
        let ty = self.graph.ty(id);
        ty.bytes() / rows(&ty.shape).max(1)
    }

    fn at(&mut self, place: Place, bytes: Range<usize>) -> Result<&mut [u8], String> {
        let index = place.buffer.0 as usize;
        let memory = match self.schedule.storage.buffer(place.buffer).role {
            Role::Scratch | Role::Transient => &mut self.arena,
            Role::State(_) | Role::Retained => &mut self.states,
        };
        let behind = if self.plan.fast[index] { self.plan.arena_bytes } else { 0 };
        let start = behind + self.plan.offsets[index] + place.offset;
        let range = start + bytes.start..start + bytes.end;
        memory.get_mut(range.clone()).ok_or_else(|| format!("bytes {range:?} leave the memory"))
    }

    fn place(&self, id: ValueId) -> Result<Place, String> {
        self.schedule.storage.place(id).ok_or_else(|| format!("value %{} has no place", id.0))
    }
}

fn shift(rows: Range<usize>, by: usize) -> Range<usize> {
    rows.start + by..rows.end + by
}
