//! The interpreter against golden files: its outputs are those of the reference kernels, integers to the bit.
//!
//! - `own`: the project's own models (`host-tests/models`), always.
//! - `corpus`: of the corpus that `KILN_CORPUS` names, every model that the reader accepts. `corpus_layers`: those with
//!   layer files, tensor by tensor.
//! - `generated_ops`, `litert_ops`: single operators of the conformance suites beside it (`$KILN_CORPUS/../conformance`).
//!
//! Float outputs may differ by 1e-5 of the largest magnitude in the same tensor. What differs, or is refused though its operator and number
//! format are in scope, must be listed with a reason in `known_gaps.txt`, and what is listed there must not pass.

mod case;
mod table;

use case::{Case, Verdict};
use std::path::{Path, PathBuf};

/// Runs a suite, several cases at a time, and fails on every verdict that is not the expected one.
fn check(suite: &str, cases: Vec<Case>) {
    let gaps = kiln_host_tests::reasons(include_str!("known_gaps.txt"));
    let verdicts = case::run_all(&cases);
    let (mut passed, mut refused, mut known) = (0, 0, 0);
    let mut wrong = Vec::new();
    for (case, verdict) in cases.iter().zip(verdicts) {
        let name = format!("{suite}/{}", case.name);
        match (&verdict, gaps.get(&name)) {
            (Verdict::Passes, None) => passed += 1,
            (Verdict::Passes, Some(reason)) => {
                wrong.push(format!("{name} passes, but is a known gap: {reason}"))
            }
            (Verdict::Refused(why), None) if !case.in_scope => {
                println!("{name} is out of scope: {why}");
                refused += 1;
            }
            (Verdict::Refused(why), None) => wrong.push(format!("{name} is refused: {why}")),
            (Verdict::Differs(how), None) => wrong.push(format!("{name} differs: {how}")),
            (_, Some(_)) => known += 1,
        }
    }
    println!("{suite}: {passed} pass, {refused} out of scope, {known} known gaps");
    let mine = |name: &&String| name.strip_prefix(suite).is_some_and(|rest| rest.starts_with('/'));
    for name in gaps.keys().filter(mine) {
        let exists = cases.iter().any(|case| *name == format!("{suite}/{}", case.name));
        if !exists {
            wrong.push(format!("{name} is a known gap, but no case"));
        }
    }
    assert!(wrong.is_empty(), "{} unexpected:\n{}", wrong.len(), wrong.join("\n"));
}

/// The corpus, or `None` (said aloud).
fn corpus() -> Option<PathBuf> {
    let corpus = kiln_host_tests::corpus_folder();
    if corpus.is_none() {
        println!("KILN_CORPUS is not set: nothing but the project's own models is checked");
    }
    corpus
}

/// The TFLite models that a folder's manifest lists.
fn listed_models(folder: &Path) -> Vec<Case> {
    let rows = table::read(&folder.join("MANIFEST.csv"));
    let tflite = rows.into_iter().filter(|row| row.get("format").is_none_or(|f| f == "tflite"));
    tflite
        .map(|row| {
            let name = row["name"].clone();
            Case {
                model: folder.join(format!("tflite/{name}.tflite")),
                golden: folder.join(format!("golden/{name}.npz")),
                layers: None,
                sequence: row["sequence"] == "yes",
                in_scope: false,
                name,
            }
        })
        .collect()
}

#[test]
fn own_models() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models");
    let cases = listed_models(&folder).into_iter().map(|case| Case { in_scope: true, ..case }).collect();
    check("own", cases);
}

#[test]
fn corpus_models() {
    let Some(corpus) = corpus() else { return };
    check("corpus", listed_models(&corpus));
}

#[test]
fn corpus_layers() {
    let Some(corpus) = corpus() else { return };
    let with_layers = listed_models(&corpus).into_iter().filter_map(|case| {
        let layers = corpus.join(format!("golden/{}.layers.npz", case.name));
        layers.exists().then_some(Case { layers: Some(layers), ..case })
    });
    check("corpus_layers", with_layers.collect());
}

/// Operators that move elements, or do not look at their scale, of which every case is in scope.
const MOVING_OPERATORS: &[&str] = &[
    "BATCH_TO_SPACE_ND",
    "BROADCAST_TO",
    "CAST",
    "DEPTH_TO_SPACE",
    "EXPAND_DIMS",
    "GATHER",
    "GATHER_ND",
    "LOGICAL_AND",
    "LOGICAL_NOT",
    "LOGICAL_OR",
    "MIRROR_PAD",
    "PAD",
    "PADV2",
    "REDUCE_ALL",
    "REDUCE_ANY",
    "RESHAPE",
    "RESIZE_NEAREST_NEIGHBOR",
    "REVERSE_SEQUENCE",
    "REVERSE_V2",
    "SELECT",
    "SELECT_V2",
    "SLICE",
    "SPACE_TO_BATCH_ND",
    "SPACE_TO_DEPTH",
    "SPLIT",
    "SPLIT_V",
    "SQUEEZE",
    "STRIDED_SLICE",
    "TILE",
    "TOPK_V2",
    "TRANSPOSE",
    "UNPACK",
    "WHERE",
];

/// Operators of which every float32 and int8 case is in scope, those with float16 and int4 weights included, and every uint8 case.
const OPERATORS: &[&str] = &[
    "ABS",
    "ADD",
    "ARG_MAX",
    "ARG_MIN",
    "AVERAGE_POOL_2D",
    "BATCH_MATMUL",
    "CONCATENATION",
    "CONV_2D",
    "DEPTHWISE_CONV_2D",
    "DEQUANTIZE",
    "DIV",
    "EQUAL",
    "EXP",
    "FULLY_CONNECTED",
    "GELU",
    "GREATER",
    "GREATER_EQUAL",
    "HARD_SWISH",
    "L2_NORMALIZATION",
    "LEAKY_RELU",
    "LESS",
    "LESS_EQUAL",
    "LOG",
    "LOGISTIC",
    "LOG_SOFTMAX",
    "LSTM",
    "MAXIMUM",
    "MAX_POOL_2D",
    "MEAN",
    "MINIMUM",
    "MUL",
    "NOT_EQUAL",
    "PACK",
    "PRELU",
    "QUANTIZE",
    "REDUCE_MAX",
    "REDUCE_MIN",
    "REDUCE_PROD",
    "RELU",
    "RELU6",
    "RELU_N1_TO_1",
    "RESIZE_BILINEAR",
    "RSQRT",
    "SOFTMAX",
    "SQRT",
    "SQUARED_DIFFERENCE",
    "SUB",
    "SUM",
    "SVDF",
    "TANH",
    "TRANSPOSE_CONV",
    "UNIDIRECTIONAL_SEQUENCE_LSTM",
];

/// Operators of which every case of int16 activations with int8 weights is in scope.
const INT16_OPERATORS: &[&str] = &[
    "ABS",
    "ADD",
    "AVERAGE_POOL_2D",
    "BATCH_MATMUL",
    "CONCATENATION",
    "CONV_2D",
    "DEPTHWISE_CONV_2D",
    "EXP",
    "FULLY_CONNECTED",
    "LEAKY_RELU",
    "LOGISTIC",
    "MAXIMUM",
    "MAX_POOL_2D",
    "MEAN",
    "MINIMUM",
    "MUL",
    "PACK",
    "PAD",
    "RELU",
    "RELU6",
    "RESHAPE",
    "RESIZE_BILINEAR",
    "RSQRT",
    "SLICE",
    "SOFTMAX",
    "SPLIT",
    "SPLIT_V",
    "SQUARED_DIFFERENCE",
    "STRIDED_SLICE",
    "SUB",
    "TANH",
    "TRANSPOSE",
    "TRANSPOSE_CONV",
    "UNPACK",
];

/// Operators of which every float32 case is in scope.
const FLOAT_OPERATORS: &[&str] = &[
    "ADD_N",
    "ATAN2",
    "CEIL",
    "COS",
    "CUMSUM",
    "ELU",
    "FLOOR",
    "FLOOR_DIV",
    "FLOOR_MOD",
    "LOCAL_RESPONSE_NORMALIZATION",
    "NEG",
    "ONE_HOT",
    "POW",
    "RELU_0_TO_1",
    "ROUND",
    "SIGN",
    "SIN",
    "SQUARE",
    "ZEROS_LIKE",
];

/// Operators of which every int32, int64 and bool case is in scope.
const PLAIN_OPERATORS: &[&str] = &[
    "ADD",
    "CONCATENATION",
    "CUMSUM",
    "EQUAL",
    "FLOOR_DIV",
    "FLOOR_MOD",
    "GREATER",
    "GREATER_EQUAL",
    "LESS",
    "LESS_EQUAL",
    "MAXIMUM",
    "MINIMUM",
    "MUL",
    "NEG",
    "NOT_EQUAL",
    "PACK",
    "POW",
    "SUB",
];

fn in_scope(operator: &str, format: &str) -> bool {
    let lists: &[&[&str]] = match format {
        "float32" | "float16w" | "hybrid" | "hybrid-int4w" => &[OPERATORS, FLOAT_OPERATORS],
        "int8" | "int4w" | "uint8" => &[OPERATORS],
        "int32" | "int64" | "bool" => &[PLAIN_OPERATORS],
        "int16" | "int16x8" => &[INT16_OPERATORS],
        _ => &[],
    };
    MOVING_OPERATORS.contains(&operator) || lists.iter().any(|list| list.contains(&operator))
}

#[test]
fn conformance_cases() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("../conformance");
    if !folder.join("INDEX.csv").exists() {
        println!("there are no conformance suites beside the corpus");
        return;
    }
    let rows = table::read(&folder.join("INDEX.csv"));
    for suite in ["generated_ops", "litert_ops", "seanet"] {
        let of_suite = rows.iter().filter(|row| row["suite"] == suite);
        let cases = of_suite.map(|row| {
            let name = row["case"].clone();
            Case {
                model: folder.join(format!("{suite}/{name}.tflite")),
                golden: folder.join(format!("{suite}/{name}.npz")),
                layers: None,
                sequence: false,
                in_scope: in_scope(&row["op"], &row["format"]),
                name,
            }
        });
        check(suite, cases.collect());
    }
}
