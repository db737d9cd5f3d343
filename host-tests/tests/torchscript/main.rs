//! Modules that torch.jit wrote, in the interpreter ([`conformance`](kiln_host_tests::conformance)). Their files do not state the shapes of inputs, so these come from the arrays.

use kiln_host_tests::conformance::torch::{check, check_indexed};
use kiln_host_tests::conformance::{beside, Calls, Case};

const GAPS: &str = include_str!("known_gaps.txt");

#[test]
fn operators() {
    check_indexed("torch_ops", ".pt", GAPS, 254);
}

#[test]
fn networks() {
    check_indexed("torch_nets", ".pt", GAPS, 24);
}

#[test]
fn samples() {
    let Some(folder) = beside("samples") else { return };
    let folder = folder.join("torchscript");
    let case = |stem: &str| Case {
        name: format!("torchscript/{stem}"),
        model: folder.join(format!("{stem}.frozen.pt")),
        arrays: folder.join(stem),
        calls: Calls::Apart,
    };
    check("torchscript", ["attn", "cnn", "rnn"].map(case).into(), GAPS, 3);
}
