//! Recurrent layers with all their attributes, and as PyTorch exports them (`models/make_onnx_recurrent.py`): what ONNX Runtime gives for them.

use kiln_host_tests::side_by_side::SideBySide;
use std::path::PathBuf;

fn models(name: &str, wanted: impl Fn(&str) -> bool) -> SideBySide {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("models/onnx_recurrent");
    SideBySide::of_folder(&folder, name, wanted)
}

#[test]
fn every_layer() {
    let all = models("recurrent", |_| true);
    assert!(all.len() >= 45, "{}", all.len());
    all.assert_golden("interp");
}

/// Layers of all kinds as generated code, on this machine and on a chip. Not all: steps that are written out are much code.
#[test]
fn generated_code() {
    let names = [
        "gru_after_product",
        "gru_forward",
        "gru_short",
        "lstm_constant_states",
        "lstm_peepholes_states",
        "lstm_states",
        "rnn_bidirectional",
        "rnn_clip",
        "rnn_relu",
        "torch_gru_states",
        "torch_lstm_stacked_both",
    ];
    let some = models("recurrent", |name| names.contains(&name));
    assert_eq!(some.len(), names.len());
    some.assert_golden("host");
    some.assert_golden("qemu-cortex-m4");
}
