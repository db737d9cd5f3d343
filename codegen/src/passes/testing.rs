//! What the tests of passes share.

use super::dce;
use crate::interp::Machine;
use crate::ir::Graph;
use crate::schedule::random::Random;
use crate::verify::verify;

/// Parses a graph from the lines between the braces.
pub(super) fn parse(lines: &str) -> Graph {
    let text = format!("graph \"test\" {{\n{lines}\n}}");
    let graph = Graph::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&graph).unwrap_or_else(|v| panic!("{v:#?}\n{text}"));
    graph
}

/// Asserts that the pass changes `before` to `after` (both without the frame), with equal outputs over a sequence of random inputs,
/// and that it has nothing to do the second time.
pub(super) fn rewrites(pass: impl Fn(&mut Graph) -> bool, before: &str, after: &str) {
    let before = parse(before);
    let mut graph = before.clone();
    assert!(pass(&mut graph), "the pass did not fire on\n{before}");
    let (got, want) = (graph.compact(), parse(after).compact());
    assert_eq!(got.to_string(), want.to_string());
    verify(&graph).unwrap_or_else(|v| panic!("{v:#?}\n{graph}"));
    assert_equivalent(&before, &graph);
    assert!(!pass(&mut graph), "the pass fires twice: {graph}");
}

/// As [`rewrites`], without what the pass leaves unused.
pub(super) fn rewrites_used(pass: fn(&mut Graph) -> bool, before: &str, after: &str) {
    let run_and_clean = |graph: &mut Graph| {
        let changed = pass(graph);
        dce::run(graph);
        changed
    };
    rewrites(run_and_clean, before, after);
}

/// Asserts that the pass leaves the graph as it is.
pub(super) fn keeps(pass: fn(&mut Graph) -> bool, before: &str) {
    let before = parse(before);
    let mut graph = before.clone();
    assert!(!pass(&mut graph), "the pass fired: {graph}");
    assert!(graph == before);
}

/// Asserts that two graphs give the same outputs, bit for bit, over a sequence of random inputs.
pub(super) fn assert_equivalent(before: &Graph, after: &Graph) {
    let mut random = Random::new(1);
    let (mut a, mut b) = (Machine::new(before), Machine::new(after));
    for run in 0..4 {
        let inputs = random.inputs(before);
        let (want, got) = (a.run(&inputs).unwrap(), b.run(&inputs).unwrap());
        assert_eq!(want, got, "outputs of run {run} differ\n{before}\n{after}");
    }
}
