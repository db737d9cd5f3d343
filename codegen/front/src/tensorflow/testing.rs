//! Files for tests: messages that are written field by field.

use super::bundle::testing::table;
use crate::protobuf::put;

/// A field of bytes.
pub(super) fn field(number: u32, bytes: &[u8]) -> Vec<u8> {
    let mut message = Vec::new();
    put(&mut message, number, bytes);
    message
}

/// A field of an integer.
pub(super) fn int(number: u32, value: i64) -> Vec<u8> {
    let mut message = vec![(number << 3) as u8];
    let mut bits = value as u64;
    while bits >= 0x80 {
        message.push(bits as u8 | 0x80);
        bits >>= 7;
    }
    message.push(bits as u8);
    message
}

/// A `TensorShapeProto`.
pub(super) fn shape(dims: &[i64]) -> Vec<u8> {
    dims.iter().flat_map(|&dim| field(2, &int(1, dim))).collect()
}

/// An entry of a map.
pub(super) fn entry(key: &str, value: &[u8]) -> Vec<u8> {
    [field(1, key.as_bytes()), field(2, value)].concat()
}

/// Attributes by name: messages of the kind `AttrValue`.
pub(super) type Attribute<'a> = (&'a str, Vec<u8>);

pub(super) fn dtype(number: i64) -> Vec<u8> {
    int(6, number)
}

pub(super) fn function_name(name: &str) -> Vec<u8> {
    field(10, &field(1, name.as_bytes()))
}

/// A constant of floats.
pub(super) fn floats(dims: &[i64], numbers: &[f32]) -> Vec<u8> {
    let content: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    field(8, &[int(1, 1), field(2, &shape(dims)), field(4, &content)].concat())
}

/// A constant of integers, in a list of numbers.
pub(super) fn ints(dims: &[i64], numbers: &[i64]) -> Vec<u8> {
    let list: Vec<u8> = numbers.iter().flat_map(|&number| int(7, number)).collect();
    field(8, &[int(1, 3), field(2, &shape(dims)), list].concat())
}

/// A constant of texts.
pub(super) fn texts(list: &[&str]) -> Vec<u8> {
    let all: Vec<u8> = list.iter().flat_map(|text| field(8, text.as_bytes())).collect();
    field(8, &[int(1, 7), field(2, &shape(&[list.len() as i64])), all].concat())
}

/// A node.
pub(super) fn node(name: &str, op: &str, inputs: &[&str], attributes: &[Attribute<'_>]) -> Vec<u8> {
    let inputs: Vec<u8> = inputs.iter().flat_map(|input| field(3, input.as_bytes())).collect();
    let attributes: Vec<u8> =
        attributes.iter().flat_map(|(key, value)| field(5, &entry(key, value))).collect();
    [field(1, name.as_bytes()), field(2, op.as_bytes()), inputs, attributes].concat()
}

/// A placeholder of floats.
pub(super) fn input(name: &str, dims: &[i64]) -> Vec<u8> {
    node(name, "Placeholder", &[], &[("dtype", dtype(1)), ("shape", field(7, &shape(dims)))])
}

pub(super) fn constant(name: &str, value: Vec<u8>) -> Vec<u8> {
    node(name, "Const", &[], &[("value", value)])
}

/// A function with these arguments, nodes, results and nodes that have to run.
pub(super) fn function(
    name: &str,
    arguments: &[&str],
    nodes: &[Vec<u8>],
    results: &[(&str, &str)],
    controls: &[&str],
) -> Vec<u8> {
    let argument = |number: u32, name: &str| field(number, &field(1, name.as_bytes()));
    let mut signature = field(1, name.as_bytes());
    arguments.iter().for_each(|name| signature.extend(argument(2, name)));
    results.iter().for_each(|(name, _)| signature.extend(argument(3, name)));
    let mut function = field(1, &signature);
    nodes.iter().for_each(|node| function.extend(field(3, node)));
    results.iter().for_each(|(name, of)| function.extend(field(4, &entry(name, of.as_bytes()))));
    controls.iter().for_each(|name| function.extend(field(6, &entry(name, name.as_bytes()))));
    function
}

/// A graph with a library.
pub(super) fn graph(nodes: &[Vec<u8>], functions: &[Vec<u8>]) -> Vec<u8> {
    let mut graph: Vec<u8> = nodes.iter().flat_map(|node| field(1, node)).collect();
    if !functions.is_empty() {
        let library: Vec<u8> = functions.iter().flat_map(|function| field(1, function)).collect();
        graph.extend(field(2, &library));
    }
    graph
}

/// A tensor of a signature.
fn info(key: &str, name: &str, dims: &[i64]) -> Vec<u8> {
    entry(key, &[field(1, name.as_bytes()), int(2, 1), field(3, &shape(dims))].concat())
}

/// A `saved_model.pb` with one input and one output.
pub(super) fn saved_model(
    graph: &[u8],
    input: (&str, &[i64]),
    output: (&str, &[i64]),
    restore: &str,
) -> Vec<u8> {
    let signature =
        [field(1, &info("x", input.0, input.1)), field(2, &info("y", output.0, output.1))].concat();
    let meta = [
        field(1, &[field(4, b"serve"), field(5, b"2.21.0")].concat()),
        field(2, graph),
        field(3, &field(3, restore.as_bytes())),
        field(5, &entry("serving_default", &signature)),
    ];
    [int(1, 1), field(2, &meta.concat())].concat()
}

/// The table of a variable of floats, and the file with its bytes.
pub(super) fn variable(key: &str, dims: &[i64], numbers: &[f32]) -> (Vec<u8>, Vec<u8>) {
    let shard: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let own = [int(1, 1), field(2, &shape(dims)), int(5, shard.len() as i64)].concat();
    (table(&[(b"", int(1, 1)), (key.as_bytes(), own)], false), shard)
}

/// A SavedModel that adds its input to a variable, and gives the sum.
pub(super) fn adding() -> Vec<u8> {
    let resource = |name: &str| {
        node(name, "VarHandleOp", &[], &[("shared_name", field(2, b"total")), ("dtype", dtype(1))])
    };
    let called = |name: &str, inputs: &[&str], function: &str| {
        node(name, "StatefulPartitionedCall", inputs, &[("f", function_name(function))])
    };
    let add = function(
        "add",
        &["x", "v"],
        &[
            node("Assign", "AssignAddVariableOp", &["v", "x"], &[("dtype", dtype(1))]),
            node("Read", "ReadVariableOp", &["v", "^Assign"], &[("dtype", dtype(1))]),
            node("Identity", "Identity", &["Read:value:0"], &[]),
        ],
        &[("y", "Identity:output:0")],
        &["Assign"],
    );
    let restore = function(
        "restore",
        &["prefix", "v"],
        &[
            constant("names", texts(&["t/.ATTRIBUTES/VARIABLE_VALUE"])),
            constant("slices", texts(&[""])),
            node("RestoreV2", "RestoreV2", &["prefix", "names:output:0", "slices:output:0"], &[]),
            node("Assign", "AssignVariableOp", &["v", "RestoreV2:tensors:0"], &[]),
            node("Identity", "Identity", &["prefix", "^Assign"], &[]),
        ],
        &[("done", "Identity:output:0")],
        &["Assign"],
    );
    let text = node("file", "Placeholder", &[], &[("dtype", dtype(7))]);
    let nodes = [
        input("serving_default_x", &[-1, 2]),
        resource("total"),
        text,
        called("call", &["serving_default_x", "total"], "add"),
        called("restore", &["file", "total"], "restore"),
    ];
    saved_model(
        &graph(&nodes, &[add, restore]),
        ("serving_default_x:0", &[-1, 2]),
        ("call:0", &[-1, 2]),
        "restore",
    )
}

/// A frozen graph of a layer with a bias and an activation.
pub(super) fn dense() -> Vec<u8> {
    let nodes = [
        input("x", &[-1, 2]),
        constant("w", floats(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])),
        constant("b", floats(&[3], &[0.5, 0.0, -100.0])),
        node("MatMul", "MatMul", &["x", "w"], &[("T", dtype(1))]),
        node("BiasAdd", "BiasAdd", &["MatMul", "b"], &[("T", dtype(1))]),
        node("Relu", "Relu", &["BiasAdd"], &[("T", dtype(1))]),
    ];
    graph(&nodes, &[])
}
