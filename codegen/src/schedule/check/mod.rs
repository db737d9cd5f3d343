//! The independent checker of schedules.
//!
//! [`check()`] executes a schedule row by row over *tagged* memory: every byte carries the name of the data it holds. It shares only types
//! with the code that schedules, and proves:
//!
//! - pipelines are runs of steps that do not overlap; every step computes all of its rows, in order, and once, unless it says that it computes rows again; no node has two steps;
//! - every buffer is aligned, and every place inside its buffer and aligned to its element; a ring holds adjacent rows;
//! - every row that is read has been written, and not been overwritten since: by the ring's next round, by a result in place, or in
//!   transient memory by the end of the tick (`same` says which data may stand for a row);
//! - no step overwrites what it still reads: where its result overlaps an operand, the step goes row by row or element by element
//!   and is never ahead of its reading, or it is a concat and the operand already lies where it belongs;
//! - sums are added up from each row of their operand once, in order, in memory that nothing else touches meanwhile;
//! - inputs are all there before the first step, or come row by row; after the last step every output is intact, in the arena and
//!   apart from the others, and every state holds its next value;
//! - what slides computes in each window what a fresh one would (`sliding`), with nothing kept from window to window but in retained memory.
//!
//! Here each buffer is a memory of its own; [`plan::check`](crate::plan::check()) executes the same with buffers at their planned addresses.
//!
//! Not checked: that kernels write no byte outside of the result (the types of the emitted code bound them).

#[cfg(test)]
pub(crate) mod cases;
mod engine;
mod geometry;
mod job;
mod layout;
mod memory;
pub(crate) mod rules;
mod run;
mod same;
mod sliding;
#[cfg(test)]
mod tests;

use super::{Pipeline, Role, Schedule, Step};
use crate::ir::Graph;
use kiln_ir::error::{Error, Problem};
use std::ops::Range;

pub(crate) use layout::{Home, Layout};
pub(crate) use run::run;

/// At most this many violations are reported.
const MOST: usize = 20;

/// Why a schedule or a plan is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Objection {
    /// These invariants are violated: each message names step, op, value and row. There may be more.
    Broken(Vec<String>),
    /// It would take too long to check: very many rows, or concats that are very entangled. Nothing is known.
    TooLong,
}

impl Objection {
    /// As an error of a compilation, in that stage.
    pub fn into_error(self, stage: &str) -> Error {
        match self {
            Objection::Broken(violations) => Error::internal(stage, violations.join("; ")),
            Objection::TooLong => Error::Unsupported(vec![Problem {
                place: String::new(),
                what: "the model has more rows, or more entangled concats, than can be checked in reasonable time".into(),
                help: "use a smaller input, or fewer concats of concats".into(),
            }]),
        }
    }
}

/// Checks a schedule.
///
/// # Errors
/// Every violated invariant, up to a limit.
pub fn check(graph: &Graph, schedule: &Schedule) -> Result<(), Objection> {
    rules::check(graph, schedule)?;
    let buffers = &schedule.storage.buffers;
    let of = |role: Role| (0..buffers.len()).filter(move |&b| buffers[b].role == role);
    let layout = Layout {
        homes: (0..buffers.len()).map(|memory| Home { memory, base: 0 }).collect(),
        memories: buffers
            .iter()
            .enumerate()
            .map(|(b, buffer)| (format!("buffer {b}"), buffer.role.in_arena()))
            .collect(),
        transient: of(Role::Transient).collect(),
    };
    run(graph, schedule, &layout)
}

/// What runs one after the other.
enum Stage<'a> {
    /// A step alone.
    Step(usize),
    /// A pipeline.
    Pipeline(&'a Pipeline),
}

/// The stages of a schedule whose pipelines follow each other.
fn stages(schedule: &Schedule) -> Vec<Stage<'_>> {
    let (mut stages, mut next) = (Vec::new(), 0);
    for pipeline in &schedule.pipelines {
        stages.extend((next..pipeline.steps.start).map(Stage::Step));
        stages.push(Stage::Pipeline(pipeline));
        next = pipeline.steps.end;
    }
    stages.extend((next..schedule.steps.len()).map(Stage::Step));
    stages
}

/// The rows of a step that are due at a tick. Rows that are `endless` go beyond the step's own.
fn due(step: &Step, tick: usize, endless: bool) -> Option<Range<usize>> {
    let since = tick.checked_sub(step.beat.first)?;
    let times = (since.checked_rem(step.beat.every)? == 0).then_some(since / step.beat.every)?;
    if let Some(again) = step.beat.again {
        let bottom =
            times.checked_mul(again.stride)?.checked_add(step.beat.band)?.checked_sub(again.before)?;
        let rows = bottom.saturating_sub(step.beat.band)..bottom.min(step.rows);
        return (times < again.times && !rows.is_empty()).then_some(rows);
    }
    let first = times.checked_mul(step.beat.band)?;
    let end = first.checked_add(step.beat.band)?;
    match endless {
        true => Some(first..end),
        false if first < step.rows || (first, step.rows) == (0, 0) => Some(first..end.min(step.rows)),
        false => None,
    }
}
