//! Running firmware under QEMU.
use crate::cases::{Cases, Outputs};
use crate::cycles::cores::{Core, SLOW_MULTIPLIER};
use crate::cycles::{self, model::Class, Count, Report};
use crate::error::{at, Error};
use crate::firmware::Firmware;
use crate::image::{FlashSizes, Image};
use crate::run::RunDir;
use crate::{process, toolchain};
use crate::{Board, Runner};
use std::fs;
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
    execute(&firmware.board, &firmware.elf, run.path(), &[], limit)?;
    run.take_outputs()
}

/// As [`validate`], and what each invocation of the model costs, in the order of the cases: one for each, or of a case that is given row by row as
/// many as it has rows. Cycles are estimated.
///
/// # Errors
/// As [`validate`].
pub fn validate_counted(
    firmware: &Firmware,
    cases: &Cases,
    limit: Duration,
) -> Result<(Outputs, Vec<Count>), Error> {
    let Firmware { board, elf, .. } = firmware;
    let run = RunDir::new()?;
    run.put_cases(cases)?;
    // Each window is a step.
    let markers =
        Markers { begin: "kiln_bench_begin", end: "kiln_bench_end", step: Some("kiln_bench_begin") };
    let (report, _) = counted(board, elf, &Image::read(elf)?, &markers, &run, limit)?;
    Ok((run.take_outputs()?, report.steps))
}

/// Runs a program of one's own on an emulated board, in a folder of its own, and returns what it printed.
///
/// # Errors
/// [`Error::Failed`] with what it printed where it ends with a status other than 0, [`Error::TimedOut`] after `limit`.
pub fn run(board: &Board, elf: &Path, limit: Duration) -> Result<String, Error> {
    execute(board, elf, RunDir::new()?.path(), &[], limit)
}

/// What one inference costs: for a model that is fed by rows, all invocations until its outputs are complete; for a sliding
/// model, those from one window's outputs to the next, in steady state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BenchResult {
    /// From the call of `invoke` to its return.
    pub total: Count,
    /// Of each step, where the model was compiled with tracing (which itself costs a few instructions per step). A step that is
    /// executed several times is here each time.
    pub steps: Vec<Count>,
    /// Executed instructions of each class.
    pub classes: Vec<(Class, u64)>,
    /// Executed branches that were taken, and other instructions that changed the flow.
    pub taken: u64,
    /// Cycles that loads from unaligned addresses take more, on cores that can do that. They are not in `total`.
    pub unaligned_cycles: u64,
    /// Whose cycles these are.
    pub core: Core,
    /// The most stack that `invoke` had in use, in bytes: what was free of it was painted before, and searched for the paint after.
    pub stack_bytes: u64,
    /// Flash of the whole image.
    pub flash: FlashSizes,
}

impl BenchResult {
    /// Executed instructions of a class.
    pub fn executed(&self, class: Class) -> u64 {
        self.classes.iter().find(|(of, _)| *of == class).map_or(0, |(_, count)| *count)
    }

    /// What the cycles of a Cortex-M0+ become elsewhere: with the small multiplier, which takes 32 cycles, and on a Cortex-M0, which takes
    /// one more wherever the flow changes. `None` where the cycles are those of another core.
    pub fn small_cores(&self) -> Option<[u64; 2]> {
        let slow = self.total.cycles + SLOW_MULTIPLIER * self.executed(Class::Multiply);
        (self.core == Core::CortexM0Plus).then(|| [slow, self.total.cycles + self.taken])
    }
}

/// Runs one inference on the emulated board and counts. `firmware` is one built to benchmark.
///
/// The input is the first of `cases`, or reproducible noise. Instructions are exact, cycles are estimated.
///
/// # Errors
/// As [`validate`].
pub fn bench(firmware: &Firmware, cases: Option<&Cases>, limit: Duration) -> Result<BenchResult, Error> {
    let Firmware { board, elf, .. } = firmware;
    let image = Image::read(elf)?;
    let run = RunDir::new()?;
    if let Some(cases) = cases {
        run.put_cases(cases)?;
    }
    let step = "kiln::model::trace";
    let step = image.address(step).map(|_| step);
    let markers = Markers { begin: "kiln_bench_begin", end: "kiln_bench_end", step };
    let (report, printed) = counted(board, elf, &image, &markers, &run, limit)?;
    let Report { window, steps, classes, taken, unaligned } = report;
    let stack_bytes =
        printed.lines().find_map(|line| line.strip_prefix("kiln-stack-bytes ")?.trim().parse().ok());
    Ok(BenchResult {
        total: window,
        steps,
        classes,
        taken,
        unaligned_cycles: unaligned,
        core: board.core,
        stack_bytes: stack_bytes
            .ok_or_else(|| Error::Malformed { what: "the firmware's report".to_owned(), why: printed })?,
        flash: image.flash(),
    })
}

/// Names of the symbols at which a measured window begins and ends, and at which each step of it begins.
#[derive(Debug, Clone, Copy)]
pub struct Markers<'a> {
    /// Where the window begins.
    pub begin: &'a str,
    /// Where it ends.
    pub end: &'a str,
    /// What begins a step, wherever it is executed in the window.
    pub step: Option<&'a str>,
}

/// What was counted in a program of one's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Steps {
    /// Of each step, from its beginning to that of the next, or to the window's end.
    pub steps: Vec<Count>,
    /// Cycles that loads from unaligned addresses take more. They are not in `steps`.
    pub unaligned_cycles: u64,
}

/// Runs a program of one's own as [`run`] does, and counts its steps.
///
/// # Errors
/// As [`run`], and [`Error::Malformed`] where a marker is missing.
pub fn count_steps(board: &Board, elf: &Path, markers: &Markers, limit: Duration) -> Result<Steps, Error> {
    let report = counted(board, elf, &Image::read(elf)?, markers, &RunDir::new()?, limit)?.0;
    Ok(Steps { steps: report.steps, unaligned_cycles: report.unaligned })
}

/// Runs an image in a folder, and returns what was counted and printed.
fn counted(
    board: &Board,
    elf: &Path,
    image: &Image,
    markers: &Markers,
    run: &RunDir,
    limit: Duration,
) -> Result<(Report, String), Error> {
    let address = |name: &str| {
        image.address(name).ok_or_else(|| Error::Malformed {
            what: elf.display().to_string(),
            why: format!("there is no `{name}` in it: it was not built to benchmark"),
        })
    };
    let (begin, end) = (address(markers.begin)?, address(markers.end)?);
    let (plugin, core) = (cycles::plugin()?, board.core.name());
    let mut plugin = format!("{},core={core},begin={begin:#x},end={end:#x},out=cycles.txt", plugin.display());
    if let Some(step) = markers.step {
        plugin += &format!(",trace={:#x}", address(step)?);
    }
    for symbol in image.symbols().iter().filter(|symbol| symbol.function) {
        if waits(&symbol.name) {
            plugin += &format!(",idle={:#x}-{:#x}", symbol.address, symbol.address + symbol.size);
        }
        if meets(&symbol.name) {
            plugin += &format!(",meet={:#x}", symbol.address);
        }
    }
    let printed = execute(board, elf, run.path(), &["-plugin".to_owned(), plugin], limit)?;
    let report = run.path().join("cycles.txt");
    let report = Report::parse(&fs::read_to_string(&report).map_err(at(&report))?)?;
    Ok((report, printed))
}

/// Whether a core does nothing in a function but wait for the other one.
fn waits(function: &str) -> bool {
    const FUNCTIONS: [&str; 5] = [
        "pair::look",
        "pair::until_joined",
        "pair::until_done",
        "crew::Signal::wait",
        "second_core::chip::Events",
    ];
    FUNCTIONS.iter().any(|name| function.contains(name))
}

/// Whether two cores begin, or have ended, what they do at the same time where a function is called.
fn meets(function: &str) -> bool {
    ["pair::until_joined", "pair::met"].iter().any(|name| function.contains(name))
}

/// QEMU as a board, to be followed by the path of an ELF file.
///
/// # Errors
/// [`Error::NotEmulated`] for a real board, [`Error::Missing`] where QEMU cannot be installed.
pub fn command(board: &Board) -> Result<Command, Error> {
    let Runner::Qemu { program, .. } = &board.runner else {
        return Err(Error::NotEmulated { board: board.name.clone() });
    };
    let mut qemu = Command::new(toolchain::ensure_qemu(program)?);
    qemu.args(board.runner.command().iter().skip(1));
    Ok(qemu)
}

/// Runs a board's image in `folder` until it exits, and returns what it printed.
fn execute(
    board: &Board,
    elf: &Path,
    folder: &Path,
    arguments: &[String],
    limit: Duration,
) -> Result<String, Error> {
    let mut qemu = command(board)?;
    qemu.current_dir(folder).arg(elf).args(arguments);
    process::succeed(&mut qemu, &format!("running {} under QEMU", board.name), limit)
}
