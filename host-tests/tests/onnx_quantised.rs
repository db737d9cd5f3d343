//! Quantised ONNX models: what ONNX Runtime gives for them, to the bit where they say how integers are rounded, within a bound where they are floats between integers.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::golden::Golden;
use cargo_kiln::place::Place;
use kiln_codegen::ir::{DType, Data};
use kiln_codegen::{Options, Qdq};
use kiln_host_tests::corpus_folder;
use std::path::PathBuf;

/// The files of the corpus with their golden outputs, if there is a corpus.
fn corpus(name: &str) -> Option<(PathBuf, Golden)> {
    let Some(folder) = corpus_folder() else {
        println!("KILN_CORPUS is not set: {name} was not compared");
        return None;
    };
    let golden = Golden::read(&folder.join("golden").join(name).with_extension("npz")).unwrap();
    Some((folder.join("onnx").join(name).with_extension("onnx"), golden))
}

/// The largest difference of any output of a model at a place; of floats in units of `step`.
fn difference(path: &PathBuf, golden: &Golden, qdq: Qdq, place: &str, step: f64) -> f64 {
    let name_of_place = place;
    let place = Place::find(place).unwrap();
    let options = place.options(&Options { qdq, ..Options::default() });
    let bytes = std::fs::read(path).unwrap();
    let name = kiln_codegen::model_name(path);
    let compiled =
        kiln_codegen::compile(&bytes, &name, &options).unwrap_or_else(|error| panic!("{name}: {error}"));
    let results = place.run(&compiled.graph, &compiled, &golden.inputs).unwrap();
    assert_eq!(results.len(), golden.outputs.len());
    let mut worst = 0f64;
    for (actual, expected) in results.iter().zip(&golden.outputs) {
        for ((actual, expected), &id) in actual.iter().zip(expected).zip(&compiled.graph.outputs) {
            let dtype = compiled.graph.ty(id).dtype;
            let (actual, expected) = (numbers(dtype, actual), numbers(dtype, expected));
            assert_eq!(actual.len(), expected.len());
            let unit = if dtype == DType::F32 { step } else { 1.0 };
            for (a, b) in actual.iter().zip(&expected) {
                worst = worst.max((a - b).abs() / unit);
            }
        }
    }
    println!("{name} ({qdq:?}) on {name_of_place}: {worst}");
    worst
}

fn numbers(dtype: DType, data: &Data) -> Vec<f64> {
    match dtype {
        DType::F32 => data.to_f32().into_iter().map(f64::from).collect(),
        _ => data.to_ints(dtype).into_iter().map(|x| x as f64).collect(),
    }
}

/// In steps of the result. As floats a model may differ where sums, which ONNX Runtime adds in another order, lie next to the middle between two stored values; as integers
/// each layer may differ by one step, and layers behind it see that.
#[test]
fn floats_between_integers() {
    let models = [("micro_kws_qdq", 2.01, 4.01), ("micro_kws_dequantized", 0.0, 0.0)];
    for (name, float, integers) in models {
        let Some((path, golden)) = corpus(name) else { return };
        for (qdq, bound) in [(Qdq::Float, float), (Qdq::Integers, integers)] {
            let worst = difference(&path, &golden, qdq, "host", 1.0 / 255.0);
            assert!(worst <= bound, "{name} {qdq:?}: {worst}");
        }
    }
}

/// Operators on quantised tensors give ONNX Runtime's integers; the floats behind them are softmaxes, or the integers times their scale.
#[test]
fn quantised_operators() {
    let models = ["micro_kws_qop", "micro_kws_qop_emx", "micro_kws_qop_emx123", "micro_kws_qop_tvm"];
    for name in models {
        let Some((path, golden)) = corpus(name) else { return };
        for place in ["interp", "host", "qemu-cortex-m4"] {
            let worst = difference(&path, &golden, Qdq::Float, place, 1.0);
            assert!(worst <= 1e-6, "{name} on {place}: {worst}");
        }
    }
}

/// They get the kernels that TFLite's layers get: their factors in floats have exact cheap forms.
#[test]
fn quantised_operators_are_fast() {
    let Some((path, _)) = corpus("micro_kws_qop") else { return };
    let place = Place::find("qemu-cortex-m4").unwrap();
    let compiled = kiln_codegen::compile_file(&path, &place.options(&Options::default())).unwrap();
    let kernels: Vec<&str> = compiled.program.calls.iter().map(|call| call.kernel).collect();
    for kernel in ["conv2d_i8_dsp", "dense_i8_dsp", "add_i8_dsp"] {
        assert!(kernels.iter().any(|name| name.starts_with(kernel)), "{kernel} in {kernels:?}");
    }
    assert!(!kernels.iter().any(|name| name.ends_with("_float") || name.ends_with("_exact")), "{kernels:?}");
}
