//! TensorFlow Lite models through the doors of the compiler.

use kiln_codegen::front::tflite::seeds::two_open_inputs as two;
use kiln_codegen::front::tflite::testing::{op, Element, ModelBuilder, Options, Tensor};
use kiln_codegen::{compile, include_model, Error, Options as Settings};
use quote::quote;

#[test]
fn the_macro_takes_shapes_in_both_forms() {
    let path = std::env::temp_dir().join(format!("kiln-open-shapes-{}.tflite", std::process::id()));
    std::fs::write(&path, two()).unwrap();
    let file = path.to_str().unwrap();
    let by_call = quote!(Model = #file, input_shape("audio", [1, 7]));
    let by_text = quote!(Model = #file, input_shape = "audio=[1, 7]");
    let expand = |arguments| include_model(arguments, std::path::Path::new("/")).map(|code| code.to_string());
    let code = expand(by_call).unwrap();
    assert!(code.contains("shape : & [1 , 11]") || code.contains("shape : & [1usize , 11usize]"), "{code}");
    assert_eq!(code, expand(by_text).unwrap());
    let message = expand(quote!(Model = #file, input_shape("audio", [1, 0]))).unwrap_err().to_string();
    assert!(message.contains("`audio=[1 , 0]` is not a value"), "{message}");
    std::fs::remove_file(path).unwrap();
}

/// What is refused does not hide what is refused behind it, and what stands for a refused result adds nothing.
#[test]
fn operators_behind_refused_ones_are_listed_too() {
    const NEG: i32 = 59;
    let int16 = || Tensor::new(Element::Int16, &[1, 4]).quantized(0.5, 0);
    let mut m = ModelBuilder::new();
    let x = m.input("x", int16());
    let unique = m.value("unique", int16());
    m.operator(op::UNIQUE, Options::none(), &[x], &[unique]);
    let sum = m.value("sum", int16());
    m.operator(op::ADD, Options::add(0), &[unique, x], &[sum]);
    let negative = m.value("negative", int16());
    m.operator(NEG, Options::none(), &[sum], &[negative]);
    // A shape that a refused operator computes would be refused for being no constant.
    let shape = m.value("shape", Tensor::new(Element::Int32, &[2]));
    m.operator(op::UNIQUE, Options::none(), &[x], &[shape]);
    let reshaped = m.value("reshaped", int16());
    m.operator(op::RESHAPE, Options::none(), &[x, shape], &[reshaped]);
    m.outputs(&[negative, reshaped]);
    let error = compile(&m.build(), "model", &Settings::default()).unwrap_err();
    let Error::Unsupported(problems) = &error else { panic!("{error}") };
    let said = |what: &str| problems.iter().any(|problem| problem.to_string().contains(what));
    assert!(said("operator 0 UNIQUE") && said("2 NEG"), "{error}");
    assert_eq!(problems.len(), 2, "{error}");
}
