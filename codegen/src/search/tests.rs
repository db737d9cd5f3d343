//! Which of the schedules that were tried is kept, and what is refused.

use super::groups::Groups;
use super::*;
use crate::ir::NodeId;
use crate::schedule::random::{images, Random};
use crate::schedule::StepKind;
use crate::{compile_graph, plan, schedule};

/// Widens, then narrows: whole tensors need far more than rows of them.
const WIDE: [&str; 6] = [
    r#"%a "a": f32[1,16,4,4] = concat(%x, %x) {axis = 3}"#,
    r#"%b "b": f32[1,16,4,8] = concat(%a, %a) {axis = 3}"#,
    r#"%c "c": f32[1,16,4,8] = max_pool2d(%b) {window = [3, 3] pad [1, 1, 1, 1], clamp = -inf..=inf}"#,
    r#"%d "d": f32[1,8,2,8] = max_pool2d(%c) {window = [2, 2] stride [2, 2], clamp = -inf..=inf}"#,
    r#"%e "e": f32[1,8,2,8] = max_pool2d(%d) {window = [3, 3] pad [1, 1, 1, 1], clamp = -inf..=inf}"#,
    r#"%m "m": f32[1,1,1,8] = mean(%e) {axes = [1, 2], rescale = real, clamp = -inf..=inf}"#,
];

fn graph(lines: &[&str], output: &str) -> Graph {
    let body = lines.join("\n");
    let text = format!("graph \"g\" {{ input %x \"x\": f32[1,16,4,2]\n{body}\nreturn {output} }}");
    let graph = Graph::parse(&text).unwrap();
    crate::verify::verify(&graph).unwrap_or_else(|v| panic!("{v:#?}"));
    graph
}

fn wide() -> Graph {
    graph(&WIDE, "%m")
}

fn options(optimize: Optimize, ram: Option<usize>) -> Options {
    Options { optimize, ram, ..Options::default() }
}

/// Searches, and asserts that exactly one alternative was kept and that it is what was found.
fn found(graph: &Graph, options: &Options) -> (Found, Alternative) {
    let mut found = search(graph, options).unwrap();
    let kept: Vec<Alternative> = found.alternatives.iter().filter(|a| a.kept).cloned().collect();
    assert_eq!(kept.len(), 1, "{:#?}", found.alternatives);
    let predicted = cost::predict(graph, options, &mut found.kernels, &found.schedule);
    let nodes = kept[0].nodes.clone();
    assert_eq!(nodes.len(), kept[0].pipelines.len());
    assert_eq!(kept[0], Alternative { kept: true, nodes, ..about(predicted, &found.schedule, &found.plan) });
    (found, kept[0].clone())
}

/// What an alternative says about a schedule and its plan.
fn about(predicted: Prediction, schedule: &Schedule, plan: &Plan) -> Alternative {
    Alternative {
        pipelines: schedule.pipelines.iter().map(|p| (p.steps.start, p.steps.len())).collect(),
        nodes: Vec::new(),
        again: Vec::new(),
        arena_bytes: plan.arena_bytes,
        state_bytes: plan.state_bytes,
        calls: schedule.bands().count(),
        predicted,
        kept: false,
    }
}

/// The runs of nodes that hold the steps of each pipeline: all of them, or no more than views besides.
fn drafts_of(schedule: &Schedule, graph: &Graph, said: &[Range<usize>]) -> Vec<Range<usize>> {
    let node = |step: usize| match schedule.steps[step].kind {
        StepKind::Compute(node) | StepKind::Absorb { node, .. } => Some(node),
        StepKind::Copy { .. } => None,
    };
    for (pipeline, nodes) in schedule.pipelines.iter().zip(said) {
        let inside: Vec<_> = pipeline.steps.clone().filter_map(node).collect();
        assert!(inside.iter().all(|id| graph.order[nodes.clone()].contains(id)));
        let computed = |&id: &NodeId| (0..schedule.steps.len()).any(|step| node(step) == Some(id));
        assert!(graph.order[nodes.clone()].iter().filter(|id| computed(id)).all(|id| inside.contains(id)));
    }
    said.to_vec()
}

#[test]
fn speed_keeps_whole_tensors() {
    let graph = wide();
    for optimize in [Optimize::Speed, Optimize::Size] {
        let (found, kept) = found(&graph, &options(optimize, None));
        assert_eq!(found.alternatives.len(), 1, "nothing else is planned");
        assert!(kept.pipelines.is_empty());
        assert_eq!(kept.calls, graph.order.len());
        assert_eq!(found.schedule, schedule::schedule(&graph));
    }
}

#[test]
fn memory_keeps_the_smallest() {
    let graph = wide();
    let (_, speed) = found(&graph, &options(Optimize::Speed, None));
    let (found, kept) = found(&graph, &options(Optimize::Memory, None));
    assert!(found.alternatives.len() > 2 && found.alternatives.len() <= 1 + MOST_PLANNED);
    assert_eq!(Some(kept.bytes()), found.alternatives.iter().map(Alternative::bytes).min());
    let equal = found.alternatives.iter().filter(|a| a.bytes() == kept.bytes());
    assert_eq!(Some(kept.calls), equal.map(|a| a.calls).min(), "of several smallest, the fastest");
    // b and c are 2048 bytes each as a whole, x is 1024, and a few rows of the others are less than half of that.
    assert!(speed.bytes() >= 2048 + 1024, "{}", speed.bytes());
    assert!((1024..1024 + 512).contains(&kept.bytes()), "{}", kept.bytes());
    assert!(!kept.pipelines.is_empty() && kept.calls > speed.calls);
}

#[test]
fn a_budget_keeps_the_fewest_calls_that_fit() {
    let graph = wide();
    let tried = search(&graph, &options(Optimize::Memory, None)).unwrap().alternatives;
    let mut kept = std::collections::BTreeSet::new();
    for limit in &tried {
        for optimize in [Optimize::Speed, Optimize::Memory] {
            let (_, alternative) = found(&graph, &options(optimize, Some(limit.bytes())));
            assert!(alternative.bytes() <= limit.bytes());
            let fit = tried.iter().filter(|a| a.bytes() <= limit.bytes());
            assert_eq!(Some(alternative.calls), fit.map(|a| a.calls).min(), "within {}", limit.bytes());
            kept.insert(alternative.bytes());
        }
    }
    assert!(kept.len() > 2, "{kept:?}: schedules between the fastest and the smallest are kept too");
}

#[test]
fn a_budget_of_cycles_keeps_the_smallest_that_is_fast_enough() {
    let graph = wide();
    let cycles =
        |most| Options { cycles: Some(most), target: Some(crate::Target::CortexMDsp), ..Options::default() };
    let tried = search(&graph, &cycles(u64::MAX)).unwrap().alternatives;
    let mut kept = std::collections::BTreeSet::new();
    for limit in &tried {
        let most = limit.predicted.cycles;
        let (_, alternative) = found(&graph, &cycles(most));
        assert!(alternative.predicted.cycles <= most);
        let fit = tried.iter().filter(|a| a.predicted.cycles <= most);
        assert_eq!(Some(alternative.bytes()), fit.map(Alternative::bytes).min(), "within {most}");
        kept.insert(alternative.bytes());
    }
    assert!(kept.len() > 2, "{kept:?}");
    let fewest = tried.iter().map(|a| a.predicted.cycles).min().unwrap();
    let (_, fastest) = found(&graph, &cycles(fewest - 1));
    assert_eq!(fastest.predicted.cycles, fewest, "the fastest, where none is fast enough");
    match compile_graph(graph.clone(), &cycles(fewest - 1)) {
        Err(Error::OverBudget(problems)) => {
            let said =
                format!("{fewest} cycles are predicted for the fastest schedule, 1 more than the budget");
            assert!(problems[0].place == "cycles" && problems[0].what.starts_with(&said), "{problems:#?}");
        }
        other => panic!("{other:#?}"),
    }
    // Of RAM and cycles together, RAM comes first: what does not fit cannot run.
    let both = Options { ram: Some(fastest.bytes() - 1), ..cycles(fewest) };
    let (_, kept) = found(&graph, &both);
    assert!(kept.bytes() < fastest.bytes() && kept.predicted.cycles > fewest);
    let host = Options { target: Some(crate::Target::Vectors), ..cycles(fewest) };
    assert!(compile_graph(graph, &host).unwrap_err().to_string().contains("predicted for microcontrollers"));
}

#[test]
fn a_budget_that_whole_tensors_fit_changes_nothing() {
    let graph = wide();
    let (speed, alternative) = found(&graph, &options(Optimize::Speed, None));
    let (same, _) = found(&graph, &options(Optimize::Speed, Some(alternative.bytes())));
    assert_eq!((same.schedule, same.plan), (speed.schedule, speed.plan));
    assert_eq!(same.alternatives.len(), 1, "nothing else is planned");
    let (_, other) = found(&graph, &options(Optimize::Speed, Some(alternative.bytes() - 1)));
    assert!(other.calls > alternative.calls && other.bytes() < alternative.bytes());
}

#[test]
fn a_budget_that_nothing_fits_keeps_the_smallest_and_is_refused() {
    let graph = wide();
    let (_, smallest) = found(&graph, &options(Optimize::Memory, None));
    for budget in [0, smallest.bytes() - 1] {
        let (_, kept) = found(&graph, &options(Optimize::Speed, Some(budget)));
        assert_eq!(kept, smallest);
    }
    let compiled = compile_graph(graph.clone(), &options(Optimize::Memory, None)).unwrap();
    let need = compiled.plan.arena_bytes + compiled.plan.state_bytes;
    compile_graph(graph.clone(), &options(Optimize::Speed, Some(need))).unwrap();
    match compile_graph(graph, &options(Optimize::Speed, Some(need - 1))) {
        Err(Error::OverBudget(problems)) => {
            assert_eq!(problems[0].place, "ram");
            assert!(problems[0].what.starts_with(&format!("{need} bytes of RAM are needed")));
        }
        other => panic!("{other:#?}"),
    }
}

#[test]
fn retained_memory_counts() {
    let lines = [
        r#"state %s "s": f32[1,16,4,8] = splat 0.0"#,
        WIDE[0],
        WIDE[1],
        WIDE[2],
        r#"%n "n": f32[1,16,4,8] = add(%c, %s) {rescale = real, clamp = -inf..=inf}"#,
        r#"%m "m": f32[1,1,1,8] = mean(%n) {axes = [1, 2], rescale = real, clamp = -inf..=inf}"#,
        "next %s = %n",
    ];
    let graph = graph(&lines, "%m");
    let (_, smallest) = found(&graph, &options(Optimize::Memory, None));
    assert_eq!(smallest.state_bytes, 2048);
    let (_, kept) = found(&graph, &options(Optimize::Speed, Some(smallest.arena_bytes + 2048)));
    assert_eq!(kept.bytes(), smallest.bytes());
    let (_, kept) = found(&graph, &options(Optimize::Speed, Some(2047)));
    assert_eq!(kept, smallest, "the arena alone would fit");
}

#[test]
fn rows_are_fed_in_every_alternative() {
    let graph = wide();
    let fed = |optimize, ram| found(&graph, &Options { input: Input::Rows, ..options(optimize, ram) });
    let (speed, fast) = fed(Optimize::Speed, None);
    assert_eq!((speed.schedule.feed(), speed.alternatives.len()), (Feed::Rows, 1));
    let (memory, small) = fed(Optimize::Memory, None);
    assert_eq!(memory.schedule.feed(), Feed::Rows);
    assert!(memory.alternatives.iter().all(|a| a.pipelines.first().is_some_and(|&(start, _)| start == 0)));
    assert!(small.bytes() < fast.bytes());
    let (budget, _) = fed(Optimize::Speed, Some(fast.bytes() - 1));
    assert_eq!(budget.schedule.feed(), Feed::Rows);
}

#[test]
fn inputs_that_cannot_arrive_by_rows_name_the_node() {
    let refused = |lines: &[&str], output: &str, input: Input| {
        let options = Options { input, ..Options::default() };
        match search(&graph(lines, output), &options) {
            Err(Error::Options(problem)) => problem,
            other => panic!("{other:#?}"),
        }
    };
    let across = [r#"%t "turned": f32[1,4,16,2] = transpose(%x) {perm = [0, 2, 1, 3]}"#];
    let rows = refused(&across, "%t", Input::Rows);
    assert_eq!((&*rows.place, &*rows.help), ("option `input = \"rows\"`", "use input = \"whole\""));
    assert!(rows.what.contains(r#"transpose "turned""#), "{}", rows.what);
    let sliding = refused(&across, "%t", Input::Sliding);
    assert_eq!(sliding.place, "option `input = \"sliding\"`");
    assert!(sliding.what.contains(r#"transpose "turned""#), "{}", sliding.what);
    let padded = refused(&WIDE, "%m", Input::Sliding);
    assert!(padded.what.contains(r#"max_pool2d "c" pads"#), "{}", padded.what);
    assert!(padded.help.contains("without padding"), "{}", padded.help);
}

/// Everything that is tried for random graphs is what its alternative says, and sound; memory never needs more than speed.
#[test]
fn all_that_is_tried_is_sound() {
    let (mut count, mut smaller, mut again) = (0, 0, 0);
    for seed in 0..150 {
        let graph = images(&mut Random::new(seed + 7_000), seed % 2 == 0);
        let flow = Flow::of(&graph);
        for feed in [Feed::Whole, Feed::Rows] {
            if feed == Feed::Rows && pipeline::fed(&graph, &flow).is_err() {
                continue;
            }
            let options = Options::default();
            let mut tried = Tried::new(&graph, &options);
            let plain = cuts::cuts(&graph, &flow, feed, MOST_PLANNED).into_iter();
            let repeating = cuts::repeating(&graph, &flow, feed, usize::MAX, 4).into_iter();
            for drafts in plain.chain(repeating.map(|repeated| repeated.drafts)) {
                again += drafts.iter().flat_map(Draft::repeated).count();
                tried.add(&drafts).unwrap();
            }
            for Candidate { schedule, plan, about: said } in &tried.list {
                let what = format!("seed {seed}, {feed:?}: {said:?}\n{graph}");
                let predicted = cost::predict(&graph, &Options::default(), &mut Kernels::default(), schedule);
                let nodes = drafts_of(schedule, &graph, &said.nodes);
                let again = said.again.clone();
                assert_eq!(*said, Alternative { nodes, again, ..about(predicted, schedule, plan) }, "{what}");
                schedule::check(&graph, schedule).unwrap_or_else(|e| panic!("{what}: {e:#?}"));
                plan::check(&graph, schedule, plan).unwrap_or_else(|e| panic!("{what}: {e:#?}"));
            }
            count += tried.list.len();
        }
        let (_, speed) = found(&graph, &options(Optimize::Speed, None));
        let (_, memory) = found(&graph, &options(Optimize::Memory, None));
        assert!(memory.bytes() <= speed.bytes() && speed.calls <= memory.calls, "seed {seed}\n{graph}");
        smaller += usize::from(memory.bytes() < speed.bytes());
    }
    assert!(count > 500 && smaller > 50, "{count} schedules, {smaller} graphs smaller than with speed");
    assert!(again > 5, "{again} times rows are computed again");
}

#[test]
fn more_multiply_accumulates_never_lead_to_more_memory() {
    let mut smaller = 0;
    for seed in 0..60 {
        let graph = images(&mut Random::new(seed + 7_000), seed % 2 == 0);
        let needs = |recompute: u32| {
            let options = Options { recompute: Some(recompute), ..options(Optimize::Memory, None) };
            let mut graph = graph.clone();
            groups::search_groups(&mut graph, &options, &mut Groups::new()).unwrap().plan.ram_bytes()
        };
        let needs = [1000, 1030, 1100, 1200, 1250, 1500, 2000, 9000].map(needs);
        assert!(needs.is_sorted_by(|a, b| a >= b), "seed {seed}: {needs:?}\n{graph}");
        smaller += usize::from(needs[7] < needs[0]);
    }
    assert!(smaller > 0, "nothing is smaller");
}

#[test]
fn larger_workspaces_cost_no_memory() {
    let graph = Graph::parse(
        "graph \"g\" {
           input %x: i8[1,8,8,8] q(0.5 : -3)
           const %a: i8[64,1,1,8] q(0.5 : 0) = splat 1
           const %b: i8[8,1,1,64] q(0.5 : 0) = splat 1
           const %c: i8[8,1,1,8] q(0.5 : 0) = splat 1
           %y: i8[1,8,8,64] q(0.5 : -3) = conv2d(%x, %a) {window = [1, 1], groups = 1, rescale = [1073741824 * 2^-1], clamp = -128..=127}
           %z: i8[1,8,8,8] q(0.5 : -3) = conv2d(%y, %b) {window = [1, 1], groups = 1, rescale = [1073741824 * 2^-1], clamp = -128..=127}
           %u: i8[1,8,8,8] q(0.5 : -3) = conv2d(%z, %c) {window = [1, 1], groups = 1, rescale = [1073741824 * 2^-1], clamp = -128..=127}
           return %u
         }",
    )
    .unwrap();
    let options = Options { target: Some(crate::Target::Rv32), ..options(Optimize::Memory, None) };
    let (found, kept) = found(&graph, &options);
    // The same schedule with the smallest workspaces.
    let (mut smallest, mut larger) = (found.schedule.clone(), 0);
    for (index, step) in found.schedule.steps.iter().enumerate() {
        let (schedule::StepKind::Compute(node), Some(buffer)) = (&step.kind, step.workspace) else {
            continue;
        };
        let whole = found.schedule.pipeline_of(index).is_none();
        let bytes = Kernels::default().of(&graph, *node, &options, whole).workspace;
        let buffer = &mut smallest.storage.buffers[buffer.0 as usize];
        larger += usize::from(buffer.bytes > bytes);
        buffer.bytes = bytes;
    }
    assert!(larger > 0, "{:#?}", found.schedule.steps);
    assert!(kept.arena_bytes <= plan(&graph, &smallest).unwrap().arena_bytes);
}
