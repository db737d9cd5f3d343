//! `cargo kiln infer`.

use super::kiln::KilnArgs;
use super::model::ModelArgs;
use anyhow::Result;
use cargo_kiln::infer::infer;
use cargo_kiln::validate::Start;
use clap::Args;
use kiln_codegen::write_whole;
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) const EXAMPLES: &str = "\
Write the inputs with numpy.savez(\"inputs.npz\", in_0=…): in_k is the k-th input of the model in the model's own type, the first axis counts cases. \
A single array, as numpy.save writes it, is in_0. The answer has the arrays out_0, out_1 … of the same form. Both together are a golden file for `cargo kiln validate`:
  numpy.savez(\"golden.npz\", **numpy.load(\"inputs.npz\"), **numpy.load(\"outputs.npz\"))

The cases of a model with state are the steps of one sequence, which starts with a reset. If each case starts afresh, give --fresh, \
or save the array `fresh` in the file.

Examples:
  cargo kiln infer kws.tflite --inputs inputs.npz -o outputs.npz
  cargo kiln infer kws.tflite --inputs inputs.npz -o outputs.npz --on qemu-cortex-m4
  cargo kiln infer kws.onnx --inputs inputs.npz -o outputs.npz --on interp
      By Kiln's interpreter, which builds nothing";

#[derive(Args)]
pub(crate) struct Arguments {
    /// NumPy archive with in_k, whose first axis counts cases; or a single array (.npy)
    #[arg(long, value_name = "INPUTS.npz")]
    inputs: PathBuf,
    /// The NumPy archive to write, completely or not at all
    #[arg(short, long, value_name = "OUTPUTS.npz")]
    output: PathBuf,
    /// Reset a model with state before each case [default: if the file's array `fresh` is true]
    #[arg(long)]
    fresh: bool,
    /// Where to run the model: interp, host, aarch64 or wasm32 (emulated), a board, or BOARD@SERIAL of its debug probe
    #[arg(long, value_name = "PLACE", default_value = "host")]
    on: String,
    #[command(flatten)]
    kiln: KilnArgs,
    #[command(flatten)]
    model: ModelArgs,
}

impl Arguments {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Arguments { inputs, output, fresh, on, kiln, model } = self;
        kiln.prefer()?;
        let start = if fresh { Start::Fresh } else { Start::AsTheFileSays };
        let answers = infer(&model.model, &model.options()?, &inputs, start, &on)?;
        write_whole(&output, answers.npz()?)?;
        sayln!("{}: {} cases of {} on {on}", output.display(), answers.cases, answers.model);
        Ok(ExitCode::SUCCESS)
    }
}
