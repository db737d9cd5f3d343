//! Kiln's own chores: `cargo xtask COMMAND`.
#[cfg(feature = "compiler")]
mod asan;
#[cfg(feature = "compiler")]
mod bench_host;
mod book;
mod compiling;
mod demo;
mod differential;
mod hostile;
mod installed;
mod msrv;
mod nightly;
mod onnx;
mod other_hosts;
mod package;
mod publish;
mod python;
mod step;
mod studio;
mod test;

use kiln_boards::{toolchain, Board, Runner};
use std::process::ExitCode;
use step::{root, say, Failure};

const HELP: &str = "\
cargo xtask COMMAND

  setup   install what is missing to build and run firmware, and to test: Rust targets, QEMU, Chromium, Node, ONNX's tests
  demo    compile a real model, run it here and as firmware under QEMU, and print what it takes
  studio  build the page that compiles models in the browser: target/studio/index.html
  test    everything that must hold: format, lints, tests, documentation, examples, firmware; .ci/run calls it
";

const CORPUS: &str =
    "The corpus of models is the folder named by KILN_CORPUS; tests that need it say so and pass where it is not set.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["setup"] => setup(),
        ["demo"] => setup().and_then(|()| demo::run_all()),
        ["studio"] => studio::build(&root().join("target/studio")),
        ["test"] => setup().and_then(|()| test::run_all()),
        ["fuzz-kernels"] => hostile::fuzz_kernels(None),
        ["fuzz-kernels", seconds] => hostile::fuzz_kernels(Some(seconds)),
        ["book"] => book::build(),
        ["package"] => package::build(),
        ["publish"] => publish::run_all(true),
        ["publish", "--dry-run"] => publish::run_all(false),
        ["miri"] => nightly::miri(),
        ref words @ (["asan"] | ["bench-host", ..]) => compiling::run_all(words),
        ["differential", ref arguments @ ..] => differential::run_all(arguments),
        ["help" | "--help" | "-h"] => {
            println!("{}", help());
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("{}", help());
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn help() -> String {
    let parts = [
        HELP,
        package::HELP,
        publish::HELP,
        book::HELP,
        hostile::HELP,
        nightly::HELP,
        compiling::ASAN,
        differential::HELP,
        compiling::BENCH_HOST,
    ];
    format!(
        "{}
{CORPUS}",
        parts.concat()
    )
}

/// Installs what is missing for every board.
fn setup() -> Result<(), Failure> {
    let mut targets: Vec<&str> = Board::all().iter().map(|board| board.target.as_str()).collect();
    targets.sort_unstable();
    targets.dedup();
    for target in targets {
        toolchain::ensure_target(target)?;
    }
    for board in Board::all() {
        if let Runner::Qemu { program, .. } = &board.runner {
            toolchain::ensure_qemu(program)?;
        }
    }
    onnx::fetch_tests();
    let chromium = toolchain::ensure_chromium()?;
    let node = toolchain::ensure_node()?;
    // Without them, tests of pages and of the editor say so.
    if let Err(error) = toolchain::ensure_target(test::WEB_TARGET) {
        say(&error.to_string());
    }
    if let Err(error) = toolchain::ensure_rust_analyzer() {
        say(&error.to_string());
    }
    other_hosts::setup();
    let (chromium, node) = (chromium.display(), node.display());
    say(&format!("Rust targets and QEMU are installed; Chromium is {chromium}, Node is {node}"));
    Ok(())
}
