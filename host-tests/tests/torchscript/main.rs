//! Modules that torch.jit wrote, in the interpreter ([`harness`]). Their files do not state the shapes of inputs, so these come from the arrays.

#[path = "../pt2/harness.rs"]
mod harness;
#[path = "../pt2/npy.rs"]
mod npy;

use harness::{beside, check, run, Case};

const GAPS: &str = include_str!("known_gaps.txt");

#[test]
fn operators() {
    check("torch_ops", ".pt", GAPS, 254);
}

#[test]
fn networks() {
    check("torch_nets", ".pt", GAPS, 24);
}

#[test]
fn samples() {
    let Some(folder) = beside("samples") else { return };
    let folder = folder.join("torchscript");
    let case = |stem: &str| Case {
        name: format!("torchscript/{stem}"),
        model: folder.join(format!("{stem}.frozen.pt")),
        arrays: folder.join(stem),
        is_sequence: false,
    };
    run("torchscript", &["attn", "cnn", "rnn"].map(case), GAPS, 3);
}
