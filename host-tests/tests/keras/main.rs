//! Models of Keras in the interpreter ([`conformance`](kiln_host_tests::conformance)).
//!
//! They lie beside the corpus that `KILN_CORPUS` names: `../conformance/frameworks/keras` (layers and networks, each as `.keras` and most as `.h5`) and `../samples/keras`.

use kiln_codegen::{front, Options, Qdq};
use kiln_host_tests::conformance::{beside, both_ways, graph, indexed, input_shapes, read, run, Calls, Case};

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

/// What can be read and computed has kernels, too.
#[test]
fn kernels() {
    let Some(folder) = beside("conformance/frameworks/keras") else { return };
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let model = entry.unwrap().path();
        let name = model.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".keras") || GAPS.contains(&format!("keras/{name}:")) {
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
    let Some(folder) = beside("samples/keras") else { return };
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let model = entry.unwrap().path();
        let name = model.file_name().unwrap().to_string_lossy().into_owned();
        if name.ends_with(".npy") {
            continue;
        }
        let base = name.split('.').next().unwrap();
        let (name, arrays) = (format!("samples/{name}"), folder.join(base));
        cases.push((name.clone(), Case { name, model, arrays, calls: Calls::Apart }));
    }
    cases.sort_by(|a, b| a.0.cmp(&b.0));
    run("samples", &cases, GAPS, |gap| gap.starts_with("samples/"), cases.len(), judge);
}

fn judge(case: &Case) -> Result<(), String> {
    let (bytes, arrays) = (case.bytes(), case.arrays());
    let summary = front::inspect(&bytes).map_err(|e| e.to_string())?;
    if summary.operators.iter().any(|operator| !operator.is_known) {
        return Err("the summary has layers that are not known".into());
    }
    let dims = |k: usize| Some(arrays.get(&format!("in_{k}"))?.dims[1..].to_vec());
    let input_shapes = input_shapes(&bytes, dims).map_err(|e| e.to_string())?;
    let options = Options { input_shapes, qdq: Qdq::Float, ..Options::default() };
    both_ways(graph(&bytes, &options)?, |graph| case.compare(graph, &arrays))
}
