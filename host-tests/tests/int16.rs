//! Activations of 16 bits with weights of 8: generated code against the interpreter, on this machine and on cores with and without long products, and with vectors.

use kiln_codegen::ir::{Data, Graph};
use kiln_codegen::{compile_graph, Optimize, Options, Target};
use kiln_host_tests::{assert_generated_as_interpreted, assert_generated_with};

const SIZE: usize = 5;
const CHANNELS: usize = 6;

/// Every layer, each with a result of its own.
fn every_layer() -> Graph {
    let image = format!("i16[1,{SIZE},{SIZE},{CHANNELS}] q(0.001 : 0)");
    let list = |count: usize, number: fn(usize) -> i64| {
        (0..count).map(|i| number(i).to_string()).collect::<Vec<_>>().join(", ")
    };
    let weights = |count| list(count, |i| i as i64 * 37 % 255 - 127);
    let bias = |count| list(count, |i| (i as i64 - 2) * 1000);
    let factors = (0..CHANNELS).map(|o| format!("{} * 2^-{}", (1 << 30) + o * 12_345_678, 12 + o % 3));
    let factors = factors.collect::<Vec<_>>().join(", ");
    let layer = format!("rescale = [{factors}], clamp = -32768..=32767");
    let one = "rescale = [1610612736 * 2^-9], clamp = -20000..=20000";
    let sum = "rescale = (left_shift 15, x 1073741824 * 2^0, y 1610612736 * 2^-1, out 1342177280 * 2^-13), clamp = -32768..=32767";
    let window = "window = [3, 3] pad [1, 1, 1, 1]";
    let taps = 9 * CHANNELS;
    let text = format!(
        "graph \"wide\" {{
           input %x: {image}
           input %y: i16[1,{SIZE},1,{CHANNELS}] q(0.002 : 0)
           input %r: f32[2,{CHANNELS}]
           const %w: i8[{CHANNELS},3,3,{CHANNELS}] q(0.01 : 0) = [{}]
           const %d: i8[{CHANNELS},3,3,1] q(0.01 : 0) = [{}]
           const %m: i8[7,{CHANNELS}] q(0.01 : 0) = [{}]
           const %wide: i64[{CHANNELS}] = [{}]
           const %narrow: i32[{CHANNELS}] = [{}]
           const %seven: i64[7] = [{}]
           %conv: {image} = conv2d(%x, %w, %wide) {{{window}, groups = 1, {layer}}}
           %grouped: {image} = conv2d(%x, %d, %wide) {{{window}, groups = {CHANNELS}, {layer}}}
           %short: {image} = conv2d(%x, %w, %narrow) {{{window}, groups = 1, {layer}}}
           %dense: i16[1,{SIZE},{SIZE},7] q(0.001 : 0) = dense(%x, %m, %seven) {{{one}}}
           %add: {image} = add(%x, %y) {{{sum}}}
           %sub: {image} = sub(%y, %x) {{{sum}}}
           %mul: {image} = mul(%x, %y) {{rescale = [1610612736 * 2^-12], clamp = -32768..=32767}}
           %max: {image} = binary(%x, %same) {{function = max, rescale = real, clamp = -100..=32767}}
           %min: {image} = binary(%x, %same) {{function = min, rescale = real, clamp = -32768..=100}}
           %square: {image} = binary(%x, %y) {{function = squared_difference, rescale = [1610612736 * 2^-1, 1073741824 * 2^0, 1342177280 * 2^-14], clamp = -32768..=32767}}
           %leaky: {image} = leaky_relu(%x) {{alpha = 0.1, rescale = (identity 1610612736 * 2^0, alpha 1717986918 * 2^-3)}}
           %steep: {image} = leaky_relu(%x) {{alpha = -0.1, rescale = (identity 1610612736 * 2^1, alpha -1717986918 * 2^-3)}}
           %clip: {image} = clip(%x) {{clamp = -6000..=0}}
           %average: i16[1,3,3,{CHANNELS}] q(0.001 : 0) = avg_pool2d(%x) {{window = [3, 3] stride [2, 2] pad [1, 1, 1, 1], clamp = -32768..=32767}}
           %largest: i16[1,3,3,{CHANNELS}] q(0.001 : 0) = max_pool2d(%x) {{window = [3, 3] stride [2, 2] pad [1, 1, 1, 1], clamp = -32768..=9000}}
           %mean: i16[1,{CHANNELS}] q(0.002 : 0) = mean(%x) {{axes = [1, 2], rescale = [1374389534 * 2^-5], clamp = -32768..=32767}}
           %sigma: i16[1,{SIZE},{SIZE},{CHANNELS}] q(0.000030517578125 : 0) = logistic(%x)
           %tanh: i16[1,{SIZE},{SIZE},{CHANNELS}] q(0.000030517578125 : 0) = tanh(%x)
           %fine: i16[1,{SIZE},1,{CHANNELS}] q(0.000244140625 : 0) = reshape(%y)
           %exact: i16[1,{SIZE},1,{CHANNELS}] q(0.000030517578125 : 0) = tanh(%fine)
           %shares: i16[1,{SIZE},{SIZE},{CHANNELS}] q(0.000030517578125 : 0) = softmax(%x) {{beta = 1.0, scale = (multiplier 1759218604 * 2^-2, diff_min 0)}}
           const %curve: i16[513] = [{}]
           %function: {image} = interpolate(%x, %curve)
           %larger: i16[1,7,9,{CHANNELS}] q(0.001 : 0) = resize_bilinear(%x) {{align_corners = false, half_pixel = true}}
           %square_of: i16[1,{SIZE},{SIZE},{SIZE}] q(0.001 : 0) = matmul(%x, %x) {{rescale = [1610612736 * 2^-15], clamp = -32768..=32767}}
           %inverse: {image} = inverse_root(%x) {{rescale = [1610612736 * 2^11]}}
           %stored: i16[2,{CHANNELS}] q(0.001 : 0) = quantize(%r)
           %real: {} = dequantize(%x)
           return %conv, %grouped, %short, %dense, %add, %sub, %mul, %max, %min, %square, %leaky, %steep, %clip, %average, %largest, %mean, %sigma, %tanh, %exact, %shares, %function, %larger, %square_of, %inverse, %stored, %real
         }}",
        weights(taps * CHANNELS),
        weights(taps),
        weights(7 * CHANNELS),
        bias(CHANNELS),
        bias(CHANNELS),
        bias(7),
        list(513, |i| (i as i64 - 200).pow(2) / 4 - 15_000),
        image.replace("i16", "f32").replace(" q(0.001 : 0)", ""),
    );
    Graph::parse(&text.replace("input %r", &format!("input %same: {image}\n input %r"))).unwrap()
}

#[test]
fn generated_layers_are_those_of_the_interpreter() {
    let graph = every_layer();
    let mut state = 1u32;
    let mut noise = |count: usize| -> Vec<i16> {
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // The ends of the range too.
            match state >> 29 {
                0 => i16::MIN,
                1 => i16::MAX,
                _ => (state >> 16) as i16,
            }
        };
        (0..count).map(|_| next()).collect()
    };
    let pixels = SIZE * SIZE * CHANNELS;
    let reals: Vec<f32> = noise(2 * CHANNELS).iter().map(|&x| f32::from(x) / 700.0).collect();
    let case = vec![
        Data::from_i16(&noise(pixels)),
        Data::from_i16(&noise(SIZE * CHANNELS)),
        Data::from_i16(&noise(pixels)),
        Data::from_f32(&reals),
    ];
    let places = ["host", "qemu-cortex-m0", "qemu-cortex-m4"];
    let expected = assert_generated_as_interpreted(&graph, &case, &places);
    // Nothing saturates everywhere.
    for (k, (data, &output)) in expected.iter().zip(&graph.outputs).enumerate() {
        let values = data.bytes().chunks(graph.ty(output).dtype.size());
        let distinct: std::collections::BTreeSet<_> = values.collect();
        assert!(distinct.len() > 3, "output {k} has {} values", distinct.len());
    }
}

/// Layers for each kernel of cores with Helium, and one behind the other, so that rows are held in rings.
fn vectors() -> Graph {
    let list = |count: usize, number: fn(usize) -> i64| {
        (0..count).map(|i| number(i).to_string()).collect::<Vec<_>>().join(", ")
    };
    let weights = |count| list(count, |i| i as i64 * 37 % 255 - 127);
    let factors = |count: usize| {
        let factors = (0..count).map(|o| format!("{} * 2^-{}", (1 << 30) + o * 12_345_678, 11 + o % 3));
        factors.collect::<Vec<_>>().join(", ")
    };
    let to =
        |channels: usize| format!("groups = 1, rescale = [{}], clamp = -32768..=32767", factors(channels));
    let [eight, nine, twelve] = [8, 9, 12].map(to);
    let by_channel = format!("groups = 12, rescale = [{}], clamp = 0..=32767", factors(12));
    let far = "groups = 1, rescale = [1610612736 * 2^-17], clamp = -32768..=32767";
    let text = format!(
        "graph \"vectors\" {{
           input %x: i16[1,9,6,8] q(0.001 : 0)
           const %w: i8[9,3,3,8] q(0.01 : 0) = [{}]
           const %p: i8[12,1,1,9] q(0.01 : 0) = [{}]
           const %d: i8[12,3,3,1] q(0.01 : 0) = [{}]
           const %e: i8[8,1,1,12] q(0.01 : 0) = [{}]
           const %m: i8[10,8] q(0.01 : 0) = [{}]
           const %nine: i64[9] = [{}]
           const %twelve: i64[12] = [{}]
           const %eight: i32[8] = [{}]
           const %ten: i32[10] = [{}]
           const %far: i64[9] = [{}]
           const %ends: i64[10] = [{}]
           %a: i16[1,5,3,9] q(0.001 : 0) = conv2d(%x, %w, %nine) {{window = [3, 3] stride [2, 2] pad [1, 1, 1, 1], {nine}}}
           %b: i16[1,5,3,12] q(0.001 : 0) = conv2d(%a, %p, %twelve) {{window = [1, 1], {twelve}}}
           %c: i16[1,5,3,12] q(0.001 : 0) = conv2d(%b, %d, %twelve) {{window = [3, 3] pad [1, 1, 1, 1], {by_channel}}}
           %e1: i16[1,5,3,8] q(0.001 : 0) = conv2d(%c, %e, %eight) {{window = [1, 1], {eight}}}
           %long: i16[1,9,6,9] q(0.001 : 0) = conv2d(%x, %w, %far) {{window = [3, 3] pad [1, 1, 1, 1], {far}}}
           %rows: i16[1,9,6,10] q(0.001 : 0) = dense(%x, %m, %ten) {{rescale = [1610612736 * 2^-9], clamp = -20000..=20000}}
           %far_rows: i16[1,9,6,10] q(0.001 : 0) = dense(%x, %m, %ends) {{rescale = [1610612736 * 2^-16], clamp = -32768..=32767}}
           %mean: i16[1,1,1,8] q(0.001 : 0) = avg_pool2d(%e1) {{window = [5, 3], clamp = -32768..=32767}}
           return %mean, %long, %rows, %far_rows
         }}",
        weights(9 * 72),
        weights(12 * 9),
        weights(12 * 9),
        weights(8 * 12),
        weights(80),
        list(9, |i| (i as i64 - 4) * 100_000),
        list(12, |i| (i as i64 - 5) * 100_000),
        list(8, |i| (i as i64 - 3) * 100_000),
        list(10, |i| (i as i64 - 3) * 100_000),
        list(9, |i| (i as i64 - 4) * 900_000_001),
        list(10, |i| (i as i64 - 4) * 500_000_003),
    );
    Graph::parse(&text).unwrap()
}

#[test]
fn cores_with_helium_have_the_interpreters_results() {
    let graph = vectors();
    let number = |i: usize| (i as u32).wrapping_mul(2_654_435_761) >> 16;
    let x: Vec<i16> = (0..9 * 6 * 8).map(|i| number(i) as i16).collect();
    for optimize in [Optimize::Speed, Optimize::Size, Optimize::Memory] {
        let options = Options { target: Some(Target::CortexMHelium), optimize, ..Options::default() };
        let compiled = compile_graph(graph.clone(), &options).unwrap();
        let kernels: std::collections::BTreeSet<_> =
            compiled.program.calls.iter().map(|call| call.name()).collect();
        for kernel in [
            "conv2d_i16_mve",
            "conv2d_i16_mve_points",
            "conv2d_i16_mve_long",
            "depthwise2d_i16_mve",
            "dense_i16_mve",
            "dense_i16_mve_long",
        ] {
            assert!(kernels.contains(kernel), "{kernel} is not among {kernels:?}");
        }
        let expected =
            assert_generated_with(&options, &graph, &[Data::from_i16(&x)], &["host", "qemu-cortex-m55"]);
        for (k, data) in expected.iter().enumerate() {
            let distinct: std::collections::BTreeSet<_> = data.bytes().chunks(2).collect();
            assert!(distinct.len() > 3, "output {k} has {} values", distinct.len());
        }
    }
}
