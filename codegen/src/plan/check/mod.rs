//! The independent checker of schedules and plans.
//!
//! [`check`] runs the schedule over *tagged* memory: every byte of the arena and of the states carries the name of the data it
//! holds. It shares only types with the code that schedules and plans, and proves:
//!
//! - every buffer lies inside its memory, aligned, and every place inside its buffer, aligned to its element;
//! - inputs are all there before the first step, and every step finds intact what it reads ([`same`] says what may stand for it);
//! - no step overwrites what it still reads: its result overlaps an operand only where it is elementwise and both lie at the same
//!   place, or where it is a concat and the operand already lies where it belongs, or where it copies down;
//! - after the last step every output is intact, in scratch and apart from the others, and every state holds its next value.
//!
//! Not checked: that kernels write no byte outside of the result (the types of the emitted code bound them).

mod memory;
mod same;
#[cfg(test)]
mod tests;

use super::Plan;
use crate::ir::{Graph, Node, NodeId, Op, ValueId};
use crate::schedule::{Place, Role, Schedule, StepKind};
use memory::Memory;
use same::Same;
use std::ops::Range;

/// At most this many violations are reported.
const MOST: usize = 20;

/// Checks a schedule and its plan.
///
/// # Errors
/// Every violated invariant, up to a limit.
pub fn check(graph: &Graph, schedule: &Schedule, plan: &Plan) -> Result<(), Vec<String>> {
    let mut checker = Checker {
        graph,
        schedule,
        plan,
        same: Same::of(graph),
        arena: Memory::default(),
        states: Memory::default(),
        violations: Vec::new(),
    };
    checker.layout();
    if checker.violations.is_empty() {
        checker.run();
    }
    if checker.same.gave_up() {
        checker.violations = vec!["the concats of the graph are too entangled to be checked".into()];
    }
    if checker.violations.is_empty() {
        Ok(())
    } else {
        Err(checker.violations)
    }
}

/// A range of bytes of the arena, or of the states.
#[derive(Clone, PartialEq, Eq)]
struct Span {
    state: bool,
    bytes: Range<usize>,
}

impl Span {
    fn overlaps(&self, other: &Span) -> bool {
        self.state == other.state && self.bytes.start < other.bytes.end && other.bytes.start < self.bytes.end
    }
}

struct Checker<'a> {
    graph: &'a Graph,
    schedule: &'a Schedule,
    plan: &'a Plan,
    same: Same,
    arena: Memory,
    states: Memory,
    violations: Vec<String>,
}

impl Checker<'_> {
    fn fail(&mut self, message: String) {
        if self.violations.len() < MOST {
            self.violations.push(message);
        }
    }

    fn expect(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.fail(message());
        }
    }

    fn name(&self, id: ValueId) -> String {
        format!("%{} \"{}\"", id.0, self.graph.value(id).name)
    }

    /// Where a buffer begins: in the states or not, and at which byte.
    fn base(&self, buffer: usize) -> Option<(bool, usize)> {
        match self.schedule.storage.buffers.get(buffer)?.role {
            Role::Scratch | Role::Transient => Some((false, *self.plan.offsets.get(buffer)?)),
            Role::State(_) | Role::Retained => Some((true, *self.plan.offsets.get(buffer)?)),
        }
    }

    /// The bytes of a value of that many bytes at that place, if it is one.
    fn span(&self, place: Place, bytes: usize) -> Option<Span> {
        let buffer = self.schedule.storage.buffers.get(place.buffer.0 as usize)?;
        let inside = place.offset.checked_add(bytes)? <= buffer.bytes;
        let (state, base) = self.base(place.buffer.0 as usize)?;
        let start = base + place.offset;
        inside.then_some(Span { state, bytes: start..start + bytes })
    }

    /// The bytes of a value, at its own place.
    fn span_of(&self, id: ValueId) -> Option<Span> {
        self.span(self.schedule.storage.place(id)?, self.graph.ty(id).bytes())
    }

    /// Buffers inside their memories, values inside their buffers, everything aligned.
    fn layout(&mut self) {
        let (schedule, plan, graph) = (self.schedule, self.plan, self.graph);
        let mut states: Vec<Range<usize>> = Vec::new();
        for (index, buffer) in schedule.storage.buffers.iter().enumerate() {
            let Some((state, base)) = self.base(index) else {
                self.fail(format!("buffer {index} has no offset"));
                continue;
            };
            let limit = if state { plan.state_bytes } else { plan.arena_bytes };
            let end = base.checked_add(buffer.bytes);
            self.expect(end.is_some_and(|end| end <= limit), || {
                format!("buffer {index} ends beyond its memory of {limit} bytes")
            });
            let aligned = buffer.align.is_power_of_two() && buffer.align >= 4 && base % buffer.align == 0;
            self.expect(aligned, || format!("buffer {index} at {base} is not aligned to {}", buffer.align));
            if state {
                states.push(base..base.saturating_add(buffer.bytes));
            }
        }
        states.sort_by_key(|s| (s.start, s.end));
        let apart = states.windows(2).all(|pair| pair[0].end <= pair[1].start);
        self.expect(apart, || "two states overlap".into());
        self.expect(schedule.storage.places.len() <= graph.values().count(), || "a place of no value".into());
        for (id, value) in graph.values() {
            if let Some(place) = schedule.storage.place(id) {
                self.placed(id, place, value.ty.dtype.size());
            }
        }
        for (index, state) in graph.states.iter().enumerate() {
            let place = schedule.storage.place(state.current);
            let buffer = place.and_then(|p| schedule.storage.buffers.get(p.buffer.0 as usize));
            let home =
                buffer.is_some_and(|b| b.role == Role::State(index)) && place.is_some_and(|p| p.offset == 0);
            self.expect(home, || format!("state {index} is not in its buffer"));
        }
    }

    fn placed(&mut self, id: ValueId, place: Place, element: usize) {
        let span = self.span(place, self.graph.ty(id).bytes());
        let aligned = span.as_ref().is_some_and(|s| s.bytes.start.checked_rem(element) == Some(0));
        let name = self.name(id);
        self.expect(span.is_some(), || format!("{name} exceeds its buffer"));
        self.expect(span.is_none() || aligned, || format!("{name} is not aligned to its element"));
    }

    fn run(&mut self) {
        let graph = self.graph;
        for state in &graph.states {
            if let Some(span) = self.span_of(state.current) {
                self.write(&span, state.current);
            }
        }
        for &id in &graph.inputs {
            match self.span_of(id) {
                Some(span) if !span.state => self.write(&span, id),
                _ => self.fail(format!("input {} has no place in the arena", self.name(id))),
            }
        }
        for &id in &graph.inputs {
            self.read(self.span_of(id), id, "before the first step");
        }
        for (index, step) in self.schedule.steps.iter().enumerate() {
            let value = match step.kind {
                StepKind::Compute(node) => self.compute(index, node),
                StepKind::Absorb { node, .. } => self.compute(index, node),
                StepKind::Copy { value, from, to } => self.copy(index, value, from, to),
            };
            let rows = crate::schedule::rows(&graph.ty(value).shape);
            self.expect(step.rows == rows, || {
                format!("step {index} computes rows {:?} of {rows}", step.rows)
            });
        }
        self.ends();
    }

    fn compute(&mut self, index: usize, id: NodeId) -> ValueId {
        let node = self.graph.node(id);
        let at = format!("step {index} ({})", node.op.name());
        for &operand in &node.operands {
            if self.graph.const_data(operand).is_none() {
                self.read(self.span_of(operand), operand, &at);
            }
        }
        match self.span_of(node.result) {
            Some(result) => {
                let written = self.written(node, &result);
                for k in 0..node.operands.len() {
                    let legal = self.survives(node, k, &result, &written);
                    self.expect(legal, || {
                        format!("{at}: the result overwrites operand {k}, which it still reads")
                    });
                }
                self.write(&result, node.result);
            }
            None => self.fail(format!("{at}: the result {} has no place", self.name(node.result))),
        }
        node.result
    }

    /// Where an operand of a concat belongs in the result, if the operands lie there one after the other.
    fn part(&self, node: &Node, k: usize, result: &Span) -> Option<Span> {
        let Op::Concat { axis } = node.op else { return None };
        let outer: usize = self.graph.ty(node.result).shape.dims().iter().take(axis).product();
        let before: usize = node.operands.iter().take(k).map(|&id| self.graph.ty(id).bytes()).sum();
        let start = result.bytes.start + before;
        let bytes = start..start + self.graph.ty(*node.operands.get(k)?).bytes();
        (outer == 1).then_some(Span { state: result.state, bytes })
    }

    /// The bytes that a step writes: all of the result, but for the operands of a concat that are there already.
    fn written(&self, node: &Node, result: &Span) -> Vec<Span> {
        let parts: Option<Vec<(ValueId, Span)>> = node
            .operands
            .iter()
            .enumerate()
            .map(|(k, &id)| Some((id, self.part(node, k, result)?)))
            .collect();
        match parts {
            Some(parts) => {
                let absent =
                    |(id, part): (ValueId, Span)| (self.span_of(id).as_ref() != Some(&part)).then_some(part);
                parts.into_iter().filter_map(absent).collect()
            }
            None => vec![result.clone()],
        }
    }

    /// Whether operand `k` is read before anything is written over it: it is elsewhere, or the step goes element by element and
    /// both lie at the same place.
    fn survives(&self, node: &Node, k: usize, result: &Span, written: &[Span]) -> bool {
        let Some(from) = self.span_of(node.operands[k]) else { return true };
        if !written.iter().any(|span| span.overlaps(&from)) {
            return true;
        }
        let pointwise = match node.op {
            Op::Add { .. } | Op::Sub { .. } | Op::Mul { .. } => true,
            Op::Clip { .. } | Op::LeakyRelu { .. } | Op::Logistic {} | Op::Tanh {} => true,
            Op::Quantize {} | Op::Dequantize {} | Op::Requantize { .. } => true,
            Op::Lookup {} => k == 0,
            _ => false,
        };
        let (a, b) = (self.graph.ty(node.operands[k]), self.graph.ty(node.result));
        pointwise && from == *result && a.dtype.size() == b.dtype.size() && a.shape.numel() == b.shape.numel()
    }

    fn copy(&mut self, index: usize, value: ValueId, from: Option<Place>, to: Place) -> ValueId {
        let ty = self.graph.ty(value);
        let at = format!("step {index} (copy)");
        let source = from.and_then(|place| self.span(place, ty.bytes()));
        if from.is_some() || self.graph.const_data(value).is_none() {
            self.read(source.clone(), value, &at);
        }
        match self.span(to, ty.bytes()) {
            Some(target) => {
                let aligned = target.bytes.start.checked_rem(ty.dtype.size()) == Some(0);
                self.expect(aligned, || format!("{at}: the target is not aligned"));
                // Copies go from the first element to the last: down is safe.
                let safe =
                    !source.is_some_and(|s| s.overlaps(&target) && s.bytes.start <= target.bytes.start);
                self.expect(safe, || format!("{at}: the target overlaps the source"));
                self.write(&target, value);
            }
            None => self.fail(format!("{at}: the target exceeds its buffer")),
        }
        value
    }

    fn ends(&mut self) {
        let (graph, schedule) = (self.graph, self.schedule);
        let counts = (schedule.outputs.len(), graph.outputs.len());
        self.expect(counts.0 == counts.1, || format!("{} places for {} outputs", counts.0, counts.1));
        let mut spans: Vec<Range<usize>> = Vec::new();
        for (&id, &place) in graph.outputs.iter().zip(&schedule.outputs) {
            let span = self.span(place, graph.ty(id).bytes());
            self.read(span.clone(), id, "after the last step, as an output");
            match span {
                Some(span) if !span.state => spans.push(span.bytes),
                _ => self.fail(format!("output {} is not in the arena", self.name(id))),
            }
        }
        spans.retain(|s| !s.is_empty());
        spans.sort_by_key(|s| s.start);
        self.expect(spans.windows(2).all(|pair| pair[0].end <= pair[1].start), || {
            "two outputs overlap".into()
        });
        for state in &graph.states {
            self.read(self.span_of(state.current), state.next, "after the last step, as a state");
        }
    }

    fn write(&mut self, span: &Span, id: ValueId) {
        let memory = if span.state { &mut self.states } else { &mut self.arena };
        memory.write(span.bytes.start, id, span.bytes.len());
    }

    /// The bytes must hold the data of the value.
    fn read(&mut self, span: Option<Span>, id: ValueId, at: &str) {
        let Some(span) = span else {
            self.fail(format!("{at}: {} has no place", self.name(id)));
            return;
        };
        let memory = if span.state { &mut self.states } else { &mut self.arena };
        if let Err(byte) = memory.holds(span.bytes.start, id, span.bytes.len(), &mut self.same) {
            let found = memory.value(byte);
            let found = found.map_or("nothing".into(), |found| self.name(found));
            let place = if span.state { "of the states" } else { "of the arena" };
            self.fail(format!(
                "{at}: {} is not intact at byte {byte} {place}, which holds {found}",
                self.name(id)
            ));
        }
    }
}
