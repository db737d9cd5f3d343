//! Firmware under QEMU: `cargo kiln run` on an emulated board.

use anyhow::{Context, Result};
use kiln_boards::image::{Image, Log};
use kiln_boards::{probe, qemu, Board};
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs an image until it ends; its exit status. What it prints by semihosting is on standard output, defmt frames decoded.
///
/// # Errors
/// Where the image cannot be read, or QEMU or what decodes frames is missing.
pub(crate) fn run(board: &Board, image: &Path) -> Result<i32> {
    let mut emulator = qemu::command(board)?;
    emulator.arg(image);
    match Image::read(image)?.log() {
        Log::Text => {}
        Log::Defmt => {
            let mut decoder = Command::new(probe::program()?);
            return decoded(&mut emulator, decoder.arg("decode").arg(image));
        }
        Log::Rtt => eprintln!(
            "kiln: the firmware logs over RTT, which needs a debug probe: under QEMU nothing of it is seen; use defmt-semihosting there"
        ),
    }
    let status = emulator.status().context("cannot start QEMU")?;
    Ok(status.code().unwrap_or(1))
}

/// Runs one program with its output in the other; the exit status of the first, or of the second if that alone failed.
fn decoded(emulator: &mut Command, decoder: &mut Command) -> Result<i32> {
    let mut emulator = emulator.stdout(Stdio::piped()).spawn().context("cannot start QEMU")?;
    let frames = emulator.stdout.take().map_or_else(Stdio::null, Stdio::from);
    let decoded = decoder.stdin(frames).status().context("cannot start what decodes defmt frames");
    // Nobody reads any longer; a firmware that goes on all the same may be an endless one.
    if !decoded.as_ref().is_ok_and(|decoded| decoded.success()) {
        emulator.kill().context("cannot end QEMU")?;
    }
    let status = emulator.wait().context("lost QEMU")?;
    Ok(match decoded?.code() {
        Some(0) => status.code().unwrap_or(1),
        failed => failed.unwrap_or(1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]);
        shell
    }

    #[test]
    fn the_status_is_that_of_the_firmware() {
        let run = |emulator: &str, decoder: &str| decoded(&mut shell(emulator), &mut shell(decoder)).unwrap();
        assert_eq!(run("echo frame; exit 7", "grep -q frame"), 7);
        assert_eq!(run("echo frame", "grep -q frame"), 0);
        // Damaged frames end a firmware that would not end.
        assert_eq!(run("while true; do sleep 1; done", "exit 3"), 3);
        assert!(decoded(&mut shell("sleep 60"), &mut Command::new("/no/such/program")).is_err());
    }
}
