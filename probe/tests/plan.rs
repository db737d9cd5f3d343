//! What is known about a flash before a probe is looked for.
// Helpers of tests are tests too, which clippy does not see.
#![allow(clippy::unwrap_used, clippy::panic)]
mod support;

use kiln_boards::Board;
use kiln_probe::{Chip, Error, Image, Plan};
use std::path::Path;
use support::elf;

fn plan(board: &str, elf: Vec<u8>) -> Result<Plan, Error> {
    let board = Board::find(board).unwrap();
    let image = Image::parse(Path::new("firmware.elf"), elf).unwrap();
    Plan::new(board, &Chip::of(board).unwrap(), &image)
}

fn message(board: &str, elf: Vec<u8>) -> String {
    plan(board, elf).unwrap_err().to_string()
}

#[test]
fn whole_sectors_are_erased() {
    let plan = plan("nrf52840-dk", elf::arm(&[(0, 4097), (0x8000, 16), (0x2000_0000, 8)])).unwrap();
    assert_eq!(plan.sectors, [0..0x1000, 0x1000..0x2000, 0x8000..0x9000]);
    assert_eq!((plan.flash_bytes(), plan.erased_bytes()), (4113, 3 * 4096));
    assert_eq!(plan.to_string(), "nRF52840_xxAA: 4113 bytes of flash in 3 sectors (12 KB), 8 bytes of RAM");
    assert_eq!(plan.parts[2].to_string(), "0x20000000..0x20000008 RAM           8 bytes  .part2");
}

#[test]
fn sectors_of_several_sizes() {
    // STM32F411: four of 16 KB, one of 64 KB, then 128 KB each.
    let plan = plan("stm32f411-blackpill", elf::arm(&[(0x0800_c000, 0x1_8000)])).unwrap();
    assert_eq!(plan.sectors, [0x0800_c000..0x0801_0000, 0x0801_0000..0x0802_0000, 0x0802_0000..0x0804_0000]);
}

#[test]
fn a_boot_loader_before_the_firmware_is_flash_too() {
    let plan = plan("raspberry-pi-pico", elf::arm(&[(0x1000_0000, 256), (0x1000_0100, 100)])).unwrap();
    assert_eq!((plan.sectors.len(), plan.flash_bytes()), (1, 356));
}

#[test]
fn an_image_that_is_too_large_says_by_how_much() {
    let text = message("nrf52840-dk", elf::arm(&[(0, 16), (0xf_fff0, 100)]));
    assert!(text.contains("does not fit board `nrf52840-dk`: .part1 ends at 0x00100054, 84 bytes behind the end of its flash"), "{text}");
    assert!(text.contains("nothing was touched") && text.contains("opt-level"), "{text}");
    // The Pico's flash chip ends long before what its processor could address.
    let text = message("raspberry-pi-pico", elf::arm(&[(0x1020_0000, 4)]));
    assert!(text.contains("4 bytes behind the end of its flash"), "{text}");
    let text = message("nrf52840-dk", elf::arm(&[(0x2003_fff0, 17)]));
    assert!(text.contains("1 bytes behind the end of its RAM"), "{text}");
}

#[test]
fn an_image_of_another_board_is_refused() {
    let text = message("nrf52840-dk", elf::arm(&[(0x0800_0000, 16)]));
    assert!(text.contains("not for board `nrf52840-dk`: .part0 lies at 0x08000000"), "{text}");
    assert!(text.contains("boards/nrf52840-dk/memory.x"), "{text}");
    let text = message("nrf52840-dk", elf::riscv(&[(0, 16)]));
    assert!(text.contains("is RISC-V code") && text.contains("thumbv7em-none-eabihf"), "{text}");
    let text = Chip::of(Board::find("qemu-cortex-m4").unwrap()).unwrap_err().to_string();
    assert!(text.contains("cargo kiln run --board qemu-cortex-m4"), "{text}");
}

#[test]
fn what_is_no_firmware_is_refused() {
    let parse = |bytes: &[u8]| Image::parse(Path::new("x"), bytes.to_vec()).unwrap_err().to_string();
    assert!(parse(b"text").contains("no ELF file for 32-bit processors"));
    assert!(parse(&elf::arm(&[])).contains("nothing in it is to be loaded"));
    let whole = elf::arm(&[(0, 64)]);
    for end in 0..whole.len() {
        // Damaged files are errors or images, and never panics.
        let _ = Image::parse(Path::new("x"), whole[..end].to_vec());
    }
}
