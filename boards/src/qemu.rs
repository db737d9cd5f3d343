//! Running firmware under QEMU.
use crate::board::Runner;
use crate::cases::{Cases, Outputs};
use crate::error::Error;
use crate::firmware::Firmware;
use crate::run::RunDir;
use crate::{process, toolchain};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Runs every case on the emulated board, and returns the outputs of each. `firmware` is one built to validate.
///
/// # Errors
/// [`Error::Failed`] with what the firmware printed (a panic, a fault, a case file for another model),
/// [`Error::TimedOut`] after `limit`.
pub fn validate(firmware: &Firmware, cases: &Cases, limit: Duration) -> Result<Outputs, Error> {
    let run = RunDir::new()?;
    run.put_cases(cases)?;
    execute(firmware, run.path(), &[], limit)?;
    run.take_outputs()
}

/// Runs `firmware` in `folder` until it exits, and returns what it printed.
fn execute(
    firmware: &Firmware,
    folder: &Path,
    arguments: &[String],
    limit: Duration,
) -> Result<String, Error> {
    let Runner::Qemu { machine } = &firmware.board.runner else {
        return Err(Error::NotEmulated { board: firmware.board.name.clone() });
    };
    let mut qemu = Command::new(toolchain::ensure_qemu()?);
    qemu.current_dir(folder)
        .args(["-machine", machine, "-nographic", "-monitor", "none", "-serial", "none"])
        .args(["-semihosting-config", "enable=on,target=native", "-kernel"])
        .arg(&firmware.elf)
        .args(arguments);
    process::succeed(&mut qemu, &format!("running {} under QEMU", firmware.board.name), limit)
}
