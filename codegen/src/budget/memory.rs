//! Memory over time: which buffers are live at each step, and which of them overlap.

use crate::ir::ValueId;
use crate::schedule::{row_bytes, BufferId, Place, Role, StepKind};
use crate::Compiled;
use std::ops::Range;

/// One step and what is live during it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Index of the step.
    pub step: usize,
    /// Its op, or `copy`.
    pub op: String,
    /// The name of what it computes.
    pub name: String,
    /// Bytes of the arena that the live buffers occupy: where some overlap, fewer than the sum of their sizes.
    pub live_bytes: usize,
    /// The live scratch buffers, those in the fast arena first, by offset.
    pub buffers: Vec<Region>,
}

/// A live buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// The name of the largest value in it.
    pub name: String,
    /// Whether it is in the fast arena.
    pub fast: bool,
    /// Bytes from the start of its arena.
    pub offset: usize,
    /// Its size.
    pub bytes: usize,
    /// How many rows of the value it holds at a time; `None`: all.
    pub ring: Option<usize>,
}

/// Two buffers that are live at the same time and share bytes: row by row, `lower` takes the place of what has been read of `upper`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overlap {
    /// The steps during which both are live.
    pub steps: Range<usize>,
    /// The buffer at the lower offset.
    pub lower: String,
    /// The buffer at the higher offset.
    pub upper: String,
    /// How far behind the beginning of `lower` the beginning of `upper` is.
    pub gap: usize,
    /// How many bytes they share.
    pub bytes: usize,
}

/// Where a value is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// What its memory is for.
    pub role: Role,
    /// How many rows its ring has; `None`: all of its own.
    pub ring: Option<usize>,
    /// Whether rows of other values go round in the ring, too.
    pub shared: bool,
    /// Bytes of the ring.
    pub bytes: usize,
}

/// Every step of a compilation.
pub fn rows(compiled: &Compiled) -> Vec<Row> {
    let (names, rings) = (buffer_names(compiled), buffer_rings(compiled));
    (0..compiled.schedule.steps.len())
        .map(|step| {
            let (op, name) = computed(compiled, step);
            let buffers = live(compiled, step, &names, &rings);
            Row { step, op: op.into(), name: name.into(), live_bytes: occupied(&buffers), buffers }
        })
        .collect()
}

/// Where a value is held; `None` for constants.
pub fn held(compiled: &Compiled, value: ValueId) -> Option<Held> {
    Some(held_at(compiled, value, compiled.schedule.storage.place(value)?))
}

/// Where a value is held, of which that is the place.
pub fn held_at(compiled: &Compiled, value: ValueId, place: Place) -> Held {
    let bytes = match place.ring {
        Some(rows) => rows * row_bytes(&compiled.graph, value),
        None => compiled.graph.ty(value).bytes(),
    };
    let storage = &compiled.schedule.storage;
    let role = storage.buffer(place.buffer).role;
    Held { role, ring: place.ring, shared: storage.is_shared(place), bytes }
}

/// What a step does and to which value: its op, or `copy`, and the value's label. Panics only on a step of another schedule.
pub fn computed(compiled: &Compiled, step: usize) -> (&'static str, &str) {
    let (op, value) = match compiled.schedule.steps[step].kind {
        StepKind::Compute(id) | StepKind::Absorb { node: id, .. } => {
            (compiled.graph.node(id).op.name(), compiled.graph.node(id).result)
        }
        StepKind::Copy { value, .. } => ("copy", value),
    };
    (op, compiled.graph.value(value).label())
}

/// The step at which most of the arena is occupied; `None` where there is no step.
pub fn peak(compiled: &Compiled) -> Option<Row> {
    // The first of equals.
    rows(compiled).into_iter().rev().max_by_key(|row| row.live_bytes)
}

/// What is kept from one inference to the next, with offsets in the retained memory.
pub fn retained(compiled: &Compiled) -> Vec<Region> {
    let (names, rings) = (buffer_names(compiled), buffer_rings(compiled));
    let buffers = compiled.schedule.storage.buffers.iter().enumerate();
    let mut regions: Vec<Region> = buffers
        .filter(|(_, buffer)| !buffer.role.in_arena())
        .map(|(b, buffer)| Region {
            name: names[b].clone(),
            fast: false,
            offset: compiled.plan.offsets[b],
            bytes: buffer.bytes,
            ring: rings[b],
        })
        .collect();
    regions.sort_by_key(|r| r.offset);
    regions
}

/// All overlaps, by their steps.
pub fn overlaps(compiled: &Compiled) -> Vec<Overlap> {
    let (plan, names) = (&compiled.plan, buffer_names(compiled));
    let buffers = &compiled.schedule.storage.buffers;
    let end = compiled.schedule.steps.len();
    let both = |a: usize, b: usize| {
        let (x, y) = (plan.lifetimes[a], plan.lifetimes[b]);
        // Times to steps.
        x.first.max(y.first).max(1) - 1..x.last.min(y.last).min(end)
    };
    let mut arena: Vec<usize> = (0..buffers.len()).filter(|&b| buffers[b].role.in_arena()).collect();
    arena.sort_by_key(|&b| (plan.fast[b], plan.offsets[b], b));
    let mut found = Vec::new();
    for (i, &lower) in arena.iter().enumerate() {
        let reach = plan.offsets[lower] + buffers[lower].bytes;
        let reached = |&&b: &&usize| plan.fast[b] == plan.fast[lower] && plan.offsets[b] < reach;
        for &upper in arena[i + 1..].iter().take_while(reached) {
            let steps = both(lower, upper);
            if !steps.is_empty() {
                found.push(Overlap {
                    steps,
                    lower: names[lower].clone(),
                    upper: names[upper].clone(),
                    gap: plan.offsets[upper] - plan.offsets[lower],
                    bytes: reach.min(plan.offsets[upper] + buffers[upper].bytes) - plan.offsets[upper],
                });
            }
        }
    }
    found.sort_by_key(|o| (o.steps.start, o.steps.end));
    found
}

/// The bytes that regions, sorted by arena and offset, cover together.
fn occupied(regions: &[Region]) -> usize {
    let mut bytes = 0;
    for arena in regions.chunk_by(|a, b| a.fast == b.fast) {
        let mut end = 0;
        for region in arena {
            let reach = region.offset + region.bytes;
            bytes += reach.saturating_sub(region.offset.max(end));
            end = end.max(reach);
        }
    }
    bytes
}

fn live(compiled: &Compiled, step: usize, names: &[String], rings: &[Option<usize>]) -> Vec<Region> {
    let plan = &compiled.plan;
    let mut regions: Vec<Region> = (0..names.len())
        .filter(|&b| plan.lifetimes[b].covers_step(step))
        .filter_map(|b| {
            let buffer = compiled.schedule.storage.buffer(BufferId(b as u32));
            let (name, offset) = (names[b].clone(), plan.offsets[b]);
            let region = Region { name, fast: plan.fast[b], offset, bytes: buffer.bytes, ring: rings[b] };
            buffer.role.in_arena().then_some(region)
        })
        .collect();
    regions.sort_by_key(|r| (!r.fast, r.offset));
    regions
}

/// The name of the largest value in each buffer; of a state, its own name.
pub fn buffer_names(compiled: &Compiled) -> Vec<String> {
    let storage = &compiled.schedule.storage;
    let mut named: Vec<Option<ValueId>> = vec![None; storage.buffers.len()];
    for (id, value) in compiled.graph.values() {
        let Some(place) = storage.place(id) else { continue };
        let slot = &mut named[place.buffer.0 as usize];
        if slot.is_none_or(|old| value.ty.bytes() > compiled.graph.ty(old).bytes()) {
            *slot = Some(id);
        }
    }
    let mut names: Vec<String> = named
        .iter()
        .map(|id| id.map_or(String::new(), |id| compiled.graph.value(id).label().into()))
        .collect();
    for (buffer, name) in storage.buffers.iter().zip(&mut names) {
        let Role::State(index) = buffer.role else { continue };
        compiled.graph.states.get(index).into_iter().for_each(|state| name.clone_from(&state.name));
    }
    // What no value lives in.
    for (index, step) in compiled.schedule.steps.iter().enumerate() {
        if let Some(slot) = step.workspace.and_then(|id| names.get_mut(id.0 as usize)) {
            *slot = format!("workspace of {}", computed(compiled, index).1);
        }
        let (buffer, name) = match &step.kind {
            StepKind::Absorb { node, sums } => {
                let result = compiled.graph.node(*node).result;
                (sums.buffer, format!("sums of {}", compiled.graph.value(result).label()))
            }
            StepKind::Copy { value, to, .. } => {
                (to.buffer, format!("copy of {}", compiled.graph.value(*value).label()))
            }
            StepKind::Compute(_) => continue,
        };
        if let Some(slot) = names.get_mut(buffer.0 as usize).filter(|slot| slot.is_empty()) {
            *slot = name;
        }
    }
    names
}

/// The rows that each buffer holds at a time, where it is a ring.
pub fn buffer_rings(compiled: &Compiled) -> Vec<Option<usize>> {
    let storage = &compiled.schedule.storage;
    let mut rings = vec![None; storage.buffers.len()];
    for place in storage.places.iter().flatten().filter(|place| place.ring.is_some()) {
        rings[place.buffer.0 as usize] = place.ring;
    }
    rings
}
