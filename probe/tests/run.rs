//! Firmware that a probe starts and talks to: the same firmware, cases and protocol as under QEMU, through probe-rs's session, semihosting and
//! log channels, on an emulated chip.
// Helpers of tests are tests too, which clippy does not see.
#![allow(clippy::unwrap_used, clippy::panic)]
#![cfg(unix)]
mod support;

use kiln_boards::cases::{parse_outputs, Cases};
use kiln_boards::firmware::{self, BuildRequest, Mode, OptLevel, ProgramRequest};
use kiln_boards::image::FlashSizes;
use kiln_boards::probe::{parse_layers, Measured};
use kiln_boards::Board;
use kiln_probe::{attach, flash, run, Apart, Chip, Error, Image, Options, Plan, Unlock};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use support::EmulatedProbe;

const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../boards/tests/models");

/// Plans, attaches, flashes and runs, as the program does; what was printed, and the status.
fn execute(board: &Board, machine: &str, elf: &Path, options: &Options) -> (String, Result<u32, Error>) {
    let (printed, status) = execute_bytes(board, machine, elf, options);
    (String::from_utf8(printed).unwrap(), status)
}

fn execute_bytes(
    board: &Board,
    machine: &str,
    elf: &Path,
    options: &Options,
) -> (Vec<u8>, Result<u32, Error>) {
    let chip = Chip::find(board, &support::registry()).unwrap();
    let image = Image::read(elf).unwrap();
    Plan::new(board, &chip, &image).unwrap();
    let code = board.memory.flash.origin..board.memory.flash.origin + board.memory.flash.length;
    // Of the AN386, whose code is in RAM, all code is written from here.
    let flashed = if machine == "microbit" { code } else { 0..0 };
    let probe = EmulatedProbe::open(machine, flashed);
    let mut session = attach(probe, board, &chip, &chip.flash_target, Unlock::No).unwrap();
    flash(&mut session, &image, |_| {}).unwrap();
    let mut printed = Vec::new();
    let status = run(&mut session, &image, options, |bytes| printed.extend(bytes));
    (printed, status)
}

fn model(board: &Board, mode: Mode) -> PathBuf {
    let (file, model_type) = match mode {
        Mode::Layers => ("two_layers.rs", "TwoLayers"),
        _ => ("running_sum.rs", "RunningSum"),
    };
    let request = BuildRequest {
        board,
        model_rs: &Path::new(MODELS).join(file),
        model_type,
        mode,
        opt_level: OptLevel::Speed,
        runtime_features: &[],
    };
    firmware::build(&request).unwrap().elf
}

fn program(board: &Board, name: &str, main: &str) -> PathBuf {
    let main_rs =
        format!("#![no_std]\n#![no_main]\n\n#[kiln_harness::entry]\nfn main() -> ! {{\n{main}\n}}\n");
    firmware::build_program(&ProgramRequest { board, name, main_rs, dependencies: &[] }).unwrap()
}

fn limit() -> Options {
    Options { limit: Some(Duration::from_secs(60)), ..Options::default() }
}

#[test]
fn cases_go_in_and_outputs_come_out() {
    for (board, machine) in [(support::AN386, "mps2-an386"), (support::MICROBIT, "microbit")] {
        let board = support::board(board);
        let folder = support::folder(&format!("cases-{machine}"));
        let case = |x: [u8; 4], n: u8| vec![x.to_vec(), vec![n]];
        let cases = Cases { sequence: true, inputs: vec![case([1, 2, 3, 4], 1), case([10, 20, 30, 40], 2)] };
        std::fs::write(folder.join("cases.bin"), cases.to_bytes().unwrap()).unwrap();
        let options = Options { files: Some(folder.clone()), ..limit() };
        let (printed, status) = execute(&board, machine, &model(&board, Mode::Validate), &options);
        assert_eq!((printed.as_str(), status.unwrap()), ("kiln-cases 2\n", 0), "{machine}");
        let outputs = parse_outputs(&std::fs::read(folder.join("outputs.bin")).unwrap()).unwrap();
        assert_eq!(outputs, [case([1, 2, 3, 4], 1), case([21, 42, 63, 84], 2)], "{machine}");
    }
}

#[test]
fn cycles_are_measured() {
    // Without DWT, as QEMU is and a Cortex-M0: SysTick counts.
    let board = support::board(support::AN386);
    let (printed, status) = execute(&board, "mps2-an386", &model(&board, Mode::Bench), &limit());
    assert_eq!(status.unwrap(), 0, "{printed}");
    let measured = Measured::parse(&printed, FlashSizes::default()).unwrap();
    assert!((8..300).contains(&measured.stack_bytes), "{measured:?}");
}

#[test]
fn layers_are_measured() {
    let board = support::board(support::AN386);
    let (printed, status) = execute(&board, "mps2-an386", &model(&board, Mode::Layers), &limit());
    assert_eq!(status.unwrap(), 0, "{printed}");
    let cycles = parse_layers(&printed).unwrap();
    assert!(cycles.len() == 2 && cycles[1] > 0, "{cycles:?}");
}

#[test]
fn firmware_without_its_files_says_so() {
    let board = support::board(support::AN386);
    let (printed, status) = execute(&board, "mps2-an386", &model(&board, Mode::Validate), &limit());
    assert_eq!((printed.as_str(), status.unwrap()), ("kiln-harness: cases.bin is missing\n", 2));
}

#[test]
fn a_status_is_handed_on_and_a_panic_is_told() {
    let board = support::board(support::AN386);
    let elf = program(&board, "status", "kiln_harness::print(\"hello\"); kiln_harness::exit(7)");
    let (printed, status) = execute(&board, "mps2-an386", &elf, &limit());
    assert_eq!((printed.as_str(), status.unwrap()), ("hello\n", 7));
    let elf = program(&board, "panics", "panic!()");
    let (printed, status) = execute(&board, "mps2-an386", &elf, &limit());
    assert_eq!((printed.as_str(), status.unwrap()), ("kiln-harness: panicked\n", 101));
}

#[test]
fn what_is_logged_over_rtt_is_read_and_decoded() {
    let mut board = support::board(support::AN386);
    board.rustflags.push("-Clink-arg=-Tdefmt.x".to_owned());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/firmware/logging");
    let main_rs = "#![no_std]\n#![no_main]\n\n#[kiln_harness::entry]\nfn main() -> ! {\n    kiln_logging_firmware::run();\n    kiln_harness::exit(3)\n}\n";
    let request = ProgramRequest {
        board: &board,
        name: "logging",
        main_rs: main_rs.to_owned(),
        dependencies: &[("kiln-logging-firmware", &folder)],
    };
    let elf = firmware::build_program(&request).unwrap_or_else(|error| panic!("{error}"));
    let (printed, status) = execute(&board, "mps2-an386", &elf, &limit());
    assert_eq!(status.unwrap(), 3, "{printed}");
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines.len(), 500);
    for (index, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!("{index} ")), "{line}");
        assert!(line.contains(&format!(" message {index} of the model")), "{line}");
    }
}

/// What is not of the channel told apart.
static OTHERS: Mutex<Vec<u8>> = Mutex::new(Vec::new());

#[test]
fn samples_are_told_apart_from_text() {
    let board = support::board(support::AN386);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/firmware/recording");
    let main_rs = "#![no_std]\n#![no_main]\n\n#[kiln_harness::entry]\nfn main() -> ! {\n    kiln_recording_firmware::run();\n    kiln_harness::print(\"end\");\n    kiln_harness::exit(0)\n}\n";
    let request = ProgramRequest {
        board: &board,
        name: "recording",
        main_rs: main_rs.to_owned(),
        dependencies: &[("kiln-recording-firmware", &folder)],
    };
    let elf = firmware::build_program(&request).unwrap_or_else(|error| panic!("{error}"));
    let others = |bytes: &[u8]| OTHERS.lock().unwrap().extend(bytes);
    let options = Options { apart: Some(Apart { channel: "kiln", others }), ..limit() };
    let (frames, status) = execute_bytes(&board, "mps2-an386", &elf, &options);
    assert_eq!(status.unwrap(), 0);
    // A header, the name, 20 samples and a checksum.
    let frames: Vec<&[u8]> = frames.chunks(14 + 3 + 40 + 4).collect();
    assert_eq!(frames.len(), 100);
    for (index, frame) in frames.iter().enumerate() {
        assert_eq!((frame.len(), &frame[..4], &frame[14..17]), (61, &[0xf5, 0x4b, 0x52, 1][..], &b"mic"[..]));
        assert_eq!(frame[8..12], (index as u32 * 40).to_le_bytes());
        assert!(frame[17..57].chunks(2).all(|sample| sample == (index as i16).to_le_bytes()));
    }
    let text: String = (0..100).map(|index| format!("block {index} ")).collect();
    let others = String::from_utf8(OTHERS.lock().unwrap().clone()).unwrap();
    // Semihosting overtakes what is still in the channel.
    assert!(others.contains("end"), "{others}");
    let others = others.replace("end", "");
    assert_eq!(others.split_whitespace().collect::<Vec<_>>(), text.split_whitespace().collect::<Vec<_>>());
}

#[test]
fn firmware_that_does_not_end_is_ended() {
    let board = support::board(support::AN386);
    let elf = program(&board, "endless", "loop { core::hint::spin_loop() }");
    let options = Options { limit: Some(Duration::from_millis(200)), ..Options::default() };
    let error = execute(&board, "mps2-an386", &elf, &options).1.unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
}
