//! What operators become, where it is not obvious from the golden vectors.

use crate::read;
use crate::tflite::seeds;
use crate::tflite::testing::{op, Element, ModelBuilder, Options, Tensor};
use kiln_interp::Machine;
use kiln_ir::{Data, Graph, Op, ValueDef};

fn graph(model: &ModelBuilder) -> Graph {
    read(&model.build(), "model").unwrap_or_else(|error| panic!("{error}"))
}

fn int8(dims: &[i32]) -> Tensor {
    Tensor::new(Element::Int8, dims).quantized(0.5, -3)
}

fn ops(graph: &Graph) -> Vec<&'static str> {
    graph.nodes().map(|(_, node)| node.op.name()).collect()
}

#[test]
fn a_read_behind_a_write_sees_the_written_value() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", int8(&[2]));
    let handle = m.value("handle", Tensor::new(Element::Resource, &[]));
    m.operator(op::VAR_HANDLE, Options::variable("v"), &[], &[handle]);
    let [before, after] = ["before", "after"].map(|name| m.value(name, int8(&[2])));
    m.operator(op::READ_VARIABLE, Options::none(), &[handle], &[before]);
    m.operator(op::ASSIGN_VARIABLE, Options::none(), &[handle, x], &[]);
    m.operator(op::READ_VARIABLE, Options::none(), &[handle], &[after]);
    m.outputs(&[before, after]);
    let graph = graph(&m);
    assert_eq!(graph.states.len(), 1);
    assert_eq!(graph.states[0].next, graph.inputs[0]);

    let mut machine = Machine::new(&graph);
    let mut run =
        |x: [i8; 2]| machine.run(&[Data::from_i8(&x)]).unwrap().iter().map(Data::to_i8).collect::<Vec<_>>();
    // Never initialised: the zero point.
    assert_eq!(run([1, 2]), [[-3, -3], [1, 2]]);
    assert_eq!(run([5, 6]), [[1, 2], [5, 6]]);
}

#[test]
fn a_variable_that_is_written_first_is_no_state() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", int8(&[2]));
    let handle = m.value("handle", Tensor::new(Element::Resource, &[]));
    m.operator(op::VAR_HANDLE, Options::variable("v"), &[], &[handle]);
    let y = m.value("y", int8(&[2]));
    m.operator(op::ASSIGN_VARIABLE, Options::none(), &[handle, x], &[]);
    m.operator(op::READ_VARIABLE, Options::none(), &[handle], &[y]);
    m.outputs(&[y]);
    let graph = graph(&m);
    assert!(graph.states.is_empty());
    assert_eq!(graph.outputs, graph.inputs);
}

#[test]
fn call_once_sets_the_initial_state() {
    let graph = read(&seeds::stream(), "stream").unwrap();
    let state = &graph.states[0];
    assert_eq!((state.name.as_str(), state.init.to_i8()), ("history", vec![-5; 12]));
    assert_eq!(graph.value(state.next).name, "kept");
    assert_eq!(ops(&graph), ["concat", "slice", "slice", "slice", "mean", "logistic", "mul"]);
}

#[test]
fn shape_computations_are_done_while_reading() {
    let graph = read(&seeds::shapes(), "shapes").unwrap();
    assert_eq!(ops(&graph), ["reshape", "tanh"]);
    assert_eq!(graph.ty(graph.outputs[0]).shape.dims(), [1, 3, 4]);
}

#[test]
fn depthwise_weights_become_ohwi() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", Tensor::new(Element::Float32, &[1, 2, 1, 2]));
    // [1, 2, 1, 4]: channel last.
    let w = m.floats("w", &[1, 2, 1, 4], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    let y = m.value("y", Tensor::new(Element::Float32, &[1, 1, 1, 4]));
    m.operator(op::DEPTHWISE_CONV_2D, Options::depthwise(false, [1, 1], 2, 0), &[x, w, -1], &[y]);
    m.outputs(&[y]);
    let graph = graph(&m);
    let (_, node) = graph.nodes().next().unwrap();
    assert!(matches!(node.op, Op::Conv2d { groups: 2, .. }));
    assert_eq!(graph.ty(node.operands[1]).shape.dims(), [4, 2, 1, 1]);
    let ValueDef::Const(data) = &graph.value(node.operands[1]).def else { panic!("weights are constant") };
    assert_eq!(data.to_f32(), [1.0, 5.0, 2.0, 6.0, 3.0, 7.0, 4.0, 8.0]);
    let y = Machine::new(&graph).run(&[Data::from_f32(&[1.0, 10.0, 100.0, 1000.0])]).unwrap();
    assert_eq!(y[0].to_f32(), [501.0, 602.0, 7030.0, 8040.0]);
}

#[test]
fn a_dense_layer_flattens_its_operand() {
    let graph = read(&seeds::float(), "float").unwrap();
    let list = ops(&graph);
    assert_eq!(&list[list.len() - 2..], ["reshape", "dense"]);
    // Without bias, one reshape to [1, 3] in front.
    let (_, dense) = graph.nodes().last().unwrap();
    assert_eq!(dense.operands.len(), 2);
    assert_eq!(graph.ty(dense.operands[0]).shape.dims(), [1, 3]);
}

#[test]
fn shared_data_is_held_once() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", Tensor::new(Element::Float32, &[1, 2]));
    let w = m.floats("w", &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let [y, z] = ["y", "z"].map(|name| m.value(name, Tensor::new(Element::Float32, &[1, 2])));
    m.operator(op::FULLY_CONNECTED, Options::fully_connected(0), &[x, w, -1], &[y]);
    m.operator(op::FULLY_CONNECTED, Options::fully_connected(0), &[y, w, -1], &[z]);
    m.outputs(&[z]);
    let graph = graph(&m);
    let weights: Vec<_> = graph.nodes().map(|(_, node)| node.operands[1]).collect();
    assert_eq!(weights[0], weights[1]);
}

#[test]
fn nearly_equal_quantisation_is_carried_by_a_reshape() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", Tensor::new(Element::Int8, &[1, 2, 2, 1]).quantized(0.5, -3));
    let y = m.value("y", Tensor::new(Element::Int8, &[1, 1, 1, 1]).quantized(0.500_000_1, -3));
    m.operator(op::MAX_POOL_2D, Options::pool(false, 2, 2), &[x], &[y]);
    m.outputs(&[y]);
    let near = graph(&m);
    assert_eq!(ops(&near), ["max_pool2d", "reshape"]);
    assert_eq!(near.ty(near.outputs[0]).scale(), Some(0.500_000_1));
    kiln_ir::verify::verify(&near).unwrap();
}
