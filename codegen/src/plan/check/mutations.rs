//! Schedules and plans with pipelines, broken in every way that comes to mind: what a checker accepts must run right.

use super::check;
use crate::ir::{Graph, ValueId};
use crate::plan::{self, replay, Plan};
use crate::schedule::check::cases;
use crate::schedule::random::Random;
use crate::schedule::{self, Again, Feed, Place, Role, Schedule, StepKind};
use std::collections::BTreeMap;

/// How often each kind of mutant was refused, and accepted because it runs right all the same.
#[derive(Default)]
struct Tally(BTreeMap<&'static str, (usize, usize)>);

struct Case<'a> {
    graph: &'a Graph,
    schedule: Schedule,
    plan: Plan,
}

impl Case<'_> {
    fn runs(&self) -> Result<(), String> {
        let mut random = Random::new(11);
        replay::compare(self.graph, &self.schedule, &self.plan, || random.inputs(self.graph))
    }

    fn place(&self, id: ValueId) -> Option<Place> {
        self.schedule.storage.place(id)
    }

    /// The result of a step, and its operands that are no constants.
    fn values(&self, step: usize) -> Option<(ValueId, Vec<ValueId>)> {
        match self.schedule.steps[step].kind {
            StepKind::Compute(id) | StepKind::Absorb { node: id, .. } => {
                let node = self.graph.node(id);
                let varying = node.operands.iter().filter(|&&o| self.graph.const_data(o).is_none());
                Some((node.result, varying.copied().collect()))
            }
            StepKind::Copy { .. } => None,
        }
    }
}

impl Tally {
    /// A mutant: both checkers are asked, and what they accept is run.
    fn add(&mut self, case: &Case<'_>, kind: &'static str, mutate: impl FnOnce(&mut Schedule, &mut Plan)) {
        let (mut schedule, mut plan) = (case.schedule.clone(), case.plan.clone());
        mutate(&mut schedule, &mut plan);
        if (&schedule, &plan) == (&case.schedule, &case.plan) {
            return;
        }
        let mutant = Case { graph: case.graph, schedule, plan };
        let fails = |case: &Case<'_>, e: &dyn std::fmt::Debug| {
            panic!("{} {kind}: {e:#?}\n{case:#?}", case.graph.name)
        };
        let in_place = check(mutant.graph, &mutant.schedule, &mutant.plan).is_ok();
        if in_place {
            mutant.runs().unwrap_or_else(|e| fails(&mutant, &e));
        }
        let accepted = if mutant.schedule == case.schedule {
            in_place
        } else {
            schedule::check(mutant.graph, &mutant.schedule).is_ok()
        };
        if accepted && mutant.schedule != case.schedule {
            // What the schedule's checker accepts runs in the plan that is made for it.
            let plan = plan::plan(mutant.graph, &mutant.schedule).unwrap();
            let mutant = Case { plan, ..mutant };
            check(mutant.graph, &mutant.schedule, &mutant.plan).unwrap_or_else(|e| fails(&mutant, &e));
            mutant.runs().unwrap_or_else(|e| fails(&mutant, &e));
        }
        let (refused, harmless) = self.0.entry(kind).or_default();
        *(if accepted { harmless } else { refused }) += 1;
    }

    fn timing(&mut self, case: &Case<'_>) {
        let schedule = &case.schedule;
        for (p, pipeline) in schedule.pipelines.iter().enumerate() {
            self.add(case, "a tick too few", |s, _| s.pipelines[p].ticks -= 1);
            self.add(case, "a tick too many", |s, _| s.pipelines[p].ticks += 1);
            self.add(case, "a step outside", |s, _| s.pipelines[p].steps.end -= 1);
            self.add(case, "a step outside", |s, _| s.pipelines[p].steps.start += 1);
            self.add(case, "no pipeline", |s, _| {
                s.pipelines.remove(p);
            });
            for feed in [Feed::Whole, Feed::Rows, Feed::Sliding] {
                self.add(case, "another feed", |s, _| s.pipelines[p].feed = feed);
            }
            for step in pipeline.steps.clone() {
                let beat = schedule.steps[step].beat;
                if beat.first > 0 {
                    self.add(case, "a row too early", |s, _| s.steps[step].beat.first -= 1);
                }
                self.add(case, "a row too late", |s, _| s.steps[step].beat.first += 1);
                self.add(case, "another pace", |s, _| s.steps[step].beat.every += 1);
                if beat.every > 1 {
                    self.add(case, "another pace", |s, _| s.steps[step].beat.every -= 1);
                }
                self.add(case, "a larger band", |s, _| s.steps[step].beat.band += 1);
                if let Some(again) = beat.again {
                    self.add(case, "a smaller window", |s, _| s.steps[step].beat.band -= 1);
                    self.add(case, "nothing again", |s, _| s.steps[step].beat.again = None);
                    let changed: [(&str, [isize; 3]); 6] = [
                        ("another window", [1, 0, 0]),
                        ("another window", [-1, 0, 0]),
                        ("a window too early", [0, 1, 0]),
                        ("a window too late", [0, -1, 0]),
                        ("another window", [0, 0, -1]),
                        ("another window", [0, 0, 1]),
                    ];
                    for (kind, by) in changed {
                        let [stride, before, times] = [again.stride, again.before, again.times];
                        let new = [(stride, by[0]), (before, by[1]), (times, by[2])]
                            .map(|(n, by)| n.checked_add_signed(by));
                        if let [Some(stride), Some(before), Some(times)] = new {
                            let again = Some(Again { stride, before, times });
                            self.add(case, kind, |s, _| s.steps[step].beat.again = again);
                        }
                    }
                } else if beat.every > 0 && beat.band == 1 {
                    let again = Some(Again { stride: 1, before: 1, times: schedule.steps[step].rows });
                    self.add(case, "rows again", |s, _| {
                        (s.steps[step].beat.band, s.steps[step].beat.again) = (2, again);
                    });
                }
                self.add(case, "a row less", |s, _| s.steps[step].rows -= 1);
            }
        }
    }

    fn order(&mut self, case: &Case<'_>) {
        let steps = &case.schedule.steps;
        for step in 0..steps.len() {
            if step > 0 {
                self.add(case, "two steps swapped", |s, _| s.steps.swap(step - 1, step));
            }
            let Some((_, operands)) = case.values(step) else { continue };
            let producers = operands.iter().filter_map(|&id| case.graph.producer(id));
            for producer in producers {
                let at = steps.iter().position(|s| s.kind == StepKind::Compute(producer));
                if let Some(at) = at.filter(|&at| at < step) {
                    self.add(case, "a step before its producer", |s, _| {
                        let moved = s.steps.remove(step);
                        s.steps.insert(at, moved);
                    });
                }
            }
            self.add(case, "a missing step", |s, _| s.steps[step].rows = 0);
        }
    }

    fn storage(&mut self, case: &Case<'_>) {
        let storage = &case.schedule.storage;
        for buffer in 0..storage.buffers.len() {
            let inside = |place: &Place| place.buffer.0 as usize == buffer;
            let ring = storage.places.iter().flatten().filter(|p| inside(p)).find_map(|p| p.ring);
            if ring.is_some_and(|ring| ring > 1) {
                self.add(case, "a ring one row short", |s, _| {
                    for place in s.storage.places.iter_mut().flatten().filter(|p| inside(p)) {
                        place.ring = place.ring.map(|ring| ring - 1);
                    }
                });
            }
            if storage.places.iter().flatten().any(|p| inside(p) && p.slot > 0) {
                self.add(case, "a shared ring from another slot", |s, _| {
                    for place in s.storage.places.iter_mut().flatten().filter(|p| inside(p) && p.slot > 0) {
                        place.slot -= 1;
                    }
                });
            }
            self.add(case, "a smaller buffer", |s, _| s.storage.buffers[buffer].bytes -= 1);
            let role = storage.buffers[buffer].role;
            if role == Role::Scratch {
                self.add(case, "forgotten between ticks", |s, _| {
                    s.storage.buffers[buffer].role = Role::Transient
                });
            }
            if role == Role::Retained {
                self.add(case, "not retained", |s, plan| {
                    s.storage.buffers[buffer].role = Role::Scratch;
                    plan.offsets[buffer] = plan.arena_bytes;
                    plan.arena_bytes += s.storage.buffers[buffer].bytes;
                });
            }
        }
        for step in 0..case.schedule.steps.len() {
            let Some((result, operands)) = case.values(step) else { continue };
            for place in operands.iter().filter_map(|&id| case.place(id)) {
                self.add(case, "a wrong in-place", |s, _| {
                    let slot = &mut s.storage.places[result.0 as usize];
                    *slot = Some(Place { ring: slot.and_then(|p| p.ring).or(place.ring), ..place });
                });
                self.add(case, "a wrong in-place", |s, _| s.storage.places[result.0 as usize] = Some(place));
                if let StepKind::Absorb { .. } = case.schedule.steps[step].kind {
                    self.add(case, "sums in place of something", |s, _| {
                        let StepKind::Absorb { sums, .. } = &mut s.steps[step].kind else { return };
                        sums.buffer = place.buffer;
                    });
                }
            }
            self.add(case, "a moved result", |s, _| {
                s.storage.places[result.0 as usize].iter_mut().for_each(|place| place.offset += 4);
            });
        }
    }

    fn addresses(&mut self, case: &Case<'_>) {
        let buffers = &case.schedule.storage.buffers;
        for a in 0..buffers.len() {
            for b in (0..buffers.len()).filter(|&b| b != a) {
                for shift in [0, 4, buffers[b].bytes.saturating_sub(4)] {
                    let target = (case.plan.offsets[b] + shift).next_multiple_of(buffers[a].align);
                    self.add(case, "overlapping buffers", |_, plan| plan.offsets[a] = target);
                }
            }
            for down in [4, 8, 16] {
                if case.plan.offsets[a] >= down {
                    self.add(case, "overlapping buffers", |_, plan| plan.offsets[a] -= down);
                }
            }
        }
        for output in 0..case.schedule.outputs.len() {
            for buffer in 0..buffers.len() {
                self.add(case, "a wrong output", |s, _| s.outputs[output].buffer.0 = buffer as u32);
            }
        }
    }
}

impl std::fmt::Debug for Case<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{}{:#?}{:#?}", self.graph, self.schedule, self.plan)
    }
}

#[test]
fn accepted_mutants_of_pipelines_are_right() {
    let mut tally = Tally::default();
    for (_, graph) in cases::models() {
        for schedule in cases::schedules(&graph) {
            let mut plan = plan::plan(&graph, &schedule).unwrap();
            // Room to move to.
            plan.arena_bytes += 64;
            let case = Case { graph: &graph, schedule, plan };
            check(&graph, &case.schedule, &case.plan).unwrap_or_else(|e| panic!("{e:#?}\n{case:#?}"));
            tally.timing(&case);
            tally.order(&case);
            tally.storage(&case);
            tally.addresses(&case);
        }
    }
    println!("{:#?}", tally.0);
    for (kind, (refused, _)) in &tally.0 {
        assert!(*refused > 0, "{kind} was never refused: {:?}", tally.0);
    }
}
