//! Where frames come from.

use crate::flash;
use anyhow::{bail, Context, Result};
use kiln_boards::image::{Image, Log};
use kiln_boards::{probe, qemu, Board};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Firmware on a board.
#[derive(Clone, Debug, Default)]
pub struct OnBoard {
    /// Name of the board.
    pub board: String,
    /// The ELF file; without one, the package in this folder is built.
    pub elf: Option<PathBuf>,
    /// The program, if the package has several.
    pub bin: Option<String>,
    /// Serial number of the debug probe.
    pub probe: Option<String>,
    /// Clock of the debug port in kHz.
    pub speed: Option<u32>,
}

/// Where frames come from: readers, and the processes behind them.
pub struct Source {
    pub(super) readers: Vec<Box<dyn Read + Send>>,
    pub(super) children: Children,
    /// What may take long before the first frame: building and flashing are not done yet.
    pub(super) patience: Duration,
}

/// Processes that are ended with the recording.
#[derive(Debug, Default)]
pub(super) struct Children(Vec<Child>);

impl Source {
    /// From a reader.
    pub fn of(reader: impl Read + Send + 'static) -> Source {
        Source {
            readers: vec![Box::new(reader)],
            children: Children::default(),
            patience: Duration::from_secs(10),
        }
    }

    /// From a file, a device or, called `-`, from standard input.
    ///
    /// # Errors
    /// Where it cannot be opened.
    pub fn open(path: &Path) -> Result<Source> {
        if path.as_os_str() == "-" {
            return Ok(Source::of(std::io::stdin()));
        }
        let file = File::open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
        Ok(Source::of(file))
    }

    /// From firmware, which is started: under QEMU, or through a debug probe.
    ///
    /// # Errors
    /// Where the board is unknown, the firmware does not build, or a program is missing.
    pub fn run(firmware: &OnBoard) -> Result<Source> {
        let board = Board::find(&firmware.board)?;
        let elf = flash::image(firmware.elf.as_deref(), firmware.bin.as_deref())?;
        if board.is_emulated() {
            return Source::emulated(board, &elf);
        }
        let mut program = Command::new(probe::program()?);
        program.args(["run", "--board", &firmware.board, "--apart"]).arg(elf);
        if let Some(probe) = &firmware.probe {
            program.args(["--probe", probe]);
        }
        if let Some(speed) = firmware.speed {
            program.args(["--speed", &speed.to_string()]);
        }
        let mut child = start(program.stdin(Stdio::null()).stdout(Stdio::piped()))?;
        let readers = child.stdout.take().map(boxed).into_iter().collect();
        // Flashing a large image takes a while.
        Ok(Source { readers, children: Children(vec![child]), patience: Duration::from_secs(120) })
    }

    fn emulated(board: &Board, elf: &Path) -> Result<Source> {
        let log = Image::read(elf)?.log();
        if log == Log::Rtt {
            bail!(
                "the firmware writes over RTT, which needs a debug probe: under QEMU nothing of it is seen\n    help: write by semihosting there, or by defmt-semihosting"
            );
        }
        let mut emulator = qemu::command(board)?;
        // Standard input has labels.
        emulator.arg(elf).stdin(Stdio::null()).stdout(Stdio::piped());
        if log == Log::Defmt {
            let mut decoder = Command::new(probe::program()?);
            let mut emulator = start(&mut emulator)?;
            let frames = emulator.stdout.take().map_or_else(Stdio::null, Stdio::from);
            let mut children = Children(vec![emulator]);
            let mut decoder = start(decoder.arg("decode").arg(elf).stdin(frames).stdout(Stdio::piped()))?;
            let readers = decoder.stdout.take().map(boxed).into_iter().collect();
            children.0.push(decoder);
            return Ok(Source { readers, children, patience: Duration::from_secs(10) });
        }
        // Which of the two semihosting writes to, depends on QEMU's version.
        let mut child = start(emulator.stderr(Stdio::piped()))?;
        let readers = child.stdout.take().map(boxed).into_iter().chain(child.stderr.take().map(boxed));
        let readers = readers.collect();
        Ok(Source { readers, children: Children(vec![child]), patience: Duration::from_secs(10) })
    }
}

fn boxed(reader: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(reader)
}

fn start(command: &mut Command) -> Result<Child> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.spawn().with_context(|| format!("cannot start {program}"))
}

impl Children {
    /// Waits for processes that have ended their output: the first exit status that is no success.
    pub(super) fn wait(&mut self) -> Option<i32> {
        let statuses: Vec<i32> = (self.0.iter_mut())
            .filter_map(|child| child.wait().ok())
            .map(|status| status.code().unwrap_or(1))
            .collect();
        self.0.clear();
        statuses.into_iter().find(|&status| status != 0)
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended needs none of it.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
