//! Activations of 16 bits with weights of 8: generated code against the interpreter, on this machine and on cores with and without long products.

use kiln_codegen::ir::{Data, Graph};
use kiln_host_tests::assert_generated_as_interpreted;

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
