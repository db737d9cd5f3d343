//! Overlays of small graphs, by hand, and of random ones on real bytes.

use crate::ir::Graph;
use crate::plan::{plan_with, replay};
use crate::schedule::random::{self, Random};
use crate::schedule::schedule;

/// The arena's bytes with and without overlays, and the lower bound.
fn sizes(lines: &str) -> (usize, usize, usize) {
    let graph = Graph::parse(&format!("graph \"case\" {{ {lines} }}")).unwrap();
    crate::verify::verify(&graph).unwrap();
    let schedule = schedule(&graph);
    let plan = plan_with(&graph, &schedule, true).unwrap();
    (plan.arena_bytes, plan_with(&graph, &schedule, false).unwrap().arena_bytes, plan.lower_bound)
}

#[test]
fn a_convolution_follows_the_rows_it_has_read() {
    let depthwise = "input %x: i8[1,25,5,64] q(1.0 : 0)
        %y: i8[1,25,5,64] q(1.0 : 0) = max_pool2d(%x) {window = [3, 3] pad [1, 1, 1, 1], clamp = -128..=127}
        return %y";
    assert_eq!(sizes(depthwise), (8640, 16000, 8640));
}

#[test]
fn softmax() {
    let depthwise = "input %x: f32[1,4,4,2]
        %y: f32[1,4,4,2] = softmax(%x) {beta = 1.0, scale = real}
        return %y";
    assert_eq!(sizes(depthwise), (128 + 32, 256, 128 + 32));
}

#[test]
fn random_graphs_run_in_overlaid_plans() {
    let (mut smaller, mut tight) = (0, 0);
    for seed in 0..1500 {
        let mut random = Random::new(seed);
        let size = 2 + random.below(25);
        let graph = random::graph(&mut random, size);
        let schedule = schedule(&graph);
        let plan = plan_with(&graph, &schedule, true).unwrap();
        let apart = plan_with(&graph, &schedule, false).unwrap();
        assert!(plan.lower_bound <= plan.arena_bytes && plan.arena_bytes <= apart.arena_bytes, "seed {seed}");
        smaller += usize::from(plan.arena_bytes < apart.arena_bytes);
        tight += usize::from(plan.arena_bytes == plan.lower_bound);
        replay::compare(&graph, &schedule, &plan, || random.inputs(&graph))
            .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
    assert!(smaller > 100 && tight > 1000, "{smaller} graphs need less, {tight} as little as possible");
}
