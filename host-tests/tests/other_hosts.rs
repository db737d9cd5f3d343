//! Models as programs for AArch64 and WebAssembly, with and without what is not on all of their processors: the golden outputs, integers to the bit.

use cargo_kiln::validate::validate;
use kiln_boards::Error;
use kiln_codegen::Options;
use kiln_host_tests::{corpus, networks, own_models, sweeps, unsupported, Model};

/// Of the project's own, so that there are some without a corpus.
const OWN: [&str; 2] = ["residual_int8", "autoencoder_f32"];

/// MLPerf Tiny, its streaming wake word, and two networks of floats.
const CORPUS: [&str; 7] = [
    "mlperf_kws_int8",
    "mlperf_ic_int8",
    "mlperf_vww_int8",
    "mlperf_ad_int8",
    "mlperf_strww_int8",
    "mlperf_ic_f32",
    "mlperf_ad_f32",
];

/// The models of a list that are there.
fn listed(models: Vec<Model>, names: &[&str]) -> Vec<Model> {
    let models: Vec<Model> =
        models.into_iter().filter(|model| names.contains(&model.name.as_str())).collect();
    assert!(models.is_empty() || models.len() == names.len(), "not all of {names:?} are there");
    models
}

/// With `KILN_SWEEP`, all networks that there are, those with the smallest files first.
fn models() -> Vec<Model> {
    if !sweeps() {
        return [listed(own_models(), &OWN), listed(corpus(), &CORPUS)].concat();
    }
    let mut models = networks();
    models.retain(|model| !unsupported().contains_key(&model.name));
    models.sort_by_key(|model| std::fs::metadata(&model.path).unwrap().len());
    models
}

fn check(host: &str) {
    let models = models();
    assert!(models.len() >= OWN.len());
    let mut failed = Vec::new();
    for model in &models {
        let options = model.options(&Options::default());
        match validate(&model.path, &options, &model.golden, &[host.to_owned()]) {
            Ok(report) => {
                print!("{}", report.text());
                if !report.passes() || report.cases == 0 {
                    failed.push(report.text());
                }
            }
            // Not every machine can install what emulates another one.
            Err(error) if matches!(error.downcast_ref(), Some(Error::Missing { .. })) => {
                return println!("{host} was not tried: {error:#}")
            }
            Err(error) => failed.push(format!("{} on {host}: {error:#}\n", model.name)),
        }
    }
    assert!(failed.is_empty(), "{} of {} failed:\n{}", failed.len(), models.len(), failed.concat());
}

#[test]
fn aarch64() {
    check("aarch64");
}

#[test]
fn aarch64_with_dot_products() {
    check("aarch64-dotprod");
}

#[test]
fn wasm32() {
    check("wasm32");
}

#[test]
fn wasm32_without_vectors() {
    check("wasm32-scalar");
}
