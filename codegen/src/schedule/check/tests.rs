//! The checker accepts what is sound and finds what was broken on purpose.

use super::{cases, check, Objection};
use crate::ir::Graph;
use crate::plan;
use crate::schedule::pipeline::Draft;
use crate::schedule::random::Random;
use crate::schedule::{with_pipelines, Feed, Flow, Schedule, StepKind};
use std::time::{Duration, Instant};

#[test]
fn all_pipelines_are_accepted() {
    let mut count = [0; 3];
    for (name, graph) in cases::models() {
        for schedule in cases::schedules(&graph) {
            let say = |e: &dyn std::fmt::Debug| panic!("{name}: {e:#?}\n{schedule:#?}");
            check(&graph, &schedule).unwrap_or_else(|e| say(&e));
            let plan = plan::plan(&graph, &schedule).unwrap();
            plan::check(&graph, &schedule, &plan).unwrap_or_else(|e| say(&e));
            let mut random = Random::new(7);
            plan::replay::compare(&graph, &schedule, &plan, || random.inputs(&graph))
                .unwrap_or_else(|e| say(&e));
            count[schedule.feed() as usize] += 1;
        }
    }
    assert!(
        count[Feed::Whole as usize] > 60
            && count[Feed::Rows as usize] > 30
            && count[Feed::Sliding as usize] > 2,
        "{count:?}"
    );
}

/// The model of that name as one pipeline of its first nodes, each with a ring of its own.
fn streamed(name: &str, nodes: usize) -> (Graph, Schedule) {
    let (_, graph) = cases::models().into_iter().find(|(found, _)| *found == name).unwrap();
    let flow = Flow::of(&graph).without_sharing();
    pipelined(graph, &flow, nodes)
}

fn pipelined(graph: Graph, flow: &Flow, nodes: usize) -> (Graph, Schedule) {
    let draft = Draft::new(&graph, flow, 0..nodes, Feed::Whole).unwrap();
    let schedule = with_pipelines(&graph, &[draft]);
    check(&graph, &schedule).unwrap();
    (graph, schedule)
}

/// The checker must object, with these words.
fn objects(graph: &Graph, schedule: &Schedule, words: &str) {
    let Err(Objection::Broken(violations)) = check(graph, schedule) else { panic!("the checker accepts") };
    assert!(violations.iter().any(|v| v.contains(words)), "{violations:#?}");
}

#[test]
fn a_ring_one_row_short() {
    let (graph, mut schedule) = streamed("chain", 4);
    let a = graph.values().find(|(_, v)| v.name == "a").unwrap().0;
    let place = schedule.storage.places[a.0 as usize].as_mut().unwrap();
    assert_eq!(place.ring, Some(3));
    place.ring = Some(2);
    objects(&graph, &schedule, "step 1 (max_pool2d");
    objects(&graph, &schedule, "\"a\", of which 2 are held");
}

#[test]
fn a_row_that_is_not_there_yet() {
    let (graph, mut schedule) = streamed("chain", 4);
    schedule.steps[1].beat.first -= 1;
    objects(&graph, &schedule, "\"b\") at tick 0, row 0: row 1 of");
    let (graph, mut schedule) = streamed("residual", 6);
    schedule.steps.swap(2, 3);
    objects(&graph, &schedule, "step 2 (add");
}

#[test]
fn memory_that_is_forgotten_between_ticks() {
    let (graph, mut schedule) = streamed("chain", 4);
    let a = graph.values().find(|(_, v)| v.name == "a").unwrap().0;
    let buffer = schedule.storage.places[a.0 as usize].unwrap().buffer;
    schedule.storage.buffers[buffer.0 as usize].role = crate::schedule::Role::Transient;
    objects(&graph, &schedule, "which holds nothing");
}

#[test]
fn a_result_in_place_of_rows_that_are_still_read() {
    let (graph, mut schedule) = streamed("chain", 4);
    let id = |name: &str| graph.values().find(|(_, v)| v.name == name).unwrap().0 .0 as usize;
    // c, a softmax, in the memory of a, of which the next row of b still needs a row.
    schedule.storage.places[id("c")] = schedule.storage.places[id("a")];
    objects(&graph, &schedule, "\"a\" is not intact");
}

/// Two values in one ring, of which neither may overwrite what is still read of the other.
#[test]
fn a_ring_of_two_values() {
    let lines = (1..5).map(|n| {
        let from = n - 1;
        format!(
            "%p{n} \"p{n}\": f32[1,12,4,2] = max_pool2d(%a{from}) {{window = [3, 3] pad [1, 1, 1, 1], clamp = -inf..=inf}}
             %a{n} \"a{n}\": f32[1,12,4,2] = max_pool2d(%p{n}) {{window = [1, 1], clamp = -inf..=inf}}"
        )
    });
    let lines: Vec<String> = lines.collect();
    let text = format!("graph \"g\" {{ input %a0: f32[1,12,4,2]\n{}\nreturn %a4 }}", lines.join("\n"));
    let graph = Graph::parse(&text).unwrap();
    let flow = Flow::of(&graph);
    let (graph, schedule) = pipelined(graph, &flow, 8);
    let id = |name: &str| graph.values().find(|(_, v)| v.name == name).unwrap().0 .0 as usize;
    let places = ["a1", "a2", "a3"].map(|name| schedule.storage.places[id(name)].unwrap());
    // Of each two rows between ticks, and one that is new: not three times three.
    assert!(
        places.iter().all(|place| place.buffer == places[0].buffer && place.ring == Some(7)),
        "{places:?}"
    );
    for name in ["a1", "a2", "a3"] {
        for slots in 1..7 {
            let mut wrong = schedule.clone();
            let place = wrong.storage.places[id(name)].as_mut().unwrap();
            place.slot = (place.slot + slots) % 7;
            objects(&graph, &wrong, "is not intact");
        }
    }
    let mut wrong = schedule.clone();
    for place in wrong.storage.places.iter_mut().flatten().filter(|place| place.ring == Some(7)) {
        (place.ring, place.slot) = (Some(6), place.slot % 6);
    }
    objects(&graph, &wrong, "is not intact");
}

/// Rows under another shape in another place than those that they are, or in fewer of them.
#[test]
fn a_view_that_is_not_what_it_is_a_view_of() {
    let (graph, schedule) = streamed("reshaped", 9);
    let id = |name: &str| graph.values().find(|(_, v)| v.name == name).unwrap().0 .0 as usize;
    let place = schedule.storage.places[id("v")];
    assert_eq!((place, place.unwrap().ring), (schedule.storage.places[id("a")], Some(3)));
    for ring in [2, 4] {
        let mut schedule = schedule.clone();
        schedule.storage.places[id("v")].as_mut().unwrap().ring = Some(ring);
        objects(
            &graph,
            &schedule,
            if ring == 2 { "\"v\", of which 2 are held" } else { "exceeds its buffer" },
        );
    }
    // In the place of the rows of another value, which are as long.
    let mut wrong = schedule.clone();
    wrong.storage.places[id("v")] = schedule.storage.places[id("d")];
    objects(&graph, &wrong, "\"v\" is not intact");
    // The result in place of a value that is read under another shape later.
    let mut wrong = schedule.clone();
    wrong.storage.places[id("t")] = schedule.storage.places[id("a")];
    objects(&graph, &wrong, "\"v\" is not intact");
    // Of the same shape, and not the same elements.
    let mut other = graph.clone();
    let view = other.producer(other.values().find(|(_, v)| v.name == "v").unwrap().0).unwrap();
    other.node_mut(view).op = crate::ir::Op::Transpose { perm: vec![0, 1, 3, 2] };
    crate::verify::verify(&other).unwrap();
    objects(&other, &schedule, "\"v\" is not intact");
    let plan = plan::plan(&graph, &schedule).unwrap();
    plan::check(&graph, &schedule, &plan).unwrap();
    assert!(matches!(plan::check(&other, &schedule, &plan), Err(Objection::Broken(_))));
}

/// A window that slides over rows under another shape, of which one too few is kept.
#[test]
fn a_view_that_slides_one_row_short() {
    let (_, graph) = cases::models().into_iter().find(|(found, _)| *found == "image of frames").unwrap();
    let draft = crate::schedule::pipeline::sliding(&graph, &Flow::of(&graph)).unwrap();
    let mut schedule = with_pipelines(&graph, &[draft]);
    check(&graph, &schedule).unwrap();
    let plan = plan::plan(&graph, &schedule).unwrap();
    for value in ["a", "v", "b"] {
        let id = graph.values().find(|(_, v)| v.name == value).unwrap().0;
        let place = schedule.storage.places[id.0 as usize].as_mut().unwrap();
        assert_eq!(place.ring, Some(3), "{value}");
        place.ring = Some(2);
    }
    objects(&graph, &schedule, "\"b\", of which 2 are held");
    assert!(matches!(plan::check(&graph, &schedule, &plan), Err(Objection::Broken(_))));
}

#[test]
fn sums_over_something_else() {
    let (graph, mut schedule) = streamed("absorbed", 3);
    let place = schedule.storage.place(graph.inputs[0]).unwrap();
    let sums = schedule.steps.iter_mut().find_map(|step| match &mut step.kind {
        StepKind::Absorb { sums, .. } => Some(sums),
        _ => None,
    });
    *sums.unwrap() = place;
    objects(&graph, &schedule, "which holds sums");
}

/// A workspace in place of what the step reads, and of what it writes: its kernel would overwrite it.
#[test]
fn a_workspace_over_something_else() {
    let (graph, mut schedule) = streamed("chain", 4);
    schedule.add_workspaces(|_, _| 16);
    check(&graph, &schedule).unwrap();
    let StepKind::Compute(first) = schedule.steps[0].kind else { panic!("a copy") };
    let node = graph.node(first);
    for (value, found) in [(node.operands[0], "is not intact"), (node.result, "is not intact")] {
        let mut schedule = schedule.clone();
        schedule.steps[0].workspace = schedule.storage.place(value).map(|place| place.buffer);
        objects(&graph, &schedule, found);
    }
}

#[test]
fn a_long_pipeline_is_checked_quickly() {
    let mut lines = String::from("input %v0: f32[1,200,4,8]\n");
    for i in 1..=40 {
        let before = i - 1;
        lines += &format!("%v{i}: f32[1,200,4,8] = max_pool2d(%v{before}) {{window = [3, 3] pad [1, 1, 1, 1], clamp = -inf..=inf}}\n");
    }
    let graph = Graph::parse(&format!("graph \"long\" {{ {lines} return %v40 }}")).unwrap();
    let draft = Draft::new(&graph, &Flow::of(&graph), 0..40, Feed::Whole).unwrap();
    let schedule = with_pipelines(&graph, &[draft]);
    let start = Instant::now();
    check(&graph, &schedule).unwrap();
    // Many times what it takes, for slow and busy machines.
    assert!(start.elapsed() < Duration::from_secs(2));
}

/// Rows that two cores compute at the same time: what either reads is there until both are done.
#[test]
fn rows_at_once() {
    let (mut accepted, mut refused) = (0, 0);
    for (name, graph) in cases::models() {
        let alone = with_pipelines(&graph, &[]);
        let mut together = alone.clone();
        for step in &mut together.steps {
            step.at_once = 2;
        }
        let plan = plan::plan(&graph, &together).unwrap();
        plan::check(&graph, &together, &plan).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        // Whoever does not know of the other core plans results too close to operands.
        let close = plan::plan(&graph, &alone).unwrap();
        match plan::check(&graph, &together, &close) {
            Ok(()) => accepted += 1,
            Err(Objection::Broken(violations)) => {
                assert!(violations.iter().any(|v| v.contains("which it still reads")), "{violations:#?}");
                assert!(close.arena_bytes <= plan.arena_bytes);
                refused += 1;
            }
            Err(other) => panic!("{name}: {other:?}"),
        }
    }
    assert!(accepted > 0 && refused > 0, "{accepted} accepted, {refused} refused");
}
