//! `cargo kiln explain`.

use super::answer::status;
use super::model::{note_target, InterfaceArgs};
use anyhow::Result;
use cargo_kiln::explain::explain;
use cargo_kiln::kernels::kernels;
use clap::builder::PossibleValuesParser;
use clap::Args;
use kiln_codegen::{model_name, read_file, Float, Optimize, Options, Target};
use std::path::PathBuf;
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
    /// The model: a file of any format that Kiln reads, or the folder of a SavedModel
    model: PathBuf,
    /// Also show the kernel of each step: its constants, workspace and requantisation
    #[arg(long)]
    kernels: bool,
    /// The processor that figures, advice and kernels are for [default: any]
    #[arg(long, value_name = "CPU", value_parser = PossibleValuesParser::new(Target::names()))]
    target: Option<String>,
    /// What kernels are to favour
    #[arg(long, value_name = "WHAT", default_value = "speed", value_parser = Optimize::NAMES)]
    optimize: String,
    /// Float arithmetic: as fast as possible, or the same bits on every processor
    #[arg(long, value_name = "WHICH", default_value = "fast", value_parser = Float::NAMES)]
    float: String,
    /// By how many steps an output may drift when layers of ONNX files in QDQ format become integer layers [default: 64]
    #[arg(long, value_name = "STEPS")]
    qdq_drift: Option<u32>,
    #[command(flatten)]
    interface: InterfaceArgs,
}

impl Arguments {
    pub(super) fn run(self) -> Result<ExitCode> {
        let bytes = read_file(&self.model)?;
        let target = self.target.as_deref().map(str::parse).transpose()?;
        let optimize = self.optimize.parse()?;
        let float = self.float.parse()?;
        let qdq_drift = self.qdq_drift;
        let mut options = Options { target, optimize, float, qdq_drift, ..Options::default() };
        self.interface.set(&mut options)?;
        note_target(&options);
        let explained = explain(&bytes, &model_name(&self.model), &options)?;
        say!("{}", explained.text);
        if let Some(compiled) = explained.compiled.as_ref().filter(|_| self.kernels) {
            say!("{}", kernels(compiled));
        }
        Ok(status(explained.compiled.is_some()))
    }
}
