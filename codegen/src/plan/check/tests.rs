//! The checker accepts what is sound and finds what was broken on purpose.

use super::{check, Objection};
use crate::ir::{Graph, ValueId};
use crate::plan::{plan, replay, Plan};
use crate::schedule::random::{self, Random};
use crate::schedule::Sharing;
use crate::schedule::{schedule, BufferId, Place, Role, Schedule, Step, StepKind};

/// A graph with a view, a concat in place and an in-place result, its schedule and its plan.
struct Case {
    graph: Graph,
    schedule: Schedule,
    plan: Plan,
}

impl Case {
    fn new(lines: &str) -> Self {
        let graph = Graph::parse(&format!("graph \"case\" {{ {lines} }}")).unwrap();
        crate::verify::verify(&graph).unwrap();
        let schedule = schedule(&graph);
        let plan = plan(&graph, &schedule).unwrap();
        let case = Case { graph, schedule, plan };
        case.check().unwrap();
        case
    }

    fn check(&self) -> Result<(), Objection> {
        check(&self.graph, &self.schedule, &self.plan)
    }

    /// The checker must object, with these words.
    fn fails(&self, words: &str) {
        let Err(Objection::Broken(violations)) = self.check() else { panic!("the checker accepts") };
        assert!(violations.iter().any(|v| v.contains(words)), "{violations:#?}");
    }

    /// The value of that name.
    fn id(&self, name: &str) -> ValueId {
        self.graph.values().find(|(_, v)| v.name == name).unwrap().0
    }

    fn place(&mut self, name: &str) -> &mut Place {
        let id = self.id(name);
        self.schedule.storage.places[id.0 as usize].as_mut().unwrap()
    }

    /// The step that computes the value of that name.
    fn step(&self, name: &str) -> usize {
        let node = self.graph.producer(self.id(name)).unwrap();
        self.schedule.steps.iter().position(|s| s.kind == StepKind::Compute(node)).unwrap()
    }

    fn offset(&mut self, name: &str) -> &mut usize {
        let buffer = self.place(name).buffer.0 as usize;
        &mut self.plan.offsets[buffer]
    }
}

fn branches() -> Case {
    Case::new(
        "input %x \"x\": f32[1,8]
         %a \"a\": f32[1,8] = tanh(%x)
         %b \"b\": f32[1,8] = logistic(%x)
         %s \"s\": f32[1,8] = softmax(%a) {beta = 1.0, scale = real}
         %c \"c\": f32[1,16] = concat(%s, %b) {axis = 1}
         %v \"v\": f32[1,4] = slice(%c) {begin = [0, 6], step = [1, 1]}
         %t \"t\": f32[4,1] = transpose(%v) {perm = [1, 0]}
         %y \"y\": f32[4,4] = mul(%v, %t) {rescale = real, clamp = -inf..=inf}
         return %y",
    )
}

fn streaming() -> Case {
    Case::new(
        "input %x \"x\": f32[1,2]
         state %h \"h\": f32[1,4] = splat 0.0
         %c \"c\": f32[1,6] = concat(%h, %x) {axis = 1}
         %n \"n\": f32[1,4] = slice(%c) {begin = [0, 2], step = [1, 1]}
         %y \"y\": f32[1,6] = softmax(%c) {beta = 1.0, scale = real}
         %z \"z\": f32[1,4] = add(%h, %n) {rescale = real, clamp = -inf..=inf}
         next %h = %n
         return %y, %z",
    )
}

#[test]
fn overlapping_live_values() {
    let mut case = branches();
    *case.offset("a") = case.offset("c").to_owned() + 32;
    case.fails("is not intact");
    let mut case = branches();
    *case.offset("t") = case.offset("v").to_owned() + 20;
    case.fails("overwrites operand 0");
}

#[test]
fn a_step_before_its_producer() {
    let mut case = branches();
    let (s, a) = (case.step("s"), case.step("a"));
    case.schedule.steps.swap(a, s);
    case.fails("is not intact");
}

#[test]
fn a_missing_step() {
    for name in ["a", "b", "s", "t", "y"] {
        let mut case = branches();
        let step = case.step(name);
        case.schedule.steps.remove(step);
        case.fails("is not intact");
    }
}

#[test]
fn a_result_in_place_of_what_is_read_out_of_order() {
    let mut case = branches();
    *case.place("t") = *case.place("v");
    case.fails("overwrites operand 0");
}

#[test]
fn a_result_in_place_of_a_broadcast_operand() {
    let mut case = branches();
    *case.place("y") = *case.place("t");
    case.schedule.outputs[0] = *case.place("t");
    let buffer = case.place("t").buffer.0 as usize;
    case.schedule.storage.buffers[buffer].bytes = 64;
    case.plan.arena_bytes += 64;
    case.plan.offsets[buffer] = case.plan.arena_bytes - 64;
    case.fails("overwrites operand 1");
}

#[test]
fn a_result_in_place_of_what_is_still_needed() {
    let mut case = branches();
    *case.place("b") = *case.place("x");
    let (a, b) = (case.step("a"), case.step("b"));
    case.schedule.steps.swap(a, b);
    case.fails("is not intact");
}

#[test]
fn a_wrong_view_offset() {
    for offset in [0, 4, 20, 28] {
        let mut case = branches();
        case.place("v").offset = offset;
        case.fails("is not intact");
    }
    let mut case = branches();
    case.place("v").offset = 52;
    case.fails("exceeds its buffer");
    let mut case = branches();
    case.place("v").offset += 2;
    case.fails("not aligned to its element");
}

#[test]
fn parts_that_are_not_where_they_belong() {
    let mut case = branches();
    let (s, b) = (*case.place("s"), *case.place("b"));
    (*case.place("s"), *case.place("b")) = (b, s);
    case.fails("is not intact");
}

#[test]
fn an_overwritten_output() {
    let mut case = streaming();
    let (value, to) = (case.id("x"), case.schedule.outputs[0]);
    let from = Some(*case.place("x"));
    case.schedule.steps.push(Step::whole(StepKind::Copy { value, from, to }, 1));
    case.fails("as an output");
}

#[test]
fn outputs_that_share_memory() {
    let mut case = Case::new(
        "input %x: f32[2] %y: f32[2] = tanh(%x) %z: f32[2] = clip(%y) {clamp = 0.0..=1.0} return %y, %z, %y",
    );
    assert_eq!(case.schedule.steps.len(), 3);
    case.schedule.outputs[2] = case.schedule.outputs[0];
    case.fails("two outputs overlap");
    case.schedule.outputs.pop();
    case.fails("2 places for 3 outputs");
}

#[test]
fn a_state_written_too_early() {
    let mut case = streaming();
    let z = case.step("z");
    let write_back = case.schedule.steps.pop().unwrap();
    assert!(matches!(write_back.kind, StepKind::Copy { .. }));
    case.schedule.steps.insert(z, write_back);
    case.fails("\"h\" is not intact");
}

#[test]
fn a_state_that_is_not_written() {
    let mut case = streaming();
    case.schedule.steps.pop();
    case.fails("as a state");
}

#[test]
fn a_state_outside_of_its_memory() {
    let mut case = streaming();
    case.schedule.storage.buffers[0].role = Role::State(0);
    case.plan.offsets[0] = 0;
    case.fails("two states overlap");
    let mut case = streaming();
    case.plan.state_bytes -= 1;
    case.fails("ends beyond its memory");
}

#[test]
fn what_is_kept_is_not_in_the_fast_arena() {
    let mut case = streaming();
    let kept = case.schedule.storage.buffers.iter().position(|b| !b.role.in_arena()).unwrap();
    case.plan.fast[kept] = true;
    case.fails("is retained, and in the fast arena");
}

#[test]
fn a_fast_arena_that_is_not_there() {
    let mut case = branches();
    let scratch = case.schedule.storage.buffers.iter().position(|b| b.role.in_arena()).unwrap();
    case.plan.fast[scratch] = true;
    case.fails("ends beyond its memory of 0 bytes");
}

#[test]
fn the_arena_is_too_small_or_not_aligned() {
    let mut case = branches();
    case.plan.arena_bytes -= 4;
    case.fails("ends beyond its memory");
    let mut case = branches();
    case.plan.arena_bytes += 2;
    *case.offset("y") += 2;
    case.fails("is not aligned");
}

#[test]
fn rows_that_are_left_out() {
    let mut case = branches();
    let y = case.step("y");
    case.schedule.steps[y].rows = 3;
    case.fails("computes 3 rows of 4");
}

#[test]
fn overlapping_inputs() {
    let mut case = Case::new(
        "input %x \"x\": f32[2] input %z \"z\": f32[2] %y: f32[2] = add(%x, %z) {rescale = real, clamp = -inf..=inf} return %y",
    );
    *case.offset("z") = case.offset("x").to_owned();
    case.fails("before the first step");
}

/// Whatever random change the checker accepts must still compute the right results.
#[test]
fn accepted_mutants_are_right() {
    let (mut refused, mut accepted) = (0, 0);
    for seed in 0..1500 {
        let mut random = Random::new(seed + 5_000_000);
        let size = 2 + random.below(16);
        let graph = random::graph(&mut random, size);
        let mut schedule = schedule(&graph);
        let mut plan = plan(&graph, &schedule).unwrap();
        plan.arena_bytes += 64;
        mutate(&mut random, &mut schedule, &mut plan);
        match check(&graph, &schedule, &plan) {
            Err(_) => refused += 1,
            Ok(()) => {
                accepted += 1;
                replay::compare(&graph, &schedule, &plan, || random.inputs(&graph))
                    .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            }
        }
    }
    assert!(refused > 400 && accepted > 200, "{refused} refused, {accepted} accepted");
}

fn mutate(random: &mut Random, schedule: &mut Schedule, plan: &mut Plan) {
    let steps = schedule.steps.len();
    let buffers = schedule.storage.buffers.len();
    let any_place = |random: &mut Random| {
        let buffer = random.below(buffers);
        Place::whole(BufferId(buffer as u32), 4 * random.below(4))
    };
    match random.below(6) {
        0 => {
            let scratch: Vec<usize> =
                (0..buffers).filter(|&b| schedule.storage.buffers[b].role.in_arena()).collect();
            let (a, b) = (scratch[random.below(scratch.len())], scratch[random.below(scratch.len())]);
            plan.offsets[a] = match random.below(2) {
                0 => plan.offsets[b],
                _ => 4 * random.below(plan.arena_bytes / 4),
            };
        }
        1 if steps > 1 => {
            let at = random.below(steps - 1);
            schedule.steps.swap(at, at + 1);
        }
        2 if steps > 1 => {
            let step = schedule.steps.remove(random.below(steps));
            schedule.steps.insert(random.below(steps), step);
        }
        3 if steps > 0 => {
            schedule.steps.remove(random.below(steps));
        }
        4 => {
            let output = random.below(schedule.outputs.len());
            schedule.outputs[output] = any_place(random);
        }
        _ => {
            let placed: Vec<usize> = (0..schedule.storage.places.len())
                .filter(|&v| schedule.storage.places[v].is_some())
                .collect();
            let value = placed[random.below(placed.len())];
            schedule.storage.places[value] = Some(any_place(random));
        }
    }
}

/// A convolution whose result may lie over its operand, row by row, unless several threads compute it.
#[test]
fn what_threads_share_lies_over_nothing() {
    let mut case = Case::new(
        "input %x: f32[1,8,8,4] \
         const %w: f32[4,3,3,4] = splat 0.5 \
         const %b: f32[4] = splat 0.0 \
         %y: f32[1,8,8,4] = conv2d(%x, %w, %b) {window = [3, 3] pad [1, 1, 1, 1], groups = 1, rescale = real, clamp = -inf..=inf} \
         return %y",
    );
    assert!(case.plan.arena_bytes < 2 * 1024, "one lies over the other");
    let overlaid = case.plan.clone();
    case.schedule.share(|_| Sharing { shared: true, apart: true, at_once: 1 });
    case.plan = plan(&case.graph, &case.schedule).unwrap();
    case.check().unwrap();
    assert_eq!(case.plan.arena_bytes, 2 * 1024);
    case.plan = overlaid;
    case.fails("is computed in another order than that of its rows, and its result lies over what it reads");
}
