//! Random graphs of images, in which random runs of nodes are pipelines: planned, checked, and run on real bytes.

use super::apart;
use crate::ir::Graph;
use crate::plan::{check, plan, replay, with_fast};
use crate::schedule::pipeline::{self, Draft};
use crate::schedule::random::{images, Random};
use crate::schedule::{self, with_pipelines, Feed, Flow, Schedule};

/// Plans a schedule, checks it and runs it. Says whether overlays made it smaller.
fn prove(graph: &Graph, schedule: &Schedule, random: &mut Random, what: &str) -> bool {
    let plan = plan(graph, schedule).unwrap();
    let fails = |e: &dyn std::fmt::Debug| panic!("{what}: {e:#?}\n{graph:#?}\n{schedule:#?}\n{plan:#?}");
    check(graph, schedule, &plan).unwrap_or_else(|e| fails(&e));
    replay::compare(graph, schedule, &plan, || random.inputs(graph)).unwrap_or_else(|e| fails(&e));
    let split = with_fast(graph, schedule, plan.clone(), plan.arena_bytes / 2, usize::MAX).unwrap();
    check(graph, schedule, &split).unwrap_or_else(|e| fails(&e));
    replay::compare(graph, schedule, &split, || random.inputs(graph)).unwrap_or_else(|e| fails(&e));
    let apart = apart(graph, schedule);
    assert!(plan.lower_bound <= plan.arena_bytes && plan.arena_bytes <= apart, "{what}");
    plan.arena_bytes < apart
}

/// The pipeline with some of the nodes computing rows again that may.
fn repeated(graph: &Graph, flow: &Flow, draft: Draft, random: &mut Random) -> Draft {
    let may = |at: &usize| draft.can_repeat(graph, flow, *at);
    let again = draft.nodes.clone().filter(may).filter(|_| random.below(3) > 0).collect();
    Draft::repeating(graph, flow, draft.nodes.clone(), draft.feed, &again).unwrap()
}

#[test]
fn pipelines_of_random_graphs() {
    let (mut piped, mut smaller, mut again) = (0, 0, 0);
    for seed in 0..600 {
        let mut random = Random::new(seed);
        let graph = images(&mut random, false);
        let flow = Flow::of(&graph);
        let (mut drafts, mut next) = (Vec::new(), 0);
        while next < graph.order.len() {
            let end = (next + 1 + random.below(6)).min(graph.order.len());
            match Draft::new(&graph, &flow, next..end, Feed::Whole) {
                Ok(draft) if end > next + 1 => drafts.push(repeated(&graph, &flow, draft, &mut random)),
                _ => {}
            }
            next = end;
        }
        let mut schedule = with_pipelines(&graph, &drafts);
        if seed % 3 == 0 {
            // Kernels that need something of their own.
            schedule.add_workspaces(|node, whole| (node.0 as usize % 4) * if whole { 24 } else { 12 });
        }
        piped += usize::from(!drafts.is_empty());
        again += usize::from(drafts.iter().any(|draft| draft.repeated().next().is_some()));
        smaller += usize::from(prove(&graph, &schedule, &mut random, &format!("seed {seed}")));
    }
    assert!(piped > 300 && smaller > 200, "{piped} with pipelines, {smaller} smaller with overlays");
    assert!(again > 60, "{again} with rows that are computed again");
}

#[test]
fn fed_pipelines_of_random_graphs() {
    let (mut fed, mut sliding) = (0, 0);
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let graph = images(&mut random, seed % 2 == 0);
        let flow = Flow::of(&graph);
        if let Ok(draft) = pipeline::fed(&graph, &flow) {
            let draft = repeated(&graph, &flow, draft, &mut random);
            prove(&graph, &with_pipelines(&graph, &[draft]), &mut random, &format!("rows, seed {seed}"));
            fed += 1;
        }
        let schedule = pipeline::sliding(&graph, &flow).map(|draft| with_pipelines(&graph, &[draft]));
        // Whether the schedule itself is sound is tested elsewhere.
        if let Some(schedule) = schedule.ok().filter(|schedule| schedule::check(&graph, schedule).is_ok()) {
            prove(&graph, &schedule, &mut random, &format!("sliding, seed {seed}"));
            sliding += 1;
        }
    }
    assert!(fed > 100 && sliding > 10, "{fed} fed, {sliding} sliding");
}
