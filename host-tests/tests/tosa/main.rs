//! TOSA flatbuffers in the interpreter ([`conformance`](kiln_host_tests::conformance)): integers as the reference model of TOSA computes them, floats as PyTorch does.
//!
//! They lie beside the corpus that `KILN_CORPUS` names: `../conformance/frameworks/tosa` and `../samples/tosa`.

use kiln_codegen::Options;
use kiln_host_tests::conformance::{
    beside, both_ways, graph, have_kernels, indexed, run, summary, Calls, Case,
};
use std::path::{Path, PathBuf};

const GAPS: &str = include_str!("known_gaps.txt");

#[test]
fn networks_and_operators() {
    let Some(cases) = indexed("tosa", ".tosa") else { return };
    check("tosa", cases, 41);
}

/// The project's own files, which need no corpus.
#[test]
fn own_files() {
    check("own", files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tosa"), "own", "npz"), 5);
}

#[test]
fn samples() {
    let Some(folder) = beside("samples/tosa") else { return };
    let cases = files(&folder, "samples", "");
    let count = cases.len();
    check("samples", cases, count);
}

/// The flatbuffers in a folder, whose arrays end so.
fn files(folder: &Path, set: &str, arrays: &str) -> Vec<Case> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let models = files.filter(|file| file.extension().is_some_and(|ending| ending == "tosa"));
    let case = |model: PathBuf| {
        let name = format!("{set}/{}", model.file_stem().unwrap().to_string_lossy());
        Case { name, arrays: model.with_extension(arrays), model, calls: Calls::Apart }
    };
    models.map(case).collect()
}

#[test]
fn kernels() {
    let Some(cases) = indexed("tosa", ".tosa") else { return };
    have_kernels(cases.into_iter().map(|case| (case.name.clone(), case.bytes(), Options::default())));
}

/// Judges cases of a set, of which so many must pass.
fn check(set: &str, cases: Vec<Case>, fewest: usize) {
    let cases: Vec<(String, Case)> = cases.into_iter().map(|case| (case.name.clone(), case)).collect();
    run(set, &cases, GAPS, |gap| gap.starts_with(set), fewest, judge);
}

fn judge(case: &Case) -> Result<(), String> {
    let (bytes, arrays) = (case.bytes(), case.arrays());
    summary(&bytes)?;
    both_ways(graph(&bytes, &Options::default())?, |graph| case.compare(graph, &arrays))
}
