//! What users read when a model is refused.

use crate::tflite::testing::{op, Element, ModelBuilder, Options, Tensor};
use crate::{read, tflite};

fn message(model: &ModelBuilder) -> String {
    read(&model.build(), "model").unwrap_err().to_string()
}

fn float(dims: &[i32]) -> Tensor {
    Tensor::new(Element::Float32, dims)
}

#[test]
fn everything_in_the_way_is_listed_with_the_way_out() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", float(&[1, 4]));
    let mut last = x;
    for i in 0..3 {
        let y = m.value(&format!("unique{i}"), float(&[1, 4]));
        m.operator(op::UNIQUE, Options::none(), &[last], &[y]);
        last = y;
    }
    let custom = m.value("custom", float(&[1, 4]));
    m.custom("MySpecialOp", &[last], &[custom]);
    let out = m.value("out", float(&[1, 4]));
    m.operator(op::ADD, Options::add(4), &[custom, x], &[out]);
    m.outputs(&[out]);
    assert_eq!(
        message(&m),
        "this model cannot be compiled:
  - operator 0 UNIQUE \"unique0\": this operator cannot be compiled (float32[1, 4] → float32[1, 4]); the same applies to operators 1, 2
    help: replace it with supported operators, or move the computation out of the model
  - operator 3 CUSTOM:MySpecialOp \"custom\": no function is given for this custom operator (float32[1, 4] → float32[1, 4])
    help: name a function of yours that computes it: custom_op(\"MySpecialOp\", crate::kernels::my_op)
  - operator 4 ADD \"out\": a fused TANH activation cannot be compiled
    help: make the activation a separate operator"
    );
}

#[test]
fn constants_that_are_compressed_are_not_misread() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", float(&[1, 4]));
    m.outputs(&[x]);
    m.metadata("min_runtime_version");
    assert!(read(&m.build(), "model").is_ok());
    m.metadata("COMPRESSION_METADATA");
    assert!(message(&m).contains("its constants are compressed"), "{}", message(&m));
}

#[test]
fn hybrid_models_want_symmetric_weights() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", float(&[1, 2]));
    let w = m.constant("w", Tensor::new(Element::Int8, &[1, 2]).quantized(0.1, 7), &[1, 2]);
    let y = m.value("y", float(&[1, 1]));
    m.operator(op::FULLY_CONNECTED, Options::fully_connected(0), &[x, w, -1], &[y]);
    m.outputs(&[y]);
    let message = message(&m);
    assert!(message.contains("its weights int8[1, 2] are not symmetric"), "{message}");
    assert!(message.contains("convert the model again"), "{message}");
}

#[test]
fn open_dimensions_other_than_the_batch_are_listed() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", float(&[1, 1, 3, 1]).signature(&[-1, -1, 3, -1]));
    m.outputs(&[x]);
    assert!(
        message(&m).contains("input 0 \"x\": the sizes of axes [1, 3] of its shape [1, ?, 3, ?] are open")
    );

    let mut m = ModelBuilder::new();
    let x = m.input("x", float(&[1, 3]).signature(&[-1, 3]));
    m.outputs(&[x]);
    assert_eq!(read(&m.build(), "model").unwrap().ty(kiln_ir::ValueId(0)).shape.dims(), [1, 3]);
}

#[test]
fn contradictions_have_a_place() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", float(&[1, 4]));
    let w = m.constant("weights", float(&[3, 4]), &[0; 40]);
    let y = m.value("y", float(&[1, 3]));
    m.operator(op::FULLY_CONNECTED, Options::fully_connected(0), &[x, w, -1], &[y]);
    m.outputs(&[y]);
    assert_eq!(
        message(&m),
        "not a readable model: operator 0 FULLY_CONNECTED \"y\": constant \"weights\" has 40 bytes, expected 48\n    \
         help: the file is damaged or cut short: copy or export it again"
    );

    let mut m = ModelBuilder::new();
    let (x, y) = (m.input("x", float(&[1, 4])), m.value("y", float(&[1, 4])));
    m.operator(op::ADD, Options::add(0), &[x, y], &[y]);
    m.outputs(&[y]);
    assert!(message(&m).contains("operator 0 ADD \"y\": tensor 1 \"y\" is used before it is computed"));

    let mut m = ModelBuilder::new();
    let (x, y) = (m.input("x", float(&[1, 4])), m.value("y", float(&[1, 5])));
    m.operator(op::TANH, Options::none(), &[x], &[y]);
    m.outputs(&[y]);
    assert!(message(&m)
        .contains("the file says that result 0 has shape [1, 5], but the operator computes [1, 4]"));
}

#[test]
fn a_tensor_larger_than_any_memory_is_refused() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", float(&[1, 65536, 65536, 1024]));
    m.outputs(&[x]);
    assert!(message(&m).contains("larger than"));
    let mut m = ModelBuilder::new();
    let x = m.input("x", Tensor::new(Element::Int8, &[i32::MAX; 5]).quantized(1.0, 0));
    m.outputs(&[x]);
    assert!(message(&m).contains("larger than"));
}

#[test]
fn inspection_works_without_compilation() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", Tensor::new(Element::Float16, &[1, 4]).signature(&[-1, 4]));
    let y = m.value("y", float(&[1, 4]));
    m.custom("Mystery", &[x, -1], &[y]);
    m.outputs(&[y]);
    let summary = crate::inspect(&m.build()).unwrap();
    assert_eq!((summary.inputs[0].element.as_str(), &*summary.inputs[0].dims), ("float16", &[-1, 4][..]));
    let operator = &summary.operators[0];
    assert_eq!((operator.name.as_str(), operator.is_known), ("CUSTOM:Mystery", false));
    assert!(operator.inputs[1].is_none());
    assert_eq!(summary.description, "written by a test");

    let image = crate::inspect(&tflite::seeds::image()).unwrap();
    // 4·4·4 results of 9 taps twice, and 3 · 16.
    assert_eq!(image.macs, 2 * 64 * 9 + 48);
    assert_eq!(image.weight_bytes, 36 + 16 + 36 + 8 + 48 + 12);
    assert!(image.operators.iter().all(|o| o.is_known));
}

#[test]
fn the_documents_list_the_operators() {
    let page = include_str!("../../../../../docs/operators.md");
    let (_, section) = page.split_once("## What it compiles").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let words: Vec<&str> = section.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    for code in 0..=205 {
        let name = tflite::names::builtin(code);
        assert_eq!(words.contains(&name.as_str()), tflite::lower::is_known(code, &name), "{name}");
    }
}
