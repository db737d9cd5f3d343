//! The state of an execution: tagged memories, and what has been found wrong.

use super::geometry::Extent;
use super::job::{self, Job};
use super::layout::{Layout, Span, Tape};
use super::memory::Memory;
use super::same::Same;
use super::{Objection, MOST};
use crate::ir::{Graph, ValueId};
use crate::schedule::{Place, Schedule};
use std::ops::Range;

pub(super) struct Engine<'a> {
    pub(super) graph: &'a Graph,
    pub(super) schedule: &'a Schedule,
    pub(super) layout: &'a Layout,
    /// By step.
    pub(super) jobs: &'a [Job],
    /// By step: how many rows have been computed.
    pub(super) done: Vec<usize>,
    /// Of the pipeline that runs, for messages.
    pub(super) tick: Option<usize>,
    /// Whether the rows of the pipeline never end.
    pub(super) endless: bool,
    pub(super) memories: Vec<Memory>,
    pub(super) same: Same,
    violations: Vec<String>,
}

impl<'a> Engine<'a> {
    pub(super) fn new(graph: &'a Graph, schedule: &'a Schedule, layout: &'a Layout, jobs: &'a [Job]) -> Self {
        Engine {
            graph,
            schedule,
            layout,
            jobs,
            done: vec![0; jobs.len()],
            tick: None,
            endless: false,
            memories: layout.memories.iter().map(|_| Memory::default()).collect(),
            same: Same::of(graph),
            violations: Vec::new(),
        }
    }

    /// What has been found.
    pub(super) fn verdict(self) -> Result<(), Objection> {
        if self.same.gave_up() {
            return Err(Objection::TooLong);
        }
        match self.violations.is_empty() {
            true => Ok(()),
            false => Err(Objection::Broken(self.violations)),
        }
    }

    /// Whether there is nothing more to find.
    pub(super) fn over(&self) -> bool {
        self.violations.len() >= MOST || self.same.gave_up()
    }

    pub(super) fn fail(&mut self, message: impl FnOnce(&Self) -> String) {
        if !self.over() {
            self.violations.push(message(self));
        }
    }

    pub(super) fn expect(&mut self, holds: bool, message: impl FnOnce(&Self) -> String) {
        if !holds {
            self.fail(message);
        }
    }

    pub(super) fn name(&self, id: ValueId) -> String {
        job::name(self.graph, id)
    }

    /// A step in messages.
    pub(super) fn at(&self, index: usize, row: Option<usize>) -> String {
        let job = &self.jobs[index];
        let tick = self.tick.map(|tick| format!(" at tick {tick}")).unwrap_or_default();
        let row = row.map(|row| format!(", row {row}")).unwrap_or_default();
        format!("step {index} ({} {}){tick}{row}", job.name, self.name(job.result.value))
    }

    pub(super) fn in_arena(&self, span: &Span) -> bool {
        self.layout.memories.get(span.memory).is_some_and(|(_, arena)| *arena)
    }

    /// A value at a place.
    pub(super) fn tape(&mut self, value: ValueId, place: Option<Place>) -> Option<Tape> {
        match Tape::new(self.graph, &self.schedule.storage, self.layout, value, place) {
            Ok(tape) => Some(tape),
            Err(wrong) => {
                self.fail(|e| format!("{} {wrong}", e.name(value)));
                None
            }
        }
    }

    /// A value at its own place.
    pub(super) fn own(&mut self, value: ValueId) -> Option<Tape> {
        self.tape(value, self.schedule.storage.place(value))
    }

    pub(super) fn write_row(&mut self, tape: &Tape, row: usize) {
        let span = tape.row(row);
        self.memories[span.memory].write(span.bytes.start, tape.run(row, 1));
    }

    pub(super) fn write_all(&mut self, tape: &Tape) {
        match tape.whole() {
            Some(span) => self.memories[span.memory].write(span.bytes.start, tape.run(0, tape.extent.rows)),
            None => self.fail(|e| {
                format!("{} is written as a whole, to a ring of {} rows", e.name(tape.value), tape.slots)
            }),
        }
    }

    /// The whole value must be there. Returns where.
    pub(super) fn read_all(&mut self, tape: &Tape, at: &dyn Fn(&Self) -> String) -> Option<Span> {
        let Some(span) = tape.whole() else {
            self.fail(|e| {
                format!(
                    "{}: {} is read as a whole, from a ring of {} rows",
                    at(e),
                    e.name(tape.value),
                    tape.slots
                )
            });
            return None;
        };
        let run = tape.run(0, tape.extent.rows);
        if let Err(byte) = self.memories[span.memory].holds(span.bytes.start, run, &mut self.same) {
            self.fail(|e| {
                format!("{}: {} is not intact {}", at(e), e.name(tape.value), e.found(span.memory, byte))
            });
        }
        Some(span)
    }

    /// These rows of an operand must be there, for a row of a step. Returns where they are.
    pub(super) fn read_rows(
        &mut self,
        index: usize,
        row: usize,
        tape: &Tape,
        rows: Range<usize>,
    ) -> Vec<Span> {
        let mut read = Vec::with_capacity(2);
        let mut left = rows;
        if left.len() > tape.slots {
            self.fail(|e| {
                let (at, value) = (e.at(index, Some(row)), e.name(tape.value));
                format!("{at}: needs {} rows of {value}, of which {} are held", left.len(), tape.slots)
            });
            return read;
        }
        while !left.is_empty() {
            let (count, span) = tape.adjacent(&left);
            let mut run = tape.run(left.start, count);
            let memory = &mut self.memories[span.memory];
            if let Err(byte) = memory.holds(span.bytes.start, run, &mut self.same) {
                run.offset += byte - span.bytes.start;
                self.fail(|e| {
                    let which = run.offset.checked_div(tape.extent.bytes).unwrap_or(0);
                    let (at, value, found) =
                        (e.at(index, Some(row)), e.name(tape.value), e.found(span.memory, byte));
                    format!("{at}: row {which} of {value} is not intact {found}")
                });
            }
            left.start += count;
            read.push(span);
        }
        read
    }

    /// What is at an address, in messages.
    fn found(&self, memory: usize, byte: usize) -> String {
        let holds = match self.memories[memory].at(byte) {
            None => "nothing".into(),
            Some(run) if run.value.0 as usize >= self.graph.values().count() => "sums".into(),
            Some(run) => {
                let value = Extent::of(self.graph, run.value);
                match value.rows {
                    0 | 1 => self.name(run.value),
                    _ => format!(
                        "row {} of {}",
                        run.offset.checked_div(value.bytes).unwrap_or(0),
                        self.name(run.value)
                    ),
                }
            }
        };
        let place = self.layout.memories.get(memory).map_or("memory", |(name, _)| name.as_str());
        format!("at byte {byte} of {place}, which holds {holds}")
    }
}
