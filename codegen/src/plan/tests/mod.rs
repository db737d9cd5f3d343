//! Random graphs: scheduled, planned and checked, and the plan run on real bytes.

mod overlays;
mod packing;

use super::{check, plan, replay};
use crate::schedule::random::{self, Random};
use crate::schedule::{peak, schedule};
use crate::verify::verify;

#[test]
fn random_graphs_run_in_their_plans() {
    let (mut views, mut histories) = (0, 0);
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let size = 2 + random.below(25);
        let graph = random::graph(&mut random, size);
        verify(&graph).unwrap();
        let schedule = schedule(&graph);
        let plan = plan(&graph, &schedule).unwrap();
        if let Err(violations) = check(&graph, &schedule, &plan) {
            panic!("seed {seed}: {violations:#?}\n{graph:#?}\n{schedule:#?}");
        }
        assert!(plan.arena_bytes >= plan.lower_bound, "seed {seed}");
        assert!(
            super::plan_with(&graph, &schedule, false).unwrap().lower_bound >= peak(&graph, &schedule),
            "seed {seed}"
        );
        let states: usize = graph.states.iter().map(|s| s.init.bytes().len().next_multiple_of(4)).sum();
        histories += usize::from(plan.state_bytes > states);
        views += usize::from(schedule.steps.len() < graph.order.len());
        replay::compare(&graph, &schedule, &plan, || random.inputs(&graph))
            .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
    assert!(views > 500 && histories > 50, "{views} graphs with views, {histories} with histories");
}
