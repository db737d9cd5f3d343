//! Programs that ExecuTorch wrote, in the interpreter ([`conformance`](kiln_host_tests::conformance)).
//!
//! `KILN_EXECUTORCH` names a folder with more of them: each beside an archive with its arrays. Programs with state have `stateful` in their names.

use kiln_host_tests::conformance::torch::{check, check_indexed};
use kiln_host_tests::conformance::{beside, Calls, Case};
use std::path::{Path, PathBuf};

const GAPS: &str = include_str!("known_gaps.txt");

#[test]
fn networks_and_operators() {
    check_indexed("executorch", ".pte", GAPS, 0);
}

#[test]
fn samples() {
    let Some(folder) = beside("samples/executorch") else { return };
    let cases = programs(&folder, "samples", "");
    let count = cases.len();
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
