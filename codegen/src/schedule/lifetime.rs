//! When each buffer is live.

use super::{Place, Role, Schedule, StepKind};
use crate::ir::{Graph, ValueId};

/// The steps during which a buffer must keep what it holds, both inclusive.
///
/// Time 0 is before the first step (inputs are written there), step `i` runs at time `i + 1`, and time `steps + 1` is after the
/// last step (outputs are read there).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    /// When it is first written.
    pub first: usize,
    /// When it is last read or written.
    pub last: usize,
}

impl Lifetime {
    /// Whether the buffer must keep what it holds during the step of that index.
    pub fn covers_step(&self, step: usize) -> bool {
        (self.first..=self.last).contains(&(step + 1))
    }
}

/// The lifetime of every buffer of a schedule. A buffer that nothing touches has the lifetime 0 to 0.
///
/// What a step of a pipeline leaves in a buffer is read at a later tick: the buffer is live during the whole pipeline, unless it is
/// [`Role::Transient`].
pub fn lifetimes(graph: &Graph, schedule: &Schedule) -> Vec<Lifetime> {
    let mut lives = touched(graph, schedule);
    for (life, buffer) in lives.iter_mut().zip(&schedule.storage.buffers) {
        if buffer.role != Role::Transient {
            if let Some(pipeline) = life.first.checked_sub(1).and_then(|step| schedule.pipeline_of(step)) {
                life.first = pipeline.steps.start + 1;
            }
            if let Some(pipeline) = life.last.checked_sub(1).and_then(|step| schedule.pipeline_of(step)) {
                life.last = pipeline.steps.end;
            }
        }
    }
    lives
}

/// The first and the last step that touches each buffer.
fn touched(graph: &Graph, schedule: &Schedule) -> Vec<Lifetime> {
    let mut lives: Vec<Option<Lifetime>> = vec![None; schedule.storage.buffers.len()];
    let mut touch = |place: Option<Place>, time: usize| {
        let Some(slot) = place.and_then(|p| lives.get_mut(p.buffer.0 as usize)) else { return };
        let life = slot.get_or_insert(Lifetime { first: time, last: time });
        life.last = life.last.max(time);
    };
    let place = |id: ValueId| schedule.storage.place(id);
    graph.inputs.iter().for_each(|&id| touch(place(id), 0));
    for (i, step) in schedule.steps.iter().enumerate() {
        let time = i + 1;
        touch(step.workspace.map(|buffer| Place::whole(buffer, 0)), time);
        match &step.kind {
            StepKind::Compute(id) => {
                let node = graph.node(*id);
                node.operands.iter().for_each(|&operand| touch(place(operand), time));
                touch(place(node.result), time);
            }
            StepKind::Absorb { node, sums } => {
                let node = graph.node(*node);
                node.operands.iter().for_each(|&operand| touch(place(operand), time));
                touch(Some(*sums), time);
                touch(place(node.result), time);
            }
            StepKind::Copy { from, to, .. } => {
                touch(*from, time);
                touch(Some(*to), time);
            }
        }
    }
    schedule.outputs.iter().for_each(|&output| touch(Some(output), schedule.steps.len() + 1));
    lives.into_iter().map(|life| life.unwrap_or(Lifetime { first: 0, last: 0 })).collect()
}

/// The largest sum of the bytes of scratch buffers that are live at the same time: no arena in which none of them overlap is smaller.
pub fn peak(graph: &Graph, schedule: &Schedule) -> usize {
    // What becomes live and what dies at each time; a buffer is still live at its last time.
    let mut change = vec![(0usize, 0usize); schedule.steps.len() + 3];
    for (buffer, life) in schedule.storage.buffers.iter().zip(lifetimes(graph, schedule)) {
        if buffer.role.in_arena() {
            change[life.first].0 += buffer.bytes;
            change[life.last + 1].1 += buffer.bytes;
        }
    }
    let (mut live, mut most) = (0usize, 0);
    for (born, dead) in change {
        live = live.saturating_sub(dead).saturating_add(born);
        most = most.max(live);
    }
    most
}
