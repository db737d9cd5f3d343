//! `float = "reproducible"`: the same bits in the interpreter, on every host at every level, and as firmware with and without floating-point unit.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::compare::compare;
use cargo_kiln::golden::Golden;
use cargo_kiln::place::{interpret, is_sequence, Built, Place};
use kiln_boards::Error;
use kiln_codegen::ir::{DType, Data, Graph, ValueId};
use kiln_codegen::{compile_graph, import, read_file, reference, Float, Input, Optimize, Options};
use kiln_host_tests::side_by_side::SideBySide;
use kiln_host_tests::{golden_onnx, networks, onnx_corpus, own_models, sweeps, unsupported, Model};
use kiln_tools::report::macs;
use std::path::Path;
use std::time::Instant;

/// Other processors than this one, the fastest to try first.
const OTHERS: [&str; 7] = [
    "aarch64",
    "aarch64-dotprod",
    "wasm32",
    "wasm32-scalar",
    "qemu-cortex-m33",
    "qemu-cortex-m4",
    "qemu-cortex-m0",
];

/// This machine at every level that it has, the best one first: one program.
fn hosts() -> Vec<String> {
    let best = kiln::level();
    let others = kiln::Level::ALL.into_iter().filter(|&level| level != best && kiln::is_available(level));
    std::iter::once("host".into()).chain(others.map(|level| format!("host@{}", level.name()))).collect()
}

fn reproducible() -> Options {
    Options { float: Float::Reproducible, ..Options::default() }
}

/// Whether a network has floats.
fn has_floats(graph: &Graph) -> bool {
    graph.outputs.iter().any(|&id| graph.ty(id).dtype == DType::F32)
}

/// Holds a model to the interpreter's bits in each place. Places that this machine cannot emulate are left out, and say so.
fn check(graph: &Graph, options: &Options, cases: &[Vec<Data>], places: &[String]) -> Result<(), String> {
    let meaning = reference(graph, options).map_err(|error| error.to_string())?;
    let expected = interpret(&meaning, cases).map_err(|error| format!("interp: {error:#}"))?;
    let mut last: Option<Built> = None;
    for name in places {
        let place = Place::find(name).unwrap();
        let built = match last.as_ref().and_then(|built| built.at(&place)) {
            Some(built) => built,
            None => {
                let compiled = compile_graph(graph.clone(), &place.options(options));
                let compiled = compiled.map_err(|error| format!("{name}: {error}"))?;
                match place.build(&meaning, &compiled) {
                    Ok(built) => built,
                    Err(error) if matches!(error.downcast_ref(), Some(Error::Missing { .. })) => {
                        println!("{name} was not tried: {error:#}");
                        continue;
                    }
                    Err(error) => return Err(format!("{name}: {error:#}")),
                }
            }
        };
        let actual = built.run(cases, is_sequence(graph)).map_err(|error| format!("{name}: {error:#}"))?;
        let mut found = Vec::new();
        for (case, expected) in expected.iter().enumerate() {
            for (k, &id) in graph.outputs.iter().enumerate() {
                let difference = compare(graph.ty(id).dtype, &actual[case][k], &expected[k]);
                if !difference.is_none() {
                    let value = graph.value(id);
                    let by =
                        graph.producer(id).map(|node| graph.node(node).origin.clone()).unwrap_or_default();
                    found.push(format!("case {case}, {} by {by}: {difference:?}", value.name));
                }
            }
        }
        if !found.is_empty() {
            return Err(format!("{name}: {}", found.join("\n")));
        }
        last = Some(built);
    }
    Ok(())
}

/// Models of every test run, for compilers take long: the kernels in vectors, and functions. The sweep has all.
const FEW: [&str; 14] = [
    "cancer_f32",
    "residual_f32",
    "op_conv2d_dilated_same_f32",
    "op_depthwise_same_f32",
    "op_dense_rows_f32",
    "op_softmax_rows_f32",
    "op_logistic_f32",
    "op_tanh_f32",
    "op_mean_channels_f32",
    "op_avg_pool_same_f32",
    "op_max_pool_f32",
    "rms_norm",
    "lstm_forward",
    "trained_vectors_radial",
];

/// Models of one program: more take a compiler too long.
const TOGETHER: usize = 24;

/// The project's models of floats, single operators and small networks, several as one.
fn small_models() -> Vec<SideBySide> {
    let mut models = Vec::new();
    let chosen = |name: &str| sweeps() || FEW.contains(&name);
    for model in own_models().iter().filter(|model| model.name.ends_with("_f32") && chosen(&model.name)) {
        add(&mut models, &model.path, &model.golden);
    }
    for folder in ["onnx_small", "onnx_recurrent", "onnx_classical"] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(folder);
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|ending| ending == "onnx"));
        files.retain(|path| chosen(&kiln_codegen::model_name(path)));
        files.sort();
        files.iter().for_each(|path| add(&mut models, path, &path.with_extension("npz")));
    }
    println!("{} models", models.len());
    assert!(models.len() >= 10);
    models.chunks(TOGETHER).map(|models| SideBySide::of("reproducible", models)).collect()
}

/// Adds a model, unless it has no floats, keeps something, or needs options.
fn add(models: &mut Vec<(Graph, Golden)>, path: &Path, golden: &Path) {
    let Ok(graph) = import(&read_file(path).unwrap(), &kiln_codegen::model_name(path), &Options::default())
    else {
        return;
    };
    let Ok(golden) = Golden::read(golden) else { return };
    let size = |(data, &id): (&Data, &ValueId)| data.bytes().len() == graph.ty(id).bytes();
    let fits = golden.inputs.iter().all(|case| case.iter().zip(&graph.inputs).all(size));
    if graph.states.is_empty() && has_floats(&graph) && fits {
        models.push((graph, golden));
    }
}

#[test]
fn small_models_have_the_same_bits_everywhere() {
    let places: Vec<String> = hosts().into_iter().chain(OTHERS.map(String::from)).collect();
    for models in small_models() {
        let (graph, inputs) = models.graph_and_inputs();
        let inputs = &inputs[..inputs.len().min(3)];
        check(graph, &reproducible(), inputs, &places).unwrap_or_else(|why| panic!("{why}"));
        // Layer by layer and row by row in turns; steps that several threads share.
        let memory = Options { optimize: Optimize::Memory, ..reproducible() };
        check(graph, &memory, inputs, &hosts()[..1]).unwrap_or_else(|why| panic!("memory: {why}"));
        let cores = Options { cores: Some(3), ..reproducible() };
        check(graph, &cores, inputs, &hosts()[..1]).unwrap_or_else(|why| panic!("cores: {why}"));
    }
}

/// The same test finds something where floats are not reproducible.
#[test]
fn fast_floats_have_other_bits() {
    if kiln::level() == kiln::Level::Portable {
        return println!("this machine has no vectors");
    }
    let models = small_models();
    let (graph, inputs) = models[0].graph_and_inputs();
    let why = check(graph, &Options::default(), &inputs[..1], &hosts()[..1]).unwrap_err();
    assert!(why.contains("other_bits"), "{why}");
}

/// Multiplications of a network that every test run has; the sweep has all of them.
const MOST_WORK: u64 = 5_000_000;

/// Multiplications of a network of which a board computes more than one case.
const MOST_WORK_OF_BOARDS: u64 = 2_000_000;

/// Networks of floats, the one with the least work first.
fn float_networks() -> Vec<(u64, Model, Graph, Options)> {
    let mut models = networks();
    let golden: Vec<String> = golden_onnx().into_iter().map(|model| model.name).collect();
    models.extend(onnx_corpus().into_iter().filter(|model| !golden.contains(&model.name)));
    models.retain(|model| !unsupported().contains_key(&model.name));
    let mut found = Vec::new();
    for model in models {
        let options = model.options(&reproducible());
        let graph = import(&read_file(&model.path).unwrap(), &model.name, &options).unwrap();
        if has_floats(&graph) {
            let work = graph.nodes().map(|(_, node)| macs(&graph, node)).sum();
            found.push((work, model, graph, options));
        }
    }
    found.sort_by_key(|(work, ..)| *work);
    found
}

/// Every network of floats. In each test run those of moderate size, on this machine; in a sweep (`KILN_SWEEP`) all of them, everywhere.
#[test]
fn networks_have_the_same_bits() {
    let only = std::env::var("KILN_ONLY").ok();
    let (hosts, others) = (hosts(), OTHERS.map(String::from));
    let (mut checked, mut failed) = (0, Vec::new());
    for (work, model, graph, options) in float_networks() {
        if (!sweeps() && work > MOST_WORK) || only.as_ref().is_some_and(|only| *only != model.name) {
            continue;
        }
        let begin = Instant::now();
        let cases = Golden::read(&model.golden).unwrap().inputs;
        let of_hosts = &cases[..cases.len().min(4)];
        let mut results = vec![check(&graph, &options, of_hosts, &hosts)];
        if sweeps() {
            let memory = Options { optimize: Optimize::Memory, ..options.clone() };
            results.push(check(&graph, &memory, of_hosts, &hosts[..1]));
            let rows = Options { input: Input::Rows, ..memory };
            if compile_graph(graph.clone(), &rows).is_ok() {
                results.push(check(&graph, &rows, of_hosts, &hosts[..1]));
            }
            for place in &others {
                let few = if work > MOST_WORK_OF_BOARDS { 1 } else { 2 };
                let result =
                    check(&graph, &options, &cases[..cases.len().min(few)], std::slice::from_ref(place));
                println!("  {} on {place}: {result:?}, {:.0?}", model.name, begin.elapsed());
                results.push(result);
            }
        }
        checked += 1;
        let wrong: Vec<String> = results.into_iter().filter_map(Result::err).collect();
        println!("{} ({work} multiplications): {} wrong, {:.0?}", model.name, wrong.len(), begin.elapsed());
        failed.extend(wrong.into_iter().map(|why| format!("{}: {why}", model.name)));
    }
    assert!(failed.is_empty(), "{} of {checked}:\n{}", failed.len(), failed.join("\n"));
    assert!(checked >= 2 || only.is_some());
}
