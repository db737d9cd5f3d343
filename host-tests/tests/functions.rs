//! Functions of each element, generated code against the interpreter: on this machine and on a core without a floating-point unit.

use kiln_codegen::ir::{Binary, DType, Data, Graph, Unary};
use kiln_host_tests::assert_generated_as_interpreted;

const ROWS: usize = 6;
const COLUMNS: usize = 40;

/// A graph with every function, as results of their own, of %x and %y (floats), and with those on stored integers of %a and %b.
fn every_function() -> Graph {
    let float = format!("f32[{ROWS},{COLUMNS}]");
    let int = format!("i8[{ROWS},{COLUMNS}] q(0.5 : 3)");
    let mut text = format!(
        "graph \"functions\" {{
           input %x: {float}
           input %y: f32[{COLUMNS}]
           input %a: {int}
           input %b: i8[{ROWS},1] q(0.5 : 3)\n"
    );
    let mut results = Vec::new();
    for function in Unary::ALL {
        let name = function.name();
        text += &format!("%{name}: {float} = unary(%x) {{function = {name}}}\n");
        results.push(format!("%{name}"));
    }
    for function in Binary::ALL {
        let name = function.name();
        let (float_call, int_call) = ("binary(%x, %y)", "binary(%b, %a)");
        text += &format!(
            "%{name}: {float} = {float_call} {{function = {name}, rescale = real, clamp = -1000.0..=inf}}\n"
        );
        results.push(format!("%{name}"));
        let rescale = match function.multipliers() {
            None if function.chooses() => "real",
            None => continue,
            Some(1) => "[1610612736 * 2^3]",
            Some(2) => "[1610612736 * 2^0, 1342177280 * 2^-4]",
            Some(_) => "[1610612736 * 2^-1, 1342177280 * 2^0, 1073741824 * 2^-14]",
        };
        text += &format!(
            "%{name}_i8: {int} = {int_call} {{function = {name}, rescale = {rescale}, clamp = -100..=100}}\n"
        );
        results.push(format!("%{name}_i8"));
    }
    Graph::parse(&format!("{text} return {}\n}}", results.join(", "))).unwrap()
}

#[test]
fn generated_functions_are_those_of_the_interpreter() {
    let graph = every_function();
    // Halves, whole numbers, both signs, zero, large and small ones.
    let x: Vec<f32> = (0..ROWS * COLUMNS).map(|i| (i as f32 - 120.0) / [2.0, 8.0, 5.0][i % 3]).collect();
    let y: Vec<f32> = (0..COLUMNS).map(|i| [1.5, -2.0, 3.0, 0.5][i % 4]).collect();
    let a: Vec<i8> = (0..ROWS * COLUMNS).map(|i| (i * 37 % 256) as u8 as i8).collect();
    let b: Vec<i8> = vec![-128, -1, 0, 3, 100, 127];
    let case = vec![Data::from_f32(&x), Data::from_f32(&y), Data::from_i8(&a), Data::from_i8(&b)];
    assert_generated_as_interpreted(&graph, &case, &["host", "qemu-cortex-m3"]);
    assert_eq!(graph.outputs.len(), Unary::ALL.len() + Binary::ALL.len() + 5);
    let whole = graph.outputs.iter().filter(|&&id| graph.ty(id).dtype == DType::I8).count();
    assert_eq!(whole, 5);
}
