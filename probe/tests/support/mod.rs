//! A debug probe that is not there: a chip emulated by QEMU, behind the same traits of probe-rs as a real one. Everything above those
//! traits is what runs with a board on the table: probe-rs's sessions, its flash algorithms (which run on the emulated core and drive the
//! emulated flash controller), its semihosting and RTT.
// Each test uses its own part of this.
#![allow(dead_code, unused_imports, clippy::unwrap_used, clippy::panic)]

pub(crate) mod elf;
mod gdb;
mod interface;
pub(crate) mod lister;
mod registers;

pub(crate) use interface::EmulatedProbe;

use kiln_boards::Board;
use probe_rs::config::Registry;
use std::path::{Path, PathBuf};

/// QEMU's micro:bit: an nRF51822 with its flash controller, under the chip's own entry in the registry.
pub(crate) const MICROBIT: &str = r#"
name = "emulated-microbit"
description = "QEMU's micro:bit"
target = "thumbv6m-none-eabi"
core = "cortex-m0plus"
clock-hz = 16_000_000
[runner.probe-rs]
chip = "nRF51822_xxAA"
# FICR.CODEPAGESIZE, FICR.CODESIZE being the same in other chips of the family.
identity = { address = 0x1000_0010, mask = 0xffff_ffff, values = [0x400] }
[memory]
flash = { origin = 0, length = 0x4_0000 }
ram = { origin = 0x2000_0000, length = 0x4000 }
"#;

/// QEMU's MPS2 AN386, a Cortex-M4 whose code memory is RAM. Its identity is its CPUID.
pub(crate) const AN386: &str = r#"
name = "emulated-an386"
description = "QEMU's MPS2 AN386"
target = "thumbv7em-none-eabihf"
core = "cortex-m4"
clock-hz = 25_000_000
[runner.probe-rs]
chip = "Emulated_AN386"
identity = { address = 0xe000_ed00, mask = 0xff0f_fff0, values = [0x410f_c240, 0x4100_c240] }
[memory]
flash = { origin = 0, length = 0x40_0000 }
ram = { origin = 0x2000_0000, length = 0x40_0000 }
"#;

const AN386_CHIP: &str = r"
name: Emulated AN386
variants:
- name: Emulated_AN386
  cores:
  - name: main
    type: armv7em
    core_access_options: !Arm
      ap: !v1 0
  memory_map:
  - !Ram
    range: { start: 0x0, end: 0x400000 }
    cores: [main]
  - !Ram
    range: { start: 0x20000000, end: 0x20400000 }
    cores: [main]
  flash_algorithms: []
flash_algorithms: []
";

/// A board that Kiln does not have, for tests.
pub(crate) fn board(board_toml: &str) -> Board {
    let mut board = Board::parse(board_toml, "").unwrap();
    let (flash, ram) = (board.memory.flash, board.memory.ram);
    board.memory_x = format!(
        "MEMORY\n{{\n  FLASH : ORIGIN = {:#x}, LENGTH = {:#x}\n  RAM : ORIGIN = {:#x}, LENGTH = {:#x}\n}}\n",
        flash.origin, flash.length, ram.origin, ram.length
    );
    board
}

/// probe-rs's chips, and the AN386.
pub(crate) fn registry() -> Registry {
    kiln_probe::register_chips();
    let mut registry = Registry::from_builtin_families();
    registry.add_target_family_from_yaml(AN386_CHIP).unwrap();
    registry
}

/// A folder for one test, emptied.
pub(crate) fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
