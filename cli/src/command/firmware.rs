//! `cargo kiln flash` and `cargo kiln run`.

use anyhow::Result;
use cargo_kiln::flash::{self, Firmware};
use std::process::ExitCode;

pub(super) const FLASH_EXAMPLES: &str = "\
First, the image has to fit the board. Then the probe is opened, and the chip's part number has to be the board's. Only then \
the sectors that the image touches are erased, programmed, read back and compared, and the chip is reset.

Examples:
  cargo kiln flash --board nrf52840-dk
      The package in this folder
  cargo kiln flash --board nrf52840-dk target/thumbv7em-none-eabihf/release/app --probe 1050001234
  cargo kiln flash --board stm32l4r5zi-nucleo --dry-run
      Shows what would be written, without a probe";

pub(super) const RUN_EXAMPLES: &str = "\
The firmware's output (RTT, decoded defmt frames, semihosting) goes to standard output. The run ends with a semihosting call of the firmware, or with Ctrl-C. \
As a runner in .cargo/config.toml: `runner = \"cargo kiln run --board nrf52840-dk\"`.

Examples:
  cargo kiln run --board nrf52840-dk
  cargo kiln run --board qemu-cortex-m4 target/thumbv7em-none-eabihf/release/app";

pub(super) fn flash(firmware: &Firmware) -> Result<ExitCode> {
    end_with(flash::flash(firmware)?)
}

pub(super) fn run(firmware: &Firmware) -> Result<ExitCode> {
    end_with(flash::run(firmware)?)
}

/// Ends with the status of a program that said itself what went wrong: 32 bits of it, where the system has as many.
fn end_with(status: i32) -> ! {
    std::process::exit(status)
}
