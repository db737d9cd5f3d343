//! DEQUANTIZE of float16 constants: another name of the constant.

use crate::read;
use crate::tflite::testing::{op, Element, ModelBuilder, Options, Tensor};

fn half(m: &mut ModelBuilder) -> i32 {
    m.constant("half", Tensor::new(Element::Float16, &[1, 2]), &[0, 0x3c, 0, 0xc0])
}

fn whole(m: &mut ModelBuilder) -> i32 {
    m.constant("whole", Tensor::new(Element::Float32, &[1]), &[0; 4])
}

fn dequantize(m: &mut ModelBuilder, from: i32, to: i32) {
    m.operator(op::DEQUANTIZE, Options::none(), &[from], &[to]);
}

#[test]
fn names_of_names_are_names_of_the_constant() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", Tensor::new(Element::Float32, &[1, 2]));
    let mut last = half(&mut m);
    for _ in 0..20_000 {
        let next = m.value("wide", Tensor::new(Element::Float32, &[1, 2]));
        dequantize(&mut m, last, next);
        last = next;
    }
    let y = m.value("y", Tensor::new(Element::Float32, &[1, 2]));
    m.operator(op::ADD, Options::add(0), &[x, last], &[y]);
    m.outputs(&[y]);
    let graph = read(&m.build(), "names").unwrap();
    assert_eq!(graph.nodes().count(), 1);
}

#[test]
fn a_constant_is_no_name_of_another() {
    let mut m = ModelBuilder::new();
    let (a, b) = (whole(&mut m), whole(&mut m));
    dequantize(&mut m, a, b);
    dequantize(&mut m, b, a);
    m.outputs(&[a]);
    let message = read(&m.build(), "circle").unwrap_err().to_string();
    assert!(message.contains("operator 0 DEQUANTIZE") && message.contains("is a constant"), "{message}");
    let mut m = ModelBuilder::new();
    let a = whole(&mut m);
    dequantize(&mut m, a, a);
    m.outputs(&[a]);
    assert!(read(&m.build(), "itself").is_err());
}
