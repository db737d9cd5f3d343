//! Random models: the interpreter, generated code on this machine and as firmware agree.
//!
//! `KILN_DRAWS=10000 cargo test -p kiln-host-tests --test draws -- agree` draws so many, with overflow checks; `KILN_DRAWS_FROM` is the number of the first.

use cargo_kiln::compare::compare;
use cargo_kiln::noise::Noise;
use cargo_kiln::place::{interpret, Place};
use kiln_codegen::ir::{Data, Graph, ValueId};
use kiln_codegen::{compile_graph, import, Optimize, Options, Reference};
use kiln_host_tests::draw::{component, merged, Random};

/// Components in a file, so that compilers start less often.
const PER_FILE: usize = 10;

/// Components that every test run draws.
const DRAWS: usize = 60;

/// Where they run, besides in the interpreter.
const PLACES: [&str; 2] = ["host", "qemu-cortex-m4"];

#[test]
fn agree() {
    let number = |name: &str, otherwise| std::env::var(name).map_or(otherwise, |text| text.parse().unwrap());
    let (draws, from) = (number("KILN_DRAWS", DRAWS), number("KILN_DRAWS_FROM", 0));
    let files = from / PER_FILE..(from + draws).div_ceil(PER_FILE);
    let next = std::sync::atomic::AtomicUsize::new(files.start);
    let failed = std::sync::Mutex::new(Vec::new());
    let operators = std::sync::atomic::AtomicUsize::new(0);
    let work = || loop {
        let file = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if file >= files.end {
            return;
        }
        match std::panic::catch_unwind(|| check(file)) {
            Ok(Ok(count)) => {
                operators.fetch_add(count, std::sync::atomic::Ordering::Relaxed);
            }
            Ok(Err(why)) => failed.lock().unwrap().push(why),
            Err(_) => failed.lock().unwrap().push(format!("draws from {} on: a panic", file * PER_FILE)),
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} files of {}:\n{}", failed.len(), files.len(), failed.join("\n"));
    let operators = operators.into_inner();
    println!("{} draws of {operators} operators", files.len() * PER_FILE);
    assert!(operators > 2 * files.len() * PER_FILE);
}

/// Compares a file of components at every place; how many operators it has.
fn check(file: usize) -> Result<usize, String> {
    let mut random = Random::new(file as u64);
    let is_unsigned = random.below(5) == 0;
    let components: Vec<_> = (0..PER_FILE).map(|_| component(&mut random, is_unsigned, 6)).collect();
    let bytes = merged(&components);
    let optimize = [Optimize::Speed, Optimize::Speed, Optimize::Size, Optimize::Memory][random.below(4)];
    let reference = if file % 4 == 1 { Reference::Litert } else { Reference::Tflm };
    let options = Options { optimize, reference, ..Options::default() };
    let name = format!("draws{}", file * PER_FILE);
    let failed = |what: String| {
        let path = kiln_boards::work_dir().unwrap().join(&name).with_extension("tflite");
        std::fs::write(&path, &bytes).unwrap();
        format!("{} with {optimize:?}, {reference:?}: {what}", path.display())
    };
    let graph = import(&bytes, &name, &options).map_err(|e| failed(e.to_string()))?;
    let mut noise = Noise::default();
    let cases: Vec<Vec<Data>> = (0..2).map(|_| noise.inputs(&graph)).collect();
    let expected = interpret(&graph, &cases).map_err(|e| failed(format!("interp: {e:#}")))?;
    for place_name in PLACES {
        let place = Place::find(place_name).map_err(|e| failed(e.to_string()))?;
        let compiled =
            compile_graph(graph.clone(), &place.options(&options)).map_err(|e| failed(e.to_string()))?;
        let actual =
            place.run(&graph, &compiled, &cases).map_err(|e| failed(format!("{place_name}: {e:#}")))?;
        differences(&graph, &expected, &actual).map_err(|what| failed(format!("{place_name}: {what}")))?;
    }
    Ok(components.iter().map(|component| component.len()).sum())
}

/// Where outputs differ, with the operator that computes them.
fn differences(graph: &Graph, expected: &[Vec<Data>], actual: &[Vec<Data>]) -> Result<(), String> {
    let mut found = Vec::new();
    for (expected, actual) in expected.iter().zip(actual) {
        if expected.len() != actual.len() || actual.len() != graph.outputs.len() {
            return Err("outputs are missing".into());
        }
        for ((expected, actual), &output) in expected.iter().zip(actual).zip(&graph.outputs) {
            let difference = compare(graph.ty(output).dtype, actual, expected);
            if !difference.passes() {
                found.push(format!("{}: {difference:?}", source(graph, output)));
            }
        }
    }
    if found.is_empty() {
        Ok(())
    } else {
        Err(found.join("; "))
    }
}

/// What computes a value, of what.
fn source(graph: &Graph, value: ValueId) -> String {
    let name = &graph.value(value).name;
    let Some(node) = graph.producer(value).map(|id| graph.node(id)) else { return name.clone() };
    let operands: Vec<String> = node.operands.iter().map(|&id| graph.ty(id).to_string()).collect();
    format!("{name} by {}: {:?} of {}, {}", node.origin, node.op, operands.join(", "), graph.ty(value))
}
