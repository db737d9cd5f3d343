//! `cargo kiln report`.

use super::answer::write_or_print;
use super::kiln::KilnArgs;
use super::model::ModelArgs;
use anyhow::Result;
use cargo_kiln::boards;
use cargo_kiln::report::report;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) const EXAMPLES: &str = "\
The page is self-contained: it needs no network and no other file. It shows the compiled graph, the arena over time, a table of layers, what each \
pass did, what is proven, and all modes of --optimize side by side. Text and JSON contain the same. With --board, cycles are estimated layer by layer.

Examples:
  cargo kiln report kws.tflite -o report.html
  cargo kiln report kws.tflite -o report.html --board qemu-cortex-m4
  cargo kiln report kws.tflite --optimize memory --format text
  cargo kiln report kws.tflite --format json | jq .totals";

#[derive(Args)]
pub(crate) struct Arguments {
    /// The file to write, completely or not at all; - is standard output, the default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Format of the report [default: by the file's extension, otherwise text]
    #[arg(long, value_name = "FORMAT", value_parser = ["html", "text", "json"])]
    format: Option<String>,
    /// Also run the model on this emulated board and estimate the cycles of each layer
    #[arg(long, visible_alias = "on", value_name = "BOARD", value_parser = boards::emulated())]
    board: Option<String>,
    #[command(flatten)]
    kiln: KilnArgs,
    #[command(flatten)]
    model: ModelArgs,
}

impl Arguments {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Arguments { kiln, model, output, format, board } = self;
        kiln.prefer()?;
        let options = match board {
            Some(_) => model.options()?,
            None => model.options_in(Path::new("."))?,
        };
        let report = report(&model.model, &options, board.as_deref())?;
        let ending = output.as_ref().and_then(|path| path.extension()?.to_str());
        let text = match format.as_deref().or(ending) {
            Some("html") => report.page(),
            Some("json") => report.json()?,
            _ => report.text(),
        };
        write_or_print(output.as_deref(), &text)
    }
}
