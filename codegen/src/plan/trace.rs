//! What the steps of a stage do to each buffer, event by event: which bytes are read and written, in order.

use crate::ir::{Graph, Node, NodeId, ValueId};
use crate::schedule::{geometry, rows, views, Feed, Pipeline, Place, Schedule, StepKind};
use std::collections::BTreeMap;
use std::ops::Range;

/// At most this many events for a step outside of pipelines: of a taller value, several rows are one.
const MOST_ROWS: usize = 1024;

/// A pipeline of more events than this is not traced.
const MOST_EVENTS: usize = 1 << 16;

/// What happens to one buffer, in ascending order of the time of the event.
#[derive(Default)]
pub(super) struct Access {
    /// Time, and the lowest byte that is read or written then.
    touched: Vec<(usize, usize)>,
    /// Time, and the end of the bytes that have been written by then: only where it grows.
    filled: Vec<(usize, usize)>,
}

impl Access {
    fn touch(&mut self, time: usize, byte: usize) {
        match self.touched.last_mut() {
            Some(last) if last.0 == time => last.1 = last.1.min(byte),
            _ => self.touched.push((time, byte)),
        }
    }

    fn fill(&mut self, time: usize, end: usize) {
        match self.filled.last_mut() {
            Some(last) if last.1 >= end => {}
            Some(last) if last.0 == time => last.1 = end,
            _ => self.filled.push((time, end)),
        }
    }

    /// Leaves of what is touched only the suffix minima, so that [`Access::needed`] tells what is touched from a time on.
    fn finish(&mut self) {
        let mut lowest = usize::MAX;
        let mut kept: Vec<(usize, usize)> = Vec::new();
        for &(time, byte) in self.touched.iter().rev() {
            if byte < lowest {
                lowest = byte;
                kept.push((time, byte));
            }
        }
        kept.reverse();
        self.touched = kept;
    }

    /// Time, and the end of the bytes written by then, where it grows.
    pub(super) fn filled(&self) -> &[(usize, usize)] {
        &self.filled
    }

    /// Time, and the lowest byte touched then or later: the minimum for all times after the entry before.
    pub(super) fn needed(&self) -> &[(usize, usize)] {
        &self.touched
    }
}

/// The events of a stage: a pipeline, or one step outside of pipelines.
#[derive(Default)]
pub(super) struct Trace {
    /// By buffer.
    pub(super) buffers: BTreeMap<usize, Access>,
    /// Times of the first event of each band, with the index of its step.
    pub(super) bands: Vec<(usize, usize)>,
    /// Time after the last event.
    pub(super) end: usize,
    /// Element by element from the first to the second of two buffers, and how many bytes less the first element's address may be in
    /// the first.
    pub(super) streams: BTreeMap<(usize, usize), usize>,
}

impl Trace {
    /// Of one step outside of pipelines.
    pub(super) fn of_step(graph: &Graph, schedule: &Schedule, step: usize) -> Trace {
        let mut tracer = Tracer { graph, schedule, trace: Trace::default() };
        let (count, at_once) = (schedule.steps[step].rows, schedule.steps[step].at_once);
        tracer.band(step, 0..count, count.div_ceil(MOST_ROWS).next_multiple_of(at_once.max(1)).max(at_once));
        tracer.finish()
    }

    /// Of a pipeline that ends; `None` if it is too long.
    pub(super) fn of_pipeline(graph: &Graph, schedule: &Schedule, pipeline: &Pipeline) -> Option<Trace> {
        let steps = schedule.steps.get(pipeline.steps.clone())?;
        let events = steps.iter().fold(pipeline.ticks, |sum, step| sum.saturating_add(step.computed()));
        if events > MOST_EVENTS || pipeline.feed == Feed::Sliding {
            return None;
        }
        let mut tracer = Tracer { graph, schedule, trace: Trace::default() };
        for tick in 0..pipeline.ticks {
            if pipeline.feed == Feed::Rows {
                tracer.fed(pipeline.steps.start, tick);
            }
            for step in pipeline.steps.clone() {
                if let Some(rows) = schedule.steps[step].due(tick, false) {
                    let unit = if schedule.steps[step].beat.again.is_some() { rows.len() } else { 1 };
                    tracer.band(step, rows, unit);
                }
            }
        }
        Some(tracer.finish())
    }
}

struct Tracer<'a> {
    graph: &'a Graph,
    schedule: &'a Schedule,
    trace: Trace,
}

impl Tracer<'_> {
    fn finish(mut self) -> Trace {
        self.trace.buffers.values_mut().for_each(Access::finish);
        self.trace
    }

    /// A row of the model's input is written.
    fn fed(&mut self, step: usize, tick: usize) {
        for &id in &self.graph.inputs {
            if tick < rows(&self.graph.ty(id).shape) {
                self.trace.bands.push((self.trace.end, step));
                self.write(self.place(id), id, Some(tick..tick + 1));
                self.trace.end += 1;
            }
        }
    }

    /// A step computes a band of rows, `unit` at a time.
    fn band(&mut self, step: usize, band: Range<usize>, unit: usize) {
        self.trace.bands.push((self.trace.end, step));
        match self.schedule.steps[step].kind {
            // In any order: all is read, and all is written.
            StepKind::Compute(id) if self.schedule.steps[step].apart => {
                let unit = band.len();
                self.compute(id, band, unit);
            }
            StepKind::Compute(id) => self.compute(id, band, unit),
            StepKind::Absorb { node, sums } => self.absorb(self.graph.node(node), sums, step, band),
            StepKind::Copy { value, from, to } => self.copy(value, from, to),
        }
    }

    fn compute(&mut self, id: NodeId, band: Range<usize>, unit: usize) {
        let node = self.graph.node(id);
        let unit = if geometry::in_order(self.graph, node) { unit } else { band.len() };
        let mut first = band.start;
        loop {
            let part = first..band.end.min(first + unit.max(1));
            self.part(node, &part, band.len() > 1);
            first = part.end;
            if first >= band.end {
                return;
            }
        }
    }

    /// Reads what some rows of the result need, and writes them. `among`: the kernel is asked for others at the same time.
    fn part(&mut self, node: &Node, part: &Range<usize>, among: bool) {
        let result = self.place(node.result);
        let streams: Vec<bool> = (0..node.operands.len()).map(|k| self.streams(node, k, part)).collect();
        for (k, &operand) in node.operands.iter().enumerate().filter(|&(k, _)| streams[k]) {
            let needed = self.needed(node, k, part);
            if let (Some(from), Some(to)) = (self.place(operand), result) {
                let start = |id, place, rows| self.span(id, place, rows).start;
                let row = geometry::needs(self.graph, node, k, part.start).map(|_| part.clone());
                self.stream(from, start(operand, from, row.clone()), to, start(node.result, to, row));
                self.read(Some(from), operand, needed);
            }
        }
        if streams.contains(&true) {
            self.trace.end += 1;
        }
        for (k, &operand) in node.operands.iter().enumerate().filter(|&(k, _)| !streams[k]) {
            let repeats = among && geometry::repeats(self.graph, node, k);
            let needed = if repeats { None } else { self.needed(node, k, part) };
            self.read(self.place(operand), operand, needed);
        }
        let by_row = self.row_bytes(node.result).is_some();
        self.write(result, node.result, by_row.then(|| part.clone()));
        self.trace.end += 1;
    }

    /// Whether the step reads element `i` of an operand before it writes element `i` of the result, and both go up in memory.
    fn streams(&self, node: &Node, k: usize, part: &Range<usize>) -> bool {
        let ring = |id| self.place(id).is_some_and(|place| place.ring.is_some());
        let straight = part.len() <= 1 || !(ring(node.operands[k]) || ring(node.result));
        let row_by_row = geometry::needs(self.graph, node, k, part.start).is_some();
        let all = part.len() == rows(&self.graph.ty(node.result).shape);
        views::elementwise(self.graph, node, k) && straight && (row_by_row || all)
    }

    /// The rows of an operand that some rows of the result need; `None` for all.
    fn needed(&self, node: &Node, k: usize, part: &Range<usize>) -> Option<Range<usize>> {
        if part.is_empty() {
            return None;
        }
        let (first, last) = (part.start, part.end - 1);
        let head = geometry::needs(self.graph, node, k, first)?;
        let tail = geometry::needs(self.graph, node, k, last)?;
        match (head.is_empty(), tail.is_empty()) {
            (false, false) => Some(head.start.min(tail.start)..head.end.max(tail.end)),
            _ if part.len() <= 2 => Some(if head.is_empty() { tail } else { head }),
            // Padding at an end of several rows.
            _ => None,
        }
    }

    fn absorb(&mut self, node: &Node, sums: Place, step: usize, band: Range<usize>) {
        let operand = node.operands.first().copied();
        let last = band.end >= self.schedule.steps[step].rows;
        if let Some(operand) = operand {
            self.read(self.place(operand), operand, self.row_bytes(operand).map(|_| band));
        }
        let bytes = self.graph.ty(node.result).shape.numel().saturating_mul(4);
        self.written(sums, sums.offset..sums.offset + bytes);
        if last {
            self.write(self.place(node.result), node.result, None);
        }
        self.trace.end += 1;
    }

    fn copy(&mut self, value: ValueId, from: Option<Place>, to: Place) {
        let constant = self.graph.const_data(value).is_some();
        let from = from.or_else(|| self.place(value).filter(|_| !constant));
        if let Some(from) = from {
            self.stream(from, from.offset, to, to.offset);
            self.read(Some(from), value, None);
            self.trace.end += 1;
        }
        self.write(Some(to), value, None);
        self.trace.end += 1;
    }

    fn place(&self, id: ValueId) -> Option<Place> {
        self.schedule.storage.place(id)
    }

    /// Bytes of a row, of tensors with one image.
    fn row_bytes(&self, id: ValueId) -> Option<usize> {
        let ty = self.graph.ty(id);
        let one_image = ty.shape.rank() >= 3 && ty.shape.dims().first() == Some(&1);
        if one_image {
            ty.bytes().checked_div(rows(&ty.shape))
        } else {
            None
        }
    }

    /// The bytes, from the start of the buffer, that hold some rows of a value; `None` for all.
    fn span(&self, id: ValueId, place: Place, rows: Option<Range<usize>>) -> Range<usize> {
        let at = |bytes: Range<usize>| place.offset + bytes.start..place.offset + bytes.end;
        match (self.row_bytes(id), rows, place.ring) {
            (Some(row), Some(rows), None) => at(rows.start * row..rows.end * row),
            (Some(row), Some(rows), Some(ring)) if rows.len() < ring => {
                let slots = rows.map(|r| (r + place.slot) % ring);
                let (lowest, highest) = (slots.clone().min().unwrap_or(0), slots.max().unwrap_or(0));
                at(lowest * row..(highest + 1) * row)
            }
            (Some(row), _, Some(ring)) => at(0..ring * row),
            _ => at(0..self.graph.ty(id).bytes()),
        }
    }

    fn read(&mut self, place: Option<Place>, id: ValueId, rows: Option<Range<usize>>) {
        let Some(place) = place else { return };
        let nothing = rows.as_ref().is_some_and(|rows| rows.is_empty());
        let span = self.span(id, place, rows);
        if !nothing && !span.is_empty() {
            let time = self.trace.end;
            self.access(place).touch(time, span.start);
        }
    }

    fn write(&mut self, place: Option<Place>, id: ValueId, rows: Option<Range<usize>>) {
        if let Some(place) = place {
            let span = self.span(id, place, rows);
            self.written(place, span);
        }
    }

    fn written(&mut self, place: Place, span: Range<usize>) {
        if !span.is_empty() {
            let time = self.trace.end;
            let access = self.access(place);
            access.touch(time, span.start);
            access.fill(time, span.end);
        }
    }

    fn access(&mut self, place: Place) -> &mut Access {
        self.trace.buffers.entry(place.buffer.0 as usize).or_default()
    }

    /// Elements are read from byte `start` of one place on, and written from byte `target` of another.
    fn stream(&mut self, from: Place, start: usize, to: Place, target: usize) {
        let gap = self.trace.streams.entry((from.buffer.0 as usize, to.buffer.0 as usize)).or_default();
        *gap = (*gap).max(target.saturating_sub(start));
    }
}
