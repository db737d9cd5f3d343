//! `cargo xtask demo`: the main job, on real input. The example does the work; this builds and runs it in both places.
use crate::step::{cargo, root, run, say, Failure};
use kiln_boards::{toolchain, Board};

/// The board whose emulation the demonstration runs on.
const BOARD: &str = "qemu-cortex-m4";

pub(crate) fn run_all() -> Result<(), Failure> {
    let example = root().join("examples/digits");
    if !example.join("Cargo.toml").exists() {
        say("examples/digits is not there: nothing to show");
        return Ok(());
    }
    run("handwritten digits on this machine", &mut cargo(&example, &["run", "--release"]))?;
    let mut firmware = cargo(&example.join("firmware"), &["run", "--release"]);
    toolchain::ensure_target(&Board::find(BOARD)?.target)?.apply(&mut firmware);
    run(&format!("handwritten digits as firmware on {BOARD}"), &mut firmware)
}
