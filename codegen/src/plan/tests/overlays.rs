//! Overlays of small graphs, by hand.

use super::apart;
use crate::ir::Graph;
use crate::plan::plan;
use crate::schedule::schedule;

/// The arena's bytes with and without overlays, and the lower bound.
fn sizes(lines: &str) -> (usize, usize, usize) {
    let graph = Graph::parse(&format!("graph \"case\" {{ {lines} }}")).unwrap();
    crate::verify::verify(&graph).unwrap();
    let schedule = schedule(&graph);
    let plan = plan(&graph, &schedule).unwrap();
    (plan.arena_bytes, apart(&graph, &schedule), plan.lower_bound)
}

#[test]
fn a_convolution_follows_the_rows_it_has_read() {
    let depthwise = "input %x: i8[1,25,5,64] q(1.0 : 0)
        %y: i8[1,25,5,64] q(1.0 : 0) = max_pool2d(%x) {window = [3, 3] pad [1, 1, 1, 1], clamp = -128..=127}
        return %y";
    assert_eq!(sizes(depthwise), (8640, 16000, 8640));
}

#[test]
fn a_row_that_is_being_computed_does_not_overwrite_what_it_is_made_of() {
    let softmax = "input %x: f32[1,4,4,2]
        %y: f32[1,4,4,2] = softmax(%x) {beta = 1.0, scale = real}
        return %y";
    assert_eq!(sizes(softmax), (128 + 32, 256, 128 + 32));
}

#[test]
fn a_larger_result_ends_where_its_operand_does() {
    // Row r of 8 bytes becomes row r of 16: the last row is written when all but 8 bytes have been read.
    let wider = "input %x: i8[1,4,8,1] q(1.0 : 0)
        const %k: i8[1,4,8,1] q(1.0 : 0) = splat 1
        %y: i8[1,4,8,2] q(1.0 : 0) = concat(%x, %k) {axis = 3}
        %z: i8[1,4,8,2] q(1.0 : 0) = max_pool2d(%y) {window = [1, 1], clamp = -128..=127}
        return %z";
    let (bytes, apart, bound) = sizes(wider);
    assert_eq!((bytes, apart, bound), (96, 128, 96), "the concat copies operand after operand");
}

#[test]
fn what_is_needed_again_is_not_overlaid() {
    let twice = "input %x: f32[1,4,4,2]
        %y: f32[1,4,4,2] = softmax(%x) {beta = 1.0, scale = real}
        %z: f32[1,4,4,2] = transpose(%x) {perm = [0, 1, 2, 3]}
        return %y, %z";
    assert_eq!(sizes(twice), (384, 384, 384));
}
