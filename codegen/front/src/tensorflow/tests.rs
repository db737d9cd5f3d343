//! Small models, and damaged ones.

use super::testing::*;
use crate::{embed, inspect, read};
use kiln_interp::Machine;
use kiln_ir::error::Error;
use kiln_ir::{Data, Graph};

/// What a model computes of one input.
fn run(graph: &Graph, x: &[f32]) -> Vec<f32> {
    Machine::new(graph).run(&[Data::from_f32(x)]).unwrap().remove(0).to_f32()
}

fn refused(bytes: &[u8]) -> String {
    read(bytes, "m").unwrap_err().to_string()
}

/// The model `adding` with its variable.
fn whole() -> Vec<u8> {
    let (table, shard) = variable("t/.ATTRIBUTES/VARIABLE_VALUE", &[1, 2], &[10.0, 20.0]);
    let fetched = embed(&adding(), &mut |external| match external.location.as_str() {
        "variables/variables.index" => Ok(table.clone()),
        "variables/variables.data-00000-of-00001" => Ok(shard.clone()),
        other => Err(external.missing(format!("no file {other}"), "")),
    });
    fetched.unwrap().unwrap()
}

#[test]
fn a_frozen_graph() {
    let graph = read(&dense(), "m").unwrap();
    assert_eq!(run(&graph, &[1.0, 2.0]), [9.5, 12.0, 0.0]);
    let summary = inspect(&dense()).unwrap();
    let names: Vec<&str> = summary.operators.iter().map(|operator| operator.name.as_str()).collect();
    assert_eq!(names, ["MatMul", "BiasAdd", "Relu"]);
    assert_eq!((summary.inputs[0].name.as_str(), &summary.inputs[0].dims[..]), ("x", &[-1, 2][..]));
    assert_eq!((summary.outputs[0].name.as_str(), summary.macs), ("Relu", 6));
}

#[test]
fn a_variable_that_is_written_is_a_state() {
    let graph = read(&whole(), "m").unwrap();
    assert_eq!(graph.states.len(), 1);
    let mut machine = Machine::new(&graph);
    let mut step = |x: [f32; 2]| machine.run(&[Data::from_f32(&x)]).unwrap().remove(0).to_f32();
    assert_eq!([step([1.0, 2.0]), step([1.0, 0.0])], [[11.0, 22.0], [12.0, 22.0]]);
    // The files are in it already.
    assert_eq!(embed(&whole(), &mut |external| Err(external.missing("asked again", ""))).unwrap(), None);
}

#[test]
fn without_its_files_a_variable_has_no_value() {
    let message = refused(&adding());
    assert!(message.contains("variable \"total\" has no value"), "{message}");
    assert!(message.contains("the path of the SavedModel's folder"), "{message}");
}

/// A loop that doubles its operand for so many passes.
fn doubling(passes: i64) -> Vec<u8> {
    let condition = function(
        "cond",
        &["i", "x"],
        &[constant("most", ints(&[], &[passes])), node("Less", "Less", &["i", "most:output:0"], &[])],
        &[("goes_on", "Less:z:0")],
        &[],
    );
    let body = function(
        "body",
        &["i", "x"],
        &[
            constant("one", ints(&[], &[1])),
            node("next", "AddV2", &["i", "one:output:0"], &[]),
            node("double", "AddV2", &["x", "x"], &[]),
        ],
        &[("i", "next:z:0"), ("x", "double:z:0")],
        &[],
    );
    let functions = [("cond", function_name("cond")), ("body", function_name("body"))];
    let nodes = [
        input("x", &[1, 2]),
        constant("zero", ints(&[], &[])),
        node("while", "StatelessWhile", &["zero", "x"], &functions),
        node("y", "Identity", &["while:1"], &[]),
    ];
    graph(&nodes, &[condition, body])
}

#[test]
fn loops_are_written_out() {
    assert_eq!(run(&read(&doubling(3), "m").unwrap(), &[1.0, -2.0]), [8.0, -16.0]);
    assert_eq!(run(&read(&doubling(0), "m").unwrap(), &[1.0, -2.0]), [1.0, -2.0]);
    let message = refused(&doubling(1 << 30));
    assert!(message.contains("operator") && message.contains("while"), "{message}");
}

#[test]
fn a_branch_is_selected() {
    let twice =
        function("twice", &["x"], &[node("add", "AddV2", &["x", "x"], &[])], &[("y", "add:z:0")], &[]);
    let minus = function("minus", &["x"], &[node("neg", "Neg", &["x"], &[])], &[("y", "neg:y:0")], &[]);
    let branches = [("then_branch", function_name("twice")), ("else_branch", function_name("minus"))];
    let nodes = [
        input("x", &[1, 2]),
        constant("all", ints(&[2], &[0, 1])),
        constant("zero", floats(&[], &[0.0])),
        node("sum", "Sum", &["x", "all"], &[]),
        node("Greater", "Greater", &["sum", "zero"], &[]),
        node("if", "StatelessIf", &["Greater", "x"], &branches),
        node("y", "Identity", &["if"], &[]),
    ];
    let graph = read(&graph(&nodes, &[twice, minus]), "m").unwrap();
    assert_eq!(run(&graph, &[3.0, -1.0]), [6.0, -2.0]);
    assert_eq!(run(&graph, &[-3.0, 1.0]), [3.0, -1.0]);
}

/// The same in the form that TensorFlow lowers it to.
#[test]
fn a_switch_and_a_merge_are_a_selection() {
    let nodes = [
        input("x", &[1, 2]),
        constant("all", ints(&[2], &[0, 1])),
        constant("zero", floats(&[], &[0.0])),
        node("sum", "Sum", &["x", "all"], &[]),
        node("Greater", "Greater", &["sum", "zero"], &[]),
        node("switch", "Switch", &["x", "Greater"], &[]),
        node("neg", "Neg", &["switch"], &[]),
        node("add", "AddV2", &["switch:1", "switch:1"], &[]),
        node("merge", "Merge", &["neg", "add"], &[]),
        node("y", "Identity", &["merge"], &[]),
    ];
    let graph = read(&graph(&nodes, &[]), "m").unwrap();
    assert_eq!(run(&graph, &[3.0, -1.0]), [6.0, -2.0]);
    assert_eq!(run(&graph, &[-3.0, 1.0]), [3.0, -1.0]);
}

#[test]
fn functions_that_call_themselves_end() {
    let call = node("call", "PartitionedCall", &["x"], &[("f", function_name("again"))]);
    let again = function("again", &["x"], std::slice::from_ref(&call), &[("y", "call:output:0")], &[]);
    let message = refused(&graph(&[input("x", &[1]), call, node("y", "Identity", &["call"], &[])], &[again]));
    assert!(message.contains("deep"), "{message}");
}

#[test]
fn nodes_that_need_themselves_are_malformed() {
    let nodes = [
        input("x", &[1]),
        node("a", "AddV2", &["x", "b"], &[]),
        node("b", "Neg", &["a"], &[]),
        node("y", "Neg", &["b"], &[]),
    ];
    assert!(refused(&graph(&nodes, &[])).contains("needs its own result"));
    let nodes = [input("x", &[1]), node("y", "Neg", &["nothing"], &[])];
    assert!(refused(&graph(&nodes, &[])).contains("there is no node \"nothing\""));
}

#[test]
fn all_refusals_are_said() {
    let nodes = [
        input("x", &[1]),
        node("a", "Lgamma", &["x"], &[]),
        node("b", "Igamma", &["x", "x"], &[]),
        node("y", "AddV2", &["a", "b"], &[]),
    ];
    let Err(Error::Unsupported(problems)) = read(&graph(&nodes, &[]), "m") else { panic!("it is read") };
    let places: Vec<&str> = problems.iter().map(|problem| problem.place.as_str()).collect();
    assert_eq!(places, ["operator 0 Lgamma \"a\"", "operator 1 Igamma \"b\""]);
}

#[test]
fn damaged_files() {
    for file in [dense(), whole(), doubling(2)] {
        for len in 0..file.len() {
            let _ = (read(&file[..len], "m"), inspect(&file[..len]));
        }
        for at in 0..file.len() {
            for bit in [0, 3, 7] {
                let mut file = file.clone();
                file[at] ^= 1 << bit;
                let _ = (read(&file, "m"), inspect(&file));
            }
        }
    }
}

#[test]
fn damaged_tables_of_variables() {
    let (table, shard) = variable("t/.ATTRIBUTES/VARIABLE_VALUE", &[1, 2], &[10.0, 20.0]);
    let with = |table: &[u8], shard: &[u8]| {
        embed(&adding(), &mut |external| {
            Ok(if external.location.ends_with("index") { table.to_vec() } else { shard.to_vec() })
        })
    };
    for len in 0..table.len() {
        assert!(with(&table[..len], &shard).is_err());
    }
    let short = with(&table, &shard[..4]).unwrap().unwrap();
    assert!(refused(&short).contains("reach beyond the end of their file"));
}
