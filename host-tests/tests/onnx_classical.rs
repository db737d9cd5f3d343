//! scikit-learn's models, trained on real data (`models/make_onnx_classical.py`), and the operators of `ai.onnx.ml` with their modes: what ONNX Runtime gives for them. Labels are
//! exact, floats within a hundred-thousandth of the largest.

use kiln_host_tests::side_by_side::SideBySide;
use std::path::PathBuf;

fn models(name: &str, wanted: impl Fn(&str) -> bool) -> SideBySide {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("models/onnx_classical");
    SideBySide::of_folder(&folder, name, wanted)
}

#[test]
fn every_model_here() {
    let all = models("classical", |_| true);
    assert!(all.len() >= 70, "{}", all.len());
    all.assert_golden("interp");
    all.assert_golden("host");
}

/// A forest, missing values, and support vectors with probabilities of classes, on a chip.
#[test]
fn some_on_a_chip() {
    let names = [
        "trained_forest",
        "trained_histogram_missing",
        "trained_vectors_radial",
        "trained_vectors_regressor",
    ];
    let some = models("classical_m4", |name| names.contains(&name));
    assert_eq!(some.len(), names.len());
    some.assert_golden("qemu-cortex-m4");
}
