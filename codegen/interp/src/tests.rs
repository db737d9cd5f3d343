//! Every family of ops on values small enough to compute by hand.

use super::*;
use kiln_ir::{DType, Multiplier, SoftmaxScale};

/// The compiler of Rust does not find an op that no family has: each stands in one of them.
#[test]
fn every_op_has_a_meaning() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let read =
        |entry: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(entry.unwrap().path()).unwrap();
    let all: String = std::fs::read_dir(folder).unwrap().map(read).collect();
    let missing = Op::TABLE.iter().filter(|op| !all.contains(&format!("Op::{} {{", op.variant)));
    assert_eq!(missing.map(|op| op.name).collect::<Vec<_>>(), [""; 0]);
}

/// Runs a graph of one node from inputs to outputs.
fn run(text: &str, inputs: &[Data]) -> Vec<Data> {
    let graph = Graph::parse(text).unwrap();
    assert_eq!(kiln_ir::verify::verify(&graph), Ok(()), "{text}");
    Machine::new(&graph).run(inputs).unwrap()
}

fn i8s(text: &str, input: &[i8]) -> Vec<i8> {
    run(text, &[Data::from_i8(input)])[0].to_i8()
}

fn f32s(text: &str, input: &[f32]) -> Vec<f32> {
    run(text, &[Data::from_f32(input)])[0].to_f32()
}

#[test]
fn convolution_leaves_padding_out_and_keeps_groups_apart() {
    // Two channels, each convolved with its own 1×3 filter; the zero point of the operand is 1.
    let text = r#"graph "g" {
      input %x: i8[1,1,3,2] q(1.0 : 1)
      const %w: i8[2,1,3,1] q(axis 0, [1.0, 1.0] : 0) = [1, 2, 3, 10, 20, 30]
      const %b: i32[2] = [0, 5]
      %y: i8[1,1,3,2] q(1.0 : -1) = conv2d(%x, %w, %b) {window = [1, 3] pad [0, 0, 1, 1], groups = 2, rescale = [1073741824 * 2^1, 1073741824 * 2^0], clamp = -128..=127}
      return %y
    }"#;
    // Centred: channel 0 is [1, 2, 3], channel 1 is [0, 1, −1].
    // Channel 0: 2·1 + 3·2 = 8, 14, 8; channel 1: 30 + 5 = 35, 20 − 30 + 5 = −5, 10 − 20 + 5 = −5, halved with
    // ties up.
    assert_eq!(i8s(text, &[2, 1, 3, 2, 4, 0]), [7, 17, 13, -3, 7, -3]);
}

#[test]
fn dilated_and_strided_convolution() {
    let text = r#"graph "g" {
      input %x: f32[1,5,5,1]
      const %w: f32[1,2,2,1] = [1.0, 10.0, 100.0, 1000.0]
      %y: f32[1,2,2,1] = conv2d(%x, %w) {window = [2, 2] stride [2, 2] dilation [2, 2], groups = 1, rescale = real, clamp = -inf..=18000.0}
      return %y
    }"#;
    let x: Vec<f32> = (0..25).map(|i| i as f32).collect();
    // At (0, 0): x[0] + 10·x[2] + 100·x[10] + 1000·x[12] = 13020.
    assert_eq!(f32s(text, &x), [13020.0, 15242.0, 18000.0, 18000.0]);
}

/// A convolution of planar images is that of the same images channel-last.
#[test]
fn layouts_do_not_change_a_convolution() {
    let quant = "q(1.0 : 1)";
    let attributes = |groups: usize, layout: &str| {
        let window = "window = [2, 3] stride [2, 1] pad [1, 0, 1, 1]";
        let rescale = "rescale = [1073741824 * 2^1, 1273741824 * 2^0, 1173741824 * 2^1, 1373741824 * 2^0]";
        format!("{{{window}, groups = {groups}, {rescale}, clamp = -100..=120{layout}}}")
    };
    for (groups, weights) in [(1, "[4,2,3,2]"), (2, "[4,2,3,1]")] {
        let ty = |dims: &str| format!("i8{dims} {quant}");
        let (last, planar) = (ty("[2,3,5,4]"), ty("[2,3,4,5]"));
        let graph = Graph::parse(&format!(
            "graph \"g\" {{
               input %x: {} input %w: i8{weights} q(axis 0, [1.0, 1.0, 1.0, 1.0] : 0) input %b: i32[4]
               %p: {} = transpose(%x) {{perm = [0, 1, 3, 2]}}
               %1: {last} = conv2d(%x, %w, %b) {}
               %2: {planar} = conv2d(%x, %w, %b) {}
               %3: {last} = conv2d(%p, %w, %b) {}
               %4: {planar} = conv2d(%p, %w, %b) {}
               %t: {last} = transpose(%2) {{perm = [0, 1, 3, 2]}}
               %u: {last} = transpose(%4) {{perm = [0, 1, 3, 2]}}
               return %1, %t, %3, %u
             }}",
            ty("[2,5,5,2]"),
            ty("[2,5,2,5]"),
            attributes(groups, ""),
            attributes(groups, ", layout = channel_last to planar"),
            attributes(groups, ", layout = planar to channel_last"),
            attributes(groups, ", layout = planar to planar"),
        ))
        .unwrap();
        assert_eq!(kiln_ir::verify::verify(&graph), Ok(()));
        assert_eq!(Graph::parse(&graph.to_string()).unwrap(), graph.compact());
        let mut state = 3u32;
        let mut byte = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let mut any =
            |&id: &ValueId| Data::new((0..graph.ty(id).bytes()).map(|_| byte()).collect::<Vec<u8>>());
        let inputs: Vec<Data> = graph.inputs.iter().map(&mut any).collect();
        let outputs = Machine::new(&graph).run(&inputs).unwrap();
        let distinct: std::collections::BTreeSet<&[u8]> = outputs.iter().map(Data::bytes).collect();
        assert_eq!(distinct.len(), 1);
    }
}

#[test]
fn dense_multiplies_every_row() {
    let text = r#"graph "g" {
      input %x: i8[2,2] q(1.0 : 0)
      const %w: i8[3,2] q(1.0 : 1) = [2, 1, 1, 2, 2, 2]
      const %b: i32[3] = [100, 0, 0]
      %y: i8[2,3] q(1.0 : 0) = dense(%x, %w, %b) {rescale = [1073741824 * 2^1], clamp = -50..=102}
      return %y
    }"#;
    assert_eq!(i8s(text, &[1, 2, 127, -128]), [101, 2, 3, 102, -50, -1]);
}

#[test]
fn pooling_counts_only_what_is_inside() {
    let graph = |op: &str| {
        format!(
            r#"graph "g" {{
              input %x: i8[1,2,3,1] q(1.0 : 9)
              %y: i8[1,2,2,1] q(1.0 : 9) = {op}(%x) {{window = [2, 2] stride [1, 2] pad [1, 0, 0, 1], clamp = -100..=50}}
              return %y
            }}"#
        )
    };
    let x = [1, 2, -4, -120, -120, 60];
    // (1 + 2) / 2 = 1.5 and (1 + 2 − 240) / 4 = −59.25; −4 alone and (−4 + 60) / 2.
    assert_eq!(i8s(&graph("avg_pool2d"), &x), [2, -4, -59, 28]);
    assert_eq!(i8s(&graph("max_pool2d"), &x), [2, -4, 2, 50]);
    // −1.5 is rounded away from zero.
    assert_eq!(i8s(&graph("avg_pool2d"), &[-1, -2, 0, 0, 0, 0])[0], -2);
}

#[test]
fn addition_broadcasts_and_rescales() {
    let graph = |op: &str| {
        format!(
            r#"graph "g" {{
              input %x: i8[2,2] q(1.0 : 1)
              const %c: i8[2,1] q(0.5 : 0) = [4, -6]
              %y: i8[2,2] q(1.0 : 10) = {op}(%x, %c) {{rescale = (left_shift 20, x 1073741824 * 2^0, y 1073741824 * 2^-1, out 1073741824 * 2^-18), clamp = -128..=127}}
              return %y
            }}"#
        )
    };
    // Real operands: [0, 1; 2, 3] and [2; −3].
    assert_eq!(i8s(&graph("add"), &[1, 2, 3, 4]), [12, 13, 9, 10]);
    assert_eq!(i8s(&graph("sub"), &[1, 2, 3, 4]), [8, 9, 15, 16]);
}

#[test]
fn plain_integers_wrap() {
    let text = r#"graph "g" {
      input %x: i64[2]
      const %c: i64[] = [3]
      %y: i64[2] = mul(%x, %c) {rescale = real, clamp = -2147483648..=2147483647}
      return %y
    }"#;
    let x: Vec<u8> = [5i64, i64::MAX].iter().flat_map(|x| x.to_le_bytes()).collect();
    let y = run(text, &[Data::new(x)])[0].to_ints(DType::I64);
    assert_eq!(y, [15, i64::MAX.wrapping_mul(3)]);
}

#[test]
fn products_and_slopes_and_new_scales() {
    let text = r#"graph "g" {
      input %x: i8[3] q(1.0 : 1)
      %m: i8[3] q(2.0 : 0) = mul(%x, %x) {rescale = [1073741824 * 2^0], clamp = -128..=127}
      %l: i8[3] q(2.0 : 1) = leaky_relu(%x) {alpha = 0.5, rescale = (identity 1073741824 * 2^0, alpha 1073741824 * 2^-1)}
      %r: i8[3] q(0.25 : 0) = requantize(%x) {rescale = [1073741824 * 2^3], clamp = -128..=100}
      %c: i8[3] q(1.0 : 1) = clip(%x) {clamp = 0..=2}
      return %m, %l, %r, %c
    }"#;
    let results = run(text, &[Data::from_i8(&[-4, 4, 127])]);
    let results: Vec<Vec<i8>> = results.iter().map(Data::to_i8).collect();
    // Centred: −5, 3, 126. Halves: 25/2, 9/2, beyond.
    assert_eq!(results[0], [13, 5, 127]);
    // −5 · 1/4 = −1.25, 3/2 away from zero, 126/2; plus the zero point 1.
    assert_eq!(results[1], [0, 3, 64]);
    assert_eq!(results[2], [-20, 12, 100]);
    assert_eq!(results[3], [0, 2, 2]);
}

#[test]
fn integer_activations_follow_the_real_function() {
    let x = kiln_ir::Type::quantized(DType::I8, &[1], 0.05, 3);
    let of = |op: &Op, scale: f32, zero: i32| {
        unary_table(op, &x, &kiln_ir::Type::quantized(DType::I8, &[1], scale, zero)).unwrap()
    };
    let (logistic, tanh) = (of(&Op::Logistic {}, 1.0 / 256.0, -128), of(&Op::Tanh {}, 1.0 / 128.0, 0));
    for stored in i8::MIN..=i8::MAX {
        let real = (f64::from(stored) - 3.0) * f64::from(0.05f32);
        let byte = usize::from(stored as u8);
        let near = |actual: u8, expected: f64| {
            let error = (f64::from(actual as i8) - expected.min(127.0)).abs();
            assert!(error <= 0.501, "{stored}: {} instead of {expected}", actual as i8);
        };
        near(logistic[byte], 256.0 / (1.0 + (-real).exp()) - 128.0);
        near(tanh[byte], 128.0 * real.tanh());
    }
}

#[test]
fn activations_saturate_outside_their_radius() {
    // 15 / 0.5 = 30 steps from the zero point.
    let x = kiln_ir::Type::quantized(DType::I8, &[1], 0.5, 0);
    let y = kiln_ir::Type::quantized(DType::I8, &[1], 1.0 / 256.0, -128);
    let table = unary_table(&Op::Logistic {}, &x, &y).unwrap();
    assert_eq!((table[30] as i8, table[256 - 30] as i8, table[0]), (127, -128, 0));
}

#[test]
fn integer_softmax_is_near_the_real_one() {
    let text = r#"graph "g" {
      input %x: i8[2,3] q(0.0625 : 0)
      %y: i8[2,3] q(0.00390625 : -128) = softmax(%x) {beta = 1.0, scale = (multiplier 1073741824 * 2^23, diff_min -248)}
      return %y
    }"#;
    // exp of 0, 1, 2: 0.0900, 0.2447, 0.6652 of 256; then one that takes all.
    assert_eq!(i8s(text, &[0, 16, 32, -128, 127, -128]), [-105, -65, 42, -128, 127, -128]);
}

#[test]
fn softmax_table_ends_at_the_smallest_difference() {
    let multiplier = Multiplier { value: 1 << 30, shift: 23 };
    let table = softmax_exp_table(&SoftmaxScale::FixedPoint { multiplier, diff_min: -20 });
    assert_eq!((table[0], table[21], table[255]), (i32::MAX, 0, 0));
    let e = f64::from(table[16]) / 2f64.powi(31);
    assert!((e - (-1f64).exp()).abs() < 2e-7, "{e}");
    assert_eq!(softmax_exp_table(&SoftmaxScale::Real), [0; 256]);
}

#[test]
fn float_functions() {
    let text = r#"graph "g" {
      input %x: f32[3]
      %l: f32[3] = logistic(%x)
      %s: f32[3] = softmax(%l) {beta = 0.0, scale = real}
      %r: f32[3] = leaky_relu(%x) {alpha = -0.5, rescale = real}
      return %l, %s, %r
    }"#;
    let y = run(text, &[Data::from_f32(&[0.0, 20.0, -100.0])]);
    assert_eq!(y[0].to_f32(), [0.5, 1.0, (-100f32).exp()]);
    assert_eq!(y[1].to_f32(), [1.0 / 3.0; 3]);
    assert_eq!(y[2].to_f32(), [0.0, 20.0, 50.0]);
}

#[test]
fn quantisation_rounds_half_away_and_saturates() {
    let text = r#"graph "g" {
      input %x: f32[7]
      %q: i8[7] q(0.5 : 10) = quantize(%x)
      return %q
    }"#;
    let x = [0.25, -0.25, 0.24, 1e30, -1e30, f32::NAN, f32::INFINITY];
    let y = run(text, &[Data::from_f32(&x)])[0].to_i8();
    assert_eq!(y, [11, 9, 10, 127, -128, 10, 127]);
    let back = r#"graph "g" {
      input %x: i8[2,2] q(axis 1, [0.5, 2.0] : [1, 0])
      %f: f32[2,2] = dequantize(%x)
      return %f
    }"#;
    assert_eq!(run(back, &[Data::from_i8(&[1, 1, 3, -3])])[0].to_f32(), [0.0, 2.0, 1.0, -6.0]);
}

#[test]
fn means_over_any_axes() {
    let text = r#"graph "g" {
      input %x: i8[2,3,2] q(1.0 : 1)
      %m: i8[3] q(1.0 : 0) = mean(%x) {axes = [0, 2], rescale = [1073741824 * 2^-1], clamp = -128..=127}
      %k: i8[2,1,2] q(1.0 : 0) = mean(%x) {axes = [1], rescale = [1431655765 * 2^-1], clamp = -128..=127}
      return %m, %k
    }"#;
    let y = run(text, &[Data::from_i8(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])]);
    // Sums of the centred values over both outer axes: 0 + 1 + 6 + 7 = 14, 22, 30; quarters, halves away from zero.
    assert_eq!(y[0].to_i8(), [4, 6, 8]);
    assert_eq!(y[1].to_i8(), [2, 3, 8, 9]);
}

#[test]
fn movement() {
    let text = r#"graph "g" {
      input %x: i8[2,3] q(1.0 : 0)
      %p: i8[3,5] q(1.0 : 0) = pad(%x) {before = [1, 0], after = [0, 2], value = -7}
      %s: i8[2,2] q(1.0 : 0) = slice(%p) {begin = [1, 4], step = [1, -3]}
      %c: i8[2,5] q(1.0 : 0) = concat(%x, %s) {axis = 1}
      %t: i8[5,2] q(1.0 : 0) = transpose(%c) {perm = [1, 0]}
      const %table: u8[256] = splat 9
      %l: u8[2,3] = lookup(%x, %table)
      return %p, %s, %c, %t, %l
    }"#;
    let y = run(text, &[Data::from_i8(&[1, 2, 3, 4, 5, 6])]);
    assert_eq!(y[0].to_i8(), [-7, -7, -7, -7, -7, 1, 2, 3, -7, -7, 4, 5, 6, -7, -7]);
    assert_eq!(y[1].to_i8(), [-7, 2, -7, 5]);
    assert_eq!(y[2].to_i8(), [1, 2, 3, -7, 2, 4, 5, 6, -7, 5]);
    assert_eq!(y[3].to_i8(), [1, 4, 2, 5, 3, 6, -7, -7, 2, 5]);
    assert_eq!(y[4].bytes(), [9; 6]);
}

#[test]
fn state_moves_on_until_reset() {
    let text = r#"graph "g" {
      input %x: f32[1]
      state %old: f32[1] = [10.0]
      %y: f32[1] = add(%x, %old) {rescale = real, clamp = -inf..=inf}
      next %old = %y
      return %old, %y
    }"#;
    let mut machine = Machine::new(&Graph::parse(text).unwrap());
    let mut step = |x: f32| -> Vec<f32> {
        let outputs = machine.run(&[Data::from_f32(&[x])]).unwrap();
        let result = outputs.iter().map(|y| y.to_f32()[0]).collect();
        if x == 3.0 {
            machine.reset();
        }
        result
    };
    assert_eq!(step(1.0), [10.0, 11.0]);
    assert_eq!(step(3.0), [11.0, 14.0]);
    assert_eq!(step(1.0), [10.0, 11.0]);
}

#[test]
fn what_does_not_fit_is_an_error() {
    let text = r#"graph "g" {
      input %x "samples": f32[2]
      %y: f32[3] = reshape(%x) from "0 RESHAPE"
      return %y
    }"#;
    let mut machine = Machine::new(&Graph::parse(text).unwrap());
    let mut message = |inputs: &[Data]| machine.run(inputs).unwrap_err().to_string();
    assert_eq!(message(&[]), "0 inputs given, 1 wanted");
    assert_eq!(message(&[Data::from_f32(&[1.0])]), "input samples: 4 bytes of data for a f32[2], 8 wanted");
    assert_eq!(
        message(&[Data::from_f32(&[1.0, 2.0])]),
        "0 RESHAPE (reshape): the result has 3 elements, the operand 2"
    );
}
