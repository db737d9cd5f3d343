//! `cargo kiln plan`.

use super::model::{note_target, ModelArgs};
use anyhow::Result;
use cargo_kiln::plan;
use clap::Args;
use kiln_codegen::write_whole;
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) const EXAMPLES: &str = "\
Shows the order of execution, the arena step by step with its lower bound, and the schedules that were tried.

Examples:
  cargo kiln plan kws.tflite
  cargo kiln plan kws.tflite --optimize memory --input rows --svg .
  cargo kiln plan kws.tflite --json | jq .arena_bytes";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Also write pictures to this folder: the arena over time, and each pipeline
    #[arg(long, value_name = "FOLDER")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    model: ModelArgs,
}

impl Arguments {
    pub(super) fn run(self) -> Result<ExitCode> {
        let compiled = self.model.compile()?;
        note_target(&compiled.options);
        if let Some(folder) = self.svg {
            for (name, picture) in plan::pictures(&compiled) {
                write_whole(&folder.join(name), &picture)?;
            }
        }
        match self.json {
            true => sayln!("{:#}", plan::json(&compiled)),
            false => say!("{}", plan::text(&compiled)),
        }
        Ok(ExitCode::SUCCESS)
    }
}
