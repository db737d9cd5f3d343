//! Random graphs in two arenas: planned, checked, and run on real bytes.

use crate::ir::Graph;
use crate::plan::{check, plan, replay, with_fast, Plan};
use crate::schedule::random::{self, Random};
use crate::schedule::{schedule, Schedule};

struct Case {
    random: Random,
    graph: Graph,
    schedule: Schedule,
    whole: Plan,
}

impl Case {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let size = 2 + random.below(25);
        let graph = random::graph(&mut random, size);
        let schedule = schedule(&graph);
        let whole = plan(&graph, &schedule).unwrap();
        Case { random, graph, schedule, whole }
    }

    fn split(&self, capacity: usize, most: usize) -> Plan {
        with_fast(&self.graph, &self.schedule, self.whole.clone(), capacity, most).unwrap()
    }

    fn compare(&mut self, plan: &Plan) -> Result<(), String> {
        replay::compare(&self.graph, &self.schedule, plan, || self.random.inputs(&self.graph))
    }
}

#[test]
fn random_graphs_run_in_two_arenas() {
    let (mut both, mut all) = (0, 0);
    for seed in 0..600 {
        let mut case = Case::new(seed);
        let capacity = case.random.below(case.whole.arena_bytes + 64);
        let plan = case.split(capacity, usize::MAX);
        let fast = plan.fast_bytes.unwrap();
        assert!(fast <= capacity, "seed {seed}");
        assert_eq!(plan.state_bytes, case.whole.state_bytes, "seed {seed}");
        check(&case.graph, &case.schedule, &plan).unwrap_or_else(|e| panic!("seed {seed}: {e:#?}"));
        case.compare(&plan).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        both += usize::from(fast > 0 && plan.arena_bytes > 0);
        all += usize::from(plan.arena_bytes == 0);
    }
    assert!(both > 200 && all > 20, "{both} in both arenas, {all} in the fast one alone");
}

/// Whatever the checker accepts of what was moved to the other arena, or inside of one, still computes the right results.
#[test]
fn accepted_moves_are_right() {
    let (mut refused, mut accepted) = (0, 0);
    for seed in 0..600 {
        let mut case = Case::new(seed + 1_000_000);
        let mut plan = case.split(case.whole.arena_bytes / 2, usize::MAX);
        let buffer = case.random.below(plan.offsets.len());
        plan.fast[buffer] ^= case.random.below(2) == 0;
        plan.offsets[buffer] = 4 * case.random.below(8);
        match check(&case.graph, &case.schedule, &plan) {
            Err(_) => refused += 1,
            Ok(()) => {
                accepted += 1;
                case.compare(&plan).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            }
        }
    }
    assert!(refused > 100 && accepted > 50, "{refused} refused, {accepted} accepted");
}

#[test]
fn two_arenas_do_not_need_more_than_is_allowed() {
    let mut dearer = 0;
    for seed in 0..300 {
        let case = Case::new(seed);
        let least = case.whole.arena_bytes;
        let split = case.split(least / 2, usize::MAX);
        if split.scratch_bytes() > least {
            dearer += 1;
            let plan = case.split(least / 2, least);
            assert_eq!((plan.fast_bytes, plan.scratch_bytes()), (Some(0), least), "seed {seed}");
            assert_eq!(plan.offsets, case.whole.offsets);
        }
    }
    assert!(dearer > 20, "{dearer}");
}
