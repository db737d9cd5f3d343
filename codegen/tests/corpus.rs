//! Real models through the passes, the schedule and the plan.
//!
//! `KILN_CORPUS` names a folder with a `tflite/` in it; without it there is nothing to test, and the test says so.
//! Prints one line per model: nodes before and after, steps, arena, lower bound, state.

// Helpers of a test may panic as the test itself may.
#![allow(clippy::panic, clippy::expect_used)]

use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data, Graph, Op, Order, Type};
use kiln_codegen::verify::verify;
use kiln_codegen::{front, passes, plan, schedule, Error};
use std::path::PathBuf;

/// Models of more multiplications are only planned, and those of more than a tenth are not compared after each pass but at the
/// end: the interpreter takes about a second for a hundred million.
const MOST_WORK: usize = 40_000_000;

/// Arena and state that a model may take at most: what TFLite Micro's arena takes.
const LIMITS: [(&str, usize); 5] = [
    ("mlperf_kws_int8", 22_820),
    ("mlperf_ic_int8", 54_996),
    ("mlperf_vww_int8", 100_708),
    ("mlperf_ad_int8", 2_580),
    ("mlperf_strww_int8", 16_596),
];

/// Models and how many of their images are planar where the processor's depthwise kernels like that.
const PLANAR: [(&str, usize); 4] =
    [("mlperf_kws_int8", 4), ("mlperf_vww_int8", 13), ("mlperf_ic_int8", 0), ("mlperf_ad_int8", 0)];

#[test]
fn models_keep_their_meaning_and_are_planned_well() {
    let Some(corpus) = std::env::var_os("KILN_CORPUS").map(PathBuf::from) else {
        eprintln!("KILN_CORPUS is not set: no models to test");
        return;
    };
    let mut models: Vec<PathBuf> = std::fs::read_dir(corpus.join("tflite"))
        .expect("KILN_CORPUS holds a folder tflite/")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "tflite"))
        .collect();
    models.sort();
    assert!(!models.is_empty(), "no models in {}", corpus.display());
    let only = std::env::var("KILN_MODEL").unwrap_or_default();
    println!(
        "{:44} {:>5} {:>5} {:>5} {:>8} {:>8} {:>7}",
        "model", "nodes", "after", "steps", "arena", "bound", "state"
    );
    for path in models {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if name.contains(&only) {
            model(&name, &std::fs::read(&path).expect("readable"));
        }
    }
}

fn model(name: &str, bytes: &[u8]) {
    let before = match front::read(bytes, name) {
        Ok(graph) => graph,
        Err(Error::Unsupported(_)) => return,
        Err(error) => panic!("{name}: {error}"),
    };
    verify(&before).unwrap_or_else(|v| panic!("{name}: {v:#?}"));
    let mut after = before.clone();
    let mut last = before.clone();
    let mut observe = |pass: &str, now: &Graph| {
        if work(now) <= MOST_WORK / 10 {
            assert_equivalent(&format!("{name} after {pass}"), &last, now);
            last = now.clone();
        }
    };
    passes::run(&mut after, &mut observe).unwrap_or_else(|e| panic!("{name}: {e}"));

    let schedule = schedule::schedule(&after);
    let plan = plan::plan(&after, &schedule).unwrap_or_else(|e| panic!("{name}: {e}"));
    plan::check(&after, &schedule, &plan).unwrap_or_else(|v| panic!("{name}: {v:#?}"));
    let (nodes, left, steps) = (before.order.len(), after.order.len(), schedule.steps.len());
    let (arena, bound, state) = (plan.arena_bytes, plan.lower_bound, plan.state_bytes);
    println!("{name:44} {nodes:5} {left:5} {steps:5} {arena:8} {bound:8} {state:7}");
    if let Some((_, limit)) = LIMITS.iter().find(|(model, _)| *model == name) {
        assert!(arena + state <= *limit, "{name}: {arena} + {state} bytes exceed {limit}");
    }
    if work(&before) <= MOST_WORK {
        assert_equivalent(name, &before, &after);
    }
    layouts(name, &after);
}

/// The same with planar images, and how many of them there are.
fn layouts(name: &str, graph: &Graph) {
    let mut planar = graph.clone();
    passes::planar::run(&mut planar);
    verify(&planar).unwrap_or_else(|v| panic!("{name}: {v:#?}"));
    let count = planar.nodes().filter(|(_, node)| node.op.layout().y == Order::Planar).count();
    if let Some((_, wanted)) = PLANAR.iter().find(|(model, _)| *model == name) {
        assert_eq!(count, *wanted, "{name}: planar images");
    }
    if count == 0 {
        return;
    }
    println!("{name:44} {count} planar images");
    let schedule = schedule::schedule(&planar);
    let plan = plan::plan(&planar, &schedule).unwrap_or_else(|e| panic!("{name}: {e}"));
    plan::check(&planar, &schedule, &plan).unwrap_or_else(|v| panic!("{name}: {v:#?}"));
    if work(graph) <= MOST_WORK {
        assert_equivalent(name, graph, &planar);
    }
}

/// Multiplications of one evaluation.
fn work(graph: &Graph) -> usize {
    let taps = |node: &kiln_codegen::ir::Node| match node.op {
        Op::Conv2d { .. } | Op::Dense { .. } => {
            let weights = &graph.ty(node.operands[1]).shape;
            weights.numel() / weights.dims()[0].max(1)
        }
        _ => 1,
    };
    graph.nodes().map(|(_, node)| graph.ty(node.result).shape.numel() * taps(node)).sum()
}

/// Equal outputs for three random inputs one after the other: integers bit for bit, floats but for the sign of zeros.
fn assert_equivalent(name: &str, before: &Graph, after: &Graph) {
    let (mut a, mut b) = (Machine::new(before), Machine::new(after));
    let mut seed = 0x9E37_79B9_7F4A_7C15u64;
    for run in 0..3 {
        let inputs: Vec<Data> = before.inputs.iter().map(|&id| random(&mut seed, before.ty(id))).collect();
        let (want, got) = (a.run(&inputs).expect(name), b.run(&inputs).expect(name));
        for (k, (want, got)) in want.iter().zip(&got).enumerate() {
            let equal = match before.ty(before.outputs[k]).dtype {
                DType::F32 => want.to_f32() == got.to_f32(),
                _ => want == got,
            };
            assert!(equal, "{name}: output {k} of run {run} differs");
        }
    }
}

fn random(seed: &mut u64, ty: &Type) -> Data {
    let mut next = || {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        *seed >> 24
    };
    match ty.dtype {
        DType::F32 => Data::from_f32(
            &(0..ty.shape.numel()).map(|_| next() as u8 as f32 / 32.0 - 4.0).collect::<Vec<_>>(),
        ),
        DType::Bool => Data::new((0..ty.bytes()).map(|_| next() as u8 & 1).collect::<Vec<_>>()),
        _ => Data::new((0..ty.bytes()).map(|_| next() as u8).collect::<Vec<_>>()),
    }
}
