//! TOSA flatbuffers in the interpreter ([`conformance`](kiln_host_tests::conformance)): integers as the reference model of TOSA computes them, floats as PyTorch does.
//!
//! They lie beside the corpus that `KILN_CORPUS` names: `../conformance/frameworks/tosa` and `../samples/tosa`.

use kiln_codegen::{front, Options};
use kiln_host_tests::conformance::{beside, both_ways, graph, indexed, read, run, Calls, Case};
use std::path::Path;

const GAPS: &str = include_str!("known_gaps.txt");

#[test]
fn networks_and_operators() {
    let Some(cases) = indexed("tosa", ".tosa") else { return };
    check("tosa", cases, 41);
}

/// The project's own files, which need no corpus.
#[test]
fn own_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tosa");
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let model = entry.unwrap().path();
        if model.extension().is_some_and(|ending| ending == "tosa") {
            let name = format!("own/{}", model.file_stem().unwrap().to_string_lossy());
            cases.push(Case { name, arrays: model.with_extension("npz"), model, calls: Calls::Apart });
        }
    }
    check("own", cases, 5);
}

#[test]
fn samples() {
    let Some(folder) = beside("samples/tosa") else { return };
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let model = entry.unwrap().path();
        if model.extension().is_some_and(|ending| ending == "tosa") {
            let name = format!("samples/{}", model.file_stem().unwrap().to_string_lossy());
            cases.push(Case { name, arrays: model.with_extension(""), model, calls: Calls::Apart });
        }
    }
    let count = cases.len();
    check("samples", cases, count);
}

/// What can be read and computed has kernels, too.
#[test]
fn kernels() {
    let Some(cases) = indexed("tosa", ".tosa") else { return };
    let mut wrong = Vec::new();
    for case in cases {
        if let Err(error) = kiln_codegen::compile(&read(&case.model), "case", &Options::default()) {
            wrong.push(format!("{}: {}", case.name, error.to_string().replace('\n', " ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Judges cases of a set, of which so many must pass.
fn check(set: &str, cases: Vec<Case>, fewest: usize) {
    let cases: Vec<(String, Case)> = cases.into_iter().map(|case| (case.name.clone(), case)).collect();
    run(set, &cases, GAPS, |gap| gap.starts_with(set), fewest, judge);
}

fn judge(case: &Case) -> Result<(), String> {
    let (bytes, arrays) = (case.bytes(), case.arrays());
    let summary = front::inspect(&bytes).map_err(|e| e.to_string())?;
    if summary.operators.iter().any(|operator| !operator.is_known) {
        return Err("the summary has operators that are not known".into());
    }
    both_ways(graph(&bytes, &Options::default())?, |graph| case.compare(graph, &arrays))
}
