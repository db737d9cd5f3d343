//! `cargo xtask demo`: the main job, on real input. A network that reads handwritten digits goes through `include_model!` into
//! a program for this machine and into firmware; both read the same held-out images. Then one inference is measured.
use crate::step::{cargo, cargo_outside, root, run, Failure};
use kiln_boards::{toolchain, Board};
use std::process::Command;

/// The board whose emulation the demonstration runs on.
const BOARD: &str = "qemu-cortex-m4";
const MODEL: &str = "examples/digits/models/digits_int8.tflite";

/// With the `cargo kiln` of the profile that is compiled sooner: the compiler is optimised in both.
pub(crate) fn run_all() -> Result<(), Failure> {
    run_with(cargo(&root(), &["run", "--quiet", "--package", "cargo-kiln", "--", "kiln"]))
}

/// With a `cargo kiln` that is there.
pub(crate) fn run_with(mut kiln: Command) -> Result<(), Failure> {
    let example = root().join("examples/digits");
    let host = example.join("host");
    run("handwritten digits on this machine", &mut cargo_outside(&host, &["run", "--release", "--quiet"]))?;

    let mut firmware = cargo_outside(&example.join("firmware").join(BOARD), &["run", "--release", "--quiet"]);
    toolchain::ensure_target(&Board::find(BOARD)?.target)?.apply(&mut firmware);
    run(&format!("the same as firmware on {BOARD}"), &mut firmware)?;

    run("what one inference takes", kiln.args(["bench", MODEL, "--on", BOARD]))
}
