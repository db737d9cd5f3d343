//! Networks with audio features in front of them: samples in, decisions out. They are held to frames whose features are computed one by one, and sliding ones to whole windows.

use cargo_kiln::compare::compare;
use cargo_kiln::place::Place;
use cargo_kiln::slide::Sequence;
use kiln_codegen::features::Features;
use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data, Graph, Quant};
use kiln_codegen::{compile_graph, verify, Float, Input, Optimize, Options};
use kiln_host_tests::{assert_slides, corpus};

const FEATURES: &str =
    "librosa, sample_rate = 8000, samples = i16, n_fft = 64, win_length = 50, hop = 20, n_mels = 8, center = false, log = db";
/// Those that change the samples of each frame, or sum them up.
const OF_FRAMES: [&str; 6] = [
    "kaldi, sample_rate = 8000, win_length = 50, hop = 20, n_mels = 8",
    "kaldi, sample_rate = 8000, win_length = 50, hop = 20, n_mels = 7, energy = true, window = hamming",
    "kaldi, sample_rate = 8000, win_length = 50, hop = 60, n_mels = 9, n_mfcc = 8, energy = true, remove_dc = false",
    "python_speech_features, sample_rate = 8000, n_fft = 64, win_length = 50, hop = 20, n_mels = 9, n_mfcc = 8, remove_dc = true",
    "librosa, sample_rate = 8000, n_fft = 64, win_length = 50, hop = 20, n_mels = 4, center = false, log = db, deltas = 1",
    "kaldi, sample_rate = 8000, win_length = 50, hop = 20, n_mels = 3, deltas = 2, delta_width = 3",
];
const FRAMES: usize = 6;

/// A network over frames of so many features.
fn network(features: usize) -> Graph {
    let numbers = |count: usize, by: usize| {
        let number = |k: usize| format!("{:?}", ((k * by + 5) % 17) as f32 / 64.0 - 0.125);
        (0..count).map(number).collect::<Vec<_>>().join(", ")
    };
    let graph = Graph::parse(&format!(
        "graph \"listening\" {{
           input %x \"frames\": f32[1,{FRAMES},1,{features}]
           const %w: f32[4,3,1,{features}] = [{}]
           const %v: f32[3,4,1,4] = [{}]
           %a: f32[1,4,1,4] = conv2d(%x, %w) {{window = [3, 1], groups = 1, rescale = real, clamp = 0.0..=inf}}
           %y: f32[1,1,1,3] = conv2d(%a, %v) {{window = [4, 1], groups = 1, rescale = real, clamp = -inf..=inf}}
           return %y
         }}",
        numbers(12 * features, 7),
        numbers(48, 5),
    ))
    .unwrap();
    verify::verify(&graph).unwrap();
    graph
}

/// The network with features in front.
fn listening(features: &str) -> (Features, Graph) {
    let features = Features::of_text(features).unwrap();
    let mut graph = network(features.count());
    features.in_front_of(&mut graph).unwrap();
    verify::verify(&graph).unwrap();
    (features, graph)
}

fn samples(count: usize) -> Vec<i16> {
    let tone = |t: usize| 9000.0 * (t as f64 * 0.31).sin() + 5000.0 * (t as f64 * 1.7).cos();
    (0..count).map(|t| (tone(t) + (t * 7919 % 2003) as f64) as i16).collect()
}

#[test]
fn samples_become_the_features_of_their_frames() {
    for text in [FEATURES].into_iter().chain(OF_FRAMES) {
        let (features, graph) = listening(text);
        // Deltas are those of frames inside of a stream.
        let aside = 2 * features.delay();
        let count = (FRAMES + aside - 1) * features.hop() + features.length();
        assert_eq!(graph.ty(graph.inputs[0]).shape.dims(), [1, count, 1, 1], "{text}");
        let samples = samples(count);
        let mut machine = Machine::new(&features.graph("frame"));
        let frames: Vec<f32> = (0..FRAMES + aside)
            .map(|frame| {
                let first = frame * features.hop();
                let input = Data::from_i16(&samples[first..first + features.length()]);
                machine.run(&[input]).unwrap()[0].to_f32()
            })
            .skip(aside)
            .collect::<Vec<_>>()
            .concat();
        let expected = Machine::new(&network(features.count())).run(&[Data::from_f32(&frames)]).unwrap();
        let actual = Machine::new(&graph).run(&[Data::from_i16(&samples)]).unwrap();
        let difference = compare(DType::F32, &actual[0], &expected[0]);
        assert!(difference.passes(), "{text}: {difference:?}");
        assert!(expected[0].to_f32().iter().any(|y| y.abs() > 0.1), "{:?}", expected[0].to_f32());
    }
}

/// Every hop has the bits of an inference on the whole window, and they are those of the interpreter but for rounding.
#[test]
fn samples_slide() {
    for text in [FEATURES].into_iter().chain(OF_FRAMES) {
        let (features, graph) = listening(text);
        let options = Options { input: Input::Sliding, ..Options::default() };
        let compiled = compile_graph(graph.clone(), &options).unwrap();
        let fed = compiled.program.fed.as_ref().unwrap();
        let slide = fed.slide.as_ref().unwrap();
        let rows = graph.ty(graph.inputs[0]).shape.numel();
        assert_eq!((slide.hop, fed.rows), (features.hop(), rows), "{text}");
        // It holds less than a second frame of samples, and one in which they are changed.
        let floats = if text == FEATURES { 2 } else { 3 } * 4 * features.length();
        let frames = 4 * features.count() * (2 * features.delay() + 1);
        assert!(compiled.plan.ram_bytes() < floats + frames + 1200, "{text}: {}", compiled.plan.ram_bytes());
        let window = Data::from_i16(&samples(fed.rows));
        let mut sequence = Sequence::new(&graph, &[vec![window]], fed.rows, slide.hop).unwrap();
        let complete: Vec<usize> =
            (0..sequence.outputs.len()).filter(|&k| !sequence.outputs[k].is_empty()).collect();
        let windows = windows(&sequence, fed.rows);
        let host = Place::find("host").unwrap();
        let whole = compile_graph(graph.clone(), &Options::default()).unwrap();
        let whole = host.run(&graph, &whole, &windows).unwrap();
        assert!(whole.len() > 3);
        for (last, outputs) in complete.iter().zip(whole) {
            let difference = compare(DType::F32, &outputs[0], &sequence.outputs[*last][0]);
            assert!(difference.relative < 1e-4, "{text}: {difference:?}");
            sequence.outputs[*last] = outputs;
        }
        let slid = host.build(&graph, &compiled).unwrap().run(&sequence.frames, true).unwrap();
        assert_eq!(slid, sequence.outputs, "{text}");
        assert_slides(&graph, &compiled, &sequence);
    }
}

/// A network that sees an image of time and frequency whose axes are `dims`. Its convolutions go along both, and pad frequencies. Behind them is a dense layer on the
/// flattened image, or on its mean.
fn image_network(dims: &[usize], quantised: bool, mean: bool) -> Graph {
    let (kind, scale, fine, last) = match quantised {
        true => ("i8", "q(0.25 : 10)", "q(0.05 : 0)", "q(1.0 : 4)"),
        false => ("f32", "", "", ""),
    };
    let numbers = |count: usize, by: usize| {
        let number = |k: usize| match quantised {
            true => format!("{}", ((k * by + 5) % 17) as i64 - 8),
            false => format!("{:?}", ((k * by + 5) % 17) as f32 / 64.0 - 0.125),
        };
        (0..count).map(number).collect::<Vec<_>>().join(", ")
    };
    let layer = |multiplier: &str| match quantised {
        true => format!("rescale = [{multiplier}], clamp = -128..=127"),
        false => "rescale = real, clamp = -inf..=inf".into(),
    };
    let (a, b, c) = (layer("1363741824 * 2^-4"), layer("1573741824 * 2^-3"), layer("1273741824 * 2^-5"));
    // Time first, or frequencies: heights and widths of the images, and of windows and strides.
    let time_first = dims.iter().find(|&&dim| dim != 1) == Some(&FRAMES);
    let pair = |time: usize, frequency: usize| match time_first {
        true => format!("{time}, {frequency}"),
        false => format!("{frequency}, {time}"),
    };
    let pad = if time_first { "0, 0, 0, 1" } else { "0, 1, 0, 0" };
    let (image, first, second) = (pair(FRAMES, 8), pair(4, 3), pair(3, 2));
    let (inputs, made) = match mean {
        true => (4, format!("mean(%b) {{axes = [1, 2], {}}}", layer("701408733 * 2^-1"))),
        false => (24, "reshape(%b)".to_string()),
    };
    // Channel-first images are turned, as the readers of PyTorch's formats do it.
    let turned = match dims {
        [1, 1, ..] => "transpose(%x) {perm = [0, 2, 3, 1]}",
        _ => "reshape(%x)",
    };
    let graph = Graph::parse(&format!(
        "graph \"image\" {{
           input %x \"frames\": {kind}{dims:?} {scale}
           const %w: {kind}[4,3,3,1] {fine} = [{}]
           const %v: {kind}[4,{window},1] {fine} = [{}]
           const %d: {kind}[3,{inputs}] {fine} = [{}]
           %i: {kind}[1,{image},1] {scale} = {turned}
           %a: {kind}[1,{first},4] {scale} = conv2d(%i, %w) {{window = [3, 3] stride [{}], groups = 1, {a}}}
           %b: {kind}[1,{second},4] {scale} = conv2d(%a, %v) {{window = [{window}] pad [{pad}], groups = 4, {b}}}
           %f: {kind}[1,{inputs}] {scale} = {made}
           %y: {kind}[1,3] {last} = dense(%f, %d) {{{c}}}
           return %y
         }}",
        numbers(36, 7),
        numbers(24, 5),
        numbers(3 * inputs, 3),
        pair(1, 2),
        window = pair(2, 3),
    ))
    .unwrap();
    verify::verify(&graph).unwrap();
    graph
}

/// Images of time and frequency: every hop has the bits of an inference on the whole window, on the host and as firmware, but for floats where the image is turned.
#[test]
fn images_of_features_slide() {
    let shapes: [&[usize]; 6] =
        [&[1, 6, 8, 1], &[1, 1, 6, 8], &[1, 6, 8], &[1, 1, 8, 6], &[1, 8, 6, 1], &[1, 8, 6]];
    let flattened =
        [false, true].into_iter().flat_map(|quantised| shapes.map(|dims| (dims, quantised, false)));
    let averaged = [(shapes[0], false, true), (shapes[0], true, true), (shapes[3], true, true)];
    for (dims, quantised, mean) in flattened.chain(averaged) {
        let features = Features::of_text(FEATURES).unwrap();
        let mut graph = image_network(dims, quantised, mean);
        features.in_front_of(&mut graph).unwrap();
        verify::verify(&graph).unwrap();
        let samples_of_window = 5 * features.hop() + features.length();
        let time_first = dims.iter().find(|&&dim| dim != 1) == Some(&FRAMES);
        let exact = quantised || time_first;
        let float = if exact { Float::Reproducible } else { Float::default() };
        let boards: &[&str] = match dims {
            [1, 6, 8, 1] | [1, 1, 8, 6] => &["qemu-cortex-m4", "qemu-rv32imc"],
            _ => &[],
        };
        for name in [&["host"], boards].concat() {
            let label = format!("{dims:?}, quantised: {quantised}, mean: {mean}, on {name}");
            let place = Place::find(name).unwrap();
            let options = place.options(&Options { input: Input::Sliding, float, ..Options::default() });
            let compiled = compile_graph(graph.clone(), &options).unwrap_or_else(|e| panic!("{label}: {e}"));
            let fed = compiled.program.fed.as_ref().unwrap();
            let slide = fed.slide.as_ref().unwrap();
            assert_eq!((slide.hop, fed.rows, fed.row), (features.hop(), samples_of_window, 1), "{label}");
            // A frame of samples as floats, three frames of features, two rows of the first layer and three of the second; hosts align them.
            let (held, aligned) = (4 * (features.length() + 3 * 8 + 2 * 12 + 3 * 8) + 2, 5 * 63);
            let retained = compiled.plan.state_bytes;
            assert!(retained <= held + aligned, "{label}: {retained} of {held}");
            let window = Data::from_i16(&samples(fed.rows));
            let sequence = Sequence::new(&graph, &[vec![window]], fed.rows, slide.hop).unwrap();
            let whole =
                compile_graph(graph.clone(), &place.options(&Options { float, ..Options::default() }))
                    .unwrap();
            let whole = place.run(&graph, &whole, &windows(&sequence, fed.rows)).unwrap();
            let slid = place.build(&graph, &compiled).unwrap().run(&sequence.frames, true).unwrap();
            let slid: Vec<Vec<Data>> = slid.into_iter().filter(|outputs| !outputs.is_empty()).collect();
            assert!(
                whole.len() > 3 && whole.len() == slid.len(),
                "{label}: {} and {}",
                slid.len(),
                whole.len()
            );
            if exact {
                assert_eq!(slid, whole, "{label}");
            }
            for (slid, whole) in slid.iter().zip(&whole) {
                let difference = compare(graph.ty(graph.outputs[0]).dtype, &slid[0], &whole[0]);
                assert!(difference.passes(), "{label}: {difference:?}");
            }
            assert!(
                whole.iter().any(|outputs| *outputs != whole[0]),
                "{label}: all windows have {:?}",
                whole[0]
            );
        }
    }
}

/// A network of floats whose bits count is not turned: what prevents sliding is named, and what helps.
#[test]
fn what_is_not_turned_says_why() {
    let mut graph = image_network(&[1, 1, 8, 6], false, false);
    Features::of_text(FEATURES).unwrap().in_front_of(&mut graph).unwrap();
    let options = Options { input: Input::Sliding, float: Float::Reproducible, ..Options::default() };
    let refused = compile_graph(graph, &options).unwrap_err().to_string();
    assert!(
        refused.contains("needs all rows of") && refused.contains("time as the second axis"),
        "{refused}"
    );
}

/// The samples of each window of a sequence that is complete.
fn windows(sequence: &Sequence, rows: usize) -> Vec<Vec<Data>> {
    let complete = (0..sequence.outputs.len()).filter(|&k| !sequence.outputs[k].is_empty());
    let window = |last: usize| {
        let rows = &sequence.frames[last + 1 - rows..=last];
        let samples: Vec<i16> = rows.iter().map(|row| row[0].to_ints(DType::I16)[0] as i16).collect();
        vec![Data::from_i16(&samples)]
    };
    complete.map(window).collect()
}

#[test]
fn what_cannot_stand_in_front_says_why() {
    let refused = |text: &str| {
        let features = Features::of_text(text)?;
        features.in_front_of(&mut network(8))
    };
    let error = |text: &str| refused(text).unwrap_err().to_string();
    let count = error("librosa, sample_rate = 8000, n_fft = 64, n_mels = 7");
    assert!(count.contains("f32[1,6,1,8]") && count.contains("frames of 7 features"), "{count}");
    let key = error("librosa, sample_rate = 8000, hops = 3");
    assert!(key.contains("option `features`, key `hops`"), "{key}");
    let value = error("librosa, sample_rate");
    assert!(value.contains("has no value"), "{value}");
    let noise = error("tflm, sample_rate = 8000, n_mels = 8, f_max = 3800");
    assert!(noise.contains("6 frames at once") && noise.contains("kiln::features!"), "{noise}");
    let average = error("librosa, sample_rate = 8000, n_fft = 64, n_mels = 8, log = pcen");
    assert!(average.contains("PCEN remembers the average"), "{average}");
    let both = error("librosa, sample_rate = 8000, n_fft = 64, n_mels = 4, log = pcen, deltas = 1");
    assert!(both.contains("frames beside those") && both.contains("kiln::features!"), "{both}");
    refused("librosa, sample_rate = 8000, n_fft = 64, n_mels = 4, deltas = 1, arithmetic = fixed").unwrap();
    assert!(refused(FEATURES).is_ok());
}

/// A network that takes two new frames at a time, of sixteen stored numbers, and remembers the frame before them.
fn remembering() -> Graph {
    let graph = Graph::parse(
        "graph \"remembering\" {
           input %x \"frames\": i8[1,2,16] q(0.1 : -128)
           state %before \"before\": i8[1,1,16] q(0.1 : -128) = splat -128
           %all: i8[1,3,16] q(0.1 : -128) = concat(%before, %x) {axis = 1}
           %last: i8[1,1,16] q(0.1 : -128) = slice(%all) {begin = [0, 2, 0], step = [1, 1, 1]}
           next %before = %last
           return %all
         }",
    )
    .unwrap();
    verify::verify(&graph).unwrap();
    graph
}

/// Features that remember the noise: of a stream behind silence, whatever the network takes at once.
#[test]
fn networks_with_states_take_new_samples() {
    for values in ["i8", "f32"] {
        let features = "sample_rate = 8000, win_length = 100, hop = 40, n_mels = 16, f_max = 3800";
        let features = Features::of_text(&format!("microfrontend, {features}, values = {values}")).unwrap();
        let mut graph = remembering();
        if values == "i8" {
            // The scale of inputs that take a part of the integer.
            let tensors = [graph.inputs[0], graph.states[0].current, graph.states[0].next, graph.outputs[0]];
            for id in tensors {
                graph.value_mut(id).ty.quant = Some(Quant::per_tensor(0.101_562_5, -128));
            }
        }
        features.in_front_of(&mut graph).unwrap();
        verify::verify(&graph).unwrap();
        let (fresh, held) = (2 * features.hop(), features.length() - features.hop());
        assert_eq!(graph.ty(graph.inputs[0]).shape.dims(), [1, fresh, 1, 1]);

        const STEPS: usize = 6;
        let samples = samples(STEPS * fresh);
        let stream: Vec<i16> = vec![0; held].into_iter().chain(samples.iter().copied()).collect();
        let of_frame = features.graph("frame");
        let mut machine = Machine::new(&of_frame);
        let mut rows = vec![vec![-128i64; 16]];
        for frame in 0..2 * STEPS {
            let input = Data::from_i16(&stream[frame * features.hop()..][..features.length()]);
            let row = &machine.run(&[input]).unwrap()[0];
            rows.push(match features.values() {
                DType::F32 => {
                    row.to_f32().iter().map(|&x| ((x / 0.1).round() as i64 - 128).min(127)).collect()
                }
                dtype => row.to_ints(dtype),
            });
        }
        let cases: Vec<Vec<Data>> = samples.chunks(fresh).map(|step| vec![Data::from_i16(step)]).collect();
        for name in ["interp", "host", "qemu-cortex-m4", "qemu-cortex-m0"] {
            let place = Place::find(name).unwrap();
            let compiled = compile_graph(graph.clone(), &place.options(&Options::default())).unwrap();
            let actual = place.run(&graph, &compiled, &cases).unwrap();
            for (step, outputs) in actual.iter().enumerate() {
                let expected = rows[2 * step..][..3].concat();
                assert_eq!(outputs[0].to_ints(DType::I8), expected, "{values} on {name}, step {step}");
            }
        }
        let numbers = rows[1..].concat();
        let (least, most) = (numbers.iter().min().unwrap(), numbers.iter().max().unwrap());
        assert!(most - least > 60, "{least} to {most}");
    }
}

/// PCEN goes on from frame to frame, whatever the network takes at once.
#[test]
fn averages_go_on() {
    let features = Features::of_text(
        "librosa, sample_rate = 8000, n_fft = 128, win_length = 100, hop = 40, n_mels = 16, center = false, power = 1, full_scale = 2147483648, log = pcen, pcen_time_constant = 0.02",
    )
    .unwrap();
    let mut graph = remembering();
    features.in_front_of(&mut graph).unwrap();
    verify::verify(&graph).unwrap();
    let (fresh, held) = (2 * features.hop(), features.length() - features.hop());
    assert_eq!(graph.ty(graph.inputs[0]).shape.dims(), [1, fresh, 1, 1]);

    const STEPS: usize = 6;
    let samples = samples(STEPS * fresh);
    let stream: Vec<i16> = vec![0; held].into_iter().chain(samples.iter().copied()).collect();
    let mut machine = Machine::new(&features.graph("frame"));
    let mut rows = vec![vec![-12.8f32; 16]];
    for frame in 0..2 * STEPS {
        let input = Data::from_i16(&stream[frame * features.hop()..][..features.length()]);
        rows.push(machine.run(&[input]).unwrap()[0].to_f32());
    }
    let stored = |x: f32| ((x / 0.1).round() - 128.0).clamp(-128.0, 127.0);
    let cases: Vec<Vec<Data>> = samples.chunks(fresh).map(|step| vec![Data::from_i16(step)]).collect();
    for name in ["interp", "host", "qemu-cortex-m4"] {
        let place = Place::find(name).unwrap();
        let compiled = compile_graph(graph.clone(), &place.options(&Options::default())).unwrap();
        let actual = place.run(&graph, &compiled, &cases).unwrap();
        for (step, outputs) in actual.iter().enumerate() {
            let expected = rows[2 * step..][..3].concat();
            // A feature may be rounded to either side.
            for (have, want) in outputs[0].to_ints(DType::I8).into_iter().zip(expected) {
                let near = (stored(want - 1e-3)..=stored(want + 1e-3)).contains(&(have as f32));
                assert!(near, "{name}, step {step}: {have} where {want} is stored");
            }
        }
    }
    let numbers = rows[1..].concat();
    let most = numbers.iter().fold(0.0f32, |most, x| most.max(*x));
    assert!(most > 0.5 && numbers.iter().any(|&x| x < most / 2.0), "{numbers:?}");
}

/// The network of MLPerf's keyword spotting sees an image of 49 frames of 10 MFCC, and pads it: it takes samples one by one, and does not slide.
#[test]
fn the_keywords_take_samples() {
    let Some(model) = corpus().into_iter().find(|model| model.name == "mlperf_kws_int8") else {
        println!("mlperf_kws_int8 is not there: set KILN_CORPUS");
        return;
    };
    let bytes = std::fs::read(&model.path).unwrap();
    let features = "tf.signal, sample_rate = 16000, win_length = 640, hop = 320, n_mels = 40, f_min = 20.0, f_max = 4000.0, n_mfcc = 10";
    let options = |input| Options { input, features: Some(features.into()), ..Options::default() };
    let graph = kiln_codegen::import(&bytes, &model.name, &options(Input::Whole)).unwrap();
    let samples = samples(48 * 320 + 640);
    let cases = [
        vec![Data::from_i16(&samples)],
        vec![Data::from_i16(&samples.iter().map(|x| x / 7).collect::<Vec<_>>())],
    ];
    let place = Place::find("qemu-cortex-m4").unwrap();
    let outputs = [Input::Whole, Input::Rows].map(|input| {
        let options = place.options(&Options { optimize: Optimize::Memory, ..options(input) });
        let compiled = compile_graph(graph.clone(), &options).unwrap();
        if input == Input::Rows {
            // Not the samples, and no image of the network as a whole.
            assert!(compiled.plan.ram_bytes() < 11 * 1024, "{}", compiled.plan.ram_bytes());
        }
        place.run(&graph, &compiled, &cases).unwrap()
    });
    assert_eq!(outputs[0], outputs[1]);
    assert_ne!(outputs[0][0], outputs[0][1]);
    let refused = compile_graph(graph, &options(Input::Sliding)).unwrap_err().to_string();
    assert!(refused.contains("conv2d") && refused.contains("without padding along the rows"), "{refused}");
}

/// The network of MLPerf's streaming wake word, with 40 bands of mel in front of it, keeps to its budget of memory.
#[test]
fn the_wake_word_takes_samples() {
    let Some(model) = corpus().into_iter().find(|model| model.name == "mlperf_strww_int8") else {
        println!("mlperf_strww_int8 is not there: set KILN_CORPUS");
        return;
    };
    let bytes = std::fs::read(&model.path).unwrap();
    let features = "tf.signal, sample_rate = 16000, win_length = 480, hop = 320, n_mels = 40, log = natural";
    let options = Options {
        input: Input::Sliding,
        features: Some(features.into()),
        target: Some("cortex-m4".parse().unwrap()),
        ..Options::default()
    };
    let compiled = kiln_codegen::compile(&bytes, &model.name, &options).unwrap();
    let slide = compiled.program.fed.as_ref().unwrap().slide.as_ref().unwrap();
    assert_eq!(slide.hop, 320);
    assert!(compiled.plan.ram_bytes() <= 12 * 1024, "{}", compiled.plan.ram_bytes());
}
