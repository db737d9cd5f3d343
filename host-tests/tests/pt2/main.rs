//! Programs that torch.export wrote, in the interpreter ([`conformance`](kiln_host_tests::conformance)).

use kiln_host_tests::conformance::torch::{check, check_indexed};
use kiln_host_tests::conformance::{beside, Calls, Case};

const GAPS: &str = include_str!("known_gaps.txt");

#[test]
fn operators() {
    check_indexed("torch_ops", ".pt2", GAPS, 380);
}

#[test]
fn networks() {
    check_indexed("torch_nets", ".pt2", GAPS, 60);
}

#[test]
fn samples() {
    let Some(folder) = beside("samples") else { return };
    for kind in ["pt2", "pt2e"] {
        let mut cases = Vec::new();
        for entry in std::fs::read_dir(folder.join(kind)).unwrap() {
            let model = entry.unwrap().path();
            let name = model.file_name().unwrap().to_string_lossy().into_owned();
            let Some(stem) = name.strip_suffix(".pt2") else { continue };
            let own = folder.join(kind).join(format!("{stem}.in.npy"));
            let base = if own.exists() { stem } else { stem.split('.').next().unwrap() };
            let arrays = folder.join(kind).join(base);
            cases.push(Case { name: format!("{kind}/{stem}"), model, arrays, calls: Calls::Apart });
        }
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        check(kind, cases, GAPS, if kind == "pt2" { 9 } else { 8 });
    }
}
