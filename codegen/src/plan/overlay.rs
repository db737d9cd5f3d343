//! Which buffers may overlap although both are live: one is read from its start to its end while the other is written.
//!
//! In a *stage* (a pipeline, or one step outside of pipelines) one buffer dies and another is born. At every event, what has been written
//! of the one (`lower`) must end before what is still to be read of the other (`upper`) begins. The largest difference of the two
//! is the `gap` by which `upper` must begin behind `lower`.

use super::problem::Overlay;
use super::trace::{Access, Trace};
use crate::ir::Graph;
use crate::schedule::{Lifetime, Schedule};
use std::ops::Range;

/// Buffers that may overlap, by their indices.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Overlays {
    /// The permissions.
    pub(super) pairs: Vec<Overlay>,
    /// The most bytes that are in use at one event of a stage with overlays: no arena is smaller.
    pub(super) floor: usize,
}

/// A stage: its steps, and what they do.
struct Stage<'a> {
    steps: Range<usize>,
    trace: Trace,
    lifetimes: &'a [Lifetime],
}

impl Overlays {
    /// Of all stages of a schedule.
    pub(super) fn of(graph: &Graph, schedule: &Schedule, lifetimes: &[Lifetime]) -> Overlays {
        let mut overlays = Overlays::default();
        let arena: Vec<usize> = (0..lifetimes.len())
            .filter(|&b| schedule.storage.buffers[b].role.in_arena() && schedule.storage.buffers[b].bytes > 0)
            .collect();
        let live = live(schedule, lifetimes);
        let stages = Stages::of(schedule);
        let (mut dying, mut born) =
            (vec![Vec::new(); stages.steps.len()], vec![Vec::new(); stages.steps.len()]);
        for &b in &arena {
            stages.at(lifetimes[b].last).into_iter().for_each(|stage| dying[stage].push(b));
            stages.at(lifetimes[b].first).into_iter().for_each(|stage| born[stage].push(b));
        }
        for (index, steps) in stages.steps.iter().enumerate() {
            if dying[index].is_empty() || born[index].is_empty() {
                continue;
            }
            let trace = match schedule.pipeline_of(steps.start) {
                Some(pipeline) => Trace::of_pipeline(graph, schedule, pipeline),
                None => Some(Trace::of_step(graph, schedule, steps.start)),
            };
            let Some(trace) = trace else { continue };
            let stage = Stage { steps: steps.clone(), trace, lifetimes };
            let pairs = stage.pairs(schedule, &dying[index], &born[index]);
            if !pairs.is_empty() {
                overlays.floor = overlays.floor.max(stage.floor(schedule, &live, &pairs));
                overlays.pairs.extend(pairs);
            }
        }
        overlays
    }
}

/// By time: the bytes of the arena that are live.
fn live(schedule: &Schedule, lifetimes: &[Lifetime]) -> Vec<usize> {
    let mut born = vec![0usize; schedule.steps.len() + 2];
    let mut dead = vec![0usize; schedule.steps.len() + 3];
    for (buffer, life) in schedule.storage.buffers.iter().zip(lifetimes).filter(|(b, _)| b.role.in_arena()) {
        born[life.first] = born[life.first].saturating_add(buffer.bytes);
        dead[life.last + 1] = dead[life.last + 1].saturating_add(buffer.bytes);
    }
    let mut live = 0usize;
    for (born, dead) in born.iter_mut().zip(dead) {
        live = live.saturating_add(*born).saturating_sub(dead);
        *born = live;
    }
    born
}

/// The steps of each stage.
struct Stages {
    steps: Vec<Range<usize>>,
    /// By step.
    stage: Vec<usize>,
}

impl Stages {
    fn of(schedule: &Schedule) -> Stages {
        let mut stages = Stages { steps: Vec::new(), stage: Vec::new() };
        let mut pipelines = schedule.pipelines.iter().peekable();
        let mut step = 0;
        while step < schedule.steps.len() {
            let end = match pipelines.next_if(|p| p.steps.start <= step) {
                Some(pipeline) => pipeline.steps.end.clamp(step + 1, schedule.steps.len()),
                None => step + 1,
            };
            stages.stage.resize(end, stages.steps.len());
            stages.steps.push(step..end);
            step = end;
        }
        stages
    }

    /// The stage of a time, if it is one of a step.
    fn at(&self, time: usize) -> Option<usize> {
        self.stage.get(time.checked_sub(1)?).copied()
    }
}

impl Stage<'_> {
    /// Whether a time is in the stage.
    fn contains(&self, time: usize) -> bool {
        time > self.steps.start && time <= self.steps.end
    }

    fn pairs(&self, schedule: &Schedule, dying: &[usize], born: &[usize]) -> Vec<Overlay> {
        let mut pairs = Vec::new();
        for &upper in dying {
            for &lower in born.iter().filter(|&&lower| lower != upper) {
                let (a, b) = (self.lifetimes[upper], self.lifetimes[lower]);
                let together = a.first <= b.last && b.first <= a.last;
                let Some(gap) = self.gap(upper, lower).filter(|_| together) else { continue };
                if gap < schedule.storage.buffers[lower].bytes {
                    pairs.push(Overlay { upper, lower, gap });
                }
            }
        }
        pairs
    }

    /// How far behind `lower` the other buffer must begin.
    fn gap(&self, upper: usize, lower: usize) -> Option<usize> {
        let (from, to) = (self.trace.buffers.get(&upper)?, self.trace.buffers.get(&lower)?);
        let mut gap = self.trace.streams.get(&(upper, lower)).copied().unwrap_or(0);
        let mut needed = from.needed().iter().peekable();
        for &(time, end) in to.filled() {
            while needed.next_if(|&&(last, _)| last < time).is_some() {}
            let Some(&&(_, start)) = needed.peek() else { break };
            gap = gap.max(end.saturating_sub(start));
        }
        Some(gap)
    }

    /// The most bytes in use at one event. Of a buffer without overlays all bytes are in use; of one that dies here, those that are
    /// still to be touched; of one that is born here, those that have been written.
    fn floor(&self, schedule: &Schedule, live: &[usize], pairs: &[Overlay]) -> usize {
        let mut overlaid: Vec<usize> = pairs.iter().flat_map(|o| [o.upper, o.lower]).collect();
        overlaid.sort_unstable();
        overlaid.dedup();
        let bytes = |b: usize| schedule.storage.buffers[b].bytes;
        let covers = |b: usize, step: usize| self.lifetimes[b].covers_step(step);
        let others: Vec<usize> = self
            .steps
            .clone()
            .map(|step| {
                let apart: usize = overlaid.iter().filter(|&&b| covers(b, step)).map(|&b| bytes(b)).sum();
                live[step + 1].saturating_sub(apart)
            })
            .collect();
        let empty = Access::default();
        let mut cores: Vec<Core<'_>> = overlaid
            .iter()
            .map(|&b| {
                let access = self.trace.buffers.get(&b).unwrap_or(&empty);
                let life = self.lifetimes[b];
                Core {
                    buffer: b,
                    needed: self.contains(life.last).then(|| access.needed()),
                    filled: self.contains(life.first).then(|| access.filled()),
                    bytes: bytes(b),
                }
            })
            .collect();
        let ends = self.trace.bands.iter().skip(1).map(|&(time, _)| time).chain([self.trace.end]);
        let mut most = 0;
        for (&(start, step), end) in self.trace.bands.iter().zip(ends) {
            for time in start..end {
                let live = cores.iter_mut().filter(|core| covers(core.buffer, step));
                let used: usize = live.map(|core| core.at(time)).sum();
                most = most.max(used + others[step - self.steps.start]);
            }
        }
        most
    }
}

/// The bytes of a buffer that are in use at a time; times ascend.
struct Core<'a> {
    buffer: usize,
    needed: Option<&'a [(usize, usize)]>,
    filled: Option<&'a [(usize, usize)]>,
    bytes: usize,
}

impl Core<'_> {
    fn at(&mut self, time: usize) -> usize {
        let start = match &mut self.needed {
            None => 0,
            Some(needed) => {
                let past = needed.iter().take_while(|&&(last, _)| last < time).count();
                *needed = &needed[past..];
                needed.first().map_or(self.bytes, |&(_, start)| start)
            }
        };
        let end = match &self.filled {
            None => self.bytes,
            Some(filled) => {
                let by_then = filled.partition_point(|&(since, _)| since <= time);
                filled[..by_then].last().map_or(0, |&(_, end)| end)
            }
        };
        end.saturating_sub(start)
    }
}
