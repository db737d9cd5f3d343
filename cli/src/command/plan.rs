//! `cargo kiln plan`.

use super::model::ModelArgs;
use anyhow::{bail, Result};
use cargo_kiln::plan;
use clap::Args;
use kiln_codegen::{compile_file, import, model_name, read_file, write_whole, Options};
use kiln_tools::pareto::{front, picture};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) const EXAMPLES: &str = "\
Shows the order of execution, the arena step by step with its lower bound, and the schedules that were tried.

Examples:
  cargo kiln plan kws.tflite
  cargo kiln plan kws.tflite --optimize memory --input rows --svg .
  cargo kiln plan kws.tflite --json | jq .arena_bytes
  cargo kiln plan kws.tflite --pareto --target cortex-m4
      RAM, predicted cycles and constants against each other, and the flags for each choice
  cargo kiln plan kws.tflite --target cortex-m4 --emit schedule > kws.schedule
      The schedule as a file; edit it, and give it back with --schedule kws.schedule";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Instead, list what the model can be compiled to: RAM, predicted cycles and constants against each other, with the flags for each choice
    #[arg(long)]
    pareto: bool,
    /// Instead, print the schedule as a file that can be edited and given to the option `schedule`
    #[arg(long, value_name = "WHAT", value_parser = ["schedule"], conflicts_with_all = ["json", "pareto", "svg"])]
    emit: Option<String>,
    /// Also write pictures to this folder: the arena over time, and each pipeline; or the choices
    #[arg(long, value_name = "FOLDER")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    model: ModelArgs,
}

impl Arguments {
    pub(super) fn run(self) -> Result<ExitCode> {
        if self.pareto {
            return self.pareto();
        }
        let compiled = compile_file(&self.model.model, &self.options()?)?;
        ModelArgs::say_unused(&compiled);
        if self.emit.is_some() {
            say!("{}", compiled.written());
            return Ok(ExitCode::SUCCESS);
        }
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

    fn options(&self) -> Result<Options> {
        self.model.options_in(Path::new("."))
    }

    fn pareto(self) -> Result<ExitCode> {
        let (model, options) = (&self.model.model, self.options()?);
        if !options.predicts_cycles() {
            bail!(
                "cycles are predicted for microcontrollers, not for `{}`\n    help: name one: --target cortex-m4",
                options.target().name()
            );
        }
        let name = model_name(model);
        let points = front(&import(&read_file(model)?, &name, &options)?, &options)?;
        let target = options.target();
        if let Some(folder) = self.svg {
            let picture = picture(&format!("{name} for {}", target.name()), &points);
            write_whole(&folder.join(format!("{name}.pareto.svg")), &picture)?;
        }
        match self.json {
            true => sayln!("{:#}", plan::pareto_json(&name, target, &points)),
            false => say!("{}", plan::pareto_text(&name, target, &points)),
        }
        Ok(ExitCode::SUCCESS)
    }
}
