//! Frames of firmware under QEMU, decoded by the program as `cargo kiln run` does for emulated boards.
// Helpers of tests are tests too, which clippy does not see.
#![allow(clippy::unwrap_used, clippy::panic)]
#![cfg(unix)]

use kiln_boards::firmware::{build_program, ProgramRequest};
use kiln_boards::image::{Image, Log};
use kiln_boards::{qemu, Board};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MAIN: &str = "#![no_std]
#![no_main]

#[kiln_harness::entry]
fn main() -> ! {
    kiln_semihosted_firmware::run();
    kiln_harness::exit(5)
}
";

fn firmware() -> PathBuf {
    let mut board = Board::find("qemu-cortex-m4").unwrap().clone();
    board.rustflags.push("-Clink-arg=-Tdefmt.x".to_owned());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/firmware/semihosted");
    let request = ProgramRequest {
        board: &board,
        name: "semihosted",
        main_rs: MAIN.to_owned(),
        dependencies: &[("kiln-semihosted-firmware", &folder)],
    };
    build_program(&request).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn what_is_logged_over_semihosting_is_decoded() {
    let elf = firmware();
    assert_eq!(Image::read(&elf).unwrap().log(), Log::Defmt);
    let mut emulator = qemu::command(Board::find("qemu-cortex-m4").unwrap()).unwrap();
    let mut emulator = emulator.arg(&elf).stdout(Stdio::piped()).spawn().unwrap();
    let mut decoder = Command::new(env!("CARGO_BIN_EXE_cargo-kiln-probe"));
    let output = decoder.arg("decode").arg(&elf).stdin(emulator.stdout.take().unwrap()).output().unwrap();
    assert_eq!(emulator.wait().unwrap().code(), Some(5));
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 100, "{text}");
    for (index, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!("message {index} of the model")), "{line}");
    }
}

#[test]
fn without_the_image_frames_cannot_be_read() {
    let mut decoder = Command::new(env!("CARGO_BIN_EXE_cargo-kiln-probe"));
    let output = decoder.arg("decode").arg("no-such.elf").stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("no-such.elf") && output.status.code() == Some(1), "{text}");
}
