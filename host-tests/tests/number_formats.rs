//! Number formats other than int8 and float32: models as files, each against arithmetic that is written out here, interpreted and as generated code.

use cargo_kiln::place::Place;
use kiln_codegen::front::tflite::testing::{op, Element, ModelBuilder, Options as Attributes, Table, Tensor};
use kiln_codegen::interp::fixed_point::multiply;
use kiln_codegen::ir::{DType, Data, Multiplier};
use kiln_codegen::{compile_graph, front, Optimize, Options, Target, Weights};
use kiln_host_tests::conformance::beside;
use kiln_tools::report::packed;

/// The outputs of a model with one input and one output, everywhere alike.
fn outputs(model: &ModelBuilder, input: &Data) -> Data {
    let graph = front::read(&model.build(), "formats").unwrap();
    let compiled = compile_graph(graph.clone(), &Options::default()).unwrap();
    let case = vec![vec![input.clone()]];
    let [interpreted, host, target] = ["interp", "host", "qemu-cortex-m3"]
        .map(|place| Place::find(place).unwrap().run(&graph, &compiled, &case).unwrap()[0][0].clone());
    assert_eq!(interpreted, host);
    assert_eq!(interpreted, target);
    interpreted
}

/// The mantissa and shift of a factor below 1.
fn factor(real: f64) -> Multiplier {
    let shift = -((1.0 / real).log2().floor() as i32);
    Multiplier { value: (real * 2f64.powi(31 - shift)).round() as i32, shift }
}

/// Numbers from 0 to 255 without an order.
fn noise(seed: u32, count: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..count).map(|_| next()).collect()
}

const SIZE: usize = 7;
const IN: usize = 3;
const OUT: usize = 6;

/// A uint8 tensor.
fn byte(dims: &[usize], scale: f32, zero_point: i64) -> Tensor {
    let dims: Vec<i32> = dims.iter().map(|&d| d as i32).collect();
    Tensor::new(Element::Uint8, &dims).quantized(scale, zero_point)
}

#[test]
fn uint8_with_zero_points_everywhere() {
    // Weights from far below to far above their zero point, as training with uint8 gives them.
    let (x_zero, y_zero, z_zero) = (131, 120, 7);
    for w_zero in [0i64, 100, 128, 255] {
        let weights = noise(3, OUT * 9 * IN);
        let taps = noise(5, 9 * OUT);
        let bias: Vec<i32> = (0..OUT as i32).map(|o| 700 * o - 2000).collect();
        let mut m = ModelBuilder::new();
        let x = m.input("x", byte(&[1, SIZE, SIZE, IN], 0.02, x_zero));
        let w = m.constant("w", byte(&[OUT, 3, 3, IN], 0.01, w_zero), &weights);
        let words: Vec<u8> = bias.iter().flat_map(|b| b.to_le_bytes()).collect();
        let b = m.constant("b", Tensor::new(Element::Int32, &[OUT as i32]), &words);
        let y = m.value("y", byte(&[1, SIZE, SIZE, OUT], 0.08, y_zero));
        m.operator(op::CONV_2D, Attributes::conv(true, [1, 1], 0), &[x, w, b], &[y]);
        let t = m.constant("t", byte(&[1, 3, 3, OUT], 0.02, w_zero), &taps);
        let z = m.value("z", byte(&[1, 3, 3, OUT], 0.1, z_zero));
        m.operator(op::DEPTHWISE_CONV_2D, Attributes::depthwise(false, [2, 2], 1, 1), &[y, t, b], &[z]);
        let mean = m.value("mean", byte(&[1, 2, 2, OUT], 0.1, z_zero));
        m.operator(op::AVERAGE_POOL_2D, Attributes::pool(true, 2, 2), &[z], &[mean]);
        m.outputs(&[mean]);

        let input = noise(17, SIZE * SIZE * IN);
        let at = |row: usize, column: usize, c: usize| {
            let inside = (1..=SIZE).contains(&row) && (1..=SIZE).contains(&column);
            let stored = inside.then(|| input[((row - 1) * SIZE + column - 1) * IN + c]);
            stored.map_or(0, |stored| i32::from(stored) - x_zero as i32)
        };
        let centred = |w: u8| i32::from(w) - w_zero as i32;
        let scaled = |sum: i32, by: f64, zero: i64, least: i32| {
            (multiply(sum, factor(by)) + zero as i32).clamp(least, 255)
        };
        let scale = |x: f32| f64::from(x);
        let by = scale(0.02) * scale(0.01) / scale(0.08);
        let mut conv = vec![0; SIZE * SIZE * OUT];
        for (i, y) in conv.iter_mut().enumerate() {
            let (row, column, o) = (i / OUT / SIZE, i / OUT % SIZE, i % OUT);
            let products = (0..9 * IN).map(|tap| {
                let (ky, kx, c) = (tap / IN / 3, tap / IN % 3, tap % IN);
                at(row + ky, column + kx, c) * centred(weights[o * 9 * IN + tap])
            });
            *y = scaled(products.sum::<i32>() + bias[o], by, y_zero, 0);
        }
        let by = scale(0.08) * scale(0.02) / scale(0.1);
        let mut depthwise = vec![0; 9 * OUT];
        for (i, z) in depthwise.iter_mut().enumerate() {
            let (row, column, o) = (i / OUT / 3 * 2, i / OUT % 3 * 2, i % OUT);
            let products = (0..9).map(|tap| {
                let y = conv[((row + tap / 3) * SIZE + column + tap % 3) * OUT + o] - y_zero as i32;
                y * centred(taps[tap * OUT + o])
            });
            // A fused RELU: nothing below the zero point.
            *z = scaled(products.sum::<i32>() + bias[o], by, z_zero, z_zero as i32);
        }
        let mut expected = Vec::new();
        for i in 0..4 * OUT {
            let (row, column, o) = (i / OUT / 2 * 2, i / OUT % 2 * 2, i % OUT);
            let pixels =
                (row..(row + 2).min(3)).flat_map(|r| (column..(column + 2).min(3)).map(move |c| (r, c)));
            let values: Vec<i32> = pixels.map(|(r, c)| depthwise[(r * 3 + c) * OUT + o]).collect();
            let count = values.len() as i32;
            expected.push(((values.iter().sum::<i32>() + count / 2) / count) as u8);
        }
        assert!(expected.iter().any(|&y| y > z_zero as u8 && y < 255), "{expected:?}");
        let actual = outputs(&m, &Data::new(input));
        assert_eq!(actual.to_ints(DType::U8), expected.iter().map(|&y| i64::from(y)).collect::<Vec<_>>());
    }
}

#[test]
fn uint8_images_of_another_size_and_rows_of_length_1() {
    let (side, wide, channels) = (3usize, 7usize, 2usize);
    let mut m = ModelBuilder::new();
    let x = m.input("x", byte(&[1, side, side, channels], 0.02, 131));
    let size = [wide as i32; 2].map(i32::to_le_bytes).concat();
    let size = m.constant("size", Tensor::new(Element::Int32, &[2]), &size);
    let y = m.value("y", byte(&[1, wide, wide, channels], 0.02, 131));
    // Half a pixel: corners are not aligned, pixels are their centres.
    let centres = Attributes::table(15, Table::new().with(3, true));
    m.operator(op::RESIZE_BILINEAR, centres, &[x, size], &[y]);
    let z = m.value("z", byte(&[1, wide, wide, channels], 1.0 / 128.0, 128));
    m.operator(op::L2_NORMALIZATION, Attributes::none(), &[y], &[z]);
    m.outputs(&[z]);

    let input = noise(41, side * side * channels);
    let place = |i: usize| {
        let at = (i as f32 + 0.5) * (side as f32 / wide as f32) - 0.5;
        let before = at.max(0.0).floor() as usize;
        (before, (at.ceil().max(0.0) as usize).min(side - 1), at - before as f32)
    };
    let mut resized = Vec::new();
    for (i, j, c) in
        (0..wide * wide * channels).map(|k| (k / channels / wide, k / channels % wide, k % channels))
    {
        let ((above, below, down), (left, behind, right)) = (place(i), place(j));
        let pixel = |y: usize, x: usize| f32::from(input[(y * side + x) * channels + c]);
        let sum = pixel(above, left) * (1.0 - down) * (1.0 - right)
            + pixel(below, left) * down * (1.0 - right)
            + pixel(above, behind) * (1.0 - down) * right
            + pixel(below, behind) * down * right;
        resized.push((sum + 0.5) as u8);
    }
    // Rounded twice: first with more bits, of which the fixed point of the square root has one for each factor of four in the square.
    let expected: Vec<i64> = resized
        .chunks(channels)
        .flat_map(|pixel| {
            let centred: Vec<f64> = pixel.iter().map(|&y| f64::from(y) - 131.0).collect();
            let square = centred.iter().map(|x| x * x).sum::<f64>().max(1.0);
            let (length, pairs) = (square.sqrt(), (28 - square.log2().floor() as i32) / 2);
            let finer = f64::from(11 - pairs).max(0.0).exp2();
            let rounded = move |x: f64| ((128.0 * x / length * finer).round() / finer).round();
            centred.into_iter().map(move |x| (128.0 + rounded(x)).clamp(0.0, 255.0) as i64)
        })
        .collect();
    assert_eq!(outputs(&m, &Data::new(input)).to_ints(DType::U8), expected);
}

#[test]
fn int4_weights_are_int8_weights() {
    let (rows, columns) = (5, 9);
    let nibbles: Vec<i8> = noise(9, rows * columns).iter().map(|b| (*b as i8) >> 4).collect();
    let packed: Vec<u8> = nibbles
        .chunks(2)
        .map(|pair| (pair[0] as u8 & 15) | (pair.get(1).copied().unwrap_or(0) as u8) << 4)
        .collect();
    let model = |element: Element, weights: &[u8]| {
        let mut m = ModelBuilder::new();
        let x = m.input("x", Tensor::new(Element::Int8, &[1, columns as i32]).quantized(0.05, -3));
        let shape = [rows as i32, columns as i32];
        let w = m.constant("w", Tensor::new(element, &shape).quantized(0.1, 0), weights);
        let y = m.value("y", Tensor::new(Element::Int8, &[1, rows as i32]).quantized(0.2, 10));
        m.operator(op::FULLY_CONNECTED, Attributes::fully_connected(0), &[x, w, -1], &[y]);
        m.outputs(&[y]);
        m
    };
    let input = Data::new(noise(21, columns));
    let bytes: Vec<u8> = nibbles.iter().map(|&w| w as u8).collect();
    let expected = outputs(&model(Element::Int8, &bytes), &input);
    assert!(expected.bytes().windows(2).any(|pair| pair[0] != pair[1]), "{expected:?}");
    assert_eq!(outputs(&model(Element::Int4, &packed), &input), expected);
}

#[test]
fn float16_weights_are_widened() {
    // 1, −2, 0.5, 65504 and the least subnormal, in columns of three.
    let halves: [u16; 6] = [0x3c00, 0xc000, 0x3800, 0x7bff, 0x0001, 0x8000];
    let widened = [1.0f32, -2.0, 0.5, 65504.0, 2f32.powi(-24), -0.0];
    let mut m = ModelBuilder::new();
    let x = m.input("x", Tensor::new(Element::Float32, &[1, 1, 1, 3]));
    let bytes: Vec<u8> = halves.iter().flat_map(|half| half.to_le_bytes()).collect();
    let packed = m.constant("half", Tensor::new(Element::Float16, &[2, 1, 1, 3]), &bytes);
    let w = m.value("w", Tensor::new(Element::Float32, &[2, 1, 1, 3]));
    m.operator(op::DEQUANTIZE, Attributes::none(), &[packed], &[w]);
    let y = m.value("y", Tensor::new(Element::Float32, &[1, 1, 1, 2]));
    m.operator(op::CONV_2D, Attributes::conv(false, [1, 1], 0), &[x, w, -1], &[y]);
    m.outputs(&[y]);
    let input = [3.0f32, 0.25, -7.0];
    let sum = |row: &[f32]| row.iter().zip(input).map(|(w, x)| w * x).sum::<f32>();
    let expected = [sum(&widened[..3]), sum(&widened[3..])];
    assert_eq!(outputs(&m, &Data::from_f32(&input)).to_f32(), expected);
}

#[test]
fn float_activations_with_int8_weights() {
    // A convolution whose weights have one scale for each filter, which quantises with a zero point, and a matrix product that does so around zero.
    let (size, channels, filters, classes) = (4usize, 2usize, 3usize, 4usize);
    let scales = [0.01f32, 0.02, 0.005];
    let weights = noise(31, filters * channels);
    let bias = [0.5f32, -0.25, 0.0];
    let matrix = noise(33, classes * filters * size * size);
    let mut m = ModelBuilder::new();
    let float =
        |dims: &[usize]| Tensor::new(Element::Float32, &dims.iter().map(|&d| d as i32).collect::<Vec<_>>());
    let x = m.input("x", float(&[1, size, size, channels]));
    let ty = Tensor::new(Element::Int8, &[filters as i32, 1, 1, channels as i32]);
    let w = m.constant("w", ty.per_channel(&scales, &[0; 3], 0), &weights);
    let b = m.constant("b", float(&[filters]), &bias.map(f32::to_le_bytes).concat());
    let y = m.value("y", float(&[1, size, size, filters]));
    m.operator(op::CONV_2D, Attributes::conv(true, [1, 1], 1), &[x, w, b], &[y]);
    let ty = Tensor::new(Element::Int8, &[classes as i32, (filters * size * size) as i32]);
    let w = m.constant("m", ty.quantized(0.03, 0), &matrix);
    let z = m.value("z", float(&[1, classes]));
    m.operator(op::FULLY_CONNECTED, Attributes::fully_connected(0), &[y, w, -1], &[z]);
    m.outputs(&[y, z]);

    let input: Vec<f32> =
        noise(35, size * size * channels).iter().map(|&b| f32::from(b) / 50.0 - 1.5).collect();
    let (lo, hi) = input.iter().fold((0f32, 0f32), |(lo, hi), &x| (lo.min(x), hi.max(x)));
    let step = (hi - lo) / 255.0;
    // The lower end is nearer to zero: its zero point is the more exact one.
    assert!(-lo < hi);
    let zero = (-128.0 - lo / step).round();
    let stored: Vec<f32> =
        input.iter().map(|x| (zero + x * (1.0 / step)).round().clamp(-128.0, 127.0)).collect();
    let conv: Vec<f32> = stored
        .chunks(channels)
        .flat_map(|pixel| {
            let weights = &weights;
            (0..filters).map(move |o| {
                let taps = weights[o * channels..][..channels].iter();
                let sum: f32 = pixel.iter().zip(taps).map(|(x, &w)| (x - zero) * f32::from(w as i8)).sum();
                (sum * (scales[o] * step) + bias[o]).max(0.0)
            })
        })
        .collect();
    let range = conv.iter().fold(0f32, |range, x| range.max(x.abs()));
    let stored: Vec<f32> = conv.iter().map(|x| (x * (127.0 / range)).round()).collect();
    let product: Vec<f32> = matrix
        .chunks(stored.len())
        .map(|row| {
            let sum: f32 = stored.iter().zip(row).map(|(x, &w)| x * f32::from(w as i8)).sum();
            sum * (0.03 * (range / 127.0))
        })
        .collect();
    let graph = front::read(&m.build(), "hybrid").unwrap();
    let compiled = compile_graph(graph.clone(), &Options::default()).unwrap();
    let case = vec![vec![Data::from_f32(&input)]];
    for place in ["interp", "host", "qemu-cortex-m3"] {
        let outputs = &Place::find(place).unwrap().run(&graph, &compiled, &case).unwrap()[0];
        for (actual, expected) in outputs.iter().zip([&conv, &product]) {
            let largest = expected.iter().fold(0f32, |largest, x| largest.max(x.abs()));
            for (a, e) in actual.to_f32().iter().zip(expected) {
                assert!((a - e).abs() <= 1e-6 * largest, "{place}: {a} instead of {e}");
            }
        }
    }
}

/// A model of a convolution of 3 × 3, a depthwise one (of images with an odd number of channels) and a matrix product, all with weights of that type.
fn every_weighted_layer(element: Element, quantised: bool, bytes: fn(usize, u32) -> Vec<u8>) -> ModelBuilder {
    let (size, filters, classes) = (4usize, 7usize, 5usize);
    let image = |dims: &[usize]| {
        let dims: Vec<i32> = dims.iter().map(|&d| d as i32).collect();
        match quantised {
            true => Tensor::new(Element::Int8, &dims).quantized(0.05, -3),
            false => Tensor::new(Element::Float32, &dims),
        }
    };
    let mut m = ModelBuilder::new();
    let weights = |m: &mut ModelBuilder, name: &str, dims: &[usize], seed: u32| {
        let shape: Vec<i32> = dims.iter().map(|&d| d as i32).collect();
        let ty = Tensor::new(element, &shape);
        let int4 = element == Element::Int4;
        let ty = if int4 { ty.quantized(0.1, 0) } else { ty };
        let packed = m.constant(name, ty, &bytes(dims.iter().product(), seed));
        if int4 {
            return packed;
        }
        let wide = m.value(&format!("{name}_wide"), Tensor::new(Element::Float32, &shape));
        m.operator(op::DEQUANTIZE, Attributes::none(), &[packed], &[wide]);
        wide
    };
    let x = m.input("x", image(&[1, size, size, IN]));
    let w = weights(&mut m, "w", &[filters, 3, 3, IN], 3);
    let y = m.value("y", image(&[1, size, size, filters]));
    m.operator(op::CONV_2D, Attributes::conv(true, [1, 1], 0), &[x, w, -1], &[y]);
    let t = weights(&mut m, "t", &[1, 3, 3, filters], 5);
    let z = m.value("z", image(&[1, 2, 2, filters]));
    m.operator(op::DEPTHWISE_CONV_2D, Attributes::depthwise(true, [2, 2], 1, 1), &[y, t, -1], &[z]);
    let d = weights(&mut m, "d", &[classes, 4 * filters], 7);
    let out = m.value("out", image(&[1, classes]));
    m.operator(op::FULLY_CONNECTED, Attributes::fully_connected(0), &[z, d, -1], &[out]);
    m.outputs(&[out]);
    m
}

/// With packed weights the model gives the bits of the interpreter, which knows no packing, everywhere, and takes `saved` bytes less.
fn packs(model: &ModelBuilder, input: &Data, saved: usize) {
    let graph = front::read(&model.build(), "packed").unwrap();
    let case = vec![vec![input.clone()]];
    let weights = |weights, target| Options { weights: Some(weights), target, ..Options::default() };
    let widened = compile_graph(graph.clone(), &weights(Weights::Widened, None)).unwrap();
    assert_eq!((packed::saved(&widened), packed::more(&widened)), (0, saved));
    let expected = &Place::Interp.run(&graph, &widened, &case).unwrap()[0][0];
    let values: std::collections::BTreeSet<_> = expected.bytes().chunks(expected.bytes().len() / 5).collect();
    assert!(values.len() > 2, "{expected:?}");
    // On processors that have kernels of their own for widened weights, too.
    let places = [
        ("host", None),
        ("qemu-cortex-m0", Some(Target::CortexM0)),
        ("qemu-cortex-m4", Some(Target::CortexMDsp)),
    ];
    for (place, target) in places {
        let compiled = compile_graph(graph.clone(), &weights(Weights::Packed, target)).unwrap();
        assert_eq!((packed::saved(&compiled), packed::more(&compiled)), (saved, 0));
        let actual = Place::find(place).unwrap().run(&graph, &compiled, &case).unwrap();
        assert_eq!(&actual[0][0], expected, "{place}");
        if target.is_none() {
            let bytes = [&widened, &compiled].map(|compiled| compiled.program.constant_bytes());
            assert_eq!(bytes[0] - bytes[1], saved);
        }
    }
    // Where only the size counts, these layers are too small for kernels of their own.
    let small = Options { optimize: Optimize::Size, ..Options::default() };
    let small = compile_graph(graph, &small).unwrap();
    assert_eq!((packed::saved(&small), packed::more(&small)), (0, saved));
}

#[test]
fn int4_weights_may_stay_packed() {
    let model = every_weighted_layer(Element::Int4, true, |count, seed| noise(seed, count.div_ceil(2)));
    let input = Data::new(noise(51, 16 * IN));
    // Of 189, 63 and 140 weights.
    packs(&model, &input, 94 + 31 + 70);
}

#[test]
fn int4_weights_with_float_activations_may_stay_packed() {
    let model = every_weighted_layer(Element::Int4, false, |count, seed| noise(seed, count.div_ceil(2)));
    let input: Vec<f32> = noise(55, 16 * IN).iter().map(|&b| f32::from(b) / 64.0 - 2.0).collect();
    packs(&model, &Data::from_f32(&input), 94 + 31 + 70);
}

#[test]
fn float16_weights_may_stay_packed() {
    // Of both signs, from subnormal to a few hundred.
    let halves = |count: usize, seed: u32| -> Vec<u8> {
        let bytes = noise(seed, 2 * count);
        bytes
            .chunks(2)
            .flat_map(|pair| [pair[0], if pair[1] & 0x60 == 0x60 { pair[1] & 0x9f } else { pair[1] }])
            .collect()
    };
    let model = every_weighted_layer(Element::Float16, false, halves);
    let input: Vec<f32> = noise(53, 16 * IN).iter().map(|&b| f32::from(b) / 64.0 - 2.0).collect();
    packs(&model, &Data::from_f32(&input), 2 * (189 + 63 + 140));
}

/// A network of every kind of layer whose weights are int8, or int4, behind a DEQUANTIZE.
fn weight_only(int4: bool) -> ModelBuilder {
    let mut m = ModelBuilder::new();
    let image = |shape: &[i32]| Tensor::new(Element::Float32, shape);
    let weights = |m: &mut ModelBuilder, name: &str, shape: &[i32], seed: u32| {
        let dims: Vec<usize> = shape.iter().map(|&d| d as usize).collect();
        let count: usize = dims.iter().product();
        let (element, bytes) = match int4 {
            true => (Element::Int4, noise(seed, count.div_ceil(2))),
            false => (Element::Int8, noise(seed, count)),
        };
        let ty = Tensor::new(element, shape).quantized(0.013, if int4 { 0 } else { 3 });
        let packed = m.constant(name, ty, &bytes);
        let wide = m.value(&format!("{name}_wide"), Tensor::new(Element::Float32, shape));
        m.operator(op::DEQUANTIZE, Attributes::none(), &[packed], &[wide]);
        wide
    };
    // Wide enough that a row has more pixels than kernels compute together.
    let x = m.input("x", image(&[1, 3, 40, 12]));
    let w = weights(&mut m, "w", &[32, 3, 3, 12], 3);
    let y = m.value("y", image(&[1, 3, 40, 32]));
    m.operator(op::CONV_2D, Attributes::conv(true, [1, 1], 0), &[x, w, -1], &[y]);
    let t = weights(&mut m, "t", &[1, 3, 3, 32], 5);
    let z = m.value("z", image(&[1, 2, 20, 32]));
    m.operator(op::DEPTHWISE_CONV_2D, Attributes::depthwise(true, [2, 2], 1, 1), &[y, t, -1], &[z]);
    // Two rows.
    let r = m.value("r", image(&[2, 640]));
    let dims = m.constant("dims", Tensor::new(Element::Int32, &[2]), &[2, 0, 0, 0, 128, 2, 0, 0]);
    m.operator(op::RESHAPE, Attributes::none(), &[z, dims], &[r]);
    let d = weights(&mut m, "d", &[10, 640], 7);
    let out = m.value("out", image(&[2, 10]));
    m.operator(op::FULLY_CONNECTED, Attributes::fully_connected(0), &[r, d, -1], &[out]);
    m.outputs(&[out]);
    m
}

#[test]
fn weights_behind_a_dequantisation_may_stay_integers() {
    // The layers' weights; where the size counts, one layer is too small.
    let [conv, depthwise, dense] = [32 * 9 * 12, 32 * 9, 10 * 640];
    for int4 in [false, true] {
        let graph = front::read(&weight_only(int4).build(), "weight_only").unwrap();
        let input: Vec<f32> = noise(57, 3 * 40 * 12).iter().map(|&b| f32::from(b) / 64.0 - 2.0).collect();
        let case = vec![vec![Data::from_f32(&input)]];
        let options = |weights, optimize, target| Options { weights, optimize, target, ..Options::default() };
        let widened = compile_graph(graph.clone(), &options(None, Optimize::Speed, None)).unwrap();
        let expected = &Place::Interp.run(&graph, &widened, &case).unwrap()[0][0];
        // One scale for all weights of a layer, and a zero point of int8.
        let saves = |weights: usize| if int4 { weights / 2 * 7 - 4 } else { weights * 3 - 5 };
        let all: usize = [conv, depthwise, dense].map(saves).iter().sum();
        assert_eq!(packed::more(&widened), all);
        // Scales and zero points of the three layers are the same, and held once.
        let shared = if int4 { 8 } else { 10 };
        let places = [
            ("host", None),
            ("qemu-cortex-m0", Some(Target::CortexM0)),
            ("qemu-cortex-m4", Some(Target::CortexMDsp)),
            ("qemu-cortex-m55", Some(Target::CortexMHelium)),
            ("qemu-rv32imc", Some(Target::Rv32)),
        ];
        for (place, target) in places {
            let options = options(Some(Weights::Packed), Optimize::Speed, target);
            let compiled = compile_graph(graph.clone(), &options).unwrap();
            let bytes = [&widened, &compiled].map(|compiled| compiled.program.constant_bytes());
            assert_eq!(bytes[0] - bytes[1], all + shared, "{place}");
            let actual = Place::find(place).unwrap().run(&graph, &compiled, &case).unwrap();
            assert_eq!(&actual[0][0], expected, "{place}");
        }
        let small = compile_graph(graph.clone(), &options(None, Optimize::Size, None)).unwrap();
        assert_eq!(packed::saved(&small), all - if saves(depthwise) < 1024 { saves(depthwise) } else { 0 });
        // A budget that floats miss.
        let flash = Some(widened.program.constant_bytes() - 1);
        let fits = compile_graph(graph, &Options { flash, ..Options::default() }).unwrap();
        assert_eq!(packed::saved(&fits), all);
    }
}

/// Files of torchao and of the AI Edge Quantizer: constants as floats and packed, and where only the size counts.
#[test]
fn quantised_weights_of_other_tools_stay_integers() {
    let Some(folder) = beside("samples") else { return };
    let cases = [
        ("pt2e/attn.torchao_w8.pt2", 8652, 2956),
        ("pt2e/attn.torchao_w4.pt2", 8652, 1996),
        ("tflite/mlp_weight_only_wi8_afp32.tflite", 26280, 7312),
        ("tflite/mlp_weight_only_wi4_afp32.tflite", 26280, 4080),
    ];
    for (file, floats, integers) in cases {
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let graph = kiln_codegen::import(&bytes, "weights", &Options::default()).unwrap();
        let input = noise(59, graph.ty(graph.inputs[0]).shape.numel());
        let input: Vec<f32> = input.iter().map(|&b| f32::from(b) / 64.0 - 2.0).collect();
        let case = vec![vec![Data::from_f32(&input)]];
        for (place, target) in [("qemu-cortex-m0", Target::CortexM0), ("qemu-cortex-m4", Target::CortexMDsp)]
        {
            let compile = |weights, optimize| {
                let options = Options { weights, optimize, target: Some(target), ..Options::default() };
                compile_graph(graph.clone(), &options).unwrap()
            };
            let wide = compile(None, Optimize::Speed);
            let packed = compile(Some(Weights::Packed), Optimize::Speed);
            let small = compile(None, Optimize::Size);
            assert_eq!(wide.program.constant_bytes(), floats, "{file}");
            assert_eq!(packed.program.constant_bytes(), integers, "{file}");
            assert!((integers..floats / 2).contains(&small.program.constant_bytes()), "{file}");
            let run = |compiled| Place::find(place).unwrap().run(&graph, compiled, &case).unwrap();
            let expected = run(&wide);
            assert_eq!(run(&packed), expected, "{file} on {place}");
            assert_eq!(run(&small), expected, "{file} on {place}");
        }
    }
}
