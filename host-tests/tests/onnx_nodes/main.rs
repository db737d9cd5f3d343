//! ONNX's own backend tests, in the interpreter: the graph as it is read, and as passes leave it.
//!
//! Their data is part of ONNX's Python package ([`ONNX_VERSION`](kiln_host_tests::ONNX_VERSION)), which `cargo xtask setup` fetches. They are read from the folder that `KILN_ONNX_TESTS` names, or from
//! `target/kiln/onnx-` with the version behind it.
//!
//! Integers and truth values are compared exactly, floats with the tolerance of ONNX's runner. What is refused or differs stands with its reason in
//! `onnx_gaps.txt`, and what stands there must not pass.

mod case;
mod proto;

use case::{Case, Constants, Verdict};
use kiln_host_tests::onnx_tests;
use std::collections::BTreeMap;
use std::path::Path;

const SUITES: [&str; 4] = ["node", "pytorch-converted", "pytorch-operator", "simple"];

/// Fewer passing cases are a fault, whatever the gap file says.
const FEWEST: usize = 800;

fn cases(folder: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for suite in SUITES {
        let suite_folder = folder.join(suite);
        let entries = std::fs::read_dir(&suite_folder)
            .unwrap_or_else(|e| panic!("{}: {e}", suite_folder.display()))
            .map(|entry| entry.unwrap().path());
        let named = entries.filter(|path| path.join("model.onnx").exists());
        cases.extend(named.map(|folder| Case {
            name: format!("{suite}/{}", folder.file_name().unwrap().to_string_lossy()),
            folder,
        }));
    }
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

#[test]
fn backend_tests() {
    let Some(folder) = onnx_tests() else {
        println!("ONNX's backend tests are not there: `cargo xtask setup` fetches them");
        return;
    };
    let cases = cases(&folder);
    let gaps = gaps(include_str!("../../onnx_gaps.txt"));
    let mut matched = vec![0; gaps.len()];
    let mut passed: BTreeMap<Constants, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for (case, verdict) in cases.iter().zip(case::run_all(&cases)) {
        let gap = gaps.iter().position(|(pattern, _)| matches(pattern, &case.name));
        if let Some(gap) = gap {
            matched[gap] += 1;
        }
        match (verdict, gap) {
            (Verdict::Passes(constants), None) => *passed.entry(constants).or_default() += 1,
            (Verdict::Passes(_), Some(gap)) => {
                let (pattern, reason) = &gaps[gap];
                wrong.push(format!("{} passes, but is a gap ({pattern}): {reason}", case.name));
            }
            (Verdict::Refused(why), None) => wrong.push(format!("{} is refused: {why}", case.name)),
            (Verdict::Differs(how), None) => wrong.push(format!("{} differs: {how}", case.name)),
            (_, Some(_)) => {}
        }
    }
    for ((pattern, _), _) in gaps.iter().zip(&matched).filter(|(_, &count)| count == 0) {
        wrong.push(format!("{pattern} is a gap, but no case"));
    }
    let all: usize = passed.values().sum();
    let count = |constants| passed.get(&constants).copied().unwrap_or(0);
    println!(
        "{all} of {} cases pass: {} as they are, {} with their indices as constants, {} with all but their first input, {} folded; {} are gaps",
        cases.len(),
        count(Constants::None),
        count(Constants::Indices),
        count(Constants::AllButFirst),
        count(Constants::All),
        matched.iter().sum::<usize>(),
    );
    assert!(wrong.is_empty(), "{} unexpected:\n{}", wrong.len(), wrong.join("\n"));
    assert!(all >= FEWEST, "{all} cases pass, at least {FEWEST} wanted");
}

/// Patterns and reasons, in the order of the file.
fn gaps(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let split = |line: &str| {
        let (pattern, reason) = line.split_once(": ").unwrap_or_else(|| panic!("no reason in {line:?}"));
        (pattern.to_owned(), reason.to_owned())
    };
    lines.map(split).collect()
}

/// Whether a name is one of a pattern, in which a star stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((front, rest)) => name.strip_prefix(front).is_some_and(|name| {
            (0..=name.len()).filter(|&at| name.is_char_boundary(at)).any(|at| matches(rest, &name[at..]))
        }),
    }
}

#[test]
fn stars_stand_for_anything() {
    assert!(matches("node/test_*_fp16*", "node/test_a_fp16") && matches("a*", "a") && matches("a", "a"));
    assert!(!matches("a*c", "ab") && !matches("a", "ab"));
}
