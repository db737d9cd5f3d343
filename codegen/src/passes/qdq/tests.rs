use super::super::testing::parse;
use super::*;
use crate::interp::Machine;
use crate::schedule::random::Random;

/// Runs the pass, and compares outputs of both graphs: stored values may differ by so many steps.
fn changed(text: &str, steps: i64) -> Graph {
    let before = parse(text);
    let mut graph = before.clone();
    assert!(run(&mut graph), "the pass did not fire on\n{before}");
    super::super::dce::run(&mut graph);
    crate::verify::verify(&graph).unwrap_or_else(|v| panic!("{v:#?}\n{graph}"));
    assert!(!run(&mut graph.clone()), "the pass fires twice: {graph}");
    let mut random = Random::new(3);
    for _ in 0..20 {
        let inputs = random.inputs(&before);
        let want = Machine::new(&before).run(&inputs).unwrap();
        let got = Machine::new(&graph).run(&inputs).unwrap();
        for ((want, got), &id) in want.iter().zip(&got).zip(&before.outputs) {
            let dtype = before.ty(id).dtype;
            let pairs = want.to_ints(dtype).into_iter().zip(got.to_ints(dtype));
            for (want, got) in pairs {
                assert!((want - got).abs() <= steps, "{want} {got}\n{graph}");
            }
        }
    }
    graph
}

fn ops(graph: &Graph) -> Vec<&'static str> {
    graph.nodes().map(|(_, node)| node.op.name()).collect()
}

#[test]
fn a_convolution_between_transposes() {
    let graph = changed(
        "input %x: i8[1,2,4,4] q(0.05 : 3)
         %d: f32[1,2,4,4] = dequantize(%x)
         %t: f32[1,4,4,2] = transpose(%d) {perm = [0, 2, 3, 1]}
         const %w: i8[3,1,1,2] q(axis 0, [0.02, 0.03, 0.04] : [0, 0, 0]) = [1, -2, 30, 4, 50, -60]
         %v: f32[3,1,1,2] = dequantize(%w)
         const %b: i32[3] q(axis 0, [0.001, 0.0015, 0.002] : [0, 0, 0]) = [100, -200, 300]
         %f: f32[3] = dequantize(%b)
         %c: f32[1,4,4,3] = conv2d(%t, %v, %f) {window = [1, 1], groups = 1, rescale = real, clamp = -inf..=inf}
         %u: f32[1,3,4,4] = transpose(%c) {perm = [0, 3, 1, 2]}
         %r: f32[1,3,4,4] = clip(%u) {clamp = 0.0..=inf}
         %y: i8[1,3,4,4] q(0.04 : -128) = quantize(%r) {rounding = even}
         return %y",
        1,
    );
    assert_eq!(ops(&graph), ["transpose", "conv2d", "transpose", "clip"]);
}

#[test]
fn pairs_go_and_functions_become_tables() {
    let graph = changed(
        "input %x: i8[5] q(0.05 : 3)
         %d: f32[5] = dequantize(%x)
         %s: f32[5] = logistic(%d)
         %m: f32[5] = mul(%d, %s) {rescale = real, clamp = -inf..=inf}
         %q: i8[5] q(0.04 : -100) = quantize(%m) {rounding = even}
         %e: f32[5] = dequantize(%q)
         %y: i8[5] q(0.04 : -100) = quantize(%e) {rounding = even}
         return %y",
        0,
    );
    assert_eq!(ops(&graph), ["lookup"]);
}

#[test]
fn sums_products_means_and_joins() {
    let graph = changed(
        "input %x: i8[1,2,2,4] q(0.05 : 3)
         input %z: i8[1,2,2,4] q(0.02 : -30)
         %d: f32[1,2,2,4] = dequantize(%x)
         %e: f32[1,2,2,4] = dequantize(%z)
         %s: f32[1,2,2,4] = add(%d, %e) {rescale = real, clamp = 0.0..=inf}
         %q: i8[1,2,2,4] q(0.03 : -128) = quantize(%s) {rounding = even}
         %f: f32[1,2,2,4] = dequantize(%q)
         %p: f32[1,2,2,4] = mul(%f, %d) {rescale = real, clamp = -inf..=inf}
         %r: i8[1,2,2,4] q(0.15 : 5) = quantize(%p) {rounding = even}
         %g: f32[1,2,2,4] = dequantize(%r)
         %c: f32[1,2,2,8] = concat(%g, %f) {axis = 3}
         %t: i8[1,2,2,8] q(0.15 : 5) = quantize(%c) {rounding = even}
         %h: f32[1,2,2,8] = dequantize(%t)
         %m: f32[1,1,1,8] = mean(%h) {axes = [1, 2], rescale = real, clamp = -inf..=inf}
         %y: i8[1,1,1,8] q(0.1 : 0) = quantize(%m) {rounding = even}
         return %y",
        2,
    );
    assert_eq!(ops(&graph), ["add", "dequantize", "mul", "quantize", "concat", "mean"]);
}

#[test]
fn softmaxes_of_tflites_format_and_of_others() {
    let softmax = |of: &str, to: &str| {
        format!(
            "input %x: {of}
             %d: f32[3,7] = dequantize(%x)
             %s: f32[3,7] = softmax(%d) {{beta = 1.0, scale = real}}
             %y: {to} = quantize(%s) {{rounding = even}}
             return %y"
        )
    };
    let ops_of = |of: &str, to: &str, steps: i64| ops(&changed(&softmax(of, to), steps));
    assert_eq!(ops_of("i8[3,7] q(0.05 : 3)", "i8[3,7] q(0.00390625 : -128)", 1), ["softmax"]);
    // ONNX Runtime's quantiser has 255 steps from 0 to 1.
    assert_eq!(ops_of("i8[3,7] q(0.05 : 3)", "i8[3,7] q(0.003921569 : -128)", 1), ["softmax", "requantize"]);
    assert_eq!(ops_of("i8[3,7] q(0.05 : 3)", "i8[3,7] q(0.002 : -100)", 1), ["softmax", "requantize"]);
    assert!(
        !run(&mut parse(&softmax("i16[3,7] q(0.0003 : 0)", "i16[3,7] q(0.000030517578125 : 0)"))),
        "16 bits"
    );
}

#[test]
fn larger_ones_sums_along_axes_and_images_of_other_sizes() {
    let graph = changed(
        "input %x: i8[1,3,4,4] q(0.05 : 3)
         const %k: i8[4] q(0.05 : 3) = [10, -3, 70, 0]
         %d: f32[1,3,4,4] = dequantize(%x)
         %e: f32[4] = dequantize(%k)
         %m: f32[1,3,4,4] = binary(%d, %e) {function = max, rescale = real, clamp = -inf..=inf}
         %q: i8[1,3,4,4] q(0.05 : 3) = quantize(%m) {rounding = even}
         %f: f32[1,3,4,4] = dequantize(%q)
         %r: f32[1,5,7,4] = resize_bilinear(%f) {align_corners = false, half_pixel = true}
         %t: i8[1,5,7,4] q(0.05 : 3) = quantize(%r) {rounding = even}
         %g: f32[1,5,7,4] = dequantize(%t)
         %s: f32[1,1,7,4] = reduce(%g) {function = sum, axes = [1], rescale = real}
         %y: i8[1,1,7,4] q(0.2 : -7) = quantize(%s) {rounding = even}
         return %y",
        2,
    );
    assert_eq!(ops(&graph), ["binary", "resize_bilinear", "reduce"]);
}

#[test]
fn other_floats_stay() {
    let text = "input %x: i8[5] q(0.05 : 3)
         %d: f32[5] = dequantize(%x)
         %s: f32[5] = logistic(%d)
         %y: i8[5] q(0.04 : -100) = quantize(%s)
         return %y";
    assert!(!run(&mut parse(text)), "TFLite's rounding");
}
