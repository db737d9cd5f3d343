//! What firmware of a flavour needs on a board.

use super::Flavour;
use anyhow::{bail, Result};
use kiln_boards::{Board, Runner};

/// The main file and its dependencies.
#[derive(Debug, Default)]
pub(crate) struct Platform {
    /// The template of `src/main.rs`.
    pub(super) main: &'static str,
    /// Lines of the manifest.
    pub(super) dependencies: Vec<&'static str>,
    /// Embassy's crate for the chip.
    pub(super) hal: &'static str,
    /// The field of the LED's pin in Embassy's peripherals.
    pub(super) led: &'static str,
    /// The crate with the chip's interrupts.
    pub(super) device: &'static str,
    /// An interrupt that nothing else uses.
    pub(super) dispatchers: &'static str,
}

const CORTEX_M: &str = r#"cortex-m = { version = "0.7", features = ["critical-section-single-core"] }"#;
const PORTABLE_ATOMIC: &str = "\
# A Cortex-M0 has no compare-and-swap, which static_cell needs: through a critical section then.
portable-atomic = { version = \"1\", features = [\"critical-section\"] }";
const EXECUTOR: &str =
    r#"embassy-executor = { version = "0.10", features = ["executor-thread", "platform-cortex-m"] }"#;

/// What a flavour needs on a board.
///
/// # Errors
/// Where there is no template for the two; says which boards have one.
pub(crate) fn platform(board: &Board, flavour: Flavour) -> Result<Platform> {
    let Some(platform) = find(board, flavour) else {
        let boards: Vec<&str> =
            Board::all().iter().filter(|b| find(b, flavour).is_some()).map(|b| b.name.as_str()).collect();
        let (name, boards) = (&board.name, boards.join(", "));
        match flavour {
            Flavour::Bare => {
                bail!("there is no template for the board {name} (RISC-V); there are some for {boards}")
            }
            Flavour::Embassy => {
                bail!("there is no Embassy template for the board {name}: there are some for {boards}; `--bare` suits every board")
            }
            Flavour::Rtic => {
                bail!("there is no RTIC template for the board {name}: there is one for {boards}; `--bare` suits every board")
            }
        }
    };
    Ok(platform)
}

/// The flavours of firmware that there are for a board.
pub fn flavours(board: &Board) -> Vec<Flavour> {
    Flavour::ALL.into_iter().filter(|&flavour| find(board, flavour).is_some()).collect()
}

fn find(board: &Board, flavour: Flavour) -> Option<Platform> {
    if !board.target.starts_with("thumb") {
        return None;
    }
    let mut platform = match &board.runner {
        Runner::Qemu { .. } => emulated(flavour)?,
        Runner::ProbeRs { chip, .. } => on_chip(flavour, chip)?,
    };
    if board.target.starts_with("thumbv6m") {
        platform.dependencies.push(PORTABLE_ATOMIC);
    }
    platform.dependencies.push(r#"cortex-m-rt = "0.7""#);
    platform.dependencies.sort_by_key(|line| line.lines().last());
    Some(platform)
}

fn emulated(flavour: Flavour) -> Option<Platform> {
    let common = [
        CORTEX_M,
        r#"cortex-m-semihosting = "0.5""#,
        r#"panic-semihosting = { version = "0.6", features = ["exit"] }"#,
        r#"static_cell = "2""#,
    ];
    match flavour {
        Flavour::Bare => {
            Some(Platform { main: "bare.rs.j2", dependencies: common.to_vec(), ..Platform::default() })
        }
        Flavour::Embassy => Some(Platform {
            main: "embassy_emulated.rs.j2",
            dependencies: [&common[..], &[EXECUTOR]].concat(),
            ..Platform::default()
        }),
        Flavour::Rtic => None,
    }
}

fn on_chip(flavour: Flavour, chip: &str) -> Option<Platform> {
    let common = [
        r#"defmt = "1""#,
        r#"defmt-rtt = "1""#,
        r#"panic-probe = { version = "1", features = ["print-defmt"] }"#,
    ];
    let (platform, own): (Platform, &[&str]) = match (flavour, chip) {
        (Flavour::Bare, _) => {
            let boot = if chip == "RP2040" { Some(r#"rp2040-boot2 = "0.3""#) } else { None };
            let own = [CORTEX_M, r#"cortex-m-semihosting = "0.5""#, r#"static_cell = "2""#];
            let dependencies = own.into_iter().chain(boot).collect();
            (Platform { main: "bare.rs.j2", dependencies, ..Platform::default() }, &[])
        }
        (Flavour::Embassy, "nRF52840_xxAA") => (
            Platform { main: "embassy.rs.j2", hal: "embassy_nrf", led: "P0_13", ..Platform::default() },
            &[
                CORTEX_M,
                EXECUTOR,
                r#"embassy-nrf = { version = "0.11", features = ["defmt", "nrf52840", "time-driver-rtc1"] }"#,
                r#"embassy-time = "0.5""#,
                r#"static_cell = "2""#,
            ],
        ),
        (Flavour::Embassy, "RP2040") => (
            Platform { main: "embassy.rs.j2", hal: "embassy_rp", led: "PIN_25", ..Platform::default() },
            &[
                r#"cortex-m = "0.7""#,
                EXECUTOR,
                r#"embassy-rp = { version = "0.10", features = ["critical-section-impl", "defmt", "rp2040", "time-driver"] }"#,
                r#"embassy-time = "0.5""#,
                r#"static_cell = "2""#,
            ],
        ),
        (Flavour::Rtic, "nRF52840_xxAA") => (
            Platform {
                main: "rtic.rs.j2",
                device: "nrf52840_pac",
                dispatchers: "SWI0_EGU0",
                ..Platform::default()
            },
            &[
                CORTEX_M,
                r#"nrf52840-pac = { version = "0.12", features = ["rt"] }"#,
                r#"rtic = { version = "2", features = ["thumbv7-backend"] }"#,
            ],
        ),
        _ => return None,
    };
    let dependencies = platform.dependencies.iter().chain(own).chain(&common).copied().collect();
    Some(Platform { dependencies, ..platform })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_firmware_is_for_every_cortex_m() {
        for board in Board::all().iter().filter(|board| board.target.starts_with("thumb")) {
            assert!(platform(board, Flavour::Bare).is_ok(), "{}", board.name);
        }
    }

    #[test]
    fn other_flavours_say_where_there_are_templates() {
        let blackpill = Board::find("stm32f411-blackpill").unwrap();
        let message = platform(blackpill, Flavour::Embassy).unwrap_err().to_string();
        assert!(
            message.contains("qemu-cortex-m4") && message.contains("nrf52840-dk, raspberry-pi-pico;"),
            "{message}"
        );
        let message = platform(blackpill, Flavour::Rtic).unwrap_err().to_string();
        assert!(message.contains("there is one for nrf52840-dk;"), "{message}");
    }
}
