//! Custom operators: a model whose file has one, with a function of one's own, on this machine and as firmware.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::place::for_board;
use kiln_boards::cases::Cases;
use kiln_boards::image::Image;
use kiln_boards::{firmware, host, qemu, Board};
use kiln_codegen::front::tflite::testing::{op, Element, ModelBuilder, Options, Tensor};
use kiln_codegen::interp::Machine;
use kiln_codegen::ir::Data;
use kiln_codegen::{compile, import, CustomOp};
use quote::quote;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Of each row the sum of its elements times a weight of each column, plus the first of the attributes: for programs that are built of it.
const FUNCTION: &str = "
use ::kiln::custom::{Dims1, Dims3, Input, Output};
pub fn weighted_sum<const N: usize, const C: usize>(
    x: Input<'_, i8, Dims3<1, N, C>>,
    weights: Input<'_, i8, Dims1<C>>,
    y: Output<'_, f32, Dims3<1, N, 1>>,
    attributes: &'static [u8],
) {
    let bias = attributes.first().map_or(0, |&bias| i32::from(bias));
    for (n, y) in y.cells().iter().enumerate() {
        let real = |c| Some((i32::from(x.get([0, n, c])?) - x.zero_point) * i32::from(weights.get([c])?));
        let sum: i32 = (0..C).filter_map(real).sum();
        y.set((sum + bias) as f32 * (x.scale * weights.scale));
    }
}
";

/// A maximum over pairs, the custom operator, and the sum of it and a constant.
fn model() -> ModelBuilder {
    let mut m = ModelBuilder::new();
    let int8 = |dims: &[i32]| Tensor::new(Element::Int8, dims).quantized(0.5, -3);
    let float = Tensor::new(Element::Float32, &[1, 2, 1]);
    let x = m.input("x", int8(&[1, 4, 3, 1]));
    let largest = m.value("largest", int8(&[1, 2, 3, 1]));
    let pool = kiln_codegen::front::tflite::testing::Table::new();
    let pool = pool.with(0, 1i8).with(1, 1i32).with(2, 2i32).with(3, 1i32).with(4, 2i32);
    m.operator(op::MAX_POOL_2D, Options::table(5, pool), &[x], &[largest]);
    let shape = m.ints("shape", &[1, 2, 3]);
    let rows = m.value("rows", int8(&[1, 2, 3]));
    m.operator(op::RESHAPE, Options::none(), &[largest, shape], &[rows]);
    let weights = Tensor::new(Element::Int8, &[3]).quantized(0.25, 0);
    let weights = m.constant("weights", weights, &[1, 0xfe, 3]);
    let sums = m.value("sums", float.clone());
    m.custom_with("WeightedSum", &[2, 7], &[rows, weights], &[sums]);
    let ten = m.floats("ten", &[1], &[10.0]);
    let y = m.value("y", float);
    m.operator(op::ADD, Options::add(0), &[sums, ten], &[y]);
    m.outputs(&[y]);
    m
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("models/custom/weighted_sum.tflite")
}

const X: [i8; 12] = [1, 2, 3, -4, 5, -6, 7, -8, 9, 100, -128, 127];

/// The sums by hand: (4, 8, 6) and (103, −5, 130) are the largest of each pair above the zero point.
const Y: [f32; 2] =
    [(4 - 2 * 8 + 3 * 6 + 2) as f32 / 8.0 + 10.0, (103 + 2 * 5 + 3 * 130 + 2) as f32 / 8.0 + 10.0];

fn options() -> kiln_codegen::Options {
    let bound = CustomOp { name: "WeightedSum".into(), path: "weighted_sum".into() };
    kiln_codegen::Options { custom_ops: vec![bound], ..kiln_codegen::Options::default() }
}

#[test]
fn the_file_is_the_one_that_is_described_here() {
    if std::env::var_os("KILN_BLESS").is_some() {
        std::fs::write(file(), model().build()).unwrap();
    }
    assert!(std::fs::read(file()).unwrap() == model().build(), "KILN_BLESS=1 writes {}", file().display());
}

#[test]
fn generated_code_calls_the_function_on_this_machine_and_on_boards() {
    let board = Board::find("qemu-cortex-m4").unwrap();
    let compiled = compile(&model().build(), "weighted_sum", &for_board(&options(), board)).unwrap();
    let path = kiln_boards::work_dir().unwrap().join("custom_ops_weighted_sum.rs");
    std::fs::write(&path, compiled.file(&quote!(pub)).unwrap() + FUNCTION).unwrap();
    let cases = Cases { sequence: false, inputs: vec![vec![Data::from_i8(&X).bytes().to_vec()]; 2] };
    let (model_type, limit) = (compiled.type_name(), Duration::from_secs(60));
    let expected = vec![vec![Data::from_f32(&Y).bytes().to_vec()]; 2];

    let request = firmware::BuildRequest {
        board,
        model_rs: &path,
        model_type: &model_type,
        mode: firmware::Mode::Validate,
        opt_level: firmware::OptLevel::Speed,
        runtime_features: &[],
    };
    let image = firmware::build(&request).unwrap();
    assert!(Image::read(&image.elf).unwrap().unwanted().is_empty());
    assert_eq!(qemu::validate(&image, &cases, limit).unwrap(), expected);

    let compiled = compile(&model().build(), "weighted_sum", &options()).unwrap();
    std::fs::write(&path, compiled.file(&quote!(pub)).unwrap() + FUNCTION).unwrap();
    let request = host::BuildRequest { model_rs: &path, model_type: &model_type, runtime_features: &[] };
    assert_eq!(host::validate(&host::build(&request).unwrap(), &cases, None, limit).unwrap(), expected);
}

#[test]
fn the_interpreter_says_that_it_cannot_evaluate_it() {
    let graph = import(&model().build(), "weighted_sum", &options()).unwrap();
    let error = Machine::new(&graph).run(&[Data::from_i8(&X)]).unwrap_err().to_string();
    let wanted = "`WeightedSum` is the function `weighted_sum`, which only generated code can call";
    assert!(error.contains(wanted) && error.starts_with("2 CUSTOM:WeightedSum"), "{error}");
    // Its text reads back.
    let graph = graph.compact();
    let again = kiln_codegen::ir::Graph::parse(&graph.to_string()).unwrap();
    assert_eq!(again.to_string(), graph.to_string());
}

#[test]
fn what_is_not_bound_and_what_does_not_exist_is_named() {
    let message = |options: &kiln_codegen::Options| {
        compile(&model().build(), "weighted_sum", options).unwrap_err().to_string()
    };
    let error = message(&kiln_codegen::Options::default());
    assert!(error.contains(r#"custom_op("WeightedSum", crate::kernels::my_op)"#), "{error}");
    let mut typing_error = options();
    typing_error.custom_ops[0].name = "WeightedSums".into();
    let error = message(&typing_error);
    let words = [
        "option `custom_op(\"WeightedSums\", …)`",
        "no custom operator \"WeightedSums\"",
        "it has \"WeightedSum\"",
    ];
    assert!(words.iter().all(|word| error.contains(word)), "{error}");
}

#[test]
fn operators_that_cannot_be_bound_say_why() {
    let refused = |results: usize, operand: Option<&[f32]>, signature: &[i32]| {
        let mut m = ModelBuilder::new();
        let float = || Tensor::new(Element::Float32, &[1, 2]);
        let x = m.input("x", float());
        let second = match operand {
            Some(scales) => {
                let weights = Tensor::new(Element::Int8, &[2]).per_channel(scales, &[0, 0], 0);
                m.constant("w", weights, &[1, 2])
            }
            None => -1,
        };
        let results: Vec<i32> = (0..results).map(|_| m.value("y", float().signature(signature))).collect();
        m.custom("WeightedSum", &[x, second], &results);
        m.outputs(&results);
        compile(&m.build(), "m", &options()).unwrap_err().to_string()
    };
    for (error, words) in [
        (refused(2, Some(&[0.5]), &[1, 2]), "2 operands and 2 results"),
        (refused(1, None, &[1, 2]), "operand 1 is left out"),
        (refused(1, Some(&[0.5, 0.25]), &[1, 2]), "one scale per tensor"),
        (refused(1, Some(&[0.5]), &[1, -1]), "leaves the shape of its result open"),
    ] {
        assert!(error.contains(words), "{error}");
    }
}
