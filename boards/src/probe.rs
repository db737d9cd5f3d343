//! Firmware on real boards. The program `cargo-kiln-probe`, which has probe-rs in it, does the work; firmware has the same files under it as
//! under QEMU.
use crate::cases::{Cases, Outputs};
use crate::error::Error;
use crate::firmware::Firmware;
use crate::image::{FlashSizes, Image};
use crate::process;
use crate::run::RunDir;
use crate::source::Source;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const PROGRAM: &str = "cargo-kiln-probe";
/// probe-rs alone takes a slow machine minutes.
const BUILD_LIMIT: Duration = Duration::from_secs(1800);

/// Runs every case on a real board, and returns the outputs of each. `firmware` is one built to validate; `probe` is the serial number of the
/// debug probe, where there are several.
///
/// # Errors
/// [`Error::Failed`] with what the program or the firmware printed, [`Error::Missing`] where there is no such program.
pub fn validate(
    firmware: &Firmware,
    cases: &Cases,
    probe: Option<&str>,
    limit: Duration,
) -> Result<Outputs, Error> {
    let run = RunDir::new()?;
    run.put_cases(cases)?;
    execute(firmware, probe, run.path(), limit)?;
    run.take_outputs()
}

/// Refuses a machine without any USB device, before firmware is compiled for minutes in vain. Only Linux is asked: elsewhere the program that flashes says it, later.
///
/// # Errors
/// [`Error::NoProbe`].
pub fn expect_usb() -> Result<(), Error> {
    match cfg!(target_os = "linux") && !has_usb(Path::new("/sys/bus/usb/devices")) {
        true => Err(Error::NoProbe),
        false => Ok(()),
    }
}

/// Whether there is a USB device that is no hub, where Linux lists them. Without USB there is no such folder.
fn has_usb(devices: &Path) -> bool {
    const HUB: &str = "09";
    let entries = std::fs::read_dir(devices).into_iter().flatten().flatten();
    let mut classes =
        entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("bDeviceClass")).ok());
    classes.any(|class| class.trim() != HUB)
}

/// What one inference took on a real board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// Cycles of the processor from the call of `invoke` to its return, with every wait state there is; of all invocations, for a model that
    /// is fed by rows.
    pub cycles: u64,
    /// The most stack that `invoke` had in use, in bytes.
    pub stack_bytes: u64,
    /// Flash of the whole image.
    pub flash: FlashSizes,
}

/// Runs one inference on a real board and measures it. `firmware` is one built to benchmark.
///
/// # Errors
/// As [`validate`].
pub fn bench(firmware: &Firmware, probe: Option<&str>, limit: Duration) -> Result<Measured, Error> {
    let image = Image::read(&firmware.elf)?;
    Measured::parse(&execute(firmware, probe, RunDir::new()?.path(), limit)?, image.flash())
}

/// Cycles of each layer of one inference on a real board. `firmware` is one built to measure layers.
///
/// # Errors
/// As [`validate`].
pub fn layers(firmware: &Firmware, probe: Option<&str>, limit: Duration) -> Result<Vec<u64>, Error> {
    parse_layers(&execute(firmware, probe, RunDir::new()?.path(), limit)?)
}

/// Cycles of each layer, from what the firmware printed.
///
/// # Errors
/// [`Error::Malformed`] where that is not such a report.
pub fn parse_layers(printed: &str) -> Result<Vec<u64>, Error> {
    let mut layers = Vec::new();
    for line in printed.lines().filter_map(|line| line.strip_prefix("kiln-layer ")) {
        let (index, cycles) = line.split_once(' ').unwrap_or_default();
        match (index.parse() == Ok(layers.len()), cycles.trim_end().parse()) {
            (true, Ok(cycles)) => layers.push(cycles),
            _ => return Err(no_report(printed)),
        }
    }
    match layers.is_empty() {
        true => Err(no_report(printed)),
        false => Ok(layers),
    }
}

fn no_report(printed: &str) -> Error {
    Error::Malformed { what: "the firmware's report".to_owned(), why: printed.to_owned() }
}

impl Measured {
    /// From what the firmware printed.
    ///
    /// # Errors
    /// [`Error::Malformed`] where that is not a report.
    pub fn parse(printed: &str, flash: FlashSizes) -> Result<Measured, Error> {
        let numbers = |name: &str| -> Option<Vec<u64>> {
            let rest = printed.lines().find_map(|line| line.strip_prefix(name))?;
            rest.split_whitespace().map(|word| word.parse().ok()).collect()
        };
        match (numbers("kiln-cycles ").as_deref(), numbers("kiln-stack-bytes ").as_deref()) {
            // A number of 64 bits comes as two of 32.
            (Some([high, low]), Some([stack_bytes])) => {
                Ok(Measured { cycles: high << 32 | low, stack_bytes: *stack_bytes, flash })
            }
            _ => Err(no_report(printed)),
        }
    }
}

/// Flashes and runs an image until it exits, and returns what it printed.
fn execute(firmware: &Firmware, probe: Option<&str>, files: &Path, limit: Duration) -> Result<String, Error> {
    let board = &firmware.board.name;
    let mut command = Command::new(program()?);
    command.args(["run", "--board", board, "--limit", &limit.as_secs().to_string(), "--files"]).arg(files);
    if let Some(probe) = probe {
        command.args(["--probe", probe]);
    }
    // The program ends by itself; flashing takes its time too.
    process::succeed(command.arg(&firmware.elf), &format!("running on {board}"), 2 * limit)
}

/// The program: compiled (where something changed) in a checkout of Kiln, otherwise beside the program that is running, or on the `PATH`.
///
/// # Errors
/// [`Error::Missing`] where there is none, and [`Error::Failed`] where it does not compile.
pub fn program() -> Result<PathBuf, Error> {
    if let Source::Checkout(root) = Source::find() {
        return compile(&root);
    }
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let beside = std::env::current_exe().ok().and_then(|own| Some(own.parent()?.to_owned()));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(std::env::split_paths(&path));
    folders.map(|folder| folder.join(&name)).find(|file| file.is_file()).ok_or_else(|| Error::Missing {
        what: PROGRAM.to_owned(),
        why: "it is a package of its own, which has probe-rs in it".to_owned(),
        hint: format!(
            "Install it: cargo install {PROGRAM}, or in a checkout of Kiln: cargo install --path probe"
        ),
    })
}

fn compile(root: &Path) -> Result<PathBuf, Error> {
    let folder = root.join("probe");
    // Not optimised: compiling takes longer than the program ever runs.
    let program = folder.join("target/debug").join(PROGRAM).with_extension(std::env::consts::EXE_EXTENSION);
    if !program.exists() {
        eprintln!("kiln: compiling {PROGRAM}, which takes a few minutes, once");
    }
    let mut build = process::cargo();
    build.current_dir(folder).args(["build", "--quiet", "--target-dir", "target"]);
    process::succeed(&mut build, &format!("compiling {PROGRAM}"), BUILD_LIMIT)?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hubs_are_no_probes() {
        let folder = std::env::temp_dir().join(format!("kiln-usb-{}", std::process::id()));
        let device = |name: &str, class: &str| {
            std::fs::create_dir_all(folder.join(name)).unwrap();
            std::fs::write(folder.join(name).join("bDeviceClass"), class).unwrap();
        };
        assert!(!has_usb(&folder));
        device("usb1", "09\n");
        // An interface, of which there is no such file.
        std::fs::create_dir_all(folder.join("1-0:1.0")).unwrap();
        assert!(!has_usb(&folder));
        device("1-1", "ef\n");
        assert!(has_usb(&folder));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_report_is_read() {
        let flash = FlashSizes::default();
        let measured = Measured::parse("kiln-cycles 1 5\nkiln-stack-bytes 264\n", flash).unwrap();
        assert_eq!(measured, Measured { cycles: (1 << 32) + 5, stack_bytes: 264, flash });
        for printed in [
            "",
            "kiln-cycles 1\nkiln-stack-bytes 2\n",
            "kiln-cycles 1 2\n",
            "kiln-cycles 1 x\nkiln-stack-bytes 2\n",
        ] {
            assert!(Measured::parse(printed, flash).is_err(), "{printed:?}");
        }
    }

    #[test]
    fn layers_are_read_in_order() {
        assert_eq!(parse_layers("hello\nkiln-layer 0 7\nkiln-layer 1 5\r\n").unwrap(), [7, 5]);
        for printed in ["", "kiln-layer 1 7\n", "kiln-layer 0\n", "kiln-layer 0 7\nkiln-layer 2 7\n"] {
            assert!(parse_layers(printed).is_err(), "{printed:?}");
        }
    }
}
