//! Modules of StableHLO in the interpreter ([`conformance`](kiln_host_tests::conformance)).
//!
//! They lie beside the corpus that `KILN_CORPUS` names: `../conformance/frameworks/jax` (functions and networks of jax, each in several forms), `../conformance/stablehlo`
//! (StableHLO's own test data, see [`suite`]) and `../samples/jax`.

mod suite;

use kiln_codegen::{Options, Qdq};
use kiln_host_tests::conformance::{
    beside, both_ways, graph, have_kernels, read, run, samples, summary, Calls, Case,
};

const GAPS: &str = include_str!("known_gaps.txt");

/// How names of the same module end in different forms.
const FORMS: [&str; 6] = ["mlir", "generic.mlir", "vhlo.mlirbc", "old.vhlo.mlirbc", "jaxexport", "hlo.txt"];

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

#[test]
fn kernels() {
    let Some(folder) = beside("conformance/frameworks/jax") else { return };
    let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let named = files.map(|file| (file.file_name().unwrap().to_string_lossy().into_owned(), file));
    let texts = named.filter(|(name, _)| name.split_once('.').is_some_and(|(_, form)| form == "mlir"));
    have_kernels(texts.map(|(name, file)| (name, read(&file), Options::default())));
}

#[test]
fn all_samples() {
    samples("samples/jax", GAPS, judge);
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
            let calls = if is_sequence { Calls::Fed } else { Calls::Apart };
            let name = format!("jax/{name}");
            cases.push((name.clone(), Case { name, model, arrays, calls }));
        } else {
            assert!(own == "npz" || FORMS.contains(&own), "{name} is of no known form");
        }
    }
    cases.sort_by(|a, b| a.0.cmp(&b.0));
    let is_mine = |gap: &str| {
        gap.strip_prefix("jax/").and_then(|name| name.split_once('.')).is_some_and(|(_, own)| own == form)
    };
    run(form, &cases, GAPS, is_mine, fewest, judge);
}

/// What is in quantised types stays between quantise and dequantise operators.
fn as_floats() -> Options {
    Options { qdq: Qdq::Float, ..Options::default() }
}

fn judge(case: &Case) -> Result<(), String> {
    let (bytes, arrays) = (case.bytes(), case.arrays());
    let summary = summary(&bytes)?;
    for (k, input) in summary.inputs.iter().enumerate() {
        let dims = arrays.get(&format!("in_{k}")).map(|array| &array.dims[1..]).unwrap_or_default();
        if !input.dims.iter().map(|&dim| dim as usize).eq(dims.iter().copied()) {
            return Err(format!("the summary has {:?} for input {k}", input.dims));
        }
    }
    both_ways(graph(&bytes, &as_floats())?, |graph| case.compare(graph, &arrays))
}
