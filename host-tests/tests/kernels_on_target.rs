//! The checks of `kernel-checks` as firmware on every emulated board: a kernel made of instructions that this machine does not have
//! runs here. `KILN_ROUNDS` sets the number of rounds.

use kiln_boards::firmware::{build_program, ProgramRequest};
use kiln_boards::{qemu, Board};
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(600);

#[test]
fn cortex_m0() {
    run_on("qemu-cortex-m0");
}

#[test]
fn cortex_m3() {
    run_on("qemu-cortex-m3");
}

#[test]
fn cortex_m4() {
    run_on("qemu-cortex-m4");
}

#[test]
fn cortex_m7() {
    run_on("qemu-cortex-m7");
}

#[test]
fn cortex_m33() {
    run_on("qemu-cortex-m33");
}

fn run_on(board: &str) {
    let checks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernel-checks").canonicalize().unwrap();
    let rounds = std::env::var("KILN_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(150);
    let board = Board::find(board).unwrap();
    let request = ProgramRequest {
        board,
        name: "kernel-checks",
        main_rs: main_rs(rounds),
        dependencies: &[("kiln-kernel-checks", &checks)],
    };
    let elf = build_program(&request).unwrap_or_else(|error| panic!("{error}"));
    match qemu::run(board, &elf, LIMIT) {
        Ok(printed) => print!("{}:\n{printed}", board.name),
        Err(error) => panic!("{error}"),
    }
}

/// Runs every check, says which fail, and ends with status 1 if any does.
fn main_rs(rounds: u32) -> String {
    format!(
        "#![no_std]
#![no_main]
use kiln_kernel_checks::{{all, Storage}};

#[kiln_harness::entry]
fn main() -> ! {{
    static mut STORAGE: Storage = Storage::new();
    let (mut passed, mut failed) = (0, 0);
    for check in all() {{
        match check.run(STORAGE, {rounds}) {{
            Ok(()) => passed += 1,
            Err(failure) => {{
                kiln_harness::print(failure);
                failed += 1;
            }}
        }}
    }}
    kiln_harness::print(format_args!(\"{{passed}} checks passed, {{failed}} failed\"));
    kiln_harness::exit((failed > 0).into())
}}
"
    )
}
