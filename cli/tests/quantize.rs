//! Quantised models against their float models: ratios of signal to noise, on the project's own models. (`host-tests/tests/figures` compares those of the corpus with TensorFlow Lite's converter.)
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::quantize::{quantize as quantize_file, samples, Output, Progress};
use kiln_codegen::interp::{eval, Machine};
use kiln_codegen::ir::{DType, Data, Graph, Op, Rounding, Type};
use kiln_codegen::{import, passes};
use kiln_tools::quantize::{quantize, Bits, Method, Precision, Quantised, Settings};
use kiln_tools::write;
use std::path::{Path, PathBuf};

fn own() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../host-tests/models")
}

fn read(folder: &Path, name: &str) -> Graph {
    let path = [format!("tflite/{name}.tflite"), format!("onnx/{name}.onnx")].map(|file| folder.join(file));
    let path = path.iter().find(|path| path.exists()).unwrap();
    import(&std::fs::read(path).unwrap(), name, &Default::default()).unwrap()
}

fn cases(folder: &Path, name: &str, graph: &Graph) -> Vec<Vec<Data>> {
    samples(graph, &folder.join(format!("golden/{name}.npz"))).unwrap()
}

fn run(graph: &Graph, samples: &[Vec<Data>]) -> Vec<Vec<f32>> {
    let mut machine = Machine::new(graph);
    samples.iter().map(|sample| machine.run(sample).unwrap()[0].to_f32()).collect()
}

/// The quantised graph as it is compiled: written, read again, in integers.
fn compiled(quantised: &Quantised) -> Graph {
    let bytes = write::onnx(&quantised.graph, &write::Settings::default()).unwrap();
    let mut graph = import(&bytes, "quantised", &Default::default()).unwrap();
    passes::run_for(&mut graph, &Default::default()).unwrap();
    graph
}

/// What computes in floats, between the edges of a graph.
fn floats(graph: &Graph) -> Vec<String> {
    let between = |op: &Op| !matches!(op, Op::Quantize { .. } | Op::Dequantize {});
    let float = |id| graph.ty(id).dtype == DType::F32;
    let left = graph.nodes().filter(|(_, node)| between(&node.op) && float(node.result));
    left.map(|(_, node)| format!("{} {}", node.op.name(), graph.value(node.result).label())).collect()
}

/// In dB.
fn ratio(float: &[Vec<f32>], other: &[Vec<f32>]) -> f64 {
    let (mut signal, mut noise) = (0.0, 0.0);
    for (x, y) in float.iter().flatten().zip(other.iter().flatten()) {
        signal += f64::from(*x).powi(2);
        noise += f64::from(x - y).powi(2);
    }
    10.0 * (signal / noise).log10()
}

fn quantised(graph: &Graph, samples: &[Vec<Data>], settings: &Settings) -> Quantised {
    quantize(graph, samples, settings, &|_, _, _| {}).unwrap()
}

const OWN: [&str; 4] = ["autoencoder_f32", "cancer_f32", "residual_f32", "temporal_f32"];

#[test]
fn own_models_keep_what_they_compute() {
    for name in OWN {
        let graph = read(&own(), name);
        let samples = cases(&own(), name, &graph);
        let float = run(&graph, &samples);
        for method in Method::NAMES.map(|name| Method::of_name(name).unwrap()) {
            let settings = Settings { method: Some(method), ..Settings::default() };
            let quantised = quantised(&graph, &samples, &settings);
            let found = ratio(&float, &run(&quantised.graph, &samples));
            println!("{name:<16} {method:?} {found:.1} dB");
            assert!(found > 20.0, "{name} by {method:?}: {found} dB");
            let graph = compiled(&quantised);
            assert_eq!(floats(&graph), [""; 0], "{name}");
            // What is compiled computes what was measured.
            let integers = ratio(&float, &run(&graph, &samples));
            assert!(integers > found - 1.0, "{name}: {found} dB, in integers {integers}");
            assert!(
                samples.len() > 32 || (integers - quantised.snr).abs() < 0.01,
                "{integers} and {}",
                quantised.snr
            );
        }
    }
}

#[test]
fn more_bits_are_better_and_fewer_worse() {
    let graph = read(&own(), "residual_f32");
    let samples = cases(&own(), "residual_f32", &graph);
    let snr = |settings: Settings| quantised(&graph, &samples, &settings).snr;
    let eight = snr(Settings::default());
    assert!(snr(Settings { wide: true, ..Settings::default() }) > eight);
    assert!(snr(Settings { weights: Bits::Four, ..Settings::default() }) < eight);
    assert!(snr(Settings { per_channel: false, ..Settings::default() }) < eight + 1.0);
}

#[test]
fn layers_fall_back_until_a_budget_is_kept() {
    let graph = read(&own(), "residual_f32");
    let samples = cases(&own(), "residual_f32", &graph);
    let plain = quantised(&graph, &samples, &Settings::default());
    assert!(plain.fallen.is_empty() && plain.layers.iter().all(|layer| layer.precision == Precision::I8));
    let budget = plain.snr + 6.0;
    let better = quantised(&graph, &samples, &Settings { budget_snr: Some(budget), ..Settings::default() });
    assert!(better.snr >= budget && better.first_snr == plain.snr && !better.fallen.is_empty());
    for layer in &better.layers {
        assert_eq!(better.fallen.contains(&layer.number), layer.precision != Precision::I8, "{layer:?}");
    }
    // Those named stay in floats; of the others, none.
    let first = plain.layers[0].clone();
    let kept = Settings { keep_float: vec![first.number.to_string()], ..Settings::default() };
    let kept = quantised(&graph, &samples, &kept);
    assert_eq!(kept.layers[0].precision, Precision::Float);
    let none = Settings { keep_float: vec!["none".into()], ..Settings::default() };
    let error = quantize(&graph, &samples, &none, &|_, _, _| {}).unwrap_err().to_string();
    assert!(error.contains("no such layer") && error.contains(&first.name), "{error}");
}

#[test]
fn what_cannot_be_calibrated_is_said() {
    let graph = read(&own(), "cancer_f32");
    let mut samples = cases(&own(), "cancer_f32", &graph);
    let error = |samples: &[Vec<Data>]| {
        quantize(&graph, samples, &Settings::default(), &|_, _, _| {}).unwrap_err().to_string()
    };
    assert!(error(&[]).contains("no sample"));
    assert!(error(&[vec![Data::from_f32(&[1.0])]]).contains("4 bytes"));
    let count = samples[1][0].bytes().len() / 4;
    samples[1][0] = Data::from_f32(&vec![f32::NAN; count]);
    assert!(error(&samples).contains("sample 1") && error(&samples).contains("finite"));
    let integers = read(&own(), "cancer_int8");
    let given = cases(&own(), "cancer_int8", &integers);
    let refusal = quantize(&integers, &given, &Settings::default(), &|_, _, _| {}).unwrap_err().to_string();
    assert!(refusal.contains("no layer of floats"), "{refusal}");
    let wrong = samples_error("cancer_f32", "autoencoder_f32");
    assert!(wrong.contains("its shape is"), "{wrong}");
}

fn samples_error(model: &str, golden: &str) -> String {
    let graph = read(&own(), model);
    format!("{:#}", samples(&graph, &own().join(format!("golden/{golden}.npz"))).unwrap_err())
}

#[test]
fn inputs_and_outputs_can_be_integers() {
    let graph = read(&own(), "residual_f32");
    let samples = cases(&own(), "residual_f32", &graph);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [floats, integers] = [false, true].map(|integers| {
        let output = Output { path: folder.join(format!("residual_{integers}.onnx")), integers };
        let settings = Settings { method: Some(Method::MinMax), ..Settings::default() };
        let (model, npz) = (own().join("tflite/residual_f32.tflite"), own().join("golden/residual_f32.npz"));
        let none = Progress::default();
        let report = quantize_file(&model, &npz, &Default::default(), &settings, &output, &none).unwrap();
        assert_eq!(report.integers.len(), if integers { 2 } else { 0 });
        assert_eq!(report.text().contains("int8, scale"), integers, "{}", report.text());
        import(&std::fs::read(&output.path).unwrap(), "residual", &Default::default()).unwrap()
    });
    let name = |graph: &Graph, id| graph.value(id).name.clone();
    let (x, y) = (integers.inputs[0], integers.outputs[0]);
    assert_eq!((integers.ty(x).dtype, integers.ty(y).dtype), (DType::I8, DType::I8));
    assert_eq!(name(&integers, x), name(&floats, floats.inputs[0]));
    assert_eq!(name(&integers, y), name(&floats, floats.outputs[0]));
    // The same numbers.
    let float = |ty: &Type| Type::plain(DType::F32, ty.shape.dims());
    for (sample, wanted) in samples.iter().zip(run(&floats, &samples)) {
        let ty = integers.ty(x);
        let stored =
            eval(&Op::Quantize { rounding: Rounding::Even }, &[(&float(ty), &sample[0])], ty).unwrap();
        let result = Machine::new(&integers).run(&[stored]).unwrap().remove(0);
        let (scale, zero) = (f32::from(1u8) / 256.0, -128);
        let found: Vec<f32> = result.to_i8().iter().map(|&y| scale * (i32::from(y) - zero) as f32).collect();
        assert_eq!(found, wanted);
    }
}

/// Samples are consecutive calls. States become inputs and outputs of the file, and states again by the option.
#[test]
fn states_are_quantised_with_what_is_computed_from_them() {
    let path = own().join("torch/stream.pt2");
    let graph = import(&std::fs::read(&path).unwrap(), "stream", &Default::default()).unwrap();
    let mut seed = 7u32;
    let mut noise = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let mut sample = || vec![Data::from_f32(&[noise(), noise(), noise()])];
    let calibration: Vec<_> = (0..200).map(|_| sample()).collect();
    // The mean begins with a half.
    let refused =
        quantize(&graph, &calibration, &Settings::default(), &|_, _, _| {}).unwrap_err().to_string();
    assert!(refused.contains("\"mean\"") && refused.contains("begin with zeros"), "{refused}");

    let mut zeros = graph.clone();
    zeros.states.iter_mut().for_each(|state| state.init = Data::new(vec![0; state.init.bytes().len()]));
    let quantised = quantised(&zeros, &calibration, &Settings::default());
    assert_eq!(quantised.states.len(), 3);
    let bytes = write::onnx(&quantised.graph, &write::Settings::default()).unwrap();
    let options = kiln_codegen::Options { states: quantised.states.clone(), ..Default::default() };
    let mut compiled = import(&bytes, "stream", &options).unwrap();
    passes::run_for(&mut compiled, &options).unwrap();
    assert_eq!((compiled.inputs.len(), compiled.outputs.len(), compiled.states.len()), (1, 1, 3));
    // What convolutions remember is kept as integers.
    let kept = compiled.states.iter().filter(|state| compiled.ty(state.current).dtype == DType::I8).count();
    assert!(kept >= 2, "{compiled}");
    let unseen: Vec<_> = (0..100).map(|_| sample()).collect();
    let ratio = ratio(&run(&zeros, &unseen), &run(&compiled, &unseen));
    assert!(ratio > 20.0, "{ratio} dB");
    let calls = quantised.calls.unwrap();
    assert!(
        (calls - ratio).abs() < 3.0,
        "{calls} dB over the calibration set, {ratio} dB over other samples"
    );
}
