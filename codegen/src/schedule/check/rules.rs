//! What must hold of a schedule before it can be executed.

use super::{Objection, MOST};
use crate::ir::Graph;
use crate::schedule::{Feed, Role, Schedule, StepKind};

/// Pipelines in order, beats that move on, buffers aligned, states at home, no node computed twice.
pub(crate) fn check(graph: &Graph, schedule: &Schedule) -> Result<(), Objection> {
    let mut wrong = Vec::new();
    let mut expect = |holds: bool, message: &dyn Fn() -> String| {
        if !holds && wrong.len() < MOST {
            wrong.push(message());
        }
    };
    pipelines(graph, schedule, &mut expect);
    let mut computed = vec![false; graph.values().count()];
    for (index, step) in schedule.steps.iter().enumerate() {
        let beat = step.beat;
        expect(beat.every > 0 && beat.band > 0, &|| format!("step {index} does not move on"));
        let rows_end = schedule.pipeline_of(index).is_some_and(|pipeline| pipeline.feed != Feed::Sliding);
        let repeatable = rows_end && matches!(step.kind, StepKind::Compute(_)) && step.at_once == 1;
        expect(beat.again.is_none() || repeatable, &|| format!("step {index} cannot be repeated"));
        if let StepKind::Compute(node) | StepKind::Absorb { node, .. } = step.kind {
            let slot = graph.get_node(node).and_then(|node| computed.get_mut(node.result.0 as usize));
            let again = slot.is_none_or(|slot| std::mem::replace(slot, true));
            expect(!again, &|| format!("step {index} computes what an earlier step has computed"));
        }
    }
    let storage = &schedule.storage;
    for (index, buffer) in storage.buffers.iter().enumerate() {
        let aligned = buffer.align.is_power_of_two() && buffer.align >= 4;
        expect(aligned, &|| format!("buffer {index} has the alignment {}", buffer.align));
    }
    expect(storage.places.len() <= graph.values().count(), &|| "a place of no value".into());
    for (id, value) in graph.values() {
        let Some(place) = storage.place(id) else { continue };
        let size = value.ty.dtype.size();
        let aligned = storage.buffers.get(place.buffer.0 as usize).is_some_and(|b| b.align % size == 0);
        expect(aligned, &|| format!("%{} \"{}\" is in no buffer aligned to its element", id.0, value.name));
    }
    for (index, state) in graph.states.iter().enumerate() {
        let place = storage.place(state.current).filter(|place| place.ring.is_none());
        let buffer = place.and_then(|place| storage.buffers.get(place.buffer.0 as usize));
        // Several may share a buffer.
        let home = buffer.is_some_and(|buffer| matches!(buffer.role, Role::State(_)));
        expect(home, &|| format!("state {index} is not in the memory of states"));
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(Objection::Broken(wrong)),
    }
}

fn pipelines(graph: &Graph, schedule: &Schedule, expect: &mut dyn FnMut(bool, &dyn Fn() -> String)) {
    let mut end = 0;
    for (index, pipeline) in schedule.pipelines.iter().enumerate() {
        let steps = &pipeline.steps;
        let inside = end <= steps.start && steps.start < steps.end && steps.end <= schedule.steps.len();
        expect(inside, &|| {
            format!("pipeline {index} has the steps {steps:?}, which begin too early or are none")
        });
        end = steps.end.max(end);
        if pipeline.feed != Feed::Whole {
            let first = index == 0 && graph.inputs.len() == 1;
            expect(first, &|| format!("pipeline {index} is fed, and not the first one with the only input"));
        }
    }
}
