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

/// Convolutions of images of so many columns, whose results lie over their operands: `layers` are channels behind each, and rows of its filters.
fn column_chain(width: usize, channels: usize, layers: &[(usize, usize)]) -> Graph {
    let mut state = 7u32;
    let mut numbers = |count: usize, most: i32| {
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 8) as i32 % (2 * most + 1) - most).to_string()
        };
        (0..count).map(next).collect::<Vec<String>>().join(", ")
    };
    let mut rows = 9;
    let mut text = format!("graph \"over\" {{\n input %v0: i8[1,{rows},{width},{channels}] q(0.05 : 3)\n");
    let mut before = channels;
    for (k, &(channels, height)) in layers.iter().enumerate() {
        let taps = height * before;
        rows -= height - 1;
        let weights = numbers(channels * taps, 60);
        let bias = numbers(channels, 900);
        text += &format!(
            "const %w{k}: i8[{channels},{height},1,{before}] q(0.01 : 0) = [{weights}]
             const %b{k}: i32[{channels}] q(0.0005 : 0) = [{bias}]
             %v{}: i8[1,{rows},{width},{channels}] q(0.05 : 3) = conv2d(%v{k}, %w{k}, %b{k}) {{window = [{height}, 1], groups = 1, rescale = [1717986918 * 2^-7], clamp = -128..=127}}\n",
            k + 1
        );
        before = channels;
    }
    text += &format!("return %v{}\n}}", layers.len());
    Graph::parse(&text).unwrap_or_else(|e| panic!("{e}"))
}

/// A kernel that computes rows together must not write a row before it has read what the others need, however many filters there are.
#[test]
fn results_over_operands() {
    for (width, channels, layers) in
        [(1, 256, vec![(256, 1), (160, 1), (200, 1)]), (3, 160, vec![(150, 1), (70, 2), (170, 1)])]
    {
        let graph = column_chain(width, channels, &layers);
        let case = Noise::default().inputs(&graph);
        for target in [Target::CortexM0, Target::CortexMDsp, Target::Vectors] {
            let options = Options { target: Some(target), ..Options::default() };
            assert_generated_with(&options, &graph, &case, &["host"]);
        }
    }
}
