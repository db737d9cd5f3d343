//! Quantised models against their float models: ratios of signal to noise, on the project's own models; and beside those of TensorFlow Lite's converter on the
//! models of the folder that `KILN_CORPUS` names.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::quantize::samples;
use kiln_codegen::interp::{eval, Machine};
use kiln_codegen::ir::{DType, Data, Graph, Op, Rounding, Type};
use kiln_codegen::quantize::{quantize, Bits, Method, Precision, Quantised, Settings};
use kiln_codegen::{import, passes, write};
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

/// What computes in floats, between the edges of a graph; a softmax may.
fn floats(graph: &Graph) -> Vec<String> {
    let between = |op: &Op| !matches!(op, Op::Quantize { .. } | Op::Dequantize {} | Op::Softmax { .. });
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
            // The graph computes what was measured.
            let found = ratio(&float, &run(&quantised.graph, &samples));
            println!("{name:<16} {method:?} {found:.1} dB");
            assert!(found > 20.0, "{name} by {method:?}: {found} dB");
            let graph = compiled(&quantised);
            assert_eq!(floats(&graph), [""; 0], "{name}");
            let integers = ratio(&float, &run(&graph, &samples));
            assert!(integers > found - 1.0, "{name}: {found} dB, in integers {integers}");
            assert!(
                samples.len() > 32 || (found - quantised.snr).abs() < 0.01,
                "{found} and {}",
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

/// What TensorFlow Lite's integer model makes of float inputs, in floats.
fn by_converter(graph: &Graph, samples: &[Vec<Data>]) -> Vec<Vec<f32>> {
    let (x, y) = (graph.ty(graph.inputs[0]), graph.ty(graph.outputs[0]));
    let float = |ty: &Type| Type::plain(DType::F32, ty.shape.dims());
    let mut machine = Machine::new(graph);
    let mut answer = |sample: &Vec<Data>| {
        let input = eval(&Op::Quantize { rounding: Rounding::Away }, &[(&float(x), &sample[0])], x).unwrap();
        let output = machine.run(&[input]).unwrap().remove(0);
        eval(&Op::Dequantize {}, &[(y, &output)], &float(y)).unwrap().to_f32()
    };
    samples.iter().map(&mut answer).collect()
}

/// An MLPerf Tiny model of which there are both a float file and the converter's integer one, on the golden inputs.
fn at_least_as_near_as_the_converter(model: &str) {
    let Some(corpus) = std::env::var_os("KILN_CORPUS").map(PathBuf::from) else {
        println!("KILN_CORPUS is not set: nothing is compared with TensorFlow Lite's converter");
        return;
    };
    let name = format!("{model}_f32");
    let graph = read(&corpus, &name);
    let samples = cases(&corpus, &name, &graph);
    let float = run(&graph, &samples);
    let theirs = ratio(&float, &by_converter(&read(&corpus, &format!("{model}_int8")), &samples));
    let quantised = quantised(&graph, &samples, &Settings::default());
    let simulated = ratio(&float, &run(&quantised.graph, &samples));
    let graph = compiled(&quantised);
    assert_eq!(floats(&graph), [""; 0]);
    let ours = ratio(&float, &run(&graph, &samples));
    println!("{model}: {ours:.1} dB in integers, {simulated:.1} simulated; TensorFlow Lite {theirs:.1}");
    assert!(ours >= theirs && simulated >= theirs);
}

#[test]
fn anomaly_detection() {
    at_least_as_near_as_the_converter("mlperf_ad");
}

#[test]
fn image_classification() {
    at_least_as_near_as_the_converter("mlperf_ic");
}

#[test]
fn visual_wake_words() {
    at_least_as_near_as_the_converter("mlperf_vww");
}
