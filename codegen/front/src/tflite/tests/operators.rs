//! Operators that are expressed by several ops, against arithmetic that is written out here.

use crate::read;
use crate::tflite::testing::{op, Element, ModelBuilder, Options, Table, Tensor};
use kiln_interp::Machine;
use kiln_ir::{DType, Data, Graph};

fn graph(model: &ModelBuilder) -> Graph {
    let graph = read(&model.build(), "model").unwrap_or_else(|error| panic!("{error}"));
    kiln_ir::verify::verify(&graph).unwrap();
    graph
}

fn run(graph: &Graph, inputs: &[Data]) -> Vec<Data> {
    Machine::new(graph).run(inputs).unwrap()
}

fn float(dims: &[i32]) -> Tensor {
    Tensor::new(Element::Float32, dims)
}

fn words(numbers: &[i32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

fn counted(count: usize) -> Vec<f32> {
    (0..count).map(|i| i as f32).collect()
}

#[test]
fn l2_pooling_is_the_root_of_the_mean_of_squares() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", float(&[1, 3, 3, 1]));
    let y = m.value("y", float(&[1, 2, 2, 1]));
    m.operator(op::L2_POOL_2D, Options::pool(true, 2, 2), &[x], &[y]);
    m.outputs(&[y]);
    let y = run(&graph(&m), &[Data::from_f32(&counted(9))]);
    let root = |taps: &[f32]| (taps.iter().map(|x| x * x).sum::<f32>() / taps.len() as f32).sqrt();
    let expected = [root(&[0.0, 1.0, 3.0, 4.0]), root(&[2.0, 5.0]), root(&[6.0, 7.0]), 8.0];
    assert_eq!(y[0].to_f32(), expected);
}

/// Sequences along axis 0 or 1 of two-dimensional elements, with lengths that are constant or an input.
#[test]
fn sequences_are_reversed_up_to_their_lengths() {
    const STEPS: usize = 4;
    const BATCH: usize = 3;
    let lengths = [4, 0, 3];
    for (steps_first, constant, wide) in
        [(false, true, false), (false, false, false), (true, true, false), (true, false, true)]
    {
        let dims = if steps_first { [STEPS, BATCH, 2] } else { [BATCH, STEPS, 2] };
        let shape = dims.map(|d| d as i32);
        let mut m = ModelBuilder::new();
        let x = m.input("x", float(&shape));
        let of = Tensor::new(if wide { Element::Int64 } else { Element::Int32 }, &[BATCH as i32]);
        let n = match constant {
            true => m.constant("n", of, &words(&lengths)),
            false => m.input("n", of),
        };
        let y = m.value("y", float(&shape));
        let axes = Table::new().with(0, i32::from(!steps_first)).with(1, i32::from(steps_first));
        m.operator(op::REVERSE_SEQUENCE, Options::table(87, axes), &[x, n], &[y]);
        m.outputs(&[y]);
        let given = counted(STEPS * BATCH * 2);
        let bytes = match wide {
            true => lengths.iter().flat_map(|&n| i64::from(n).to_le_bytes()).collect(),
            false => words(&lengths),
        };
        let case = [Data::from_f32(&given), Data::new(bytes)];
        let y = run(&graph(&m), &case[..if constant { 1 } else { 2 }]);
        let at = |batch: usize, step: usize, k: usize| match steps_first {
            true => (step * BATCH + batch) * 2 + k,
            false => (batch * STEPS + step) * 2 + k,
        };
        let mut expected = given.clone();
        for (batch, &len) in lengths.iter().enumerate() {
            for step in 0..len as usize {
                for k in 0..2 {
                    expected[at(batch, step, k)] = given[at(batch, len as usize - 1 - step, k)];
                }
            }
        }
        assert_eq!(y[0].to_f32(), expected, "{steps_first} {constant}");
    }
}

#[test]
fn parts_are_replaced_where_they_fit() {
    // Starts, of which some are moved inside.
    for starts in [[0, 0], [1, 2], [-5, 1], [3, 9]] {
        for constant in [true, false] {
            let mut m = ModelBuilder::new();
            let x = m.input("x", float(&[3, 4]));
            let u = m.input("u", float(&[2, 2]));
            let of = Tensor::new(Element::Int32, &[2]);
            let s = match constant {
                true => m.constant("s", of, &words(&starts)),
                false => m.input("s", of),
            };
            let y = m.value("y", float(&[3, 4]));
            m.operator(op::DYNAMIC_UPDATE_SLICE, Options::none(), &[x, u, s], &[y]);
            m.outputs(&[y]);
            let update = [100.0, 101.0, 102.0, 103.0];
            let case = [Data::from_f32(&counted(12)), Data::from_f32(&update), Data::from_i32(&starts)];
            let y = run(&graph(&m), &case[..if constant { 2 } else { 3 }]);
            let mut expected = counted(12);
            let [row, column] = [starts[0].clamp(0, 1) as usize, starts[1].clamp(0, 2) as usize];
            for (k, x) in update.iter().enumerate() {
                expected[(row + k / 2) * 4 + column + k % 2] = *x;
            }
            assert_eq!(y[0].to_f32(), expected, "{starts:?}");
        }
    }
}

#[test]
fn places_are_found_where_the_condition_is_known() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", float(&[2, 3]));
    let condition = m.floats("c", &[2, 3], &[0.0, 2.0, 0.0, -1.0, 0.0, 0.5]);
    let zero = m.floats("zero", &[1], &[0.0]);
    // Follows from constants by an operator.
    let truth = m.value("truth", Tensor::new(Element::Bool, &[2, 3]));
    m.operator(op::NOT_EQUAL, Options::none(), &[condition, zero], &[truth]);
    let places = m.value("places", Tensor::new(Element::Int64, &[3, 2]));
    m.operator(op::WHERE, Options::none(), &[truth], &[places]);
    let y = m.value("y", float(&[3]));
    m.operator(op::GATHER_ND, Options::none(), &[x, places], &[y]);
    m.outputs(&[places, y]);
    let out = run(&graph(&m), &[Data::from_f32(&counted(6))]);
    assert_eq!(out[0].to_ints(DType::I64), [0, 1, 1, 0, 1, 2]);
    assert_eq!(out[1].to_f32(), [1.0, 3.0, 5.0]);
}

#[test]
fn places_that_show_at_run_time_are_refused() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", float(&[1, 4]));
    let places = m.value("places", Tensor::new(Element::Int64, &[4, 2]));
    m.operator(op::WHERE, Options::none(), &[x], &[places]);
    m.outputs(&[places]);
    let message = read(&m.build(), "model").unwrap_err().to_string();
    assert!(
        message.contains("the number of elements of float32[1, 4] that are not 0 is known only at run time"),
        "{message}"
    );
    assert!(message.contains("SELECT_V2"), "{message}");
}

#[test]
fn the_largest_are_found_with_their_places() {
    let mut m = ModelBuilder::new();
    let x = m.input("x", Tensor::new(Element::Int8, &[2, 5]).quantized(0.5, -3));
    let k = m.constant("k", Tensor::new(Element::Int32, &[]), &words(&[3]));
    let most = m.value("most", Tensor::new(Element::Int8, &[2, 3]).quantized(0.5, -3));
    let at = m.value("at", Tensor::new(Element::Int32, &[2, 3]));
    m.operator(op::TOPK_V2, Options::none(), &[x, k], &[most, at]);
    m.outputs(&[most, at]);
    let out = run(&graph(&m), &[Data::from_i8(&[4, -7, 9, 4, 9, 1, 1, 1, 1, 1])]);
    assert_eq!(out[0].to_i8(), [9, 9, 4, 1, 1, 1]);
    assert_eq!(out[1].to_i32(), [2, 4, 0, 0, 1, 2]);
}
