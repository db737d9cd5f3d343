//! Running firmware under QEMU.
use crate::cases::{Cases, Outputs};
use crate::cycles::{self, model::Class, Count, Report};
use crate::error::{at, Error};
use crate::firmware::Firmware;
use crate::image::{FlashSizes, Image};
use crate::run::RunDir;
use crate::Board;
use crate::{process, toolchain};
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
    /// The most stack that `invoke` had in use, in bytes: what was free of it was painted before, and searched for the paint after.
    pub stack_bytes: u64,
    /// Flash of the whole image.
    pub flash: FlashSizes,
}

/// Runs one inference on the emulated board and counts. `firmware` is one built to benchmark.
///
/// The input is the first of `cases`, or reproducible noise. Instructions are exact; cycles are those of a Cortex-M4 executing
/// the same instructions, whatever core the board has.
///
/// # Errors
/// As [`validate`].
pub fn bench(firmware: &Firmware, cases: Option<&Cases>, limit: Duration) -> Result<BenchResult, Error> {
    let image = Image::read(&firmware.elf)?;
    let marker = |name: &str| {
        image.address(name).ok_or_else(|| Error::Malformed {
            what: firmware.elf.display().to_string(),
            why: format!("there is no `{name}` in it: it was not built to benchmark"),
        })
    };
    let run = RunDir::new()?;
    if let Some(cases) = cases {
        run.put_cases(cases)?;
    }
    let (begin, end) = (marker("kiln_bench_begin")?, marker("kiln_bench_end")?);
    let mut plugin = format!("{},begin={begin:#x},end={end:#x},out=cycles.txt", cycles::plugin()?.display());
    if let Some(trace) = image.address("kiln::model::trace") {
        plugin += &format!(",trace={trace:#x}");
    }
    let printed =
        execute(&firmware.board, &firmware.elf, run.path(), &["-plugin".to_owned(), plugin], limit)?;
    let report = run.path().join("cycles.txt");
    let Report { window, steps, classes } =
        Report::parse(&fs::read_to_string(&report).map_err(at(&report))?)?;
    let stack_bytes =
        printed.lines().find_map(|line| line.strip_prefix("kiln-stack-bytes ")?.trim().parse().ok());
    Ok(BenchResult {
        total: window,
        steps,
        classes,
        stack_bytes: stack_bytes
            .ok_or_else(|| Error::Malformed { what: "the firmware's report".to_owned(), why: printed })?,
        flash: image.flash(),
    })
}

/// Runs a board's image in `folder` until it exits, and returns what it printed.
fn execute(
    board: &Board,
    elf: &Path,
    folder: &Path,
    arguments: &[String],
    limit: Duration,
) -> Result<String, Error> {
    if !board.is_emulated() {
        return Err(Error::NotEmulated { board: board.name.clone() });
    }
    let mut qemu = Command::new(toolchain::ensure_qemu()?);
    qemu.current_dir(folder).args(board.runner.command().iter().skip(1)).arg(elf).args(arguments);
    process::succeed(&mut qemu, &format!("running {} under QEMU", board.name), limit)
}
