//! Shapes and numbers that models rarely have, and that random models (`draws.rs`) went wrong on.

use cargo_kiln::noise::Noise;
use kiln_codegen::ir::Graph;
use kiln_codegen::{Optimize, Options, Target};
use kiln_host_tests::assert_generated_with;

fn check(text: &str) {
    let graph = Graph::parse(text).unwrap();
    let case = Noise::default().inputs(&graph);
    for optimize in [Optimize::Speed, Optimize::Size] {
        let options = Options { optimize, target: Some(Target::CortexMDsp), ..Options::default() };
        assert_generated_with(&options, &graph, &case, &["host", "qemu-cortex-m4"]);
    }
}

/// A vector is one row.
#[test]
fn vectors() {
    check(
        "graph \"vector\" {
           input %x: i8[1] q(0.0081 : 80)
           const %w: i8[5,1] q(0.0049 : 0) = [90, -46, 27, -55, 24]
           const %b: i32[5] q(0.00004 : 0) = [905, 661, 1774, -1660, -892]
           %y: i8[5] q(0.0076 : -121) = dense(%x, %w, %b) {rescale = [1455920996 * 2^-7], clamp = -128..=127}
           return %y
         }",
    );
}

/// Images of a batch that are computed as the pixels of one.
#[test]
fn batches_of_single_pixels() {
    check(
        "graph \"batch\" {
           input %x: i8[6,1,1,2] q(0.05 : 3)
           const %w: i8[3,1,1,2] q(0.01 : 0) = [90, -46, 27, -55, 24, 101]
           const %b: i32[3] q(0.0005 : 0) = [905, 661, -892]
           %y: i8[6,1,1,3] q(0.04 : -7) = conv2d(%x, %w, %b) {window = [1, 1], groups = 1, rescale = [1717986918 * 2^-6], clamp = -128..=127}
           return %y
         }",
    );
}

/// A negative number of 64 bits between elements that are moved.
#[test]
fn wide_padding() {
    check(
        "graph \"wide\" {
           input %x: i64[2,2]
           input %z: i64[2,2]
           %p: i64[3,4] = pad(%x) {before = [1, 0], after = [0, 2], value = -9}
           %q: i64[3,4] = pad(%z) {before = [0, 1], after = [1, 1], value = -5}
           return %p, %q
         }",
    );
}
