//! Random graphs: scheduled, planned and checked, and the plan run on real bytes.

mod fast;
mod overlays;
mod packing;
mod pipelines;

use super::{check, plan, problem, replay, solve, Problem};
use crate::ir::Graph;
use crate::schedule::random::{self, Random};
use crate::schedule::{schedule, Schedule};
use crate::verify::verify;

/// Bytes of an arena in which nothing overlaps.
fn apart(graph: &Graph, schedule: &Schedule) -> usize {
    solve(&Problem::new(problem(graph, schedule).unwrap().items)).bytes
}

#[test]
fn random_graphs_run_in_their_plans() {
    let (mut views, mut histories, mut smaller, mut tight) = (0, 0, 0, 0);
    for seed in 0..2500 {
        let mut random = Random::new(seed % 1500);
        let size = 2 + random.below(if seed < 1500 { 25 } else { 20 });
        let graph = random::graph(&mut random, size);
        verify(&graph).unwrap();
        let schedule = schedule(&graph);
        let plan = plan(&graph, &schedule).unwrap();
        if let Err(violations) = check(&graph, &schedule, &plan) {
            panic!("seed {seed}: {violations:#?}\n{graph:#?}\n{schedule:#?}");
        }
        let apart = apart(&graph, &schedule);
        assert!(plan.lower_bound <= plan.arena_bytes && plan.arena_bytes <= apart, "seed {seed}");
        smaller += usize::from(plan.arena_bytes < apart);
        tight += usize::from(plan.arena_bytes == plan.lower_bound);
        let states: usize = graph.states.iter().map(|s| s.init.bytes().len().next_multiple_of(4)).sum();
        histories += usize::from(plan.state_bytes > states);
        views += usize::from(schedule.steps.len() < graph.order.len());
        replay::compare(&graph, &schedule, &plan, || random.inputs(&graph))
            .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
    assert!(smaller > 100 && tight > 2300, "{smaller} need less with overlays, {tight} are proven the least");
    assert!(views > 500 && histories > 50, "{views} graphs with views, {histories} with histories");
}
