//! Models of Keras in the interpreter ([`conformance`](kiln_host_tests::conformance)).
//!
//! They lie beside the corpus that `KILN_CORPUS` names: `../conformance/frameworks/keras` (layers and networks, each as `.keras` and most as `.h5`) and `../samples/keras`.

use kiln_codegen::{Options, Qdq};
use kiln_host_tests::conformance::{
    both_ways, graph, have_kernels, indexed, input_shapes, run, samples, summary, Case,
};

const GAPS: &str = include_str!("known_gaps.txt");

#[test]
fn archives() {
    indexed_cases(".keras", 70);
}

#[test]
fn hdf5_files() {
    indexed_cases(".h5", 63);
}

/// Models in one form, of which so many must pass.
fn indexed_cases(ending: &str, fewest: usize) {
    let Some(cases) = indexed("keras/", ending) else { return };
    let named = |case: Case| {
        let name = format!("{}{ending}", case.name);
        (name.clone(), Case { name, ..case })
    };
    let cases: Vec<(String, Case)> = cases.into_iter().map(named).collect();
    run(ending, &cases, GAPS, |gap| gap.starts_with("keras/") && gap.ends_with(ending), fewest, judge);
}

#[test]
fn kernels() {
    let Some(mut cases) = indexed("keras/", ".keras") else { return };
    cases.retain(|case| !GAPS.contains(&format!("{}.keras:", case.name)));
    have_kernels(cases.into_iter().map(|case| (case.name.clone(), case.bytes(), Options::default())));
}

#[test]
fn all_samples() {
    samples("samples/keras", GAPS, judge);
}

fn judge(case: &Case) -> Result<(), String> {
    let (bytes, arrays) = (case.bytes(), case.arrays());
    summary(&bytes)?;
    let dims = |k: usize| Some(arrays.get(&format!("in_{k}"))?.dims[1..].to_vec());
    let input_shapes = input_shapes(&bytes, dims).map_err(|e| e.to_string())?;
    let options = Options { input_shapes, qdq: Qdq::Float, ..Options::default() };
    both_ways(graph(&bytes, &options)?, |graph| case.compare(graph, &arrays))
}
