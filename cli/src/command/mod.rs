//! The commands: for each its arguments, and what calls the library with them.

#[macro_use]
mod answer;
mod bench;
mod board;
mod boards;
mod compile;
mod eval;
mod explain;
mod firmware;
mod infer;
mod kiln;
mod model;
mod new;
mod ops;
mod plan;
mod quantize;
mod record;
mod report;
mod tune;
mod validate;

use anyhow::Result;
use clap::Subcommand;
use std::process::ExitCode;

/// What can be asked for.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Create a firmware crate for a model and a board
    #[command(after_long_help = new::EXAMPLES)]
    New(new::Arguments),
    /// List the boards, real and emulated
    #[command(after_long_help = boards::EXAMPLES)]
    Boards,
    /// List the operators that compile, with their number formats and kernels
    #[command(after_long_help = ops::EXAMPLES)]
    Ops(ops::Arguments),
    /// Show a model's operators, whether it compiles (if not, why), and what could be better
    #[command(after_long_help = explain::EXAMPLES)]
    Explain(explain::Arguments),
    /// Compile a model to a Rust file
    #[command(after_long_help = compile::EXAMPLES)]
    Compile(compile::Arguments),
    /// Quantise a float model (ONNX or TFLite) with samples of its inputs, and write it as ONNX
    #[command(after_long_help = quantize::EXAMPLES)]
    Quantize(quantize::Arguments),
    /// Show the order of execution and the place of each value in memory
    #[command(after_long_help = plan::EXAMPLES)]
    Plan(plan::Arguments),
    /// Write a page with everything about a compiled model (HTML, text or JSON)
    #[command(after_long_help = report::EXAMPLES)]
    Report(report::Arguments),
    /// Compare outputs, here and on boards, with recorded ones or with the interpreter's
    #[command(after_long_help = validate::EXAMPLES)]
    Validate(validate::Arguments),
    /// Write a model's outputs for recorded inputs, computed here or on a board
    #[command(after_long_help = infer::EXAMPLES)]
    Infer(infer::Arguments),
    /// Run a labelled set through a model, here and on boards: accuracy, confusion, latency
    #[command(after_long_help = eval::EXAMPLES)]
    Eval(Box<eval::Arguments>),
    /// Record a firmware's samples to WAV, PNG or npz files, with labels typed while it runs
    #[command(after_long_help = record::EXAMPLES)]
    Record(Box<record::Arguments>),
    /// Measure cycles, stack, RAM and flash of one inference on a board
    #[command(after_long_help = bench::EXAMPLES)]
    Bench(bench::Arguments),
    /// Measure each kernel of each layer on a board, and write the best schedule
    #[command(after_long_help = tune::EXAMPLES)]
    Tune(tune::Arguments),
    /// Flash firmware to a board through its debug probe, and start it
    #[command(after_long_help = firmware::FLASH_EXAMPLES)]
    Flash(cargo_kiln::flash::Firmware),
    /// Flash and run firmware (or start QEMU), print its output, end with its exit status
    #[command(after_long_help = firmware::RUN_EXAMPLES)]
    Run(cargo_kiln::flash::Firmware),
}

impl Command {
    /// Runs the command; the exit status says whether the answer is good.
    ///
    /// # Errors
    /// Where there is no answer.
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self {
            Command::New(arguments) => arguments.run(),
            Command::Boards => boards::run(),
            Command::Ops(arguments) => arguments.run(),
            Command::Explain(arguments) => arguments.run(),
            Command::Compile(arguments) => arguments.run(),
            Command::Quantize(arguments) => arguments.run(),
            Command::Plan(arguments) => arguments.run(),
            Command::Report(arguments) => arguments.run(),
            Command::Validate(arguments) => arguments.run(),
            Command::Infer(arguments) => arguments.run(),
            Command::Eval(arguments) => arguments.run(),
            Command::Record(arguments) => arguments.run(),
            Command::Bench(arguments) => arguments.run(),
            Command::Tune(arguments) => arguments.run(),
            Command::Flash(firmware) => firmware::flash(&firmware),
            Command::Run(firmware) => firmware::run(&firmware),
        }
    }
}
