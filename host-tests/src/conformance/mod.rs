//! Cases that frameworks wrote, beside the corpus that `KILN_CORPUS` names: models with the outputs of their framework, in the interpreter. The graph is judged as it is read, and as
//! passes leave it.
//!
//! Integers and truth values are compared exactly. Floats may differ by 1e-5 of the largest magnitude in the same tensor. What is refused or differs stands with its reason in a
//! list of known gaps, and what stands there must not pass.

pub mod npy;

use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data, Graph};
use kiln_codegen::{front, import, passes, verify, Error, InputShape, Options};
use npy::Array;
use std::collections::BTreeMap;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// Float outputs may differ by this much of the largest magnitude in the same tensor.
const TOLERANCE: f32 = 1e-5;

/// A model with its arrays: `in_0`, …, `out_0`, …, of which the first axis counts cases.
pub struct Case {
    /// As in lists of known gaps.
    pub name: String,
    /// The file.
    pub model: PathBuf,
    /// The archive; of two arrays in files of their own, what their names begin with.
    pub arrays: PathBuf,
    /// How its cases follow each other.
    pub calls: Calls,
}

/// How cases follow each other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Calls {
    /// Each begins anew.
    Apart,
    /// The model keeps its state from one to the next.
    Kept,
    /// The last outputs of one are the last inputs of the next.
    Fed,
}

/// A folder beside the corpus, or `None` (said aloud).
pub fn beside(name: &str) -> Option<PathBuf> {
    let folder = crate::corpus_folder().map(|corpus| corpus.join("..").join(name));
    let folder = folder.filter(|folder| folder.exists());
    if folder.is_none() {
        println!("{name} is not beside the corpus that KILN_CORPUS names: nothing of it is checked");
    }
    folder
}

/// The models of a set whose names end so, as the index of the frameworks has them; `None` without a corpus.
///
/// # Panics
/// Where the index cannot be read.
pub fn indexed(set: &str, ending: &str) -> Option<Vec<Case>> {
    let folder = beside("conformance/frameworks")?;
    let index = std::fs::read_to_string(folder.join("INDEX.csv")).unwrap();
    let mut cases = Vec::new();
    for line in index.lines().skip(1) {
        let mut fields = line.split(',');
        let (Some(file), Some(arrays), Some(kind)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let Some(name) = file.strip_suffix(ending).filter(|name| name.starts_with(set)) else { continue };
        cases.push(Case {
            name: name.into(),
            model: folder.join(file),
            arrays: folder.join(arrays),
            calls: if kind.contains("stateful") { Calls::Kept } else { Calls::Apart },
        });
    }
    Some(cases)
}

/// Judges the samples in a folder beside the corpus: its files, whose arrays have the name in front of the first point. All must pass that are no gaps.
///
/// # Panics
/// As [`run`].
pub fn samples(folder: &str, gaps: &str, judge: impl Fn(&Case) -> Result<(), String> + Sync) {
    let Some(folder) = beside(folder) else { return };
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let model = entry.unwrap().path();
        let name = model.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".npy") {
            continue;
        }
        let arrays = folder.join(name.split('.').next().unwrap());
        let name = format!("samples/{name}");
        cases.push((name.clone(), Case { name, model, arrays, calls: Calls::Apart }));
    }
    cases.sort_by(|a, b| a.0.cmp(&b.0));
    run("samples", &cases, gaps, |gap| gap.starts_with("samples/"), cases.len(), judge);
}

/// What can be read and computed has kernels, too.
///
/// # Panics
/// Where a model does not compile with its options.
pub fn have_kernels(models: impl IntoIterator<Item = (String, Vec<u8>, Options)>) {
    let mut wrong = Vec::new();
    for (name, bytes, options) in models {
        if let Err(error) = kiln_codegen::compile(&bytes, "case", &options) {
            wrong.push(format!("{name}: {}", error.to_string().replace('\n', " ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a file contains.
///
/// # Errors
/// Where it cannot be read, or has operators that are not known.
pub fn summary(bytes: &[u8]) -> Result<front::Summary, String> {
    let summary = front::inspect(bytes).map_err(|e| e.to_string())?;
    match summary.operators.iter().all(|operator| operator.is_known) {
        true => Ok(summary),
        false => Err("the summary has operators that are not known".into()),
    }
}

/// Judges cases, of which so many must pass, and compares the others with the known gaps: those of these cases begin so.
///
/// # Panics
/// Where a case passes that is a gap, one fails that is none, a gap is no case, or too few pass.
pub fn run<C: Sync>(
    set: &str,
    cases: &[(String, C)],
    gaps: &str,
    is_mine: impl Fn(&str) -> bool,
    fewest: usize,
    judge: impl Fn(&C) -> Result<(), String> + Sync,
) {
    let gaps = crate::reasons(gaps);
    let (next, verdicts) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| loop {
                let Some((name, case)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                let verdict = catch_unwind(AssertUnwindSafe(|| judge(case)));
                let verdict = verdict.unwrap_or_else(|_| Err("it panics".into()));
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
    let mine = gaps.keys().filter(|name| is_mine(name) && !verdicts.contains_key(name.as_str()));
    wrong.extend(mine.map(|name| format!("{name} is a known gap, but no case")));
    println!("{set}: {passed} of {} pass, {known} are known gaps", cases.len());
    assert!(wrong.is_empty(), "{} unexpected:\n{}", wrong.len(), wrong.join("\n"));
    assert!(passed >= fewest, "{passed} pass, at least {fewest} wanted");
}

/// The shapes of a file's inputs, where it has others or none. `dims` gives them by the number of the input.
///
/// # Errors
/// Where the file cannot be read.
pub fn input_shapes(
    bytes: &[u8],
    dims: impl Fn(usize) -> Option<Vec<usize>>,
) -> Result<Vec<InputShape>, Error> {
    let open = |(k, input): (usize, &front::TensorSummary)| {
        let dims = dims(k)?;
        let known: Vec<usize> = input.dims.iter().map(|&dim| dim as usize).collect();
        (known != dims).then(|| InputShape { name: Some(input.name.clone()), dims })
    };
    Ok(front::inspect(bytes)?.inputs.iter().enumerate().filter_map(open).collect())
}

/// The graph of a model.
///
/// # Errors
/// Why it is refused, or not sound.
pub fn graph(bytes: &[u8], options: &Options) -> Result<Graph, String> {
    let graph = import(bytes, "case", options).map_err(|e| e.to_string().replace('\n', " "))?;
    verify::verify(&graph).map_err(|e| format!("the graph is not sound: {e:?}"))?;
    Ok(graph)
}

/// Judges a graph as it is, and as passes leave it.
///
/// # Errors
/// Those of the judge, and of passes.
pub fn both_ways(mut graph: Graph, judge: impl Fn(&Graph) -> Result<(), String>) -> Result<(), String> {
    judge(&graph)?;
    passes::run(&mut graph, &mut |_, _| {}).map_err(|e| format!("passes: {e}"))?;
    judge(&graph).map_err(|e| format!("behind the passes: {e}"))
}

impl Case {
    /// The bytes of its model, with constants that lie in files beside it.
    ///
    /// # Panics
    /// Where it cannot be read.
    pub fn bytes(&self) -> Vec<u8> {
        let bytes = kiln_codegen::read_file(&self.model);
        bytes.unwrap_or_else(|error| panic!("{}: {error}", self.model.display()))
    }

    /// Its arrays, by name.
    pub fn arrays(&self) -> BTreeMap<String, Array> {
        if self.arrays.extension().is_some_and(|ending| ending == "npz") {
            return npy::archive(&self.arrays);
        }
        let of =
            |kind: &str| npy::file(&PathBuf::from(format!("{}.{kind}.npy", self.arrays.display()))).alone();
        [("in_0".to_owned(), of("in")), ("out_0".to_owned(), of("out"))].into()
    }

    /// Compares what a graph computes with the arrays.
    ///
    /// # Errors
    /// What differs.
    pub fn compare(&self, graph: &Graph, arrays: &BTreeMap<String, Array>) -> Result<(), String> {
        let all = |kind: &str, count: usize| -> Result<Vec<&Array>, String> {
            let named = (0..count).map(|k| format!("{kind}_{k}"));
            named.map(|name| arrays.get(&name).ok_or(format!("there is no {name}"))).collect()
        };
        let (inputs, outputs) = (all("in", graph.inputs.len())?, all("out", graph.outputs.len())?);
        if arrays.contains_key(&format!("out_{}", outputs.len())) {
            return Err(format!("it has only {} outputs", outputs.len()));
        }
        let fed = if self.calls == Calls::Fed { fed(&inputs, &outputs) } else { 0 };
        if self.calls == Calls::Fed && fed == 0 {
            return Err("no output of a case is an input of the next one".into());
        }
        let mut left: Vec<Data> = Vec::new();
        let mut machine = Machine::new(graph);
        for case in 0..outputs[0].dims[0] {
            if self.calls != Calls::Kept {
                machine.reset();
            }
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
                let first = given.len() - fed;
                given.truncate(first);
                given.append(&mut left);
            }
            let results = machine.run(&given).map_err(|e| e.to_string())?;
            left = results[results.len() - fed..].to_vec();
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
fn fed(inputs: &[&Array], outputs: &[&Array]) -> usize {
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

/// The bytes of a file.
///
/// # Panics
/// Where it cannot be read.
pub fn read(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Whether a result is what is expected.
///
/// # Errors
/// Which element is not.
pub fn agree(dtype: DType, result: &Data, expected: &Data) -> Result<(), String> {
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

/// Models of PyTorch: their inputs may have open sizes, or none, and come from the arrays.
pub mod torch {
    use super::{both_ways, graph, indexed, input_shapes, run, Case, Options};
    use kiln_codegen::Qdq;

    /// Judges the models of a set in the index whose names end so; so many must pass.
    ///
    /// # Panics
    /// As [`run`].
    pub fn check_indexed(set: &str, ending: &str, gaps: &str, fewest: usize) {
        if let Some(cases) = indexed(set, ending) {
            check(set, cases, gaps, fewest);
        }
    }

    /// Judges cases of a set, of which so many must pass.
    ///
    /// # Panics
    /// As [`run`].
    pub fn check(set: &str, cases: Vec<Case>, gaps: &str, fewest: usize) {
        let cases: Vec<(String, Case)> = cases.into_iter().map(|case| (case.name.clone(), case)).collect();
        let is_mine = |gap: &str| gap.strip_prefix(set).is_some_and(|rest| rest.starts_with('/'));
        run(set, &cases, gaps, is_mine, fewest, judge);
    }

    fn judge(case: &Case) -> Result<(), String> {
        let (bytes, arrays) = (case.bytes(), case.arrays());
        let dims = |k: usize| Some(arrays.get(&format!("in_{k}"))?.dims[1..].to_vec());
        let input_shapes = input_shapes(&bytes, dims).map_err(|e| e.to_string())?;
        let options = Options { input_shapes, qdq: Qdq::Float, ..Options::default() };
        both_ways(graph(&bytes, &options)?, |graph| case.compare(graph, &arrays))
    }
}
