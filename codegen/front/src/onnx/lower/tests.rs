//! What is refused, in which words.

use crate::{read, read_with};
use kiln_ir::error::Error;
use kiln_ir::options::{CustomOp, Options};
use kiln_ir::verify::verify;
use kiln_ir::Op;

/// A field of bytes: a message, a text or a packed list.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    assert!(bytes.len() < 128 * 128);
    [&[number << 3 | 2, bytes.len() as u8 | 0x80, (bytes.len() >> 7) as u8], bytes].concat()
}

fn number(field: u8, number: u8) -> Vec<u8> {
    vec![field << 3, number]
}

/// An input: `name element sizes`, as `x 1 2 3`, which is f32[2,3].
fn input(text: &str) -> Vec<u8> {
    let mut words = text.split(' ');
    let name = words.next().unwrap();
    let mut numbers = words.map(|word| word.parse().unwrap());
    let element = number(1, numbers.next().unwrap());
    let sizes: Vec<u8> = numbers.flat_map(|size| field(1, &number(1, size))).collect();
    let tensor = [element, field(2, &sizes)].concat();
    [field(1, name.as_bytes()), field(2, &field(1, &tensor))].concat()
}

/// An operator: `Add x y`, with attributes.
fn node(text: &str, attributes: &[Vec<u8>]) -> Vec<u8> {
    let (operator, operands) = text.split_once(' ').unwrap_or((text, ""));
    let operands = operands.split(' ').filter(|name| !name.is_empty());
    let mut node: Vec<u8> = operands.flat_map(|name| field(1, name.as_bytes())).collect();
    node.extend([field(2, b"result"), field(4, operator.as_bytes())].concat());
    node.extend(attributes.iter().flat_map(|attribute| field(5, attribute)));
    node
}

fn int(name: &str, value: u8) -> Vec<u8> {
    [field(1, name.as_bytes()), number(3, value)].concat()
}

/// A graph of one operator.
fn graph(node: &[u8], inputs: &[&str]) -> Vec<u8> {
    let inputs: Vec<u8> = inputs.iter().flat_map(|text| field(11, &input(text))).collect();
    [field(1, node), inputs, field(12, &input("result 1"))].concat()
}

fn model(opset: u8, graph: &[u8]) -> Vec<u8> {
    [number(1, 8), field(7, graph), field(8, &number(2, opset))].concat()
}

/// What is said of a model of one operator, and the way out.
fn refused(opset: u8, node: &[u8], inputs: &[&str]) -> String {
    match read(&model(opset, &graph(node, inputs)), "m") {
        Ok(graph) => panic!("{graph}"),
        Err(error @ Error::Unsupported(_)) => error.to_string(),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn one_operator_is_read() {
    let read = read(&model(17, &graph(&node("Add x y", &[]), &["x 1 2 3", "y 1 3"])), "m").unwrap();
    assert!(read.to_string().contains("\"result\": f32[2,3] = add(%0, %1)"), "{read}");
}

/// A constant of the graph: its name, the fields of its type, and its bytes.
fn constant(name: &str, ty: &[Vec<u8>], bytes: &[u8]) -> Vec<u8> {
    field(5, &[ty.concat(), field(8, name.as_bytes()), field(9, bytes)].concat())
}

fn whole(name: &str, value: i64) -> Vec<u8> {
    constant(name, &[number(2, 7)], &value.to_le_bytes())
}

/// PyTorch writes real signals as \[batch, time\].
#[test]
fn signals_need_no_axis_of_parts() {
    let of = |signal: &str| {
        let window = constant("window", &[number(1, 8), number(2, 1)], &1f32.to_le_bytes().repeat(8));
        let stft = graph(&node("STFT x step window", &[]), &[signal]);
        read(&model(17, &[stft, whole("step", 3), window].concat()), "m").unwrap().to_string()
    };
    for signal in ["x 1 1 100", "x 1 1 100 1"] {
        let graph = of(signal);
        assert!(graph.contains("\"result\": f32[1,31,5,2] ="), "{graph}");
    }
}

/// The input `x` of 4096 numbers, \[1, 4096, 1\].
fn long_signal() -> Vec<u8> {
    let dim = |bytes: &[u8]| field(1, &[&[8], bytes].concat());
    let sizes = [dim(&[1]), dim(&[0x80, 0x20]), dim(&[1])].concat();
    let tensor = [number(1, 1), field(2, &sizes)].concat();
    [field(1, b"x"), field(2, &field(1, &tensor))].concat()
}

/// Spectra of 4096 numbers, whose waves are 64 MB: one of them in a small file.
#[test]
fn spectra_may_be_long() {
    let of = |halves: u8| {
        let node = field(1, &node("DFT x", &[int("onesided", halves)]));
        let ends = [field(11, &long_signal()), field(12, &input("result 1"))].concat();
        read(&model(17, &[node, ends].concat()), "m")
    };
    let graph = of(1).unwrap();
    assert_eq!(graph.ty(graph.outputs[0]).shape.dims(), [1, 2049, 2]);
    let error = of(0).unwrap_err().to_string();
    assert!(error.contains("use at most 2048 numbers"), "{error}");
}

/// Frames of 4096 numbers, whose waves are 64 MB.
#[test]
fn frames_may_be_long() {
    let signal = long_signal();
    let operands = ["x", "step", "", "length"].map(|name| field(1, name.as_bytes())).concat();
    let stft = [operands, field(2, b"result"), field(4, b"STFT")].concat();
    let ends = [field(11, &signal), field(12, &input("result 1"))].concat();
    let graph = [field(1, &stft), ends, whole("step", 100), whole("length", 4096)].concat();
    let read = read(&model(17, &graph), "m").unwrap();
    assert_eq!(read.ty(read.outputs[0]).shape.dims(), [1, 1, 2049, 2]);
}

/// Windows and banks of filters are larger than the files that ask for them.
#[test]
fn tables_of_front_ends_are_made() {
    let read = |node: Vec<u8>, constants: &[Vec<u8>]| {
        read(&model(17, &[graph(&node, &[]), constants.concat()].concat()), "m").unwrap().to_string()
    };
    let window = read(node("HannWindow size", &[]), &[whole("size", 4096)]);
    assert!(window.contains("f32[4096]"), "{window}");
    let edge = |name: &str, value: f32| constant(name, &[number(2, 1)], &value.to_le_bytes());
    let mel = [
        whole("bands", 40),
        whole("length", 512),
        whole("rate", 16_000),
        edge("low", 20.0),
        edge("high", 7600.0),
    ];
    let mel = read(node("MelWeightMatrix bands length rate low high", &[]), &mel);
    assert!(mel.contains("f32[257,40]"), "{}", &mel[..200]);
}

#[test]
fn weights_of_a_convolution_may_be_computed() {
    let inputs = ["x 1 1 4 3 3", "w 1 2 2 2 2", "b 1 2"];
    let read = read(&model(17, &graph(&node("Conv x w b", &[int("group", 2)]), &inputs)), "m").unwrap();
    assert!(read.to_string().contains("computed_conv2d("), "{read}");
}

#[test]
fn messages_name_the_reason_and_the_way_out() {
    let training = [int("training_mode", 1)];
    let cases: &[(Vec<u8>, &[&str], &str, &str)] = &[
        (node("Foo x", &[]), &["x 1 2"], "this operator cannot be compiled", "supported operators"),
        (
            node("Conv x w", &[]),
            &["x 1 1 1 3 3 3", "w 1 1 1 2 2 2"],
            "weights are computed at run",
            "store them in the model",
        ),
        (
            node("NonZero x", &[]),
            &["x 1 4"],
            "the number of elements that are not 0 is known only at run time",
            "(Where)",
        ),
        (
            node("Compress x c", &[]),
            &["x 1 4", "c 9 4"],
            "the number of elements that remain is known only",
            "(Where)",
        ),
        (node("Range x x x", &[]), &["x 1"], "a bound is computed at run time", "fixed shapes"),
        (node("Reshape x s", &[]), &["x 1 4", "s 7 2"], "its shape (operand 1) is computed", "fixed shapes"),
        (
            node("ScatterND x i u", &[]),
            &["x 1 4", "i 7 2 1", "u 1 2"],
            "indices (operand 1) are",
            "constant indices",
        ),
        (node("OneHot i d v", &[]), &["i 7 4", "d 7", "v 1 2"], "its depth (operand 1) is", "fixed shapes"),
        (
            node("BatchNormalization x s s s s", &training),
            &["x 1 1 1 2 2", "s 1 1"],
            "training mode",
            "model.eval()",
        ),
        (node("CumProd x", &[]), &["x 4 2"], "tensors of uint16 cannot be compiled", "float32"),
        (node("And x x", &[]), &["x 8 2"], "tensors of string cannot be compiled", "float32"),
        (node("Add x y", &[]), &["x 1 2", "y 9 2"], "arithmetic on f32[2] and bool[2]", "cast both"),
        (
            with_body(&node("Loop n", &[])),
            &["n 7"],
            "number of iterations (operand 0) is computed at run time",
            "fixed shapes",
        ),
    ];
    for (node, inputs, what, help) in cases {
        let said = refused(17, node, inputs);
        assert!(said.contains(what) && said.contains(help), "{said}");
    }
    let old = refused(5, &node("Relu x", &[]), &["x 1 2"]);
    assert!(old.contains("ONNX operator set 5; sets 6 to") && old.contains("version_converter"), "{old}");
}

/// A loop whose body gives the condition that it is given.
fn with_body(node: &[u8]) -> Vec<u8> {
    let outputs = field(12, &input("c 9"));
    let body = [field(11, &input("i 7")), field(11, &input("c 9")), outputs].concat();
    [node.to_vec(), field(5, &[field(1, b"body"), field(6, &body)].concat())].concat()
}

#[test]
fn loops_that_depend_on_data_are_refused() {
    // Without a number of passes it is the condition that ends it.
    let condition = [field(1, b""), field(1, b"c")].concat();
    let node = [condition, with_body(&node("Loop", &[]))].concat();
    let said = refused(17, &node, &["c 9"]);
    assert!(
        said.contains("after 0 iterations, its condition") && said.contains("let a counter run"),
        "{said}"
    );
}

#[test]
fn operators_of_other_domains_are_calls_of_functions() {
    let attributes = [
        [int("axis", 7), vec![0xa0, 1, 2]].concat(),
        [field(1, b"mode"), field(4, b"a\"b"), vec![0xa0, 1, 3]].concat(),
    ];
    let node = [node("Fold x", &attributes), field(7, b"my.own")].concat();
    let with_result = |result: &str| {
        let graph = [field(1, &node), field(11, &input("x 1 2 3")), field(12, &input(result))].concat();
        model(17, &graph)
    };
    let bytes = with_result("result 1 2 1");
    let said = read(&bytes, "m").unwrap_err().to_string();
    assert!(said.contains("custom_op(\"my.own.Fold\", crate::kernels::my_op)"), "{said}");
    let bound = |name: &str| Options {
        custom_ops: vec![CustomOp { name: name.into(), path: "crate::fold".into() }],
        ..Options::default()
    };
    let graph = read_with(&bytes, "m", &bound("my.own.Fold")).unwrap();
    assert_eq!(verify(&graph), Ok(()));
    let [(_, call)] = &graph.nodes().collect::<Vec<_>>()[..] else { panic!("{graph}") };
    let Op::Custom { name, function, options } = &call.op else { panic!("{graph}") };
    assert_eq!((name.as_str(), function.as_str()), ("my.own.Fold", "crate::fold"));
    assert_eq!(String::from_utf8_lossy(options), "{\"axis\":7,\"mode\":\"a\\\"b\"}");
    assert_eq!(graph.ty(call.result).shape.dims(), [2, 1]);
    let said = read_with(&bytes, "m", &bound("Fold")).unwrap_err().to_string();
    assert!(said.contains("operator 0 my.own.Fold"), "{said}");
    // An output whose sizes are open.
    let said = read_with(&with_result("result 1 0"), "m", &bound("my.own.Fold")).unwrap_err().to_string();
    assert!(said.contains("does not say which shape its result has"), "{said}");
}

/// Behind a refused operator, what reads its result is looked at where the file says what that is; but not where it may be a shape.
#[test]
fn operators_behind_a_refused_one_are_listed_too() {
    let first = [field(1, b"x"), field(2, b"middle"), field(4, b"Foo")].concat();
    let listed = |second: &str, declared: Option<&str>| {
        let middle = declared.map(|text| field(13, &input(text))).unwrap_or_default();
        let graph = [field(1, &first), graph(&node(second, &[]), &["x 1 4"]), middle].concat();
        match read(&model(17, &graph), "m") {
            Err(Error::Unsupported(problems)) => problems.len(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(listed("NonZero middle", None), 1);
    assert_eq!(listed("NonZero middle", Some("middle 1 4")), 2);
    assert_eq!(listed("Relu middle", Some("middle 1 4")), 1);
    assert_eq!(listed("Reshape x middle", Some("middle 7 2")), 1);
    // What is declared of it may be nonsense.
    assert_eq!(listed("NonZero middle", Some("middle 99 4")), 1);
    assert_eq!(listed("Add x middle", Some("middle 1 3")), 1);
}
