//! Every model, compiled and run, against its golden outputs: integers to the bit, floats within the stated tolerance.

use cargo_kiln::compare::compare;
use cargo_kiln::golden::Golden;
use cargo_kiln::place::Place;
use cargo_kiln::validate::validate;
use kiln_codegen::ir::{DType, Graph, Node};
use kiln_codegen::{compile_graph, import, Error, Input, Optimize, Options};
use kiln_host_tests::{emulated_kinds, golden_onnx, networks, own_models, sweeps, unsupported, Model};
use kiln_tools::report::macs;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A model that is not listed compiles; one that is listed is refused as unsupported, and not for another reason.
#[test]
fn every_model_compiles_or_is_known() {
    let known = unsupported();
    let mut wrong = Vec::new();
    for model in networks() {
        let bytes = std::fs::read(&model.path).unwrap();
        let result = kiln_codegen::compile(&bytes, &model.name, &model.options(&Options::default()));
        match (result, known.get(&model.name)) {
            (Ok(_), None) | (Err(Error::Unsupported(_)), Some(_)) => {}
            (Ok(_), Some(reason)) => wrong.push(format!("{} compiles, but is listed: {reason}", model.name)),
            (Err(error), _) => wrong.push(format!("{}: {error}", model.name)),
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// (`tests/interp_golden` holds the interpreter to the TFLite files.)
#[test]
fn onnx_in_the_interpreter() {
    let models = golden_onnx();
    assert!(check_models(&models, &Options::default(), &["interp"]) > 0 || models.is_empty());
}

/// The same bits with every instruction set that this machine has: one program, the best one first. Without a sweep, every fourth of the networks that are not
/// among the [`REPRESENTATIVES`] is run.
#[test]
fn host_at_every_level() {
    let best = kiln::level();
    let others = kiln::Level::ALL.into_iter().filter(|&level| level != best && kiln::is_available(level));
    let others: Vec<String> = others.map(|level| format!("host@{}", level.name())).collect();
    let places: Vec<&str> = std::iter::once("host").chain(others.iter().map(String::as_str)).collect();
    let is_representative = |model: &Model| REPRESENTATIVES.iter().any(|other| other.path == model.path);
    let (mut models, mut others) = (networks(), 0);
    models.retain(|model| {
        others += usize::from(!is_representative(model));
        sweeps() || is_representative(model) || others % 4 == 1
    });
    assert!(check_models(&models, &Options::default(), &places) > 0);
}

#[test]
fn cortex_m4() {
    assert!(check_models(&REPRESENTATIVES, &Options::default(), &["qemu-cortex-m4"]) > 0);
}

/// The same bits with pipelines, with the input row by row, and sliding where a model can.
#[test]
fn least_memory() {
    let options = |input| Options { optimize: Optimize::Memory, input, ..Options::default() };
    let rows = check_models(&REPRESENTATIVES, &options(Input::Rows), &["host"]);
    // Of whole inputs, quantised models run on a device (below); a sweep runs them here, too.
    let mut models = REPRESENTATIVES.clone();
    models.retain(|model| sweeps() || model.name.ends_with("_f32"));
    let whole = check_models(&models, &options(Input::Whole), &["host"]);
    // Few models slide; of the project's own only single operators (`tests/sliding.rs`, `tests/own_models.rs`).
    let sliding = check(&options(Input::Sliding), &["host"]);
    println!("{whole} models are whole, {rows} take rows and {sliding} slide");
    assert!(whole > 0 && rows > 0);
}

/// With pipelines on a device: the quantised models.
#[test]
fn least_memory_on_cortex_m4() {
    let options = Options { optimize: Optimize::Memory, ..Options::default() };
    let models: Vec<Model> = REPRESENTATIVES.iter().filter(|m| !m.name.ends_with("_f32")).cloned().collect();
    assert!(check_models(&models, &options, &["qemu-cortex-m4"]) > 0);
}

/// Of all supported networks the ones with the least work that have every operator on every type of number that any of them has; in a sweep, all.
static REPRESENTATIVES: LazyLock<Vec<Model>> = LazyLock::new(|| {
    let known = unsupported();
    let mut models = networks();
    models.retain(|model| !known.contains_key(&model.name));
    if sweeps() {
        return models;
    }
    let mut models: Vec<_> = models
        .into_iter()
        .map(|model| {
            let bytes = std::fs::read(&model.path).unwrap();
            let graph = import(&bytes, &model.name, &model.options(&Options::default())).unwrap();
            (work(&graph), model, operators(&graph))
        })
        .collect();
    models.sort_by_key(|(work, model, _)| (*work, model.name.clone()));
    let mut covered = BTreeSet::new();
    models.retain(|(_, _, operators)| {
        let before = covered.len();
        covered.extend(operators.iter().copied());
        covered.len() > before
    });
    models.into_iter().map(|(_, model, _)| model).collect()
});

/// The operators of a graph, each with the type of its result and that of its first operand.
fn operators(graph: &Graph) -> BTreeSet<(&'static str, DType, Option<DType>)> {
    let of = |node: &Node| {
        let operand = node.operands.first().map(|&id| graph.ty(id).dtype);
        (node.op.name(), graph.ty(node.result).dtype, operand)
    };
    graph.nodes().map(|(_, node)| of(node)).collect()
}

/// Validates every supported model that can take its input as the options say; returns how many.
fn check(options: &Options, places: &[&str]) -> usize {
    check_models(&networks(), options, places)
}

/// In every mode, each arena is at most 2 % larger than what has been proved to be the least for its schedule. Without a sweep, those of every third network.
#[test]
fn arenas_are_packed() {
    let known = unsupported();
    let (mut packed, mut models) = (0, 0);
    let some = if sweeps() { 1 } else { 3 };
    for model in networks().iter().filter(|m| !known.contains_key(&m.name)).step_by(some) {
        models += 1;
        let bytes = std::fs::read(&model.path).unwrap();
        for optimize in [Optimize::Speed, Optimize::Memory] {
            for input in [Input::Whole, Input::Rows, Input::Sliding] {
                let options = model.options(&Options { optimize, input, ..Options::default() });
                let Ok(compiled) = kiln_codegen::compile(&bytes, &model.name, &options) else { continue };
                let (arena, least) = (compiled.plan.arena_bytes, compiled.plan.lower_bound);
                assert!(arena <= least + least / 50, "{} {options:?}: {arena} of {least}", model.name);
                packed += 1;
            }
        }
    }
    println!("{packed} arenas");
    assert!(models > 0 && packed >= 2 * models);
}

/// Multiplications of a model that is emulated, or compiled for the least memory, in every test run; the sweep runs larger ones, too.
const MOST_WORK: u64 = 20_000_000;

fn work(graph: &Graph) -> u64 {
    graph.nodes().map(|(_, node)| macs(graph, node)).sum()
}

fn check_models(models: &[Model], options: &Options, places: &[&str]) -> usize {
    let places: Vec<String> = places.iter().map(|p| p.to_string()).collect();
    let known = unsupported();
    let emulated = places.iter().any(|place| place.starts_with("qemu"));
    let only_small = (emulated || options.optimize == Optimize::Memory) && !sweeps();
    let mut failed = Vec::new();
    let mut checked = 0;
    for model in models.iter().filter(|m| !known.contains_key(&m.name)) {
        let bytes = std::fs::read(&model.path).unwrap();
        let options = &model.options(options);
        match kiln_codegen::compile(&bytes, &model.name, options) {
            Err(Error::Options(_)) => continue,
            Ok(compiled) if only_small && work(&compiled.graph) > MOST_WORK => continue,
            _ => {}
        }
        match validate(&model.path, options, &model.golden, &places) {
            Ok(report) => {
                checked += 1;
                if !report.passes() {
                    failed.push(report.text());
                }
            }
            Err(error) => failed.push(format!("{}: {error:#}", model.name)),
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {} failed:\n{}",
        failed.len(),
        failed.len() + checked,
        failed.join("\n")
    );
    checked
}

/// Every value that any operator computes, not just the outputs (those of several classifiers saturate, and hide what comes before).
///
/// The model is compiled with all results as outputs; generated code is held to the interpreter, which other tests hold to golden layers.
#[test]
fn every_layer_of_generated_code() {
    let mut layers = 0;
    for model in REPRESENTATIVES.iter() {
        let bytes = std::fs::read(&model.path).unwrap();
        let options = model.options(&Options::default());
        let mut graph = import(&bytes, &format!("{}_layers", model.name), &options).unwrap();
        let results: Vec<_> =
            graph.nodes().map(|(_, node)| node.result).filter(|id| !graph.outputs.contains(id)).collect();
        let size: usize = results.iter().map(|&id| graph.ty(id).bytes()).sum();
        if size > LAYER_BYTES {
            continue;
        }
        graph.outputs.extend(results);
        let compiled = compile_graph(graph.clone(), &Options::default()).unwrap();
        let cases = Golden::read(&model.golden).unwrap().inputs;
        let expected = Place::Interp.run(&graph, &compiled, &cases).unwrap();
        let actual = Place::Host.run(&graph, &compiled, &cases).unwrap();
        for (case, (actual, expected)) in actual.iter().zip(&expected).enumerate() {
            for (k, (actual, expected)) in actual.iter().zip(expected).enumerate() {
                let value = graph.value(graph.outputs[k]);
                let difference = compare(value.ty.dtype, actual, expected);
                assert!(difference.passes(), "{}, case {case}, {:?}: {difference:?}", model.name, value.name);
            }
        }
        layers += graph.outputs.len();
    }
    println!("{layers} layers compared");
    assert!(layers > 50);
}

/// Models whose results take more together are left out: rustc would take minutes for them, and their outputs are compared anyway.
const LAYER_BYTES: usize = 1 << 20;

/// The same bits on every emulated core: without 32-bit Thumb, without a floating-point unit, with the next architecture. With `KILN_SWEEP`
/// set, of every model of at most 1 MB and in every mode, which takes hours.
#[test]
fn every_emulated_board() {
    let places: Vec<&str> = emulated_kinds("").iter().map(|board| board.name.as_str()).collect();
    assert!(places.len() >= 4, "{places:?}");
    let sweep = sweeps();
    let modes = [Optimize::Speed, Optimize::Size, Optimize::Memory];
    let mut models = if sweep { networks() } else { own_models() };
    models.retain(|m| match sweep {
        true => std::fs::metadata(&m.path).unwrap().len() <= 1 << 20,
        false => ["residual_int8", "stream_int8", "temporal_f32"].contains(&m.name.as_str()),
    });
    for optimize in &modes[..if sweep { 3 } else { 1 }] {
        let options = Options { optimize: *optimize, ..Options::default() };
        assert!(check_models(&models, &options, &places) >= 3);
    }
}
