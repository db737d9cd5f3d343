//! Modules of StableHLO in the interpreter: the graph as it is read, and as passes leave it.
//!
//! They lie beside the corpus that `KILN_CORPUS` names: `../conformance/frameworks/jax` (functions and networks of jax, each in several forms), `../conformance/stablehlo`
//! (StableHLO's own test data, see [`suite`]) and `../samples/jax`.
//!
//! Integers and truth values are compared exactly. Floats may differ by 1e-5 of the largest magnitude in the same tensor. What is refused or differs stands with its reason in
//! `known_gaps.txt`, and what stands there must not pass.

#[path = "../pt2/npy.rs"]
mod npy;
mod suite;

use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data, Graph};
use kiln_codegen::{front, import, passes, verify, Options, Qdq};
use npy::Array;
use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// Float outputs may differ by this much of the largest magnitude in the same tensor.
const TOLERANCE: f32 = 1e-5;

/// How names of the same module end in different forms.
const FORMS: [&str; 6] = ["mlir", "generic.mlir", "vhlo.mlirbc", "old.vhlo.mlirbc", "jaxexport", "hlo.txt"];

/// A model with its arrays: `in_0`, …, `out_0`, …, of which the first axis counts cases.
struct Case {
    name: String,
    model: PathBuf,
    arrays: PathBuf,
    /// The last outputs of a case are the last inputs of the next one.
    is_sequence: bool,
}

#[test]
fn text() {
    jax("mlir", 75);
}

#[test]
fn generic_text() {
    jax("generic.mlir", 75);
}

#[test]
fn bytecode() {
    jax("vhlo.mlirbc", 75);
    jax("old.vhlo.mlirbc", 19);
}

#[test]
fn exported() {
    jax("jaxexport", 75);
}

#[test]
fn hlo_text() {
    jax("hlo.txt", 74);
}

/// What can be read and computed has kernels, too.
#[test]
fn kernels() {
    let Some(folder) = beside("conformance/frameworks/jax") else { return };
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let model = entry.unwrap().path();
        let name = model.file_name().unwrap().to_string_lossy().into_owned();
        let is_text = name.split_once('.').is_some_and(|(_, form)| form == "mlir");
        if !is_text {
            continue;
        }
        if let Err(error) = kiln_codegen::compile(&read(&model), "case", &Options::default()) {
            wrong.push(format!("{name}: {}", error.to_string().replace('\n', " ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn samples() {
    let Some(folder) = beside("samples/jax") else { return };
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let model = entry.unwrap().path();
        let name = model.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".npy") {
            continue;
        }
        let base = name.split('.').next().unwrap();
        let (name, arrays) = (format!("samples/{name}"), folder.join(base));
        cases.push(Case { name, model, arrays, is_sequence: false });
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    let count = cases.len();
    run("samples", cases.iter().map(|case| (case.name.clone(), case)), |case| case.run(), |_| true, count);
}

/// A folder beside the corpus, or `None` (said aloud).
fn beside(name: &str) -> Option<PathBuf> {
    let folder = kiln_host_tests::corpus_folder().map(|corpus| corpus.join("..").join(name));
    let folder = folder.filter(|folder| folder.exists());
    if folder.is_none() {
        println!("{name} is not beside the corpus that KILN_CORPUS names: no module of it is checked");
    }
    folder
}

/// Runs the modules of jax in one form, of which so many must pass.
fn jax(form: &str, fewest: usize) {
    let Some(folder) = beside("conformance/frameworks/jax") else { return };
    let index = std::fs::read_to_string(folder.join("../INDEX.csv")).unwrap();
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let model = entry.unwrap().path();
        let name = model.file_name().unwrap().to_string_lossy().into_owned();
        let Some((stem, own)) = name.split_once('.') else { continue };
        if own == form {
            let arrays = folder.join(format!("{stem}.npz"));
            let line = index.lines().find(|line| line.starts_with(&format!("jax/{name},")));
            let is_sequence =
                line.is_some_and(|line| line.split(',').nth(2).is_some_and(|kind| kind.contains("stateful")));
            cases.push(Case { name: format!("jax/{name}"), model, arrays, is_sequence });
        } else {
            assert!(own == "npz" || FORMS.contains(&own), "{name} is of no known form");
        }
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    let is_mine = |gap: &str| {
        gap.strip_prefix("jax/").and_then(|name| name.split_once('.')).is_some_and(|(_, own)| own == form)
    };
    run(form, cases.iter().map(|case| (case.name.clone(), case)), |case| case.run(), is_mine, fewest);
}

/// Runs cases, of which so many must pass, and compares the others with the known gaps.
fn run<'c, C: Sync + std::panic::RefUnwindSafe + 'c>(
    set: &str,
    cases: impl Iterator<Item = (String, &'c C)>,
    verdict: impl Fn(&C) -> Result<(), String> + Sync + std::panic::RefUnwindSafe,
    is_mine: impl Fn(&str) -> bool,
    fewest: usize,
) {
    let cases: Vec<(String, &C)> = cases.collect();
    let gaps = kiln_host_tests::reasons(include_str!("known_gaps.txt"));
    let (next, verdicts) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| loop {
                let Some((name, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                let verdict = catch_unwind(|| verdict(case)).unwrap_or_else(|_| Err("it panics".into()));
                verdicts.lock().unwrap().insert(name.as_str(), verdict);
            });
        }
    });
    let verdicts = verdicts.into_inner().unwrap();
    let (mut passed, mut known, mut wrong) = (0, 0, Vec::new());
    for (name, verdict) in &verdicts {
        match (verdict, gaps.get(*name)) {
            (Ok(()), None) => passed += 1,
            (Ok(()), Some(reason)) => wrong.push(format!("{name} passes, but is a known gap: {reason}")),
            (Err(what), None) => wrong.push(format!("{name}: {what}")),
            (Err(_), Some(_)) => known += 1,
        }
    }
    let mine = gaps.keys().filter(|name| is_mine(name));
    let prefix = |name: &String| {
        verdicts.keys().next().is_some_and(|case| case.split('/').next() == name.split('/').next())
    };
    wrong.extend(
        mine.filter(|name| prefix(name) && !verdicts.contains_key(name.as_str()))
            .map(|name| format!("{name} is a known gap, but no case")),
    );
    println!("{set}: {passed} of {} pass, {known} are known gaps", cases.len());
    assert!(wrong.is_empty(), "{} unexpected:\n{}", wrong.len(), wrong.join("\n"));
    assert!(passed >= fewest, "{passed} pass, at least {fewest} wanted");
}

/// The graph of a module.
fn graph(bytes: &[u8]) -> Result<Graph, String> {
    let options = Options { qdq: Qdq::Float, ..Options::default() };
    let graph = import(bytes, "case", &options).map_err(|e| e.to_string().replace('\n', " "))?;
    verify::verify(&graph).map_err(|e| format!("the graph is not sound: {e:?}"))?;
    Ok(graph)
}

/// Judges a graph as it is, and as passes leave it.
fn both_ways(mut graph: Graph, judge: impl Fn(&Graph) -> Result<(), String>) -> Result<(), String> {
    judge(&graph)?;
    passes::run(&mut graph, &mut |_, _| {}).map_err(|e| format!("passes: {e}"))?;
    judge(&graph).map_err(|e| format!("behind the passes: {e}"))
}

impl Case {
    fn arrays(&self) -> BTreeMap<String, Array> {
        if self.arrays.extension().is_some_and(|ending| ending == "npz") {
            return npy::archive(&self.arrays);
        }
        let of =
            |kind: &str| npy::file(&PathBuf::from(format!("{}.{kind}.npy", self.arrays.display()))).alone();
        [("in_0".to_owned(), of("in")), ("out_0".to_owned(), of("out"))].into()
    }

    fn run(&self) -> Result<(), String> {
        let (bytes, arrays) = (read(&self.model), self.arrays());
        let summary = front::inspect(&bytes).map_err(|e| e.to_string())?;
        for (k, input) in summary.inputs.iter().enumerate() {
            let dims = arrays.get(&format!("in_{k}")).map(|array| &array.dims[1..]).unwrap_or_default();
            if !input.dims.iter().map(|&dim| dim as usize).eq(dims.iter().copied()) {
                return Err(format!("the summary has {:?} for input {k}", input.dims));
            }
        }
        if summary.operators.iter().any(|operator| !operator.is_known) {
            return Err("the summary has operators that are not known".into());
        }
        both_ways(graph(&bytes)?, |graph| self.compare(graph, &arrays))
    }

    fn compare(&self, graph: &Graph, arrays: &BTreeMap<String, Array>) -> Result<(), String> {
        let all = |kind: &str, count: usize| -> Result<Vec<&Array>, String> {
            let named = (0..count).map(|k| format!("{kind}_{k}"));
            named.map(|name| arrays.get(&name).ok_or(format!("there is no {name}"))).collect()
        };
        let (inputs, outputs) = (all("in", graph.inputs.len())?, all("out", graph.outputs.len())?);
        if arrays.contains_key(&format!("out_{}", outputs.len())) {
            return Err(format!("it has only {} outputs", outputs.len()));
        }
        let states = if self.is_sequence { states(&inputs, &outputs) } else { 0 };
        if self.is_sequence && states == 0 {
            return Err("no output of a case is an input of the next one".into());
        }
        let mut left: Vec<Data> = Vec::new();
        let mut machine = Machine::new(graph);
        for case in 0..outputs[0].dims[0] {
            machine.reset();
            let mut given = Vec::new();
            for (array, &id) in inputs.iter().zip(&graph.inputs) {
                let (dims, data) = array.at(case);
                let ty = graph.ty(id);
                if (dims, array.dtype) != (ty.shape.dims(), ty.dtype) {
                    return Err(format!("its input is {ty}, and not {dims:?}"));
                }
                given.push(data);
            }
            if case > 0 {
                let first = given.len() - states;
                given.truncate(first);
                given.append(&mut left);
            }
            let results = machine.run(&given).map_err(|e| e.to_string())?;
            left = results[results.len() - states..].to_vec();
            for (k, ((result, &id), array)) in results.iter().zip(&graph.outputs).zip(&outputs).enumerate() {
                let (dims, expected) = array.at(case);
                let ty = graph.ty(id);
                if (dims, array.dtype) != (ty.shape.dims(), ty.dtype) {
                    return Err(format!("output {k} is {ty}, and not {dims:?}"));
                }
                agree(ty.dtype, result, &expected)
                    .map_err(|how| format!("case {case}, output {k}: {how}"))?;
            }
        }
        Ok(())
    }
}

/// How many of the last outputs are the last inputs of the next case.
fn states(inputs: &[&Array], outputs: &[&Array]) -> usize {
    let most = inputs.len().min(outputs.len());
    let is_next = |count: &usize| {
        let (inputs, outputs) = (&inputs[inputs.len() - count..], &outputs[outputs.len() - count..]);
        inputs.iter().zip(outputs).all(|(input, output)| {
            let ((own, first), (dims, left)) = (input.at(1), output.at(0));
            own == dims && first == left
        })
    };
    (1..=most).rev().find(is_next).unwrap_or(0)
}

fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn agree(dtype: DType, result: &Data, expected: &Data) -> Result<(), String> {
    if dtype != DType::F32 {
        let (own, wanted) = (result.to_ints(dtype), expected.to_ints(dtype));
        let wrong = own.iter().zip(&wanted).enumerate().find(|(_, (own, wanted))| own != wanted);
        return wrong
            .map_or(Ok(()), |(at, (own, wanted))| Err(format!("element {at} is {own}, {wanted} expected")));
    }
    let (own, wanted) = (result.to_f32(), expected.to_f32());
    let largest = wanted.iter().filter(|x| x.is_finite()).fold(0f32, |largest, x| largest.max(x.abs()));
    for (at, (own, wanted)) in own.into_iter().zip(wanted).enumerate() {
        let same = own == wanted || (own.is_nan() && wanted.is_nan());
        if !same && ((own - wanted).abs() > TOLERANCE * largest || !(own - wanted).is_finite()) {
            return Err(format!("element {at} is {own}, {wanted} expected (largest {largest})"));
        }
    }
    Ok(())
}
