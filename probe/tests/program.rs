//! The program itself, as `cargo kiln flash` starts it, on a machine without a debug probe.
// Helpers of tests are tests too, which clippy does not see.
#![allow(clippy::unwrap_used, clippy::panic)]
mod support;

use probe_rs::probe::list::Lister;
use std::path::PathBuf;
use std::process::Command;
use support::elf;

/// Standard error and exit status of `cargo-kiln-probe flash`.
fn flash(arguments: &[&str], image: &[u8]) -> (String, Option<i32>) {
    let name = format!("program-{:?}", std::thread::current().id()).replace(['(', ')'], "");
    let elf: PathBuf = support::folder(&name).join("firmware.elf");
    std::fs::write(&elf, image).unwrap();
    let mut program = Command::new(env!("CARGO_BIN_EXE_cargo-kiln-probe"));
    let output = program.arg("flash").args(arguments).arg(elf).output().unwrap();
    (String::from_utf8(output.stderr).unwrap(), output.status.code())
}

#[test]
fn without_a_probe_it_ends_with_a_way_out() {
    if !Lister::new().list_all().is_empty() {
        eprintln!("skipped: there is a debug probe, whose board this would flash");
        return;
    }
    let (text, status) = flash(&["--board", "nrf52840-dk"], &elf::arm(&[(0, 64)]));
    assert!(text.contains("nRF52840_xxAA: 64 bytes of flash in 1 sectors (4 KB)"), "{text}");
    assert!(text.contains("error: no debug probe found\n") && text.contains("USB"), "{text}");
    assert_eq!(status, Some(1));
}

#[test]
fn an_image_that_does_not_fit_is_refused_before_a_probe_is_looked_for() {
    let (text, status) = flash(&["--board", "nrf52840-dk"], &elf::arm(&[(0xf_ffff, 2)]));
    assert!(text.contains("error: the image does not fit board `nrf52840-dk`"), "{text}");
    assert!(!text.contains("probe"), "{text}");
    assert_eq!(status, Some(1));
}

#[test]
fn a_dry_run_needs_no_probe() {
    let (text, status) = flash(&["--board", "nrf52840-dk", "--dry-run"], &elf::arm(&[(0, 64)]));
    assert!(text.contains("0x00000000..0x00000040 flash        64 bytes  .part0"), "{text}");
    assert_eq!(status, Some(0));
}

#[test]
fn an_unknown_board_lists_the_known_ones() {
    let (text, status) = flash(&["--board", "nucleo"], &elf::arm(&[(0, 64)]));
    assert!(text.contains("stm32l4r5zi-nucleo") && status == Some(1), "{text}");
}
