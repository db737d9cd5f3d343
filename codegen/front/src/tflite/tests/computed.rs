//! Weights and biases that are computed at run time or stored as integers, and values without elements.

use crate::read;
use crate::tflite::testing::{op, Element, ModelBuilder, Options, Table, Tensor};
use kiln_interp::Machine;
use kiln_ir::{DType, Data, Graph};

const SLICE: i32 = 65;
const PAD: i32 = 34;
const REDUCE_MAX: i32 = 82;

fn graph(model: &ModelBuilder) -> Graph {
    let graph = read(&model.build(), "model").unwrap_or_else(|error| panic!("{error}"));
    kiln_ir::verify::verify(&graph).unwrap();
    graph
}

fn ops(graph: &Graph) -> Vec<&'static str> {
    graph.nodes().map(|(_, node)| node.op.name()).collect()
}

fn float(dims: &[i32]) -> Tensor {
    Tensor::new(Element::Float32, dims)
}

fn int8(dims: &[i32]) -> Tensor {
    Tensor::new(Element::Int8, dims).quantized(0.5, 0)
}

fn message(model: &ModelBuilder) -> String {
    read(&model.build(), "model").unwrap_err().to_string()
}

#[test]
fn a_product_with_computed_weights_is_one_of_matrices() {
    let mut m = ModelBuilder::new();
    let (x, w, b) = (m.input("x", float(&[1, 2])), m.input("w", float(&[2, 2])), m.input("b", float(&[2])));
    let y = m.value("y", float(&[1, 2]));
    m.operator(op::FULLY_CONNECTED, Options::fully_connected(1), &[x, w, b], &[y]);
    m.outputs(&[y]);
    let graph = graph(&m);
    assert_eq!(ops(&graph), ["matmul", "add"]);
    let inputs = [&[1.0f32, 2.0][..], &[1.0, 1.0, 2.0, -3.0], &[0.5, 1.0]].map(Data::from_f32);
    assert_eq!(Machine::new(&graph).run(&inputs).unwrap()[0].to_f32(), [3.5, 0.0]);
}

/// Kernels of FULLY_CONNECTED take the zero point of int8 weights off, and those of convolutions do not.
#[test]
fn zero_points_of_weights_count_where_kernels_know_them() {
    let of_weights = |dims: &[i32]| Tensor::new(Element::Int8, dims).quantized(1.0, 3);
    let of_bias = Tensor::new(Element::Int32, &[1]).quantized(0.5, 0);
    for (constant, code, expected) in [
        (false, op::FULLY_CONNECTED, 2),
        (true, op::FULLY_CONNECTED, 2),
        (false, op::CONV_2D, 8),
        (true, op::CONV_2D, 8),
    ] {
        let image = code == op::CONV_2D;
        let dims: &[i32] = if image { &[1, 1, 1, 1] } else { &[1, 1] };
        let mut m = ModelBuilder::new();
        let x = m.input("x", int8(dims));
        let w = match constant {
            true => m.constant("w", of_weights(dims), &[4]),
            false => m.input("w", of_weights(dims)),
        };
        let b = m.input("b", of_bias.clone());
        let y = m.value("y", int8(dims));
        let options = if image { Options::conv(true, [1, 1], 0) } else { Options::fully_connected(0) };
        m.operator(code, options, &[x, w, b], &[y]);
        m.outputs(&[y]);
        let graph = graph(&m);
        assert!(ops(&graph).contains(&"computed_conv2d"), "{:?}", ops(&graph));
        let mut inputs = vec![Data::from_i8(&[2])];
        inputs.extend((!constant).then(|| Data::from_i8(&[4])));
        inputs.push(Data::from_i32(&[0]));
        assert_eq!(Machine::new(&graph).run(&inputs).unwrap()[0].to_i8(), [expected], "{code} {constant}");
    }
}

/// So do those of int16 activations, however wide the bias is.
#[test]
fn zero_points_of_weights_count_beside_int16() {
    for (constant, bias) in [(true, None), (false, None), (true, Some(4)), (false, Some(4)), (false, Some(8))]
    {
        let of_weights = Tensor::new(Element::Int8, &[1, 1]).quantized(1.0, 127);
        let int16 = || Tensor::new(Element::Int16, &[1, 1]).quantized(1.0, 0);
        let mut m = ModelBuilder::new();
        let x = m.input("x", int16());
        let w = match constant {
            true => m.constant("w", of_weights, &[74]),
            false => m.input("w", of_weights),
        };
        let mut operands = vec![x, w];
        if let Some(bytes) = bias {
            let element = if bytes == 8 { Element::Int64 } else { Element::Int32 };
            let zeros = vec![0; bytes];
            operands.push(m.constant("b", Tensor::new(element, &[1]).quantized(1.0, 0), &zeros));
        }
        let y = m.value("y", int16());
        m.operator(op::FULLY_CONNECTED, Options::fully_connected(0), &operands, &[y]);
        m.outputs(&[y]);
        let mut inputs = vec![Data::from_i16(&[-10])];
        inputs.extend((!constant).then(|| Data::from_i8(&[74])));
        let found = Machine::new(&graph(&m)).run(&inputs).unwrap();
        assert_eq!(found[0].to_ints(DType::I16), [530], "{constant} {bias:?}");
    }
}

#[test]
fn weights_behind_a_dequantize_are_floats() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", float(&[1, 1, 1, 2]));
    let stored = Tensor::new(Element::Int8, &[1, 1, 1, 2]).per_channel(&[0.5, 2.0], &[0, 0], 3);
    let stored = m.constant("stored", stored, &[3, 5]);
    let w = m.value("w", float(&[1, 1, 1, 2]));
    m.operator(op::DEQUANTIZE, Options::none(), &[stored], &[w]);
    let y = m.value("y", float(&[1, 1, 1, 2]));
    m.operator(op::DEPTHWISE_CONV_2D, Options::depthwise(true, [1, 1], 1, 0), &[x, w], &[y]);
    m.outputs(&[y]);
    let graph = graph(&m);
    assert_eq!(ops(&graph), ["conv2d"]);
    let y = Machine::new(&graph).run(&[Data::from_f32(&[2.0, 3.0])]).unwrap();
    assert_eq!(y[0].to_f32(), [3.0, 30.0]);
}

/// A slice of `rows` rows from `begin` on.
fn slice(m: &mut ModelBuilder, x: i32, begin: i32, rows: i32) -> i32 {
    let y = m.value(&format!("rows {begin}"), int8(&[rows, 2]));
    let (begin, size) = (m.ints("begin", &[begin, 0]), m.ints("size", &[rows, 2]));
    m.operator(SLICE, Options::none(), &[x, begin, size], &[y]);
    y
}

#[test]
fn values_without_elements_vanish() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", int8(&[2, 2]));
    let (none, rest) = (slice(&mut m, x, 0, 0), slice(&mut m, x, 2, 0));
    let y = m.value("y", int8(&[2, 2]));
    m.operator(op::CONCATENATION, Options::concatenation(0), &[none, x, rest], &[y]);
    let padded = m.value("padded", int8(&[1, 2]));
    let amounts = [[0, 0, 0, 0, 1, 0, 0, 0], [0u8; 8]].concat();
    let amounts = m.constant("amounts", Tensor::new(Element::Int32, &[2, 2]), &amounts);
    m.operator(PAD, Options::none(), &[none, amounts], &[padded]);
    m.outputs(&[y, padded]);
    let graph = graph(&m);
    assert_eq!(ops(&graph), [""; 0]);
    assert_eq!(graph.outputs[0], graph.inputs[0]);
    let y = Machine::new(&graph).run(&[Data::from_i8(&[1, 2, 3, 4])]).unwrap();
    assert_eq!((y[0].to_i8(), y[1].to_i8()), (vec![1, 2, 3, 4], vec![0, 0]));
}

#[test]
fn interfaces_have_elements() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", int8(&[2, 2]));
    let none = slice(&mut m, x, 0, 0);
    m.outputs(&[none]);
    let text = message(&m);
    assert!(text.contains("an output of shape [0, 2] has no elements"), "{text}");

    let mut m = ModelBuilder::new();
    let x = m.input("x", float(&[0, 2]));
    let y = m.value("y", float(&[0, 2]));
    m.operator(op::RELU, Options::none(), &[x], &[y]);
    m.outputs(&[y]);
    let text = message(&m);
    assert!(text.contains("an input of shape [0, 2] has no elements"), "{text}");

    let mut m = ModelBuilder::new();
    let x = m.input("x", int8(&[2, 2]));
    let none = slice(&mut m, x, 0, 0);
    let y = m.value("y", int8(&[1, 2]));
    let axes = m.ints("axes", &[0]);
    m.operator(REDUCE_MAX, Options::table(27, Table::new().with(0, true)), &[none, axes], &[y]);
    m.outputs(&[y]);
    let text = message(&m);
    assert!(text.contains("its operand has no elements"), "{text}");
}
