//! Overlays of small graphs, by hand.

use super::plan_with;
use crate::ir::Graph;
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
