//! Steps as the checker executes them: what they read and write, and in which order.

use super::geometry::{self, Need, Order};
use super::layout::{Layout, Span, Tape};
use crate::ir::{Graph, Node, ValueId};
use crate::schedule::{Place, Schedule, Step, StepKind};

/// One operand of a step.
pub(super) struct Read {
    /// Its index; 0 for what a copy reads.
    pub(super) operand: usize,
    pub(super) tape: Tape,
    pub(super) need: Need,
    /// The sizes of the operand's and of the result's elements, if element `i` of the result is computed from element `i` of the
    /// operand and from no other of it.
    pub(super) pointwise: Option<(usize, usize)>,
    /// Of a concat: where it belongs in each row of the result, and in all of it, if its elements are adjacent there.
    part_of_row: Option<usize>,
    part_of_all: Option<usize>,
}

/// What a step does.
pub(super) enum Kind {
    /// Computes or copies rows from rows.
    Map(Order),
    /// Takes rows into sums, of which the last one makes the result.
    Absorb(Span),
}

/// A step.
pub(super) struct Job {
    /// For messages: `conv2d`, or `copy`.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// How many rows it computes, or absorbs, in all: those of the engine, and as the schedule counts them.
    pub(super) rows: usize,
    pub(super) counted: usize,
    /// What it reads but for constants.
    pub(super) reads: Vec<Read>,
    pub(super) result: Tape,
    /// What its kernel uses while it runs.
    pub(super) workspace: Option<Span>,
    /// Whether all of the result may be written while all operands are still to be read: they are apart, or the step goes element by
    /// element and is never ahead of its reading.
    pub(super) apart: bool,
    /// How many rows are computed at the same time: what any of them reads is there until the last of them is written.
    pub(super) at_once: usize,
}

impl Job {
    /// The job of a step.
    ///
    /// # Errors
    /// Says what is wrong with its places.
    pub(super) fn of(
        graph: &Graph,
        schedule: &Schedule,
        layout: &Layout,
        step: &Step,
    ) -> Result<Job, String> {
        let tape = |value: ValueId, place: Option<Place>, what: &str| {
            Tape::new(graph, &schedule.storage, layout, value, place)
                .map_err(|wrong| format!("{what} {} {wrong}", name(graph, value)))
        };
        let own = |value: ValueId, what: &str| tape(value, schedule.storage.place(value), what);
        let mut job = match step.kind {
            StepKind::Compute(id) | StepKind::Absorb { node: id, .. } => {
                let node = graph.get_node(id).ok_or("is of no node")?;
                let varying =
                    node.operands.iter().enumerate().filter(|(_, &o)| graph.const_data(o).is_none());
                let reads = varying.map(|(k, &o)| Ok(Read::of(graph, node, k, own(o, "operand")?)));
                let reads = reads.collect::<Result<Vec<_>, String>>()?;
                let result = own(node.result, "the result")?;
                let kind = Kind::Map(geometry::order(graph, node));
                let counted = geometry::count(&graph.ty(node.result).shape);
                Job {
                    name: node.op.name(),
                    kind,
                    rows: result.extent.rows,
                    counted,
                    reads,
                    result,
                    workspace: None,
                    apart: false,
                    at_once: 1,
                }
            }
            StepKind::Copy { value, from, to } => {
                let source = match (from, graph.const_data(value)) {
                    (None, Some(_)) => None,
                    _ => Some(Read::copied(graph, tape(value, from, "the source")?)),
                };
                let result = tape(value, Some(to), "the target")?;
                let kind = Kind::Map(Order::Elements);
                let counted = geometry::count(&graph.ty(value).shape);
                let (rows, reads) = (result.extent.rows, source.into_iter().collect());
                Job {
                    name: "copy",
                    kind,
                    rows,
                    counted,
                    reads,
                    result,
                    workspace: None,
                    apart: false,
                    at_once: 1,
                }
            }
        };
        // Rows that are not adjacent are counted otherwise.
        job.at_once = match step.at_once {
            0 | 1 => 1,
            at_once if job.rows == job.counted => at_once,
            _ => job.rows.max(1),
        };
        if let Some(id) = step.workspace {
            let index = id.0 as usize;
            let (Some(buffer), Some(home)) = (schedule.storage.buffers.get(index), layout.homes.get(index))
            else {
                return Err("has its workspace in no buffer".into());
            };
            if home.base % WORD_BYTES != 0 {
                return Err("has a workspace that is not aligned".into());
            }
            let bytes = home.base..home.base.saturating_add(buffer.bytes);
            job.workspace = Some(Span { memory: home.memory, bytes });
        }
        if let StepKind::Absorb { node, sums } = step.kind {
            job.absorb(graph, schedule, layout, graph.node(node), sums)?;
        }
        if let (Kind::Map(order), Some(all)) = (&job.kind, job.result.whole()) {
            let written = job.written(&all, None);
            let clear =
                |read: &Read| read.tape.whole().is_some_and(|from| read.clear(*order, &from, &written));
            job.apart = job.reads.iter().all(clear);
        }
        if step.apart && !job.apart {
            return Err(
                "is computed in another order than that of its rows, and its result lies over what it reads"
                    .into(),
            );
        }
        Ok(job)
    }

    fn absorb(
        &mut self,
        graph: &Graph,
        schedule: &Schedule,
        layout: &Layout,
        node: &Node,
        sums: Place,
    ) -> Result<(), String> {
        let [read] = &self.reads[..] else { return Err("absorbs more than one operand, or none".into()) };
        if read.operand != 0 || !geometry::sums_up(graph, node) {
            return Err("does not add up the rows of its operand".into());
        }
        let bytes = graph.ty(node.result).shape.numel().saturating_mul(WORD_BYTES);
        let index = sums.buffer.0 as usize;
        let (Some(buffer), Some(home)) = (schedule.storage.buffers.get(index), layout.homes.get(index))
        else {
            return Err("has its sums in no buffer".into());
        };
        if sums.ring.is_some() || sums.offset.checked_add(bytes).is_none_or(|end| end > buffer.bytes) {
            return Err(format!("needs {bytes} bytes for its sums, which exceed their buffer"));
        }
        let start = home.base.saturating_add(sums.offset);
        if start % WORD_BYTES != 0 {
            return Err("has sums that are not aligned".into());
        }
        self.rows = read.tape.extent.rows;
        self.counted = geometry::count(&graph.ty(read.tape.value).shape);
        self.kind = Kind::Absorb(Span { memory: home.memory, bytes: start..start + bytes });
        Ok(())
    }

    /// The bytes that are written with a row of the result, or all of it: all but the operands of a concat that are there already.
    pub(super) fn written(&self, result: &Span, row: Option<usize>) -> Vec<Span> {
        let mut written = Vec::new();
        let mut rest = result.clone();
        for read in &self.reads {
            let there = match row {
                Some(row) => read
                    .row(row)
                    .filter(|s| Some(s.bytes.start) == read.part_of_row.map(|o| result.bytes.start + o)),
                None => read
                    .tape
                    .whole()
                    .filter(|s| Some(s.bytes.start) == read.part_of_all.map(|o| result.bytes.start + o)),
            };
            let Some(there) =
                there.filter(|there| there.memory == rest.memory && there.bytes.start >= rest.bytes.start)
            else {
                continue;
            };
            let head = rest.bytes.start..there.bytes.start;
            rest.bytes.start = there.bytes.end.min(rest.bytes.end);
            written.push(Span { memory: rest.memory, bytes: head });
        }
        written.push(rest);
        written.retain(|span| !span.bytes.is_empty());
        written
    }
}

/// Bytes of a sum, and of a word of a workspace.
const WORD_BYTES: usize = 4;

impl Read {
    fn of(graph: &Graph, node: &Node, operand: usize, tape: Tape) -> Read {
        let size = |id: ValueId| graph.ty(id).dtype.size();
        let pointwise = geometry::pointwise(graph, node, operand);
        Read {
            operand,
            need: geometry::need(graph, node, operand),
            pointwise: pointwise.then(|| (size(tape.value), size(node.result))),
            part_of_row: geometry::part_of_row(graph, node, operand),
            part_of_all: geometry::part_of_all(graph, node, operand),
            tape,
        }
    }

    fn copied(graph: &Graph, tape: Tape) -> Read {
        let size = graph.ty(tape.value).dtype.size();
        let pointwise = Some((size, size));
        Read { operand: 0, tape, need: Need::SAME, pointwise, part_of_row: None, part_of_all: None }
    }

    /// The one row that a row of the result needs, if it is one.
    fn row(&self, row: usize) -> Option<Span> {
        let rows = self.need.rows(row, self.tape.extent.rows);
        (rows.len() == 1).then(|| self.tape.row(rows.start))
    }

    /// Whether these bytes of the operand may be read while those of the result are written.
    pub(super) fn clear(&self, order: Order, from: &Span, written: &[Span]) -> bool {
        let behind = |to: &Span| match self.pointwise {
            Some((reads, writes)) if order == Order::Elements => {
                // Element `m` is read when `m` elements have been written.
                let left = |m: usize| to.bytes.start + m * writes <= from.bytes.start + m * reads;
                match from.bytes.len().checked_div(reads).unwrap_or(0) {
                    0 | 1 => true,
                    elements => left(1) && left(elements - 1),
                }
            }
            _ => false,
        };
        written.iter().all(|to| !to.overlaps(from) || behind(to))
    }
}

/// A value in messages.
pub(super) fn name(graph: &Graph, id: ValueId) -> String {
    match graph.get_value(id) {
        Some(value) => format!("%{} \"{}\"", id.0, value.name),
        None => format!("%{}", id.0),
    }
}
