//! IF and WHILE.

use crate::read;
use crate::tflite::testing::{op, Element, ModelBuilder, Options, Tensor};
use kiln_interp::Machine;
use kiln_ir::{Data, Graph};

fn float() -> Tensor {
    Tensor::new(Element::Float32, &[1, 2])
}

fn int() -> Tensor {
    Tensor::new(Element::Int32, &[])
}

fn bool() -> Tensor {
    Tensor::new(Element::Bool, &[])
}

fn graph(model: &ModelBuilder) -> Graph {
    let graph = read(&model.build(), "model").unwrap_or_else(|error| panic!("{error}"));
    kiln_ir::verify::verify(&graph).unwrap();
    graph
}

fn message(model: &ModelBuilder) -> String {
    read(&model.build(), "model").unwrap_err().to_string()
}

fn ops(graph: &Graph) -> Vec<String> {
    graph.nodes().map(|(_, node)| format!("{} {}", node.origin, node.op.name())).collect()
}

fn run(graph: &Graph, x: [f32; 2]) -> Vec<f32> {
    Machine::new(graph).run(&[Data::from_f32(&x)]).unwrap()[0].to_f32()
}

fn constant(m: &mut ModelBuilder, value: i32) -> i32 {
    m.constant("number", int(), &value.to_le_bytes())
}

/// A subgraph from x \[1, 2\] to x `code` x.
fn with_itself(m: &mut ModelBuilder, code: i32) -> i32 {
    let index = m.begin_subgraph("with itself");
    let x = m.input("x", float());
    let y = m.value("y", float());
    m.operator(code, Options::none(), &[x, x], &[y]);
    m.outputs(&[y]);
    index
}

/// A model of x that is an IF of two branches: sum with itself, product with itself. The condition is `known`, or whether the first of x is above zero.
fn choice(known: Option<bool>) -> ModelBuilder {
    let mut m = ModelBuilder::new();
    let x = m.input("x", float());
    let condition = match known {
        Some(known) => m.constant("known", bool(), &[known.into()]),
        None => {
            let (begin, end) = (m.ints("begin", &[0, 0]), m.ints("end", &[1, 1]));
            let steps = m.ints("steps", &[1, 1]);
            let scalar = Tensor::new(Element::Float32, &[]);
            let first = m.value("first", scalar);
            m.operator(op::STRIDED_SLICE, Options::strided_slice(0, 0, 3), &[x, begin, end, steps], &[first]);
            let zero = m.floats("zero", &[], &[0.0]);
            let above = m.value("above", bool());
            m.operator(op::GREATER, Options::none(), &[first, zero], &[above]);
            above
        }
    };
    let y = m.value("y", float());
    m.operator(op::IF, Options::branches(1, 2), &[condition, x], &[y]);
    m.outputs(&[y]);
    with_itself(&mut m, op::ADD);
    with_itself(&mut m, op::MUL);
    m
}

/// A model of x that is a WHILE over a counter from `from` while it is below `to`: x doubled in each pass.
fn doubled(from: i32, to: i32) -> ModelBuilder {
    let mut m = ModelBuilder::new();
    let x = m.input("x", float());
    let begin = constant(&mut m, from);
    let (i, y) = (m.value("i", int()), m.value("y", float()));
    m.operator(op::WHILE, Options::repeated(1, 2), &[begin, x], &[i, y]);
    m.outputs(&[y]);
    m.begin_subgraph("condition");
    let (i, _) = (m.input("i", int()), m.input("x", float()));
    let limit = constant(&mut m, to);
    let less = m.value("less", bool());
    m.operator(op::LESS, Options::none(), &[i, limit], &[less]);
    m.outputs(&[less]);
    m.begin_subgraph("body");
    let (i, x) = (m.input("i", int()), m.input("x", float()));
    let one = constant(&mut m, 1);
    let (next, y) = (m.value("next", int()), m.value("y", float()));
    m.operator(op::ADD, Options::add(0), &[i, one], &[next]);
    m.operator(op::ADD, Options::add(0), &[x, x], &[y]);
    m.outputs(&[next, y]);
    m
}

#[test]
fn a_known_condition_leaves_one_branch() {
    let taken = graph(&choice(Some(true)));
    assert_eq!(ops(&taken), ["0 IF/0 ADD add"]);
    assert_eq!(run(&taken, [3.0, -4.0]), [6.0, -8.0]);
    assert_eq!(run(&graph(&choice(Some(false))), [3.0, -4.0]), [9.0, 16.0]);
}

#[test]
fn of_a_condition_at_run_time_both_branches_are_computed() {
    let graph = graph(&choice(None));
    assert_eq!(ops(&graph)[ops(&graph).len() - 3..], ["2 IF/0 ADD add", "2 IF/0 MUL mul", "2 IF select"]);
    assert_eq!(run(&graph, [3.0, -4.0]), [6.0, -8.0]);
    assert_eq!(run(&graph, [-3.0, 5.0]), [9.0, 25.0]);
}

#[test]
fn a_loop_that_counts_is_unrolled() {
    let counted = graph(&doubled(2, 7));
    assert_eq!(ops(&counted), vec!["0 WHILE/1 ADD add"; 5]);
    assert_eq!(run(&counted, [1.0, -3.0]), [32.0, -96.0]);
    let none = graph(&doubled(7, 7));
    assert!(ops(&none).is_empty());
    assert_eq!(none.outputs, none.inputs);
}

#[test]
fn a_loop_of_floats_and_in_a_branch_is_unrolled_too() {
    // IF of a constant, whose branch is a loop while a float is below 2: 0.5, 1, 2.
    let mut m = ModelBuilder::new();
    let scalar = || Tensor::new(Element::Float32, &[]);
    let x = m.input("x", float());
    let condition = m.constant("known", bool(), &[1]);
    let y = m.value("y", float());
    m.operator(op::IF, Options::branches(1, 1), &[condition, x], &[y]);
    m.outputs(&[y]);
    m.begin_subgraph("branch");
    let x = m.input("x", float());
    let begin = m.floats("begin", &[], &[0.5]);
    let (a, y) = (m.value("a", scalar()), m.value("y", float()));
    m.operator(op::WHILE, Options::repeated(2, 3), &[begin, x], &[a, y]);
    m.outputs(&[y]);
    m.begin_subgraph("condition");
    let (a, _) = (m.input("a", scalar()), m.input("x", float()));
    let limit = m.floats("limit", &[], &[2.0]);
    let less = m.value("less", bool());
    m.operator(op::LESS, Options::none(), &[a, limit], &[less]);
    m.outputs(&[less]);
    m.begin_subgraph("body");
    let (a, x) = (m.input("a", scalar()), m.input("x", float()));
    let (next, y) = (m.value("next", scalar()), m.value("y", float()));
    m.operator(op::ADD, Options::add(0), &[a, a], &[next]);
    m.operator(op::ADD, Options::add(0), &[x, a], &[y]);
    m.outputs(&[next, y]);
    let graph = graph(&m);
    assert_eq!(ops(&graph), vec!["0 IF/0 WHILE/1 ADD add"; 2]);
    assert_eq!(run(&graph, [1.0, 2.0]), [2.5, 3.5]);
}

#[test]
fn loops_without_end_and_of_unknown_length_are_refused() {
    let endless = message(&doubled(0, i32::MAX));
    assert!(
        endless.contains("operator 0 WHILE \"i\": its branches, or the unrolled iterations of its loop"),
        "{endless}"
    );
    assert!(endless.contains("let the loop run fewer times"), "{endless}");

    let mut m = ModelBuilder::new();
    let begin = m.input("begin", int());
    let (i, x) = (m.value("i", int()), m.floats("x", &[1, 2], &[1.0, 2.0]));
    let y = m.value("y", float());
    m.operator(op::WHILE, Options::repeated(1, 2), &[begin, x], &[i, y]);
    m.outputs(&[y]);
    let mut counting = doubled(0, 3);
    counting.main_from(&m);
    let unknown = message(&counting);
    assert!(
        unknown.contains("after 0 of them, the condition depends on values that are computed at run time"),
        "{unknown}"
    );
}

/// A model of x that is a WHILE over a counter below `to`, if there is one, AND while the first of x is below 10: x doubled in each pass.
fn doubled_below_ten(to: Option<i32>) -> ModelBuilder {
    let mut m = ModelBuilder::new();
    let x = m.input("x", float());
    let begin = constant(&mut m, 0);
    let (i, y) = (m.value("i", int()), m.value("y", float()));
    m.operator(op::WHILE, Options::repeated(1, 2), &[begin, x], &[i, y]);
    m.outputs(&[y, i]);
    m.begin_subgraph("condition");
    let (i, x) = (m.input("i", int()), m.input("x", float()));
    let (begin, end) = (m.ints("begin", &[0, 0]), m.ints("end", &[1, 1]));
    let steps = m.ints("steps", &[1, 1]);
    let first = m.value("first", Tensor::new(Element::Float32, &[]));
    m.operator(op::STRIDED_SLICE, Options::strided_slice(0, 0, 3), &[x, begin, end, steps], &[first]);
    let ten = m.floats("ten", &[], &[10.0]);
    let below = m.value("below", bool());
    m.operator(op::LESS, Options::none(), &[first, ten], &[below]);
    let goes_on = match to {
        None => below,
        Some(to) => {
            let limit = constant(&mut m, to);
            let (less, both) = (m.value("less", bool()), m.value("both", bool()));
            m.operator(op::LESS, Options::none(), &[i, limit], &[less]);
            m.operator(op::LOGICAL_AND, Options::none(), &[below, less], &[both]);
            both
        }
    };
    m.outputs(&[goes_on]);
    m.begin_subgraph("body");
    let (i, x) = (m.input("i", int()), m.input("x", float()));
    let one = constant(&mut m, 1);
    let (next, y) = (m.value("next", int()), m.value("y", float()));
    m.operator(op::ADD, Options::add(0), &[i, one], &[next]);
    m.operator(op::ADD, Options::add(0), &[x, x], &[y]);
    m.outputs(&[next, y]);
    m
}

#[test]
fn data_ends_a_loop_that_a_counter_bounds() {
    let graph = graph(&doubled_below_ten(Some(6)));
    for (x, y, passes) in
        [(3.0, 12.0, 2), (0.1, 6.4, 6), (20.0, 20.0, 0), (9.0, 18.0, 1), (f32::NAN, f32::NAN, 0)]
    {
        let results = Machine::new(&graph).run(&[Data::from_f32(&[x, 1.0])]).unwrap();
        let (values, count) = (results[0].to_f32(), results[1].to_i32());
        assert!((values[0] - y).abs() < 1e-6 || values[0].is_nan() && y.is_nan(), "{values:?} of {x}");
        assert_eq!((values[1], count[0]), (2f32.powi(passes), passes), "of {x}");
    }
    let endless = message(&doubled_below_ten(None));
    assert!(
        endless.contains("the number of its iterations is not bounded") && endless.contains("LOGICAL_AND"),
        "{endless}"
    );
    let long = message(&doubled_below_ten(Some(i32::MAX)));
    assert!(long.contains("have too many operators"), "{long}");
}

#[test]
fn a_loop_of_many_passes_is_written_out() {
    assert_eq!(graph(&doubled(0, 400)).order.len(), 400);
}

#[test]
fn subgraphs_that_call_each_other_end() {
    // The branch is the model itself, or calls itself, or one that calls it.
    for (branches, words) in [
        (vec![0], "subgraph 0 calls itself"),
        (vec![1, 1], "subgraph 1 calls itself"),
        (vec![1, 2, 1], "subgraph 1 calls itself"),
        (vec![7], "there is no subgraph 7"),
        (vec![-1], "there is no subgraph -1"),
        ((1..=30).collect(), "more than 8 deep"),
    ] {
        let mut m = ModelBuilder::new();
        for (index, branch) in branches.into_iter().enumerate() {
            if index > 0 {
                m.begin_subgraph("branch");
            }
            let x = m.input("x", float());
            let condition = m.constant("known", bool(), &[1]);
            let y = m.value("y", float());
            m.operator(op::IF, Options::branches(branch, branch), &[condition, x], &[y]);
            m.outputs(&[y]);
        }
        with_itself(&mut m, op::ADD);
        let message = message(&m);
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn variables_are_written_in_loops_and_not_in_branches() {
    // In each of three passes the variable becomes the sum of itself and x.
    let mut m = doubled(0, 3);
    let mut main = ModelBuilder::new();
    let x = main.input("x", float());
    let begin = constant(&mut main, 0);
    let (i, y) = (main.value("i", int()), main.value("y", float()));
    main.operator(op::WHILE, Options::repeated(1, 2), &[begin, x], &[i, y]);
    main.outputs(&[y]);
    m.main_from(&main);
    let assign = |m: &mut ModelBuilder, x: i32| {
        let handle = m.value("handle", Tensor::new(Element::Resource, &[]));
        m.operator(op::VAR_HANDLE, Options::variable("v"), &[], &[handle]);
        let (held, sum) = (m.value("held", float()), m.value("sum", float()));
        m.operator(op::READ_VARIABLE, Options::none(), &[handle], &[held]);
        m.operator(op::ADD, Options::add(0), &[held, x], &[sum]);
        m.operator(op::ASSIGN_VARIABLE, Options::none(), &[handle, sum], &[]);
    };
    // Tensor 1 of the body is x.
    assign(&mut m, 1);
    let graph = graph(&m);
    let mut machine = Machine::new(&graph);
    for expected in [[7.0, 14.0], [14.0, 28.0]] {
        machine.run(&[Data::from_f32(&[1.0, 2.0])]).unwrap();
        assert_eq!(machine.state()[0].to_f32(), expected);
    }

    let mut branches = choice(None);
    assign(&mut branches, 0);
    let message = message(&branches);
    assert!(message.contains("2 IF \"y\": one of its branches writes a variable"), "{message}");
}

#[test]
fn what_is_refused_in_a_subgraph_says_where_it_is() {
    let mut m = doubled(0, 3);
    let (x, y) = (m.value("more", float()), m.value("lrn", float()));
    m.operator(op::ADD, Options::add(0), &[1, 1], &[x]);
    m.operator(op::UNIQUE, Options::none(), &[x], &[y]);
    let message = message(&m);
    assert!(message.contains("operator 0 WHILE/3 UNIQUE \"lrn\""), "{message}");
    assert_eq!(message.matches("UNIQUE").count(), 1, "{message}");

    let mut m = doubled(0, 3);
    let (state, y) = (m.value("state", float().variable()), m.value("y", float()));
    m.operator(op::ADD, Options::add(0), &[state, state], &[y]);
    let message = self::message(&m);
    assert!(message.contains("has a state inside a branch or a loop"), "{message}");
}

#[test]
fn calls_that_do_not_fit_are_malformed() {
    let with = |operands: usize, results: usize, condition: Tensor| {
        let mut m = choice(None);
        let mut main = ModelBuilder::new();
        let x = main.input("x", float());
        let condition = main.input("condition", condition);
        let operands: Vec<i32> = [condition].into_iter().chain(vec![x; operands]).collect();
        let results: Vec<i32> = (0..results).map(|_| main.value("y", float())).collect();
        main.operator(op::IF, Options::branches(1, 2), &operands, &results);
        main.outputs(&results);
        m.main_from(&main);
        message(&m)
    };
    for (message, words) in [
        (with(2, 1, bool()), "subgraph 1 takes 1 operands, but gets 2"),
        (with(1, 2, bool()), "do not have as many results as the operator"),
        (with(1, 1, int()), "its condition is int32[], but has to be a bool"),
        (with(1, 1, Tensor::new(Element::Bool, &[2])), "has to be a bool"),
    ] {
        assert!(message.contains(words), "{message}");
    }
}
