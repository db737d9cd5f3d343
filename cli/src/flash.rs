//! `cargo kiln flash` and `cargo kiln run`: firmware on a board.

use crate::emulated;
use anyhow::{bail, Context, Result};
use clap::Args;
use kiln_boards::{probe, Board};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Which firmware, on which board.
#[derive(Args, Clone, Debug)]
pub struct Firmware {
    /// The ELF file [default: the package in this folder, built with `cargo build --release`]
    pub elf: Option<PathBuf>,
    /// The board: `cargo kiln boards` lists them
    #[arg(long, value_parser = crate::boards::any(), hide_possible_values = true)]
    pub board: String,
    /// Serial number of the debug probe, if there are several; or VID:PID, or VID:PID:SERIAL
    #[arg(long, value_name = "SERIAL")]
    pub probe: Option<String>,
    /// Clock of the debug port in kHz, if the probe's own choice is too fast
    #[arg(long, value_name = "KHZ")]
    pub speed: Option<u32>,
    /// Unlock a locked chip, which erases everything on it
    #[arg(long)]
    pub unlock: bool,
    /// Check that the image fits the board and show what would be written, without a probe
    #[arg(long)]
    pub dry_run: bool,
    /// The program, if the package has several
    #[arg(long, value_name = "NAME", conflicts_with = "elf")]
    pub bin: Option<String>,
}

/// Writes firmware to a board and starts it; the exit status of the program that did.
///
/// # Errors
/// Where the board is unknown, or the package does not build.
pub fn flash(firmware: &Firmware) -> Result<i32> {
    let board = Board::find(&firmware.board)?;
    if board.is_emulated() {
        bail!("board `{0}` is emulated: there is nothing to flash. `cargo kiln run --board {0}` runs firmware on it", board.name);
    }
    start("flash", firmware)
}

/// Writes firmware to a board, or gives it to QEMU, and lets it run until it ends; its exit status.
///
/// # Errors
/// As [`flash`].
pub fn run(firmware: &Firmware) -> Result<i32> {
    let board = Board::find(&firmware.board)?;
    if board.is_emulated() {
        return emulated::run(board, &firmware.image()?);
    }
    start("run", firmware)
}

fn start(what: &str, firmware: &Firmware) -> Result<i32> {
    if !firmware.dry_run && firmware.elf.is_none() && in_package() {
        probe::expect_usb()?;
    }
    // Before the program that flashes, which may have to be compiled first.
    let image = firmware.image()?;
    let mut command = Command::new(probe::program()?);
    command.args([what, "--board", &firmware.board]).arg(image);
    if let Some(probe) = &firmware.probe {
        command.args(["--probe", probe]);
    }
    if let Some(speed) = firmware.speed {
        command.args(["--speed", &speed.to_string()]);
    }
    for (flag, given) in [("--unlock", firmware.unlock), ("--dry-run", firmware.dry_run)] {
        if given {
            command.arg(flag);
        }
    }
    status(&mut command)
}

/// Runs a program that says for itself what goes wrong; one that was killed counts as failed.
fn status(command: &mut Command) -> Result<i32> {
    let program = command.get_program().to_owned();
    let status = command.status().with_context(|| format!("cannot start {}", program.to_string_lossy()))?;
    Ok(status.code().unwrap_or(1))
}

impl Firmware {
    /// The ELF file, built if none was given.
    fn image(&self) -> Result<PathBuf> {
        image(self.elf.as_deref(), self.bin.as_deref())
    }
}

/// The ELF file, built if none was given.
///
/// # Errors
/// Where there is no such file, or the package does not build.
pub(crate) fn image(elf: Option<&Path>, bin: Option<&str>) -> Result<PathBuf> {
    match elf {
        Some(elf) if !elf.is_file() => bail!(
            "there is no file `{}`: build the firmware first, or leave it out in the package's folder",
            elf.display()
        ),
        Some(elf) => Ok(elf.to_owned()),
        None if !in_package() => {
            bail!("no package in this folder (Cargo.toml): go to that of your firmware, or name an ELF file")
        }
        None => build(bin),
    }
}

/// Whether the current folder, or one above it, is that of a package.
fn in_package() -> bool {
    let folder = std::env::current_dir().unwrap_or_default();
    folder.ancestors().any(|folder| folder.join("Cargo.toml").exists())
}

/// Builds the package in the current folder, and returns its program.
fn build(bin: Option<&str>) -> Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["build", "--release", "--message-format", "json-render-diagnostics"])
        .stderr(Stdio::inherit());
    if let Some(bin) = bin {
        cargo.args(["--bin", bin]);
    }
    let output = cargo.output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("the package in this folder does not build");
    }
    let programs = programs(&String::from_utf8_lossy(&output.stdout));
    match programs.as_slice() {
        [program] => Ok(program.clone()),
        [] => bail!("the package in this folder has no program: name an ELF file"),
        several => {
            let names: Vec<String> = several
                .iter()
                .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
                .collect();
            bail!(
                "the package in this folder has several programs: choose one with --bin {}",
                names.join(" or --bin ")
            )
        }
    }
}

/// Executables in Cargo's messages, a line of JSON each.
fn programs(messages: &str) -> Vec<PathBuf> {
    let executable = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        Some(PathBuf::from(message.get("executable")?.as_str()?))
    };
    messages.lines().filter_map(executable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_cargos_messages() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":null}\n\
                        {\"reason\":\"compiler-artifact\",\"executable\":\"/a/b\"}\nnonsense\n\
                        {\"reason\":\"build-finished\",\"success\":true}\n";
        assert_eq!(programs(messages), [PathBuf::from("/a/b")]);
    }

    #[test]
    fn what_cannot_be_flashed_is_said_first() {
        let firmware = Firmware {
            elf: Some("x".into()),
            board: "qemu-cortex-m4".into(),
            probe: None,
            speed: None,
            unlock: false,
            dry_run: false,
            bin: None,
        };
        let message = flash(&firmware).unwrap_err().to_string();
        assert!(message.contains("cargo kiln run --board qemu-cortex-m4"), "{message}");
        let message = run(&Firmware { board: "nrf52".into(), ..firmware.clone() }).unwrap_err().to_string();
        assert!(message.contains("nrf52840-dk"), "{message}");
        let message = flash(&Firmware { board: "nrf52840-dk".into(), ..firmware }).unwrap_err().to_string();
        assert!(message.contains("no file `x`"), "{message}");
    }
}
