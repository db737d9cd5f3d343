//! Quantised ONNX models: what ONNX Runtime gives for them, to the bit where they say how integers are rounded, within a bound where they are floats between integers.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::golden::Golden;
use cargo_kiln::place::Place;
use kiln_codegen::ir::{DType, Data, Graph};
use kiln_codegen::select::Call;
use kiln_codegen::{Options, Qdq};
use kiln_host_tests::{assert_generated_as_interpreted, corpus_folder};
use kiln_kernel_table::{Arithmetic, Isa, KernelId, Op};
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

/// They get the kernels that TFLite's layers get: their factors in floats have exact cheap forms. And so do floats between integers.
#[test]
fn quantised_layers_are_fast() {
    for name in ["micro_kws_qop", "micro_kws_qdq"] {
        let Some((path, _)) = corpus(name) else { return };
        let place = Place::find("qemu-cortex-m4").unwrap();
        let compiled = kiln_codegen::compile_file(&path, &place.options(&Options::default())).unwrap();
        let kernels: Vec<KernelId> = compiled.program.calls.iter().filter_map(Call::kernel).collect();
        for op in [Op::Conv, Op::Dense, Op::Pairs] {
            assert!(kernels.iter().any(|k| k.op() == op && k.isa() == Isa::Dsp), "{op:?} in {kernels:?}");
        }
        let slow = |kernel: &KernelId| match kernel.arithmetic() {
            Some(Arithmetic::Reference) => kernel.isa() == Isa::Dsp,
            arithmetic => arithmetic == Some(Arithmetic::Floats),
        };
        assert!(!kernels.iter().any(slow), "{kernels:?}");
    }
}

/// What ONNX's rounding needs of kernels, as the interpreter has it: factors that halve have no cheap form, others have one.
#[test]
fn generated_code() {
    let image = "i8[1,5,6,8] q(0.05 : 3)";
    let splat = |pattern: &str, count: usize| -> String {
        let numbers: Vec<&str> = pattern.split(' ').cycle().take(count).collect();
        numbers.join(", ")
    };
    let (dense, depthwise) = (splat("5 -7 11 64 -128 1 90", 64), splat("3 -9 127", 72));
    let mut lines = format!(
        "input %x: {image}
         input %z: i8[1,5,6,8] q(0.02 : -30)
         input %f: f32[1,5,6,8]
         const %w: i8[8,1,1,8] q(0.01 : 0) = [{dense}]
         const %v: i8[8,3,3,1] q(0.01 : 0) = [{depthwise}]
         const %u: i16[8,1,1,8] q(0.01 : 0) = [{dense}]
         const %m: i8[8,8] q(0.01 : 0) = [{dense}]
         const %b: i32[8] = [100, -2000, 3, 0, 77, 1500, -1, 9]\n"
    );
    let mut outputs = Vec::new();
    for (k, by) in ["0.0078125", "0.0061"].into_iter().enumerate() {
        let ops = [
            ("conv2d(%x, %w, %b) {window = [1, 1], groups = 1", "1,5,6,8"),
            ("conv2d(%x, %v, %b) {window = [3, 3] pad [1, 1, 1, 1], groups = 8", "1,5,6,8"),
            ("conv2d(%x, %u, %b) {window = [1, 1], groups = 1", "1,5,6,8"),
            ("dense(%x, %m, %b) {", "1,5,6,8"),
            ("mean(%x) {axes = [1, 2]", "1,1,1,8"),
            ("matmul(%x, %z) {", "1,5,6,6"),
        ];
        for (i, (op, dims)) in ops.into_iter().enumerate() {
            let comma = if op.ends_with('{') { "" } else { ", " };
            lines += &format!(
                "%y{k}{i}: i8[{dims}] q(0.1 : -5) = {op}{comma}rescale = float [{by}], clamp = -128..=127}}\n"
            );
            outputs.push(format!("%y{k}{i}"));
        }
        lines += &format!(
            "%p{k}: {image} = mul(%x, %z) {{rescale = float_sum {by} plus 131, clamp = -128..=127}}
             %s{k}: {image} = add(%x, %z) {{rescale = float (x 0.5, y {by}, constant 3.5, offset 128), clamp = -100..=127}}\n"
        );
        outputs.extend([format!("%p{k}"), format!("%s{k}")]);
    }
    for (name, ty, rounding) in [
        ("qa", "i8[1,5,6,8] q(0.25 : 3)", "even"),
        ("qb", "i16[1,5,6,8] q(0.25 : 0)", "even"),
        ("qc", "i8[1,5,6,8] q(0.25 : 3)", "even_sum 131"),
    ] {
        lines += &format!("%{name}: {ty} = quantize(%f) {{rounding = {rounding}}}\n");
        outputs.push(format!("%{name}"));
    }
    let text = format!("graph \"rounding\" {{\n{lines}return {}\n}}", outputs.join(", "));
    let graph = Graph::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let bytes = |seed: u32| {
        let noise = (0..240u32).map(move |i| (i.wrapping_mul(2_654_435_761).wrapping_add(seed) >> 13) as i8);
        noise.collect::<Vec<i8>>()
    };
    // Eighths: many of them are halves of a step.
    let floats: Vec<f32> = bytes(5).iter().map(|&byte| f32::from(byte) / 8.0).collect();
    let case = [Data::from_i8(&bytes(1)), Data::from_i8(&bytes(9)), Data::from_f32(&floats)];
    assert_generated_as_interpreted(&graph, &case, &["host", "qemu-cortex-m4", "qemu-cortex-m0"]);
}

/// Single operators over random shapes and scales, half of them with ties: `models/make_onnx_quantised.py` writes them.
#[test]
fn single_operators() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("models/onnx_quantised");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut models: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|e| e == "onnx")).collect();
    models.sort();
    let mut wrong = Vec::new();
    for path in &models {
        let golden = Golden::read(&path.with_extension("npz")).unwrap();
        let worst = difference(path, &golden, Qdq::Float, "interp", 1.0);
        if worst != 0.0 {
            wrong.push(format!("{}: {worst}", path.display()));
        }
    }
    assert!(wrong.is_empty() && models.len() > 30, "{wrong:#?}");
}
