//! When a pipeline may slide: each window it computes is what a fresh one on the same rows of the input would be.
//!
//! That is so where every value is made of rows, row `r` of each from rows `r · stride + start …` of its operands, never from
//! beyond their ends, and from constants that are the same for all rows. Then, by induction, row `r` of a value depends on the input from
//! row `r · rate` on, in the same way for all `r`, and is a row of every window that it lies in.

use super::geometry::{self, Extent, Need};
use super::job::{name, Job, Kind};
use super::layout::Tape;
use crate::ir::{Graph, Node, ValueId};
use crate::schedule::{Buffer, Pipeline, Role, Schedule, StepKind};

/// How a pipeline slides.
pub(super) struct Sliding<'a> {
    pub(super) pipeline: &'a Pipeline,
    /// Ticks from one window to the next.
    pub(super) hop: usize,
    /// How many ticks to execute.
    pub(super) ticks: usize,
    /// The values of one row that are complete with each window.
    pub(super) last: Vec<Tape>,
}

/// Whether the pipeline may slide.
///
/// # Errors
/// Says why not.
pub(super) fn check<'a>(
    graph: &Graph,
    schedule: &'a Schedule,
    pipeline: &'a Pipeline,
    jobs: &[Job],
) -> Result<Sliding<'a>, String> {
    let [input] = graph.inputs[..] else { return Err("a model of several inputs cannot slide".into()) };
    if !graph.states.is_empty() {
        return Err("a model with states cannot slide".into());
    }
    if pipeline.steps.start > 0 {
        return Err("steps before a sliding pipeline are lost".into());
    }
    let rows = Extent::of(graph, input).rows;
    if pipeline.ticks != rows {
        return Err(format!(
            "a window of {rows} rows is complete after as many ticks, not {}",
            pipeline.ticks
        ));
    }
    let rates = rates(graph, input);
    let rate = |id: ValueId| rates.get(id.0 as usize).copied().flatten();
    let mut last = Vec::new();
    let (mut hop, mut round) = (1, 1);
    for index in pipeline.steps.clone() {
        let (Some(job), Some(step)) = (jobs.get(index), schedule.steps.get(index)) else {
            return Err("a pipeline ends behind the last step".into());
        };
        let value = job.result.value;
        let Some(rate) = rate(value).filter(|_| matches!(job.kind, Kind::Map(_)) && job.name != "copy")
        else {
            return Err(format!("step {index} ({}): {} does not slide", job.name, name(graph, value)));
        };
        if rate.checked_mul(step.beat.band) != Some(step.beat.every) {
            return Err(format!("step {index} ({}): its beat is not the pace of the input", job.name));
        }
        if step.rows != job.counted {
            return Err(format!(
                "step {index} ({}): {} of {} rows of a window",
                job.name, step.rows, job.counted
            ));
        }
        hop = hop.max(rate);
        // A ring has gone round when as many rows of its value have come as it has slots.
        let tapes = job.reads.iter().map(|read| &read.tape).chain([&job.result]);
        let rounds = tapes.filter_map(|tape| {
            Some(tape.slots.saturating_mul(rates.get(tape.value.0 as usize).copied().flatten()?))
        });
        round = rounds.max().unwrap_or(1).max(round);
    }
    for index in pipeline.steps.clone() {
        let tape = &jobs[index].result;
        if rate(tape.value) == Some(hop) && tape.extent.rows == 1 && tape.slots == 1 {
            last.push(tape.clone());
        }
    }
    let behind = jobs.iter().enumerate().skip(pipeline.steps.end);
    for (index, job) in behind {
        let buffer = schedule.steps.get(index).and_then(|step| target(graph, schedule, &step.kind));
        if buffer.is_some_and(|buffer| buffer.role == Role::Retained) {
            let value = name(graph, job.result.value);
            return Err(format!(
                "step {index} ({}): {value} belongs to one window and is retained",
                job.name
            ));
        }
    }
    let more = round.saturating_mul(2).saturating_add(16 * hop);
    Ok(Sliding { pipeline, hop, ticks: pipeline.ticks.saturating_add(more), last })
}

/// The buffer that a step writes.
fn target<'a>(graph: &Graph, schedule: &'a Schedule, kind: &StepKind) -> Option<&'a Buffer> {
    let place = match *kind {
        StepKind::Compute(node) | StepKind::Absorb { node, .. } => {
            schedule.storage.place(graph.get_node(node)?.result)?
        }
        StepKind::Copy { to, .. } => to,
    };
    schedule.storage.buffers.get(place.buffer.0 as usize)
}

/// By value that slides: how many rows of the input there are to each of its rows.
fn rates(graph: &Graph, input: ValueId) -> Vec<Option<usize>> {
    let mut rates = vec![None; graph.values().count()];
    rates[input.0 as usize] = Some(1);
    for (_, node) in graph.nodes() {
        rates[node.result.0 as usize] = rate(graph, node, &rates);
    }
    rates
}

fn rate(graph: &Graph, node: &Node, rates: &[Option<usize>]) -> Option<usize> {
    let last = Extent::of(graph, node.result).rows.checked_sub(1)?;
    let mut found = None;
    for (k, id) in node.operands.iter().enumerate() {
        let need = geometry::need(graph, node, k);
        let rows = Extent::of(graph, *id).rows;
        if graph.const_data(*id).is_some() {
            // The same for all rows.
            if need != Need::All && rows > 1 {
                return None;
            }
            continue;
        }
        let Need::Rows { start, stride, reach } = need else { return None };
        let stride = usize::try_from(stride).ok().filter(|&stride| stride > 0)?;
        let end = usize::try_from(start).ok()?.checked_add(stride.checked_mul(last)?)?;
        if end.checked_add(usize::try_from(reach).ok()?)? > rows {
            return None;
        }
        let rate = rates.get(id.0 as usize).copied().flatten()?.checked_mul(stride)?;
        if found.is_some_and(|found| found != rate) {
            return None;
        }
        found = Some(rate);
    }
    found
}
