//! Models of TensorFlow in the interpreter ([`conformance`](kiln_host_tests::conformance)): SavedModels, and frozen graphs.
//!
//! They lie beside the corpus that `KILN_CORPUS` names: `../conformance/frameworks/tf` and `../samples/savedmodel`.

use kiln_codegen::{read_file, Options};
use kiln_host_tests::conformance::{
    beside, both_ways, graph, have_kernels, indexed, input_shapes, npy::Array, run, summary, Calls, Case,
};
use std::collections::BTreeMap;

const GAPS: &str = include_str!("known_gaps.txt");

#[test]
fn saved_models() {
    set("tf/", "", "saved models", 36);
}

#[test]
fn frozen_graphs() {
    set("tf/", ".pb", "frozen graphs", 34);
}

/// Runs the models of a set whose names end so, of which so many must pass.
fn set(set: &str, ending: &str, name: &str, fewest: usize) {
    let Some(cases) = indexed(set, ending) else { return };
    let is_mine = |case: &Case| case.model.is_dir() == ending.is_empty();
    let cases: Vec<(String, Case)> =
        cases.into_iter().filter(is_mine).map(|case| (format!("{}{ending}", case.name), case)).collect();
    let is_gap = |gap: &str| gap.starts_with(set) && gap.ends_with(".pb") != ending.is_empty();
    run(name, &cases, GAPS, is_gap, fewest, judge);
}

#[test]
fn samples() {
    let Some(folder) = beside("samples/savedmodel") else { return };
    let mut cases = Vec::new();
    for name in ["cnn", "rnn", "attn.frozen.pb", "cnn.frozen.pb", "rnn.frozen.pb"] {
        let base = name.split('.').next().unwrap();
        let (model, arrays) = (folder.join(name), folder.join(base));
        let name = format!("samples/{name}");
        cases.push((name.clone(), Case { name, model, arrays, calls: Calls::Apart }));
    }
    run("samples", &cases, GAPS, |gap| gap.starts_with("samples/"), cases.len(), judge);
}

#[test]
fn kernels() {
    let Some(cases) = indexed("tf/", ".pb") else { return };
    have_kernels(cases.into_iter().map(|case| {
        let bytes = case.bytes();
        let options = options(&bytes, &case.arrays()).unwrap();
        (case.name, bytes, options)
    }));
}

/// The shapes of the arrays, where the model leaves its own open.
fn options(bytes: &[u8], arrays: &BTreeMap<String, Array>) -> Result<Options, String> {
    let dims = |k: usize| Some(arrays.get(&format!("in_{k}"))?.dims[1..].to_vec());
    let input_shapes = input_shapes(bytes, dims).map_err(|e| e.to_string())?;
    Ok(Options { input_shapes, ..Options::default() })
}

fn judge(case: &Case) -> Result<(), String> {
    let bytes = read_file(&case.model).map_err(|e| e.to_string())?;
    let mut arrays = case.arrays();
    // Frozen samples take one row of the batch, which is a case then.
    if case.name.ends_with(".frozen.pb") {
        arrays.values_mut().for_each(|array| array.dims.swap(0, 1));
    }
    summary(&bytes)?;
    both_ways(graph(&bytes, &options(&bytes, &arrays)?)?, |graph| case.compare(graph, &arrays))
}
