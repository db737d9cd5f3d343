//! ONNX files: what ONNX Runtime gives for them, and clear refusals instead of internal errors.

use super::path;
use cargo_kiln::compare::compare;
use cargo_kiln::golden::Golden;
use cargo_kiln::place::interpret;
use kiln_codegen::{compile_graph, import, read_file, Error, Options};

/// Reads and compiles a model, and holds the interpreter, before and after the passes, to ONNX Runtime's outputs.
fn check(name: &str) {
    let file = path("onnx").join(name);
    let golden = Golden::read(&file.with_extension("npz")).unwrap();
    let bytes = read_file(&file.with_extension("onnx")).unwrap();
    let graph = import(&bytes, name, &Options::default()).unwrap();
    let compiled = compile_graph(graph.clone(), &Options::default()).unwrap();
    for graph in [&graph, &compiled.graph] {
        let results = interpret(graph, &golden.inputs).unwrap();
        for (actual, expected) in results.iter().flatten().zip(golden.outputs.iter().flatten()) {
            let difference = compare(golden.output_types[0], actual, expected);
            assert!(difference.passes(), "{name}: {difference}");
        }
    }
}

/// A filter smaller than the stride: the result is as large as what the taps reach, and not the stride times the operand.
#[test]
fn transposed_convolutions_of_the_same_size() {
    ["convt_SAME_UPPER", "convt_SAME_LOWER", "o578"].iter().for_each(|name| check(name));
}

/// A window over more channels than there are counts those that there are.
#[test]
fn normalisation_over_more_channels_than_there_are() {
    check("o212");
}

/// Element types that an operator does not have.
#[test]
fn element_types_that_no_op_has_are_refused() {
    for (name, what) in [("cumsum_u8", "u8[3,1]"), ("lstm_cell_state", "u8[1, 2, 4]")] {
        let bytes = read_file(&path("onnx").join(name).with_extension("onnx")).unwrap();
        let error = import(&bytes, name, &Options::default()).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)), "{error}");
        let said = error.to_string().replace(", ", ",");
        assert!(said.contains(&what.replace(", ", ",")), "{said}");
    }
}
