//! What firmware of a flavour needs on a board.

use anyhow::{bail, Result};
use kiln_boards::{Board, Runner};

/// What firmware is built around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// A runtime crate (or, on an ESP32, its HAL), and nothing else: every board.
    Bare,
    /// Embassy's async executor, with a task beside the model.
    Embassy,
    /// RTIC, with the model in a task.
    Rtic,
}

impl Flavour {
    /// All of them.
    pub const ALL: [Flavour; 3] = [Flavour::Bare, Flavour::Embassy, Flavour::Rtic];

    /// Its name: that of the flag of `cargo kiln new`.
    pub fn name(self) -> &'static str {
        match self {
            Flavour::Bare => "bare",
            Flavour::Embassy => "embassy",
            Flavour::Rtic => "rtic",
        }
    }
}

/// The main file and its dependencies.
#[derive(Debug, Default)]
pub(super) struct Platform {
    /// The template of `src/main.rs`.
    pub(super) main: &'static str,
    /// Other templates of files that only this has, with their paths in the crate.
    pub(super) files: Vec<(&'static str, &'static str)>,
    /// Lines of the manifest.
    pub(super) dependencies: Vec<&'static str>,
    /// Where the linker script comes from.
    pub(super) linker_script: LinkerScript,
    /// Embassy's crate for the chip.
    pub(super) hal: &'static str,
    /// The field of the LED's pin in Embassy's peripherals.
    pub(super) led: &'static str,
    /// That of a pin that has to be low for the LED to be lit, where it is between two.
    pub(super) led_column: &'static str,
    /// The crate or module with the interrupts.
    pub(super) device: &'static str,
    /// An interrupt that nothing else uses.
    pub(super) dispatchers: &'static str,
}

impl Platform {
    /// Whether the image is laid out in the memories of the board's `memory.x`.
    pub(super) fn has_memory_x(&self) -> bool {
        matches!(self.linker_script, LinkerScript::Runtime)
    }

    /// What a test on the board needs besides, as lines of the manifest.
    pub(super) fn test_dependencies(&self) -> Vec<&'static str> {
        let static_cell = (!self.dependencies.contains(&STATIC_CELL)).then_some(STATIC_CELL);
        std::iter::once(EMBEDDED_TEST).chain(static_cell).collect()
    }

    /// What firmware can use of the board's memories.
    pub(super) fn room(&self, board: &Board) -> Room {
        match self.linker_script {
            LinkerScript::Runtime => {
                Room { flash: board.memory.flash.length as usize, ram: board.memory.ram.length as usize }
            }
            LinkerScript::Hal(room) => room,
        }
    }
}

/// Who lays out the image.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum LinkerScript {
    /// The runtime crate, in the memories of the board's `memory.x`.
    #[default]
    Runtime,
    /// The HAL, in memories that it knows itself: as much of them.
    Hal(Room),
}

/// What firmware can use of a board's memories, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) flash: usize,
    pub(super) ram: usize,
}

const CORTEX_M: &str = r#"cortex-m = { version = "0.7", features = ["critical-section-single-core"] }"#;
const CORTEX_M_RT: &str = r#"cortex-m-rt = "0.7""#;
const CORTEX_M_RT_DEVICE: &str = r#"cortex-m-rt = { version = "0.7", features = ["device"] }"#;
const RISCV: &str = r#"riscv = { version = "0.16", features = ["critical-section-single-hart"] }"#;
const RISCV_RT: &str = r#"riscv-rt = { version = "0.18", features = ["memory", "single-hart"] }"#;
const PORTABLE_ATOMIC: &str = "\
# The processor has no compare-and-swap, which static_cell needs: through a critical section then.
portable-atomic = { version = \"1\", features = [\"critical-section\"] }";
const EXECUTOR: &str =
    r#"embassy-executor = { version = "0.10", features = ["executor-thread", "platform-cortex-m"] }"#;
const EXECUTOR_RISCV: &str =
    r#"embassy-executor = { version = "0.10", features = ["executor-thread", "platform-riscv32"] }"#;
/// Without an executor: that is in esp-rtos.
const EXECUTOR_ONLY: &str = r#"embassy-executor = "0.10""#;
const DEFMT: [&str; 2] = [r#"defmt = "1""#, r#"defmt-rtt = "1""#];
const PANIC_PROBE: &str = r#"panic-probe = { version = "1", features = ["print-defmt"] }"#;
const EMBEDDED_TEST: &str = r#"embedded-test = "0.7""#;
const EMBASSY_TIME: &str = r#"embassy-time = "0.5""#;
const SEMIHOSTING: &str = r#"semihosting = "0.1""#;
const SEMIHOSTING_TEXT: &str = r#"semihosting = { version = "0.1", features = ["panic-handler", "stdio"] }"#;
const STATIC_CELL: &str = r#"static_cell = "2""#;

/// What a flavour needs on a board.
///
/// # Errors
/// Where there is no template for the two; says which boards have one.
pub(super) fn platform(board: &Board, flavour: Flavour) -> Result<Platform> {
    let Some(platform) = find(board, flavour) else {
        let boards: Vec<&str> =
            Board::all().iter().filter(|b| find(b, flavour).is_some()).map(|b| b.name.as_str()).collect();
        let what = match flavour {
            Flavour::Bare => "bare",
            Flavour::Embassy => "Embassy",
            Flavour::Rtic => "RTIC",
        };
        bail!(
            "there is no {what} template for the board {}: there are some for {}; `--bare` suits every board",
            board.name,
            boards.join(", ")
        )
    };
    Ok(platform)
}

/// The flavours of firmware that there are for a board.
pub fn flavours(board: &Board) -> Vec<Flavour> {
    Flavour::ALL.into_iter().filter(|&flavour| find(board, flavour).is_some()).collect()
}

fn find(board: &Board, flavour: Flavour) -> Option<Platform> {
    let mut platform = match (&board.runner, is_riscv(board)) {
        (Runner::Qemu { .. }, false) => emulated(flavour),
        (Runner::Qemu { .. }, true) => emulated_riscv(flavour)?,
        (Runner::ProbeRs { chip, .. }, false) => on_chip(flavour, chip)?,
        (Runner::ProbeRs { chip, .. }, true) => on_riscv_chip(flavour, chip)?,
    };
    if flavour == Flavour::Rtic {
        platform.dependencies.push(rtic(&board.target)?);
    }
    let lacks_compare_and_swap = ["thumbv6m", "riscv32imc"].iter().any(|core| board.target.starts_with(core));
    if lacks_compare_and_swap && platform.has_memory_x() {
        platform.dependencies.push(PORTABLE_ATOMIC);
    }
    platform.dependencies.sort_by_key(|line| line.lines().last());
    Some(platform)
}

fn emulated(flavour: Flavour) -> Platform {
    let common = [CORTEX_M, SEMIHOSTING_TEXT];
    match flavour {
        Flavour::Bare => Platform {
            main: "bare.rs.j2",
            dependencies: [&common[..], &[CORTEX_M_RT, STATIC_CELL]].concat(),
            ..Platform::default()
        },
        Flavour::Embassy => Platform {
            main: "embassy_emulated.rs.j2",
            dependencies: [&common[..], &[CORTEX_M_RT, EXECUTOR, STATIC_CELL]].concat(),
            ..Platform::default()
        },
        Flavour::Rtic => Platform {
            main: "rtic.rs.j2",
            files: vec![("device.rs.j2", "src/device.rs"), ("device.x", "device.x")],
            dependencies: [&common[..], &[CORTEX_M_RT_DEVICE]].concat(),
            device: "crate::device",
            dispatchers: "SPARE",
            ..Platform::default()
        },
    }
}

fn emulated_riscv(flavour: Flavour) -> Option<Platform> {
    let common = [RISCV, RISCV_RT, SEMIHOSTING_TEXT, STATIC_CELL];
    match flavour {
        Flavour::Bare => {
            Some(Platform { main: "bare.rs.j2", dependencies: common.to_vec(), ..Platform::default() })
        }
        Flavour::Embassy => Some(Platform {
            main: "embassy_emulated.rs.j2",
            dependencies: [&common[..], &[EXECUTOR_RISCV]].concat(),
            ..Platform::default()
        }),
        // RTIC's ports for RISC-V are for interrupt controllers that QEMU's machine does not have.
        Flavour::Rtic => None,
    }
}

fn on_chip(flavour: Flavour, chip: &str) -> Option<Platform> {
    let common = [&DEFMT[..], &[CORTEX_M_RT, PANIC_PROBE]].concat();
    let boot = if chip == "RP2040" { Some(r#"rp2040-boot2 = "0.3""#) } else { None };
    let platform = match flavour {
        Flavour::Bare => {
            let dependencies = [CORTEX_M, SEMIHOSTING, STATIC_CELL].into_iter().chain(boot).collect();
            Platform { main: "bare.rs.j2", dependencies, ..Platform::default() }
        }
        Flavour::Embassy => {
            let hal = embassy_hal(chip)?;
            // Embassy's crate for Raspberry Pi's chips has critical sections for two cores.
            let cortex_m = if hal.name == "embassy_rp" { r#"cortex-m = "0.7""# } else { CORTEX_M };
            let Hal { name, line, led, led_column } = hal;
            let dependencies = vec![cortex_m, EXECUTOR, line, EMBASSY_TIME, STATIC_CELL];
            let main = "embassy.rs.j2";
            Platform { main, hal: name, led, led_column, dependencies, ..Platform::default() }
        }
        Flavour::Rtic => {
            let (device, line, dispatchers) = rtic_device(chip)?;
            let dependencies = [CORTEX_M, line].into_iter().chain(boot).collect();
            let main = "rtic.rs.j2";
            Platform { main, device, dispatchers, dependencies, ..Platform::default() }
        }
    };
    let dependencies = platform.dependencies.iter().chain(&common).copied().collect();
    Some(Platform { dependencies, ..platform })
}

/// Embassy's crate for a chip, and the LED of its board.
struct Hal {
    name: &'static str,
    /// Its line of the manifest.
    line: &'static str,
    led: &'static str,
    led_column: &'static str,
}

fn embassy_hal(chip: &str) -> Option<Hal> {
    let (line, led, led_column) = match chip {
        "nRF52833_xxAA" => (
            r#"embassy-nrf = { version = "0.11", features = ["defmt", "nrf52833", "time-driver-rtc1"] }"#,
            "P0_21",
            "P0_28",
        ),
        "nRF52840_xxAA" => (
            r#"embassy-nrf = { version = "0.11", features = ["defmt", "nrf52840", "time-driver-rtc1"] }"#,
            "P0_13",
            "",
        ),
        "nRF5340_xxAA" => (
            r#"embassy-nrf = { version = "0.11", features = ["defmt", "nrf5340-app-s", "time-driver-rtc1"] }"#,
            "P0_28",
            "",
        ),
        "RP2040" => (
            r#"embassy-rp = { version = "0.10", features = ["critical-section-impl", "defmt", "rp2040", "time-driver"] }"#,
            "PIN_25",
            "",
        ),
        "RP235x" => (
            r#"embassy-rp = { version = "0.10", features = ["critical-section-impl", "defmt", "rp235xa", "time-driver"] }"#,
            "PIN_25",
            "",
        ),
        "STM32F411CEUx" => (
            r#"embassy-stm32 = { version = "0.6", features = ["defmt", "stm32f411ce", "time-driver-any"] }"#,
            "PC13",
            "",
        ),
        "STM32F746NGHx" => (
            r#"embassy-stm32 = { version = "0.6", features = ["defmt", "stm32f746ng", "time-driver-any"] }"#,
            "PI1",
            "",
        ),
        "STM32H743ZITx" => (
            r#"embassy-stm32 = { version = "0.6", features = ["defmt", "stm32h743zi", "time-driver-any"] }"#,
            "PB0",
            "",
        ),
        // The flash has two banks after production.
        "STM32L4R5ZITx" => (
            r#"embassy-stm32 = { version = "0.6", features = ["defmt", "dual-bank", "stm32l4r5zi", "time-driver-any"] }"#,
            "PC7",
            "",
        ),
        "STM32N657" => (
            r#"embassy-stm32 = { version = "0.6", features = ["defmt", "stm32n657x0", "time-driver-any"] }"#,
            "PG0",
            "",
        ),
        _ => return None,
    };
    let name = match line.get(.."embassy-rp".len())? {
        "embassy-nr" => "embassy_nrf",
        "embassy-rp" => "embassy_rp",
        _ => "embassy_stm32",
    };
    Some(Hal { name, line, led, led_column })
}

/// The crate with a chip's interrupts, its line of the manifest, and an interrupt that nothing else uses.
fn rtic_device(chip: &str) -> Option<(&'static str, &'static str, &'static str)> {
    Some(match chip {
        "nRF52833_xxAA" => {
            ("nrf52833_pac", r#"nrf52833-pac = { version = "0.12", features = ["rt"] }"#, "SWI0_EGU0")
        }
        "nRF52840_xxAA" => {
            ("nrf52840_pac", r#"nrf52840-pac = { version = "0.12", features = ["rt"] }"#, "SWI0_EGU0")
        }
        "nRF5340_xxAA" => {
            ("nrf5340_app_pac", r#"nrf5340-app-pac = { version = "0.12", features = ["rt"] }"#, "EGU0")
        }
        "RP2040" => ("rp2040_pac", r#"rp2040-pac = { version = "0.6", features = ["rt"] }"#, "SW0_IRQ"),
        "RP235x" => ("rp235x_pac", r#"rp235x-pac = { version = "0.2", features = ["rt"] }"#, "PIO2_IRQ_1"),
        "STM32F411CEUx" => {
            (METAPAC, r#"stm32-metapac = { version = "21", features = ["rt", "stm32f411ce"] }"#, "USART1")
        }
        "STM32F746NGHx" => {
            (METAPAC, r#"stm32-metapac = { version = "21", features = ["rt", "stm32f746ng"] }"#, "USART1")
        }
        "STM32H743ZITx" => {
            (METAPAC, r#"stm32-metapac = { version = "21", features = ["rt", "stm32h743zi"] }"#, "USART1")
        }
        "STM32L4R5ZITx" => {
            (METAPAC, r#"stm32-metapac = { version = "21", features = ["rt", "stm32l4r5zi"] }"#, "USART1")
        }
        "STM32N657" => {
            (METAPAC, r#"stm32-metapac = { version = "21", features = ["rt", "stm32n657x0"] }"#, "USART1")
        }
        _ => return None,
    })
}

/// The crate with the registers and interrupts of all STM32.
const METAPAC: &str = "stm32_metapac";

fn on_riscv_chip(flavour: Flavour, chip: &str) -> Option<Platform> {
    let common = [&DEFMT[..], &[SEMIHOSTING, STATIC_CELL]].concat();
    let (platform, own): (Platform, &[&str]) = match (flavour, chip) {
        (Flavour::Bare, "RP235x_riscv") => {
            (Platform { main: "bare.rs.j2", ..Platform::default() }, &[RISCV, RISCV_RT])
        }
        (Flavour::Embassy, "esp32c3") => (
            Platform { main: "embassy_esp.rs.j2", ..espressif(ESP32_C3) },
            &[
                EXECUTOR_ONLY,
                EMBASSY_TIME,
                r#"esp-bootloader-esp-idf = { version = "0.6", features = ["esp32c3"] }"#,
                r#"esp-hal = { version = "1", features = ["esp32c3", "unstable"] }"#,
                r#"esp-rtos = { version = "0.4", features = ["embassy", "esp32c3"] }"#,
            ],
        ),
        (Flavour::Embassy, "esp32c6") => (
            Platform { main: "embassy_esp.rs.j2", ..espressif(ESP32_C6) },
            &[
                EXECUTOR_ONLY,
                EMBASSY_TIME,
                r#"esp-bootloader-esp-idf = { version = "0.6", features = ["esp32c6"] }"#,
                r#"esp-hal = { version = "1", features = ["esp32c6", "unstable"] }"#,
                r#"esp-rtos = { version = "0.4", features = ["embassy", "esp32c6"] }"#,
            ],
        ),
        (Flavour::Bare, "esp32c3") => (
            espressif(ESP32_C3),
            &[
                r#"esp-bootloader-esp-idf = { version = "0.6", features = ["esp32c3"] }"#,
                r#"esp-hal = { version = "1", features = ["esp32c3"] }"#,
            ],
        ),
        (Flavour::Bare, "esp32c6") => (
            espressif(ESP32_C6),
            &[
                r#"esp-bootloader-esp-idf = { version = "0.6", features = ["esp32c6"] }"#,
                r#"esp-hal = { version = "1", features = ["esp32c6"] }"#,
            ],
        ),
        _ => return None,
    };
    Some(Platform { dependencies: [&common[..], own].concat(), ..platform })
}

/// 4 MB of flash behind boot loader and partition table; of 313 KB of RAM some are for code.
const ESP32_C3: Room = Room { flash: 0x3f_0000, ram: 256 * 1024 };
/// As much of the flash as esp-hal links for; of 441 KB of RAM some are for code.
const ESP32_C6: Room = Room { flash: 0x3f_0000, ram: 384 * 1024 };

/// A chip of Espressif's, whose HAL lays out the image.
fn espressif(room: Room) -> Platform {
    Platform { main: "esp.rs.j2", linker_script: LinkerScript::Hal(room), ..Platform::default() }
}

/// Whether the processor is a RISC-V one; otherwise it is a Cortex-M.
pub(super) fn is_riscv(board: &Board) -> bool {
    board.target.starts_with("riscv")
}

/// RTIC for a processor.
fn rtic(target: &str) -> Option<&'static str> {
    Some(match target.split('-').next()? {
        "thumbv6m" => r#"rtic = { version = "2", features = ["thumbv6-backend"] }"#,
        "thumbv7m" | "thumbv7em" => r#"rtic = { version = "2", features = ["thumbv7-backend"] }"#,
        "thumbv8m.main" => r#"rtic = { version = "2", features = ["thumbv8main-backend"] }"#,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::destination::Destination;
    use super::*;
    use std::path::Path;

    #[test]
    fn bare_firmware_is_for_every_board() {
        for board in Board::all() {
            assert!(platform(board, Flavour::Bare).is_ok(), "{}", board.name);
        }
    }

    #[test]
    fn no_crate_is_named_as_one_that_it_depends_on() {
        for platform in Board::all().iter().flat_map(|board| Flavour::ALL.map(|flavour| find(board, flavour)))
        {
            for line in platform.into_iter().flat_map(|platform| platform.dependencies) {
                let name = line.lines().last().unwrap().split(' ').next().unwrap();
                let refused = Destination::check(Path::new(name)).unwrap_err();
                assert!(format!("{refused:#}").contains("needs has that name"), "{refused:#}");
            }
        }
    }

    #[test]
    fn other_flavours_say_where_there_are_templates() {
        let cortex_m85 = Board::find("ra8m1-ek").unwrap();
        let message = platform(cortex_m85, Flavour::Embassy).unwrap_err().to_string();
        assert!(
            message.contains("qemu-cortex-m4") && message.contains("esp32-c3, esp32-c6, microbit-v2, "),
            "{message}"
        );
        let message = platform(cortex_m85, Flavour::Rtic).unwrap_err().to_string();
        assert!(message.contains("stm32l4r5zi-nucleo, stm32n657-nucleo; `--bare`"), "{message}");
    }
}
