//! Programs that ExecuTorch wrote, in the interpreter ([`conformance`](kiln_host_tests::conformance)).
//!
//! They lie in `models/executorch`, and beside the corpus that `KILN_CORPUS` names: `../conformance/frameworks/executorch` and `../samples/executorch`. `KILN_EXECUTORCH` names a
//! folder with more of them: each beside an archive with its arrays. Programs with state have `stateful` at the end of their names.

use kiln_codegen::Options;
use kiln_host_tests::conformance::torch::{check, check_indexed};
use kiln_host_tests::conformance::{beside, have_kernels, Calls, Case};
use std::path::{Path, PathBuf};

const GAPS: &str = include_str!("known_gaps.txt");

#[test]
fn networks_and_operators() {
    // Not all collections have such programs.
    check_indexed("executorch", ".pte", GAPS, 0);
}

/// The project's own files, which need no corpus.
#[test]
fn own_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/executorch");
    check("own", programs(&folder, "own", "npz"), GAPS, 7);
    let models = programs(&folder, "own", "npz");
    have_kernels(models.into_iter().map(|case| (case.name.clone(), case.bytes(), Options::default())));
}

#[test]
fn samples() {
    let Some(folder) = beside("samples/executorch") else { return };
    let cases = programs(&folder, "samples", "");
    let count = cases.len();
    have_kernels(cases.iter().map(|case| (case.name.clone(), case.bytes(), Options::default())));
    check("samples", cases, GAPS, count);
}

/// The programs in a folder, whose arrays end so.
fn programs(folder: &Path, set: &str, arrays: &str) -> Vec<Case> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let models = files.filter(|file| file.extension().is_some_and(|ending| ending == "pte"));
    let case = |model: PathBuf| {
        let name = format!("{set}/{}", model.file_stem().unwrap().to_string_lossy());
        let calls = if name.ends_with(".stateful") { Calls::Kept } else { Calls::Apart };
        Case { name, arrays: model.with_extension(arrays), model, calls }
    };
    let mut cases: Vec<Case> = models.map(case).collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

#[test]
fn more() {
    let Some(folder) = std::env::var_os("KILN_EXECUTORCH") else { return };
    check("more", programs(Path::new(&folder), "more", "npz"), GAPS, 0);
}
