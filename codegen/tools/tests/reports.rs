//! What is said about real models: which operators their ops stand for, which kernels they get, what is proven of them, and what could be better.
//!
//! On the project's own models and, where `KILN_CORPUS` names a folder with a `tflite/` in it, on those. `KILN_MODEL` picks those whose name contains it.

// Helpers of a test may panic as the test itself may.
#![allow(clippy::panic, clippy::unwrap_used)]

use kiln_codegen::front::inspect;
use kiln_codegen::ir::{DType, Op};
use kiln_codegen::schedule::StepKind;
use kiln_codegen::{compile, import, Compiled, Error, Optimize, Options, Target};
use kiln_tools::advice::{advise, Advice, Topic};
use kiln_tools::pareto::{front, Point};
use kiln_tools::report::certificate::certificate;
use kiln_tools::report::kernels::{kernels, Requantisation};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const OWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../host-tests/models");

/// Models of larger files take long to compile in a debug build, and hold nothing that others do not.
const MOST_BYTES: u64 = 1 << 20;

fn models() -> Vec<PathBuf> {
    let corpus = std::env::var_os("KILN_CORPUS").map(PathBuf::from);
    if corpus.is_none() {
        println!("KILN_CORPUS is not set: the project's own models only");
    }
    let only = std::env::var("KILN_MODEL").unwrap_or_default();
    let folders = [Some(PathBuf::from(OWN)), corpus].into_iter().flatten();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.join("tflite")).unwrap());
    let mut models: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    models.retain(|path| {
        path.extension().is_some_and(|e| e == "tflite") && path.to_string_lossy().contains(&only)
    });
    models.retain(|path| path.metadata().unwrap().len() <= MOST_BYTES);
    models.sort();
    models
}

fn of(path: &Path, options: &Options) -> Option<(Compiled, Vec<Advice>)> {
    let bytes = std::fs::read(path).unwrap();
    let compiled = match compile(&bytes, "model", options) {
        Ok(compiled) => compiled,
        Err(Error::Unsupported(_)) => return None,
        Err(error) => panic!("{}: {error}", path.display()),
    };
    let imported = import(&bytes, "model", options).unwrap();
    let advice = advise(&imported, &compiled);
    Some((compiled, advice))
}

fn options(optimize: Optimize, target: Target) -> Options {
    Options { optimize, target: Some(target), ..Options::default() }
}

fn advice_on(model: &str) -> Vec<Advice> {
    let path = Path::new(OWN).join(format!("tflite/{model}.tflite"));
    of(&path, &options(Optimize::Speed, Target::CortexMDsp)).unwrap().1
}

#[test]
fn reports_on_every_model_agree_with_it() {
    let mut topics = BTreeSet::new();
    for path in models() {
        let summary = inspect(&std::fs::read(&path).unwrap()).unwrap();
        let operators: BTreeSet<String> = summary
            .operators
            .iter()
            .map(|operator| format!("{} {}", operator.index, operator.name))
            .collect();
        for (optimize, target) in [
            (Optimize::Speed, Target::CortexMDsp),
            (Optimize::Memory, Target::CortexM0),
            (Optimize::Size, Target::CortexMDsp),
        ] {
            let Some((compiled, advice)) = of(&path, &options(optimize, target)) else { continue };
            let about = format!("{} for {}, {}", path.display(), target.name(), optimize.name());
            sources_are_operators(&compiled, &operators, &about);
            sums_are_requantised(&compiled, &about);
            for proof in certificate(&compiled).iter().filter(|proof| !proof.holds) {
                assert!(proof.claim.contains("accumulator"), "{about}: {proof:?}");
            }
            for piece in &advice {
                assert!(!piece.what.is_empty() && !piece.help.is_empty(), "{about}: {piece:?}");
                topics.insert(piece.topic);
            }
            assert!(advice.windows(2).all(|pair| pair[0].cycles >= pair[1].cycles), "{about}");
        }
    }
    println!("advice on {topics:?}");
    assert!(!topics.is_empty());
}

/// What the importer puts around a model of uint8.
const CONVERSION: &str = "uint8 as int8";

/// Each op stands for operators of the file.
fn sources_are_operators(compiled: &Compiled, operators: &BTreeSet<String>, about: &str) {
    for (id, node) in compiled.graph.nodes() {
        let sources = compiled.log.sources(id);
        assert!(!sources.is_empty(), "{about}: {} of {:?}", node.op.name(), node.origin);
        assert!(
            sources.contains(&node.origin),
            "{about}: {} of {:?} is not in {sources:?}",
            node.op.name(),
            node.origin
        );
        // Of a loop's body: `0 WHILE/2 GATHER`.
        let outer = |source: &str| source.split('/').next().is_some_and(|outer| operators.contains(outer));
        let known = |source: &String| outer(source) || source == CONVERSION;
        assert!(sources.iter().all(known), "{about}: {sources:?}");
    }
}

/// Of each integer layer it is known how its sums become results.
fn sums_are_requantised(compiled: &Compiled, about: &str) {
    for step in kernels(compiled) {
        let StepKind::Compute(id) = compiled.schedule.steps[step.step].kind else { continue };
        let node = compiled.graph.node(id);
        let layer = matches!(node.op, Op::Conv2d { .. } | Op::Dense { .. });
        if layer && compiled.graph.ty(node.result).dtype == DType::I8 {
            assert_ne!(step.requantisation, Requantisation::None, "{about}: {:?}", step.kernels);
        }
    }
}

#[test]
fn float_edges_of_an_integer_model() {
    let advice = advice_on("diabetes_floatedges_int8");
    let edges = advice.iter().find(|piece| piece.topic == Topic::Float).unwrap();
    assert!(edges.help.contains("io = \"quantized\"") && edges.bytes > 0, "{edges:?}");
    assert!(advice_on("diabetes_uint8edges_int8")
        .iter()
        .all(|piece| piece.cycles > 0 || piece.topic != Topic::Float));
}

#[test]
fn dilated_convolutions_are_slow() {
    let topics = |model: &str| advice_on(model).iter().map(|piece| piece.topic).collect::<Vec<_>>();
    assert!(topics("op_conv2d_dilated_int8").contains(&Topic::Kernel));
    assert!(!topics("op_conv2d_same_int8").contains(&Topic::Kernel));
}

#[test]
fn nothing_is_better_than_a_point_of_the_front() {
    let (mut several, mut spends) = (0, 0);
    for path in models() {
        // Each is compiled many times.
        let bytes = std::fs::read(&path).unwrap();
        if bytes.len() > 128 << 10 {
            continue;
        }
        let about = path.display();
        let targets = [Target::CortexMDsp, Target::Rv32];
        for target in targets.into_iter().take(if path.starts_with(OWN) { 2 } else { 1 }) {
            let whole = options(Optimize::Speed, target);
            let Ok(graph) = import(&bytes, "model", &whole) else { continue };
            let points = match front(&graph, &whole) {
                Ok(points) => points,
                Err(Error::Unsupported(_)) => continue,
                Err(error) => panic!("{about}: {error}"),
            };
            let costs = |point: &Point| [point.ram_bytes as u64, point.cycles, point.constant_bytes as u64];
            for (index, point) in points.iter().enumerate() {
                let beaten = |(other, by): (usize, &Point)| {
                    other != index && costs(by).iter().zip(costs(point)).all(|(by, cost)| *by <= cost)
                };
                assert!(!points.iter().enumerate().any(beaten), "{about}: {points:#?}");
                // Its options give what it says.
                let mut options = whole.clone();
                for (name, value) in &point.options {
                    options.set(name, value).unwrap();
                }
                let compiled = kiln_codegen::compile_graph(graph.clone(), &options).unwrap();
                let kept = compiled.kept().unwrap();
                let found =
                    [kept.bytes() as u64, kept.predicted.cycles, compiled.program.constant_bytes() as u64];
                assert_eq!(found, costs(point), "{about}: {point:?}");
            }
            several += usize::from(points.len() > 1);
            let flash: BTreeSet<usize> = points.iter().map(|point| point.constant_bytes).collect();
            spends += usize::from(flash.len() > 1);
            // A budget takes away what exceeds it, and nothing else.
            let most = points.iter().map(|point| point.ram_bytes).max().unwrap_or(0);
            let Some(smallest) = points.first().filter(|point| point.ram_bytes < most) else { continue };
            let within = front(&graph, &Options { ram: Some(most - 1), ..whole.clone() }).unwrap();
            assert!(within.iter().all(|point| point.ram_bytes < most), "{about}: {within:#?}");
            assert!(within.iter().any(|point| costs(point) == costs(smallest)), "{about}: {within:#?}");
        }
    }
    println!("{several} models have a choice, {spends} of flash");
    assert!(several > 2);
}
