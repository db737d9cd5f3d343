//! `cargo kiln explain`.

use super::answer::status;
use super::model::ModelArgs;
use anyhow::Result;
use cargo_kiln::explain::explain;
use cargo_kiln::kernels::kernels;
use clap::Args;
use kiln_codegen::{model_name, read_file};
use std::path::Path;
use std::process::ExitCode;

pub(super) const EXAMPLES: &str = "\
The exit status is 1 if the model does not compile.

Examples:
  cargo kiln explain kws.tflite
  cargo kiln explain kws.tflite --target cortex-m0
      Advice for a core without DSP instructions
  cargo kiln explain kws.tflite --kernels --optimize size
  cargo kiln explain kws.tflite > /dev/null && echo it compiles";

#[derive(Args)]
pub(crate) struct Arguments {
    /// Also show the kernel of each step: its constants, workspace and requantisation
    #[arg(long)]
    kernels: bool,
    #[command(flatten)]
    model: ModelArgs,
}

impl Arguments {
    pub(super) fn run(self) -> Result<ExitCode> {
        let (path, options) = (&self.model.model, self.model.options_in(Path::new("."))?);
        let explained = explain(&read_file(path)?, &model_name(path), &options)?;
        say!("{}", explained.text);
        if let Some(compiled) = explained.compiled.as_ref().filter(|_| self.kernels) {
            say!("{}", kernels(compiled));
        }
        Ok(status(explained.compiled.is_some()))
    }
}
