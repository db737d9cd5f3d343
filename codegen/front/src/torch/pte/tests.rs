//! Small programs, what is said of those that cannot be read, and damaged ones.

use super::testing::{weights, Draft, CHAR, FLOAT};
use crate::testing::{damaged, Random};
use crate::{embed, inspect, read, read_with};
use kiln_interp::Machine;
use kiln_ir::error::Error;
use kiln_ir::options::{InputShape, Options};
use kiln_ir::verify::verify;
use kiln_ir::{Data, Graph};

fn graph(file: &[u8]) -> Graph {
    let graph = read(file, "net").unwrap();
    assert_eq!(verify(&graph), Ok(()));
    graph
}

fn step(machine: &mut Machine, inputs: &[&[f32]]) -> Vec<Vec<f32>> {
    let inputs: Vec<Data> = inputs.iter().map(|input| Data::from_f32(input)).collect();
    machine.run(&inputs).unwrap().iter().map(Data::to_f32).collect()
}

fn results(file: &[u8], inputs: &[&[f32]]) -> Vec<Vec<f32>> {
    step(&mut Machine::new(&graph(file)), inputs)
}

fn refused(file: &[u8]) -> String {
    read(file, "net").unwrap_err().to_string()
}

/// x·w + b, of which a view without an instruction goes through a relu.
fn layer(is_old: bool) -> Vec<u8> {
    let mut d = Draft::default();
    d.is_old = is_old;
    let x = d.tensor(FLOAT, &[1, 3]);
    let (b, w) = (d.constant(&[2], &[0.5, -1.0]), d.constant(&[2, 3], &[1.0, 2.0, 3.0, -1.0, 0.0, -1.0]));
    let (order, one) = (d.ints(&[1, 0]), d.int(1));
    let turned = d.tensor(FLOAT, &[3, 2]);
    d.aten("permute_copy", &[w, order], turned);
    let y = d.tensor(FLOAT, &[1, 2]);
    let view = d.again(&[2, 1]);
    d.aten("addmm", &[b, x, turned, one, one], y);
    let z = d.tensor(FLOAT, &[2, 1]);
    d.aten("relu", &[view], z);
    d.finish(&[x], &[z])
}

/// A state that is half of itself and the input; its double is the output. `in_place` or by an operator that writes into it.
fn filter(in_place: bool) -> Vec<u8> {
    let mut d = Draft::default();
    let x = d.tensor(FLOAT, &[2]);
    let state = d.tensor(FLOAT, &[2]);
    let (half, two, one, no) = (d.real(0.5), d.real(2.0), d.int(1), d.truth(false));
    let (y, z) = (d.tensor(FLOAT, &[2]), d.tensor(FLOAT, &[2]));
    d.call("aten::mul", "Scalar_out", &[state, half, y, y]);
    match in_place {
        true => {
            let sum = d.tensor(FLOAT, &[2]);
            d.aten("add", &[y, x, one], sum);
            d.call("aten::copy_", "", &[state, sum, no, state]);
        }
        false => d.aten("add", &[y, x, one], state),
    }
    d.call("aten::mul", "Scalar_out", &[state, two, z, z]);
    d.finish(&[x], &[z])
}

/// A sum over three rows, in a loop that counts them, and the doubled rows.
fn rows() -> Vec<u8> {
    let mut d = Draft::default();
    let x = d.tensor(FLOAT, &[3, 2]);
    let (axis, k, size, one, no, is_last) =
        (d.int(0), d.int(0), d.int(0), d.int(1), d.truth(false), d.truth(false));
    let (zero, two) = (d.constant(&[2], &[0.0, 0.0]), d.real(2.0));
    let (sum, row, next, double) =
        (d.tensor(FLOAT, &[2]), d.tensor(FLOAT, &[2]), d.tensor(FLOAT, &[2]), d.tensor(FLOAT, &[2]));
    let all = d.tensor(FLOAT, &[3, 2]);
    d.call("aten::sym_size", "int", &[x, axis, size]);
    d.call("aten::copy_", "", &[sum, zero, no, sum]);
    let first = d.here();
    d.call("aten::select_copy", "int_out", &[x, axis, k, row, row]);
    d.aten("add", &[sum, row, one], next);
    d.call("aten::copy_", "", &[sum, next, no, sum]);
    d.call("aten::mul", "Scalar_out", &[row, two, double, double]);
    d.call("executorch_prim::et_copy_index", "tensor", &[all, double, k]);
    d.call("executorch_prim::add", "Scalar", &[k, one, k]);
    d.call("executorch_prim::eq", "Scalar", &[k, size, is_last]);
    d.jump_unless(is_last, first);
    d.finish(&[x], &[sum, all])
}

/// Calls a delegate and behind it an operator that is not known.
fn delegated(backend: &str) -> Vec<u8> {
    let mut d = Draft::default();
    d.others.push("prefill");
    let x = d.tensor(FLOAT, &[2]);
    let (y, z) = (d.tensor(FLOAT, &[2]), d.tensor(FLOAT, &[2]));
    d.delegate(backend, &[x, y]);
    d.call("custom::twist", "out", &[y, z, z]);
    d.finish(&[x], &[z])
}

/// Splits a tensor and concatenates the parts the other way round; of a list of results and a list of operands.
fn swapped() -> Vec<u8> {
    let mut d = Draft::default();
    let x = d.tensor(FLOAT, &[4]);
    let (sizes, axis) = (d.ints(&[1, 3]), d.int(0));
    let (a, b, y) = (d.tensor(FLOAT, &[1]), d.tensor(FLOAT, &[3]), d.tensor(FLOAT, &[4]));
    let (parts, again) = (d.list(&[a, b]), d.list(&[a, b]));
    d.call("aten::split_with_sizes_copy", "out", &[x, sizes, axis, parts, again]);
    let turned = d.list(&[b, a]);
    d.aten("cat", &[turned, axis], y);
    d.finish(&[x], &[y])
}

fn external() -> Vec<u8> {
    let mut d = Draft::default();
    // Without segments of its own.
    d.is_old = true;
    let x = d.tensor(FLOAT, &[2]);
    let (w, y) = (d.external(&[2], "scale"), d.tensor(FLOAT, &[2]));
    d.call("aten::mul", "out", &[x, w, y, y]);
    d.finish(&[x], &[y])
}

#[test]
fn a_layer_is_read_from_a_segment_and_from_the_flatbuffer() {
    for is_old in [false, true] {
        assert_eq!(results(&layer(is_old), &[&[1.0, 1.0, 1.0]]), [[6.5, 0.0]]);
        let summary = inspect(&layer(is_old)).unwrap();
        assert_eq!((summary.format, summary.operators.len()), ("ExecuTorch", 4));
        assert!(summary.operators.iter().all(|operator| operator.is_known));
        assert_eq!((summary.inputs[0].name.as_str(), &summary.inputs[0].dims[..]), ("input_0", &[1, 3][..]));
        assert_eq!(
            (summary.outputs[0].name.as_str(), &summary.outputs[0].dims[..]),
            ("output_0", &[2, 1][..])
        );
        assert_eq!(summary.weight_bytes, 32);
    }
}

#[test]
fn buffers_that_are_written_are_states() {
    for in_place in [true, false] {
        let graph = graph(&filter(in_place));
        assert_eq!((graph.states.len(), graph.inputs.len(), graph.outputs.len()), (1, 1, 1));
        let mut machine = Machine::new(&graph);
        assert_eq!(step(&mut machine, &[&[1.0, 4.0]]), [[2.0, 8.0]]);
        assert_eq!(step(&mut machine, &[&[0.0, 2.0]]), [[1.0, 8.0]]);
    }
}

#[test]
fn loops_over_sizes_are_followed() {
    let all = results(&rows(), &[&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]]);
    assert_eq!(all, [vec![9.0, 12.0], vec![2.0, 4.0, 6.0, 8.0, 10.0, 12.0]]);
    assert!(graph(&rows()).states.is_empty());
}

#[test]
fn endless_loops_are_refused() {
    let mut d = Draft::default();
    let x = d.tensor(FLOAT, &[2]);
    let no = d.truth(false);
    d.jump_unless(no, 0);
    assert!(refused(&d.finish(&[x], &[x])).contains("too many steps"));
}

#[test]
fn moves_and_lists() {
    assert_eq!(results(&swapped(), &[&[1.0, 2.0, 3.0, 4.0]]), [[2.0, 3.0, 4.0, 1.0]]);
    let mut d = Draft::default();
    let (x, y) = (d.tensor(FLOAT, &[2]), d.tensor(FLOAT, &[2]));
    let yes = d.truth(true);
    let z = d.tensor(FLOAT, &[2]);
    d.aten("neg", &[x], y);
    d.jump_unless(yes, 3);
    d.moved(y, z);
    let nothing = d.null();
    assert_eq!(results(&d.finish(&[x], &[z, nothing]), &[&[1.0, -2.0]]), [[-1.0, 2.0]]);
}

#[test]
fn conditions_on_data_are_refused() {
    let mut d = Draft::default();
    let x = d.tensor(FLOAT, &[1]);
    d.jump_unless(x, 0);
    let message = refused(&d.finish(&[x], &[x]));
    assert!(message.contains("depends on data") && message.contains("torch.cond"), "{message}");
}

#[test]
fn delegates_are_named() {
    let message = refused(&delegated("XnnpackBackend"));
    assert!(message.contains("compiled for XnnpackBackend") && message.contains(".pt2"), "{message}");
    assert!(message.contains("operator 1 custom::twist.out"), "{message}");
    assert!(message.contains("this operator cannot be compiled"), "{message}");
    assert!(refused(&delegated("EthosUBackend")).contains(".tosa"));
    let summary = inspect(&delegated("XnnpackBackend")).unwrap();
    assert_eq!((summary.other_subgraphs, summary.operators.len()), (vec!["prefill".to_owned()], 2));
    assert!(!summary.operators[0].is_known);
}

#[test]
fn weights_come_from_a_file_beside_the_program() {
    let program = external();
    let message = refused(&program);
    assert!(message.contains("file of weights (.ptd)") && message.contains("scale"), "{message}");
    let own = |name: &str| {
        let file = weights(name, &[2.0, -3.0]);
        embed(&program, &mut |external| {
            assert_eq!(external.location, "_default_external_constant.ptd");
            Ok(file.clone())
        })
        .unwrap()
        .unwrap()
    };
    assert_eq!(results(&own("scale"), &[&[1.0, 2.0]]), [[2.0, -6.0]]);
    assert!(refused(&own("other")).contains("not in the file of weights"));
    assert!(embed(&own("scale"), &mut |_| panic!("it is there")).unwrap().is_none());
    assert!(embed(&layer(false), &mut |_| panic!("it needs none")).unwrap().is_none());
}

#[test]
fn integer_layers_of_quantised_tensors() {
    let mut d = Draft::default();
    let x = d.tensor(FLOAT, &[2]);
    let (scale, zero, least, most, char, nothing) =
        (d.real(0.5), d.int(3), d.int(-128), d.int(127), d.int(CHAR.into()), d.null());
    let (q, y) = (d.tensor(CHAR, &[2]), d.tensor(FLOAT, &[2]));
    d.call("quantized_decomposed::quantize_per_tensor", "out", &[x, scale, zero, least, most, char, q, q]);
    let args = [q, scale, zero, least, most, char, nothing, y, y];
    d.call("quantized_decomposed::dequantize_per_tensor", "out", &args);
    assert_eq!(results(&d.finish(&[x], &[y]), &[&[0.7, 100.0]]), [[0.5, 62.0]]);
}

#[test]
fn other_shapes_of_inputs_are_refused() {
    let shape = |dims: &[usize]| InputShape { name: Some("input_0".into()), dims: dims.to_vec() };
    let options = Options { input_shapes: vec![shape(&[2, 3])], ..Options::default() };
    let message = read_with(&layer(false), "net", &options).unwrap_err().to_string();
    assert!(message.contains("[2, 3] does not fit [1, 3] in the file"), "{message}");
}

#[test]
fn wrong_programs() {
    let mut d = Draft::default();
    let (x, y) = (d.tensor(FLOAT, &[2]), d.tensor(FLOAT, &[2]));
    assert!(refused(&d.finish(&[x], &[y])).contains("never writes it"));
    let mut d = Draft::default();
    let (x, y) = (d.tensor(FLOAT, &[2]), d.tensor(FLOAT, &[3]));
    d.aten("relu", &[x], y);
    assert!(refused(&d.finish(&[x], &[y])).contains("[2], but the file has [3]"));
    let mut d = Draft::default();
    let x = d.tensor(FLOAT, &[2]);
    d.aten("relu", &[x], 99);
    assert!(refused(&d.finish(&[x], &[x])).contains("it has no value 99"));
    let mut d = Draft::default();
    let x = d.tensor(FLOAT, &[2]);
    let y = d.stored(FLOAT, &[2], 7, None);
    assert!(refused(&d.finish(&[x], &[y])).contains("no data 7"));
}

/// Bytes that mean something in many places.
const BYTES: [u8; 8] = [0, 1, 2, 4, 0x7f, 0x80, 0xfe, 0xff];

#[test]
fn damaged_programs_are_refused_or_sound() {
    let files =
        [layer(false), layer(true), filter(true), filter(false), rows(), swapped(), delegated("X"), {
            let file = weights("scale", &[2.0, -3.0]);
            embed(&external(), &mut |_| Ok(file.clone())).unwrap().unwrap()
        }];
    let mut random = Random(11);
    for file in files {
        for _ in 0..2000 {
            let damaged = damaged(&file, 8, &BYTES, &mut random);
            match read(&damaged, "case") {
                Ok(graph) => assert_eq!(verify(&graph), Ok(())),
                Err(error) => assert!(!matches!(error, Error::Internal { .. }), "{error}"),
            }
            let _ = inspect(&damaged);
        }
        for length in 0..file.len() {
            assert!(read(&file[..length], "case").is_err() || length > file.len() - 64);
        }
    }
}
