//! The checks of `kernel-checks` as firmware on every emulated board: a kernel made of instructions that this machine does not have
//! runs here. `KILN_ROUNDS` sets the number of rounds, `KILN_BOARD` picks the boards whose name contains it.

use kiln_boards::firmware::{build_program, ProgramRequest};
use kiln_boards::{qemu, Board, Error};
use kiln_host_tests::{emulated_kinds, sweeps};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Its kernels are those of another board, built for more instructions: a sweep checks them.
const HAS_THE_SAME: &str = "qemu-rv32imac-zb";

/// Its 512 KB do not hold all checks at once.
const HAS_LITTLE_FLASH: &str = "qemu-cortex-m55";

const LIMIT: Duration = Duration::from_secs(600);

#[test]
fn kernels_compute_what_they_mean_on_boards() {
    let usual = if sweeps() { 150 } else { 30 };
    let rounds = std::env::var("KILN_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(usual);
    let wanted = std::env::var("KILN_BOARD").unwrap_or_default();
    let mut boards = emulated_kinds(&wanted);
    boards.retain(|board| sweeps() || wanted == HAS_THE_SAME || board.name != HAS_THE_SAME);
    assert!(!boards.is_empty(), "no emulated board has `{wanted}` in its name");
    // Cargo builds one after the other; what has been built runs meanwhile.
    let results = thread::scope(|scope| {
        let start = |&board| scope.spawn(move || run_on(board, rounds));
        let running: Vec<_> = boards.iter().map(start).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let mut failed = Vec::new();
    for (board, result) in boards.iter().zip(results) {
        match result {
            Ok((printed, time)) => print!("{}, {:.0} s:\n{printed}", board.name, time.as_secs_f64()),
            Err(error) => failed.push(format!("{}: {error}", board.name)),
        }
    }
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

/// What a board prints, and how long it runs.
fn run_on(board: &Board, rounds: u32) -> Result<(String, Duration), Error> {
    let parts = if board.name == HAS_LITTLE_FLASH { 2 } else { 1 };
    let (mut all, mut time) = (String::new(), Duration::ZERO);
    for part in 0..parts {
        let (printed, taken) = run_part(board, rounds, (part, parts))?;
        all += &printed;
        time += taken;
    }
    Ok((all, time))
}

/// The same of one of several programs.
fn run_part(board: &Board, rounds: u32, part: (usize, usize)) -> Result<(String, Duration), Error> {
    let checks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernel-checks").canonicalize().unwrap();
    let request = ProgramRequest {
        board,
        name: "kernel-checks",
        main_rs: main_rs(rounds, part),
        dependencies: &[("kiln-kernel-checks", &checks)],
    };
    let elf = build_program(&request)?;
    let begun = Instant::now();
    Ok((qemu::run(board, &elf, LIMIT)?, begun.elapsed()))
}

/// Runs every check, says which fail, and ends with status 1 if any does.
fn main_rs(rounds: u32, (part, parts): (usize, usize)) -> String {
    format!(
        "#![no_std]
#![no_main]
use kiln_kernel_checks::{{part, Check, Storage, CHECKS}};

const PART: [&[Check]; CHECKS.len()] = part({part}, {parts});

kiln_harness::main!(Storage = Storage::new(), run);

fn run(storage: &mut Storage) -> ! {{
    let (mut passed, mut failed) = (0, 0);
    for check in PART.iter().copied().flatten() {{
        match check.run(storage, {rounds}) {{
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
