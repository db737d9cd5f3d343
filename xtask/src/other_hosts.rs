//! The runtime's own tests on processors of hosts that this machine does not have: kernels in their vectors.
use crate::step::{cargo, root, run, say, Failure};
use kiln_boards::{EmulatedHost, Error};
use std::fs;
use std::path::Path;

/// Installs what is missing to run programs on every emulated host; where that cannot be, its tests are left out and say so.
pub(crate) fn setup() {
    for host in EmulatedHost::all() {
        if let Err(error) = host.configure(&mut cargo(&root(), &[])) {
            say(&error.to_string());
        }
    }
}

/// Operations of vectors (`runtime-nostd/src/arch/simd/tests.rs`), and kernels in vectors (`runtime-nostd/tests/vectors*.rs`), at every level that programs for a host have.
pub(crate) fn test_runtime() -> Result<(), Failure> {
    let root = root();
    let vectors = vector_tests(&root)?;
    for host in EmulatedHost::all().iter().filter(|host| host.has_vectors && !is_part_of_another(host)) {
        let name = format!("vectors on {}", host.name);
        // Optimised a little: otherwise emulation would take several times as long.
        let mut test = cargo(&root, &["test", "--quiet", "-p", "kiln-nn", "--no-default-features", "--lib"]);
        test.args(vectors.iter().flat_map(|test| ["--test", test]));
        test.args(["--config", "profile.dev.package.kiln-nn.opt-level=1", "--config", "profile.dev.debug=0"]);
        match host.configure(&mut test) {
            Ok(()) => run(&name, &mut test)?,
            Err(error @ Error::Missing { .. }) => say(&format!("{name}: LEFT OUT. {error}")),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Whether a program for another host has the levels of this one, too: it is compiled for the same target and more instructions.
fn is_part_of_another(host: &EmulatedHost) -> bool {
    let has_more = |other: &EmulatedHost| {
        other.target == host.target
            && other.rustflags.len() > host.rustflags.len()
            && other.rustflags.starts_with(host.rustflags)
    };
    EmulatedHost::all().iter().any(|other| other.has_vectors && has_more(other))
}

/// Names of the tests of kernels in vectors.
fn vector_tests(root: &Path) -> Result<Vec<String>, Failure> {
    let entries = fs::read_dir(root.join("runtime-nostd/tests"))?;
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut tests: Vec<String> = names
        .filter(|name| name.starts_with("vectors"))
        .map(|name| name.trim_end_matches(".rs").to_owned())
        .collect();
    tests.sort();
    match tests.is_empty() {
        true => Err("the runtime has no tests of kernels in vectors".into()),
        false => Ok(tests),
    }
}
