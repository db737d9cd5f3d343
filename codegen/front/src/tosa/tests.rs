//! Small files, and damaged ones.

use super::testing::{Draft, BOOL, FP32, INT16, INT32, INT8};
use crate::testing::flatbuffer::Field;
use crate::testing::{damaged, Random};
use kiln_interp::Machine;
use kiln_ir::error::Error;
use kiln_ir::{Data, Graph, Op, Rescale};

fn graph(file: &[u8]) -> Graph {
    let graph = crate::read(file, "case").unwrap();
    assert_eq!(kiln_ir::verify::verify(&graph), Ok(()));
    graph
}

fn ops(graph: &Graph) -> Vec<&Op> {
    // What nothing reads is left to the passes.
    let uses = graph.use_counts();
    let is_used = |node: &&kiln_ir::Node| uses[node.result.0 as usize] > 0;
    graph.nodes().map(|(_, node)| node).filter(is_used).map(|node| &node.op).collect()
}

fn run(graph: &Graph, inputs: &[Data]) -> Vec<Data> {
    Machine::new(graph).run(inputs).unwrap()
}

const NOTHING: Field = Field::None;

fn window() -> Field {
    Field::Table(vec![Field::Ints(vec![1, 1, 0, 0]), Field::Ints(vec![1, 1]), Field::Ints(vec![1, 1])])
}

/// A convolution of 3 rows with two filters of as many, and a factor for each.
fn layer() -> Vec<u8> {
    let mut d = Draft::default();
    d.input("x", INT8, &[1, 4, 1, 2]);
    d.bytes("w", &[2, 3, 1, 2], &[1, -2, 3, 4, -5, 6, 7, 8, -9, 10, 11, -12]);
    d.ints("b", &[100, -200]);
    d.bytes("zx", &[1], &[5]);
    d.bytes("zw", &[1], &[0]);
    d.result("CONV2D", window(), &["x", "w", "b", "zx", "zw"], ("sums", INT32, &[1, 4, 1, 2]));
    d.ints("by", &[1_395_353_561, 1_100_000_003]);
    d.bytes("shift", &[2], &[34, 35]);
    d.ints("z0", &[0]);
    d.bytes("z1", &[1], &[-3]);
    let attribute = Field::Table(vec![Field::U8(1), Field::U32(1), Field::U8(1)]);
    d.result("RESCALE", attribute, &["sums", "by", "shift", "z0", "z1"], ("y", INT8, &[1, 4, 1, 2]));
    d.finish(&["y"])
}

#[test]
fn a_convolution_and_a_rescale_are_one_layer() {
    let graph = graph(&layer());
    let [Op::Conv2d { rescale: Rescale::Once(by), .. }] = ops(&graph)[..] else { panic!("{graph}") };
    assert_eq!(by.len(), 2);
    let x: [i8; 8] = [-128, 127, 0, 5, 90, -90, 33, -7];
    let weights: [[i64; 6]; 2] = [[1, -2, 3, 4, -5, 6], [7, 8, -9, 10, 11, -12]];
    let mut expected = Vec::new();
    for row in 0..4i64 {
        for (o, (multiplier, shift)) in [(1_395_353_561i64, 34), (1_100_000_003, 35)].into_iter().enumerate()
        {
            let tap = |k: i64| {
                x.get(usize::try_from(2 * (row - 1) + k).unwrap_or(99)).map_or(0, |&x| i64::from(x) - 5)
            };
            let sum = (0..6).map(|k| tap(k) * weights[o][k as usize]).sum::<i64>() + [100, -200][o];
            let result = ((sum * multiplier + (1i64 << (shift - 1))) >> shift) - 3;
            expected.push(result.clamp(-128, 127) as i8);
        }
    }
    assert_eq!(run(&graph, &[Data::from_i8(&x)])[0].to_i8(), expected);
}

/// Operands become wider, something is done to them, and the result becomes bytes.
fn of_two(kind: &str) -> Vec<u8> {
    let mut d = Draft::default();
    d.input("x", INT8, &[256, 1]);
    d.input("y", INT8, &[1, 256]);
    let wide = if kind == "MUL" { 30 } else { 11 };
    d.rescale("x", (1 << 30, wide), [7, 0], ("wide x", INT32, &[256, 1]));
    d.rescale(
        "y",
        (1_500_000_000, if kind == "MUL" { 30 } else { 12 }),
        [-9, 0],
        ("wide y", INT32, &[1, 256]),
    );
    d.bytes("no shift", &[1], &[0]);
    let operands: &[&str] =
        if kind == "MUL" { &["wide x", "wide y", "no shift"] } else { &["wide x", "wide y"] };
    d.result(kind, NOTHING, operands, ("both", INT32, &[256, 256]));
    d.rescale("both", (1_234_567_890, if kind == "MUL" { 38 } else { 50 }), [0, 4], ("z", INT8, &[256, 256]));
    d.finish(&["z"])
}

fn scaled(x: i64, multiplier: i64, shift: u32) -> i64 {
    (x * multiplier + (1i64 << (shift - 1))) >> shift
}

#[test]
fn sums_and_extremes_of_bytes_are_exact() {
    let all: Vec<i8> = (-128..=127).collect();
    type Pair = fn(i64, i64) -> i64;
    let of: [(&str, Pair); 4] =
        [("ADD", |a, b| a + b), ("SUB", |a, b| a - b), ("MAXIMUM", i64::max), ("MINIMUM", i64::min)];
    for (kind, of) in of {
        let graph = graph(&of_two(kind));
        let wide = ops(&graph).iter().any(|op| matches!(op, Op::Cast {}));
        assert!(!wide, "{kind}: {graph}");
        let own = run(&graph, &[Data::from_i8(&all), Data::from_i8(&all)])[0].to_i8();
        for (k, own) in own.into_iter().enumerate() {
            let (x, y) = (i64::from(all[k / 256]), i64::from(all[k % 256]));
            let both = of(scaled(x - 7, 1 << 30, 11), scaled(y + 9, 1_500_000_000, 12));
            let z = (scaled(both, 1_234_567_890, 50) + 4).clamp(-128, 127);
            assert_eq!(i64::from(own), z, "{kind} of {x} and {y}");
        }
    }
}

#[test]
fn what_no_op_computes_is_computed_in_plain_integers() {
    // The second operand is rounded before it is multiplied.
    let graph = graph(&of_two("MUL"));
    let all: Vec<i8> = (-128..=127).collect();
    let own = run(&graph, &[Data::from_i8(&all), Data::from_i8(&all)])[0].to_i8();
    for (k, own) in own.into_iter().enumerate() {
        let (x, y) = (i64::from(all[k / 256]), i64::from(all[k % 256]));
        let both = (x - 7) * scaled(y + 9, 1_500_000_000, 30);
        let z = (scaled(both, 1_234_567_890, 38) + 4).clamp(-128, 127);
        assert_eq!(i64::from(own), z, "{x} by {y}");
    }
}

#[test]
fn functions_of_one_byte_are_a_table() {
    let mut d = Draft::default();
    d.input("x", INT8, &[256]);
    d.rescale("x", (1 << 30, 20), [3, 0], ("wide", INT32, &[256]));
    d.result("ABS", NOTHING, &["wide"], ("size", INT32, &[256]));
    d.rescale("size", (1_700_000_000, 42), [0, -128], ("y", INT8, &[256]));
    let graph = graph(&d.finish(&["y"]));
    assert!(matches!(ops(&graph)[..], [Op::Lookup {}]), "{graph}");
    let all: Vec<i8> = (-128..=127).collect();
    let expected = all.iter().map(|&x| {
        let size = ((i64::from(x) - 3) << 10).abs();
        (scaled(size, 1_700_000_000, 42) - 128).clamp(-128, 127) as i8
    });
    assert_eq!(run(&graph, &[Data::from_i8(&all)])[0].to_i8(), expected.collect::<Vec<i8>>());
}

#[test]
fn means_of_bytes_are_exact() {
    let mut d = Draft::default();
    d.input("x", INT8, &[1, 2, 2, 1]);
    d.bytes("in", &[1], &[-128]);
    d.bytes("out", &[1], &[-128]);
    let attribute =
        Field::Table(vec![Field::Ints(vec![2, 2]), Field::Ints(vec![1, 1]), Field::Ints(vec![0; 4])]);
    d.result("AVG_POOL2D", attribute, &["x", "in", "out"], ("y", INT8, &[1, 1, 1, 1]));
    let graph = graph(&d.finish(&["y"]));
    for sum in -512..=508i32 {
        let part = |k: i32| ((sum + k).div_euclid(4)) as i8;
        let x = [part(0), part(1), part(2), part(3)];
        // Half away from the zero point, which is above no byte.
        let expected = (sum + 512 + 2).div_euclid(4) - 128;
        assert_eq!(run(&graph, &[Data::from_i8(&x)])[0].to_i8(), [expected as i8], "{x:?}");
    }
}

#[test]
fn tables_of_words_are_interpolated() {
    let mut d = Draft::default();
    d.input("x", INT16, &[4]);
    let table: Vec<u8> = (0..513).flat_map(|k: i16| (k * 60 - 15000).to_le_bytes()).collect();
    d.constant("table", INT16, &[513], &table);
    d.result("TABLE", NOTHING, &["x", "table"], ("y", INT32, &[4]));
    let graph = graph(&d.finish(&["y"]));
    let y = run(&graph, &[Data::from_i16(&[-32768, -1, 0, 32767])])[0].to_i32();
    assert_eq!(y, [-15000 * 128, 360 * 128 - 60, 360 * 128, 15720 * 128 - 60]);
}

#[test]
fn what_is_refused_says_why() {
    let mut d = Draft::default();
    d.input("x", FP32, &[2]);
    let attribute = Field::Table(vec![Field::Bytes(b"npu".to_vec()), Field::Bytes(b"arm".to_vec())]);
    d.result("CUSTOM", attribute, &["x"], ("y", FP32, &[2]));
    d.result("ADD", NOTHING, &["x", "y"], ("z", FP32, &[2]));
    let error = crate::read(&d.finish(&["z"]), "case").unwrap_err();
    let Error::Unsupported(problems) = &error else { panic!("{error}") };
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].place, "operator 0 CUSTOM \"y\"");
    assert!(problems[0].what.contains("\"npu\" of the domain \"arm\""), "{error}");
}

#[test]
fn shapes_that_are_declared_are_compared() {
    let mut d = Draft::default();
    d.input("x", FP32, &[2, 3]);
    d.shape("shape", &[3, 2]);
    d.result("RESHAPE", NOTHING, &["x", "shape"], ("y", FP32, &[2, 2]));
    let error = crate::read(&d.finish(&["y"]), "case").unwrap_err();
    assert!(matches!(&error, Error::Malformed(_)), "{error}");
    assert!(error.to_string().contains("[3, 2]"), "{error}");
}

#[test]
fn choices_and_comparisons() {
    let mut d = Draft::default();
    d.input("x", FP32, &[3]);
    d.input("y", FP32, &[3]);
    d.result("GREATER", NOTHING, &["x", "y"], ("is", BOOL, &[3]));
    d.result("SELECT", NOTHING, &["is", "x", "y"], ("z", FP32, &[3]));
    let graph = graph(&d.finish(&["z"]));
    let inputs = [[1.0, 2.0, 3.0], [3.0, 2.5, -1.0]].map(|x| Data::from_f32(&x));
    assert_eq!(run(&graph, &inputs)[0].to_f32(), [3.0, 2.5, 3.0]);
}

#[test]
fn what_a_file_has_is_listed() {
    let summary = crate::inspect(&layer()).unwrap();
    assert_eq!((summary.format, &*summary.description), ("TOSA", "TOSA 1.0.0"));
    assert_eq!((summary.inputs[0].name.as_str(), summary.inputs[0].element.as_str()), ("x", "int8"));
    let names: Vec<&str> = summary.operators.iter().map(|operator| &*operator.name).collect();
    assert_eq!(names, ["CONV2D", "RESCALE"]);
    assert!(summary.operators.iter().all(|operator| operator.is_known));
    assert_eq!(summary.macs, 8 * 6);
}

fn files() -> Vec<Vec<u8>> {
    vec![layer(), of_two("ADD"), of_two("MUL")]
}

#[test]
fn files_that_are_cut_short_do_no_harm() {
    for file in files() {
        for end in 0..file.len() {
            let _ = crate::read(&file[..end], "case");
            let _ = crate::inspect(&file[..end]);
        }
    }
}

#[test]
fn changed_bytes_do_no_harm() {
    const BYTES: [u8; 8] = [0, 1, 3, 0x7f, 0x80, 0xfe, 0xff, 0x10];
    let mut random = Random(7);
    for file in files() {
        for _ in 0..3000 {
            let damaged = damaged(&file, 8, &BYTES, &mut random);
            match crate::read(&damaged, "case") {
                Ok(graph) => assert_eq!(kiln_ir::verify::verify(&graph), Ok(())),
                Err(error) => assert!(!matches!(error, Error::Internal { .. }), "{error}"),
            }
            let _ = crate::inspect(&damaged);
        }
    }
}
