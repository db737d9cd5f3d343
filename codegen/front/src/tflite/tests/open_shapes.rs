//! Sizes that a file leaves open: `input_shape`.

use crate::read_with;
use crate::tflite::seeds::{self, two_open_inputs as two};
use crate::tflite::testing::{op, Element, ModelBuilder, Options, Tensor};
use kiln_interp::Machine;
use kiln_ir::error::Error;
use kiln_ir::options::Options as Settings;
use kiln_ir::{Data, Graph};

fn read(bytes: &[u8], shapes: &[&str]) -> Result<Graph, Error> {
    let mut options = Settings::default();
    shapes.iter().try_for_each(|shape| options.set("input_shape", shape))?;
    read_with(bytes, "model", &options)
}

fn message(bytes: &[u8], shapes: &[&str]) -> String {
    read(bytes, shapes).unwrap_err().to_string()
}

fn dims(graph: &Graph) -> (Vec<Vec<usize>>, Vec<Vec<usize>>) {
    let of = |ids: &[kiln_ir::ValueId]| ids.iter().map(|&id| graph.ty(id).shape.0.clone()).collect();
    (of(&graph.inputs), of(&graph.outputs))
}

/// `x` [?, ?, 3] of floats, doubled, in one row: what is declared for that holds for the placeholders alone.
fn rows() -> Vec<u8> {
    let float = |dims: &[i32]| Tensor::new(Element::Float32, dims);
    let mut m = ModelBuilder::new();
    let x = m.input("serving_default_x:0", float(&[1, 1, 3]).signature(&[-1, -1, 3]));
    let sum = m.value("sum", float(&[1, 1, 3]));
    m.operator(op::ADD, Options::add(0), &[x, x], &[sum]);
    let target = m.ints("target", &[1, -1]);
    let y = m.value("y", float(&[1, 3]).signature(&[1, -1]));
    m.operator(op::RESHAPE, Options::none(), &[sum, target], &[y]);
    m.outputs(&[y]);
    m.build()
}

#[test]
fn shapes_follow_from_those_of_the_inputs() {
    let graph = read(&rows(), &["[1, 2, 3]"]).unwrap();
    assert_eq!(dims(&graph), (vec![vec![1, 2, 3]], vec![vec![1, 6]]));
    let y = Machine::new(&graph).run(&[Data::from_f32(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])]).unwrap();
    assert_eq!(y[0].to_f32(), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]);
    // A batch, and names as they stand or without what the exporter put around them.
    for name in ["serving_default_x:0", "x"] {
        let graph = read(&rows(), &[&format!("{name}=[4, 5, 3]")]).unwrap();
        assert_eq!(dims(&graph), (vec![vec![4, 5, 3]], vec![vec![1, 60]]));
    }
}

#[test]
fn computed_targets_follow_too() {
    let graph = read(&seeds::shapes(), &["[5, 6, 2]"]).unwrap();
    assert_eq!(dims(&graph), (vec![vec![5, 6, 2]], vec![vec![5, 3, 4]]));
}

#[test]
fn several_inputs_have_names_and_the_batch_is_one() {
    let graph = read(&two(), &["audio = [1, 7]"]).unwrap();
    assert_eq!(dims(&graph), (vec![vec![1, 7], vec![1, 4]], vec![vec![1, 11]]));
    let graph = read(&two(), &["mask=[2, 4]", "audio=[2, 1]"]).unwrap();
    assert_eq!(dims(&graph), (vec![vec![2, 1], vec![2, 4]], vec![vec![2, 5]]));
}

#[test]
fn what_is_open_is_listed_with_the_option_to_write() {
    let message = message(&two(), &[]);
    assert!(
        message.contains("input 0 \"audio\": the sizes of axes [1] of its shape [1, ?] are open"),
        "{message}"
    );
    assert!(message.contains("input_shape(\"audio\", [1, ?])"), "{message}");
    let message = self::message(&rows(), &[]);
    assert!(message.contains("state them with input_shape([1, ?, 3])"), "{message}");
}

#[test]
fn shapes_that_do_not_fit_say_why() {
    for (model, shapes, words) in [
        (rows(), &["[1, 2, 4]"][..], "the file fixes the size of axis 2: [1, ?, 3]"),
        (rows(), &["[1, 2]"], "[1, 2] has 2 axes, but the input has 3"),
        (rows(), &["y=[1, 2, 3]"], "no input \"y\""),
        (rows(), &["[1, 2, 3]", "x=[1, 2, 3]"], "gets a shape twice"),
        (two(), &["[1, 2]"], "the model has 2 inputs"),
        (rows(), &["[1, 2000000000, 3]"], "use a smaller input shape"),
        (two(), &["audio=[2, 1]"], "operator 0 CONCATENATION \"y\": float32[2, 1] and float32[1, 4] cannot be concatenated along axis 1\n    help: use other sizes"),
    ] {
        let message = message(&model, shapes);
        assert!(message.contains(words), "{message}");
    }
    let message = message(&two(), &["voice=[1, 2]"]);
    assert!(
        message.contains("option `input_shape` 1") && message.contains("\"audio\", \"mask\""),
        "{message}"
    );
}

#[test]
fn results_of_open_rank_are_inferred() {
    let float = |dims: &[i32]| Tensor::new(Element::Float32, dims);
    let mut m = ModelBuilder::new();
    let x = m.input("x", float(&[2, 3]));
    let y = m.value("y", float(&[]));
    m.operator(op::ADD, Options::add(0), &[x, x], &[y]);
    m.outputs(&[y]);
    assert_eq!(dims(&read(&m.build(), &[]).unwrap()).1, [[2, 3]]);
}
