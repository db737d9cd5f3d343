//! The pass manager on random graphs.

use super::testing::assert_equivalent;
use super::{run, MOST_ROUNDS};
use crate::plan;
use crate::schedule::random::{self, Random};
use crate::schedule::schedule;

#[test]
fn random_graphs_mean_the_same_after_each_pass() {
    let mut fired = std::collections::BTreeSet::new();
    for seed in 0..1500 {
        let mut random = Random::new(seed + 1_000_000);
        let size = 2 + random.below(25);
        let graph = random::graph(&mut random, size);
        let (mut last, mut changes) = (graph.clone(), 0);
        let mut after = graph.clone();
        let mut observe = |pass: &str, now: &crate::ir::Graph| {
            fired.insert(pass.to_string());
            changes += 1;
            assert_equivalent(&last, now);
            last = now.clone();
        };
        run(&mut after, &mut observe).unwrap();
        assert!(changes < 6 * MOST_ROUNDS, "seed {seed}: the passes do not end");
        assert_equivalent(&graph, &after);
        assert!(after.order.len() <= graph.order.len(), "seed {seed}");
        run(&mut after.clone(), &mut |pass, _| panic!("seed {seed}: {pass} has more to do")).unwrap();

        let schedule = schedule(&after);
        let plan = plan::plan(&after, &schedule).unwrap();
        plan::check(&after, &schedule, &plan).unwrap_or_else(|v| panic!("seed {seed}: {v:#?}\n{after}"));
    }
    let expected = [
        "cse",
        "dce",
        "fold",
        "fuse_activation",
        "lower_tables",
        "narrow_operands",
        "simplify",
        "sink_reshapes",
        "sink_transposes",
        "turn_states",
    ];
    assert_eq!(fired.into_iter().collect::<Vec<_>>(), expected);
}
