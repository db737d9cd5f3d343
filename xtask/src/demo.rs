//! `cargo xtask demo`: the main job, on real input. A network that reads handwritten digits goes through `include_model!` into
//! a program for this machine and into firmware; both read the same held-out images. Then one inference is measured.
use crate::step::{cargo, cargo_outside, root, run, Failure};
use kiln_boards::{toolchain, Board};

/// The board whose emulation the demonstration runs on.
const BOARD: &str = "qemu-cortex-m4";
const MODEL: &str = "examples/digits/models/digits_int8.tflite";

pub(crate) fn run_all() -> Result<(), Failure> {
    let example = root().join("examples/digits");
    let host = example.join("host");
    run("handwritten digits on this machine", &mut cargo_outside(&host, &["run", "--release", "--quiet"]))?;

    let mut firmware = cargo_outside(&example.join("firmware").join(BOARD), &["run", "--release", "--quiet"]);
    toolchain::ensure_target(&Board::find(BOARD)?.target)?.apply(&mut firmware);
    run(&format!("the same as firmware on {BOARD}"), &mut firmware)?;

    // `cargo kiln bench`, of the profile that is compiled sooner: the compiler is optimised in both.
    let bench = ["run", "--quiet", "--package", "cargo-kiln", "--", "kiln", "bench", MODEL, "--on", BOARD];
    run("what one inference takes", &mut cargo(&root(), &bench))
}
