//! `cargo kiln tune`.

use super::board::BoardArgs;
use super::kiln::KilnArgs;
use super::model::ModelArgs;
use anyhow::{bail, Result};
use cargo_kiln::tune::tune;
use clap::Args;
use kiln_codegen::search::written::{replaced, sections};
use kiln_codegen::{write_whole, Door, ScheduleFile};
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) const EXAMPLES: &str = "\
Builds the model with each kernel that computes a layer exactly, measures all layers, and writes the best schedule to a file beside the model. Every door takes that file: \
in a firmware crate `kiln::include_model!(Kws = \"models/kws.tflite\", schedule = \"models/kws.schedule\")`. The same options and the same file give the same Rust.

One file has schedules for several processors and options: what was tuned for others stays.

On an emulated board, cycles are estimated as `cargo kiln bench` does it; nothing is random. On a real board, its cycle counter measures them.

Examples:
  cargo kiln tune kws.tflite
  cargo kiln tune kws.tflite --on nrf52840-dk --seconds 120
  cargo kiln tune kws.tflite --on qemu-cortex-m0 --ram 24K
      Also measures other divisions into whole tensors and rows, as far as they fit
  cargo kiln plan kws.tflite --schedule kws.schedule
      Shows what comes of the file";

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    board: BoardArgs,
    /// Begin no measurement after so many seconds [default: measure every kernel]
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// The file to write [default: beside the model, with the ending .schedule]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    kiln: KilnArgs,
    #[command(flatten)]
    model: ModelArgs,
}

impl Arguments {
    pub(super) fn run(self) -> Result<ExitCode> {
        self.kiln.prefer()?;
        let (model, options) = (&self.model.model, self.model.options()?);
        if options.schedule.is_some() {
            bail!("tuning begins with what the rules choose\n    help: leave out --schedule; --output names the file to write");
        }
        let board = self.board.find()?;
        let path = self.output.clone().unwrap_or_else(|| model.with_extension("schedule"));
        // A file that is no schedule is found before the work is done.
        let mut file = ScheduleFile { path: path.display().to_string(), text: Some(String::new()) };
        if path.exists() {
            file.text = Some(std::fs::read_to_string(&path)?);
        }
        sections(&file)?;
        let tuned = tune(model, &options, board, self.board.probe(), self.seconds)?;
        write_whole(&path, replaced(&file, tuned.key, &tuned.text)?)?;
        if self.json {
            sayln!("{:#}", tuned.json());
            return Ok(ExitCode::SUCCESS);
        }
        say!("{}", tuned.text());
        if !tuned.is_better() {
            sayln!("nothing that was measured is better than what the rules choose: the file has that");
        }
        let option = |door: Door| door.option("schedule", &path.display().to_string());
        sayln!(
            "{} is written. Use it with {}, or {} on the command line.",
            path.display(),
            option(Door::Macro),
            option(Door::CommandLine)
        );
        Ok(ExitCode::SUCCESS)
    }
}
