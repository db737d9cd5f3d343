//! Models of PyTorch in the interpreter, beside the outputs that PyTorch gives: the graph as it is read, and as passes leave it.
//!
//! They lie beside the corpus that `KILN_CORPUS` names: `../conformance/frameworks` (operators and networks, with the outputs of PyTorch) and `../samples`.
//!
//! Integers and truth values are compared exactly. Floats may differ by 1e-5 of the largest magnitude in the same tensor. What is refused or differs stands with its reason in a
//! list of known gaps, and what stands there must not pass.

use crate::npy::{self, Array};
use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data, Graph};
use kiln_codegen::{front, import, passes, verify, InputShape, Options, Qdq};
use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

/// Float outputs may differ by this much of the largest magnitude in the same tensor.
const TOLERANCE: f32 = 1e-5;

/// A model with its arrays: `in_0`, …, `out_0`, …, of which the first axis counts cases.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) model: PathBuf,
    pub(crate) arrays: PathBuf,
    /// The cases are consecutive calls.
    pub(crate) is_sequence: bool,
}

/// A folder beside the corpus, or `None` (said aloud).
pub(crate) fn beside(name: &str) -> Option<PathBuf> {
    let folder = kiln_host_tests::corpus_folder().map(|corpus| corpus.join("..").join(name));
    let folder = folder.filter(|folder| folder.exists());
    if folder.is_none() {
        println!("{name} is not beside the corpus that KILN_CORPUS names: no model of PyTorch is checked");
    }
    folder
}

/// Runs the models of a folder whose names end so. So many must pass.
pub(crate) fn check(set: &str, ending: &str, gaps: &str, fewest: usize) {
    let Some(folder) = beside("conformance/frameworks") else { return };
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
            is_sequence: kind.contains("stateful"),
        });
    }
    run(set, &cases, gaps, fewest);
}

pub(crate) fn run(set: &str, cases: &[Case], gaps: &str, fewest: usize) {
    let gaps = kiln_host_tests::reasons(gaps);
    let (next, verdicts) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| loop {
                let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                let verdict = catch_unwind(|| case.run()).unwrap_or_else(|_| Err("it panics".into()));
                verdicts.lock().unwrap().insert(&case.name, verdict);
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
    let mine = gaps.keys().filter(|name| name.strip_prefix(set).is_some_and(|rest| rest.starts_with('/')));
    wrong.extend(
        mine.filter(|name| !verdicts.contains_key(name))
            .map(|name| format!("{name} is a known gap, but no case")),
    );
    println!("{set}: {passed} of {} pass, {known} are known gaps", cases.len());
    assert!(wrong.is_empty(), "{} unexpected:\n{}", wrong.len(), wrong.join("\n"));
    assert!(passed >= fewest, "{passed} pass, at least {fewest} wanted");
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
        let bytes = read(&self.model);
        let arrays = self.arrays();
        let summary = front::inspect(&bytes).map_err(|e| e.to_string())?;
        let open = |(k, input): (usize, &front::TensorSummary)| {
            let dims = arrays.get(&format!("in_{k}"))?.dims[1..].to_vec();
            let known: Vec<usize> = input.dims.iter().map(|&dim| dim as usize).collect();
            (known != dims).then(|| InputShape { name: Some(input.name.clone()), dims })
        };
        let input_shapes = summary.inputs.iter().enumerate().filter_map(open).collect();
        let options = Options { input_shapes, qdq: Qdq::Float, ..Options::default() };
        let mut graph = import(&bytes, "case", &options).map_err(|e| e.to_string().replace('\n', " "))?;
        verify::verify(&graph).map_err(|e| format!("the graph is not sound: {e:?}"))?;
        self.compare(&graph, &arrays)?;
        passes::run(&mut graph, &mut |_, _| {}).map_err(|e| format!("passes: {e}"))?;
        self.compare(&graph, &arrays).map_err(|e| format!("behind the passes: {e}"))
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
        let mut machine = Machine::new(graph);
        for case in 0..outputs[0].dims[0] {
            if !self.is_sequence {
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
            let results = machine.run(&given).map_err(|e| e.to_string())?;
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
