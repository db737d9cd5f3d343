//! `cargo xtask test`: everything that must hold.
use crate::step::{beside, cargo, cargo_outside, root, run, tested_kiln, tested_program, Failure};
use crate::{book, demo, hostile, msrv, other_hosts, package};
use kiln_boards::{toolchain, Board};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Crates that are workspaces of their own: an example, or the firmware of a board.
const OUTSIDE: [&str; 2] = ["examples", "boards"];

/// The compiler in the browser: a workspace of its own, too.
const STUDIO: &str = "studio";

/// Features of the runtime that are linted and documented. All packages are, in one run: for the runtime alone, Cargo would compile the compiler again.
const FEATURES: &str = "kiln-nn/defmt,kiln-nn/heapless,kiln-nn/ndarray,kiln-nn/std";

/// What pages of examples are compiled for.
pub(crate) const WEB_TARGET: &str = "wasm32-unknown-unknown";

pub(crate) fn run_all() -> Result<(), Failure> {
    let root = root();
    run("format", &mut cargo(&root, &["fmt", "--all", "--check"]))?;
    run("format of the harness and the plugin", &mut rustfmt(&root))?;
    book::check()?;
    // Probe-rs and what follows the tests have target folders of their own.
    beside(|| test_probe(&root.join("probe")), || build_tests(&root))?;
    beside(|| test_elsewhere(&root), || test_workspace(&root))?;
    make_room(&root);
    package::test()?;
    demo::run_with(tested_kiln()?)
}

/// Lints, and the tests of the workspace.
fn build_tests(root: &Path) -> Result<(), Failure> {
    run("lints, and tests are built", &mut linted(root, "test", &["--no-run"])?)?;
    // Without macros, the compiler need not be compiled again for other features.
    let runtime = ["clippy", "-p", "kiln-nn", "--all-targets", "--no-default-features", "--features"];
    run(
        "lints of the runtime",
        &mut cargo(root, &[&runtime[..], &[FEATURES, "--", "-D", "warnings"]].concat()),
    )?;
    lint_outside(root)
}

/// A command for the whole workspace. Clippy's driver compiles, as `cargo clippy` has it do: nothing is compiled once for lints and once more.
///
/// # Errors
/// Where this program does not know where it is.
fn linted(root: &Path, command: &str, arguments: &[&str]) -> Result<Command, Failure> {
    let mut command = cargo(root, &[command, "--workspace", "--features", "xtask/compiler"]);
    command
        .args(["--config", "build.rustc-workspace-wrapper='clippy-driver'"])
        .env("CLIPPY_ARGS", "-Dwarnings")
        // Tests that run the command take the one that is built with them.
        .env("KILN_COMMAND", tested_program()?);
    // The compiler's readers take longest to optimise. Without any optimisation, damaged files would take longer than tests allow.
    command.args(["--config", "profile.dev.package.kiln-nn-front.opt-level=1"]).args(arguments);
    Ok(command)
}

/// Long tests of the workspace that run beside the others, by binary and name. Those of the guides follow those of new projects, and find most of it built.
const BESIDE: [(&str, &str); 7] = [
    ("kernels_on_target", "kernels_compute_what_they_mean_on_boards"),
    ("reproducible", "networks_have_the_same_bits"),
    ("guides", "commands_in_the_guides_do_what_the_guides_say"),
    ("listening", "samples_slide"),
    ("schedules", "every_kernel_that_is_offered_computes_the_same"),
    ("edits", "only_a_model_that_changed_is_compiled_again"),
    ("names", "every_name_compiles"),
];

/// All other tests of the workspace.
fn test_workspace(root: &Path) -> Result<(), Failure> {
    let mut tests = linted(root, "test", &["--no-fail-fast", "--"])?;
    tests.args(BESIDE.iter().flat_map(|(_, test)| ["--skip", test]));
    run("tests", &mut tests)
}

/// What is built for other machines, or by itself, the documentation, and [`BESIDE`].
fn test_elsewhere(root: &Path) -> Result<(), Failure> {
    hostile::test_kernels()?;
    other_hosts::test_runtime()?;
    msrv::check_runtime()?;
    for folder in OUTSIDE {
        for package in packages_below(&root.join(folder)) {
            test_package(root, &package)?;
        }
    }
    test_package(root, &root.join(STUDIO))?;
    let mut documentation = linted(root, "doc", &["--no-deps", "--features", FEATURES])?;
    run("documentation", documentation.env("RUSTDOCFLAGS", "-D warnings"))?;
    for (binary, test) in BESIDE {
        // The same packages as in other tests, so that none of them is compiled again with other features.
        run(test, &mut linted(root, "test", &["--test", binary, "--", "--exact", test])?)?;
    }
    Ok(())
}

/// Removes what tests have built for themselves, where they will not run again: two gigabytes.
fn make_room(root: &Path) {
    if std::env::var_os("CI").is_some() {
        for folder in ["target/kiln/new", "target/tmp", "target/tests"] {
            // What is not there, or stays, does no harm.
            let _ = fs::remove_dir_all(root.join(folder));
        }
    }
}

/// The crate that has probe-rs in it: a workspace of its own, not optimised, because compiling it is what takes time. Clippy's driver compiles its
/// tests, as `cargo clippy` has it do. So all that it depends on is compiled once, not once for lints and once for tests.
fn test_probe(folder: &Path) -> Result<(), Failure> {
    run("format of probe", &mut cargo(folder, &["fmt", "--check"]))?;
    let mut tests = cargo(folder, &["test"]);
    tests.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").env("CLIPPY_ARGS", "-Dwarnings");
    run("lints and tests of probe", &mut tests)
}

/// Files that belong to no package: `kiln_boards` writes them out where they are compiled.
fn rustfmt(root: &Path) -> Command {
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.current_dir(root).args(["--check", "--edition", "2021"]);
    rustfmt.args(["boards/harness/src/lib.rs", "boards/harness/src/hosted.rs", "boards/cycles/lib.rs"]);
    rustfmt.args(["host-tests/firmware/events/src/lib.rs", "host-tests/firmware/post/src/lib.rs"]);
    rustfmt.args(["xtask/src/bench_host/program/main.rs", "xtask/src/bench_host/limit/handler.rs"]);
    rustfmt
}

/// Lints of the harness, for this machine and, where the toolchain with Clippy has the target, for a board; and of the plugin.
fn lint_outside(root: &Path) -> Result<(), Failure> {
    let harness = kiln_boards::harness()?;
    let target = &Board::find("qemu-cortex-m4")?.target;
    let mut targets = vec![vec![]];
    if toolchain::ensure_target(target)?.rustc.is_none() {
        targets.push(vec!["--target", target]);
    }
    for target in targets {
        let lints = [&["clippy"], &target[..], &["--", "-D", "warnings"]].concat();
        run("lints of the harness", &mut cargo(&harness, &lints))?;
    }
    // It depends on nothing: Clippy's driver, which takes rustc's arguments, is enough.
    let mut plugin = Command::new("clippy-driver");
    plugin.current_dir(root).args(["--edition", "2021", "--crate-type", "cdylib", "--emit", "metadata"]);
    plugin.args(["--out-dir"]).arg(kiln_boards::work_dir()?).args(["-Dwarnings", "boards/cycles/lib.rs"]);
    run("lints of the plugin", &mut plugin)
}

/// Tests a host package; builds a firmware, which is told by the target its own configuration names, and runs it where that is emulated.
fn test_package(root: &Path, package: &Path) -> Result<(), Failure> {
    let name = package.strip_prefix(root).unwrap_or(package).display().to_string();
    run(&format!("format of {name}"), &mut cargo(package, &["fmt", "--check"]))?;
    match configured_target(package) {
        None => {
            let mut test = cargo_outside(package, &["test", "--release"]);
            if names_web_target(package) {
                // A package that compiles for browsers needs a compiler that can; where there is none its tests say so.
                if let Ok(toolchain) = toolchain::ensure_target(WEB_TARGET) {
                    toolchain.apply(&mut test);
                }
            }
            run(&format!("tests of {name}"), &mut test)
        }
        Some(target) => {
            // What runs under QEMU checks its own output.
            let verb = if is_emulated(package) { "run" } else { "build" };
            let mut firmware = cargo_outside(package, &[verb, "--release"]);
            toolchain::ensure_target(&target)?.apply(&mut firmware);
            run(&format!("firmware of {name}"), &mut firmware)
        }
    }
}

/// Every folder below with a Cargo.toml, but for the members of the workspace.
fn packages_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.is_dir() && !path.ends_with("target"))
        {
            if path.join("Cargo.toml").exists() {
                found.push(path.clone());
            }
            folders.push(path);
        }
    }
    found.sort();
    found
}

/// Whether a package's `.cargo/config.toml` has firmware run by QEMU.
fn is_emulated(package: &Path) -> bool {
    fs::read_to_string(package.join(".cargo/config.toml")).is_ok_and(|config| config.contains("qemu-system"))
}

/// Whether a package's `.cargo/config.toml` has settings for browsers.
fn names_web_target(package: &Path) -> bool {
    fs::read_to_string(package.join(".cargo/config.toml")).is_ok_and(|config| config.contains(WEB_TARGET))
}

/// `build.target` of a package's `.cargo/config.toml`.
fn configured_target(package: &Path) -> Option<String> {
    let config = fs::read_to_string(package.join(".cargo/config.toml")).ok()?;
    let value = config.lines().find_map(|line| line.strip_prefix("target = "))?;
    Some(value.trim().trim_matches('"').to_owned())
}
