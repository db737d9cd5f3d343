//! `cargo kiln validate`.

use super::answer::status;
use super::kiln::KilnArgs;
use super::model::ModelArgs;
use anyhow::Result;
use cargo_kiln::boards;
use cargo_kiln::limits::Limits;
use cargo_kiln::validate::{validate_on, Source, Start};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) const EXAMPLES: &str = "\
Write a golden file with numpy.savez(\"kws.npz\", in_0=…, out_0=…): in_k and out_k are the k-th input and output of the model in the model's own types, \
the first axis counts cases. Without a golden file, generated code is compared with Kiln's interpreter on random inputs. \
That does not show whether the model was converted correctly.

The cases of a model with state are the steps of one sequence, which starts with a reset. If each case starts afresh, give --fresh, \
or save the array `fresh` in the file (numpy.savez(…, fresh=True)).

Integers have to be equal. Floats may differ by 1e-5 of the largest magnitude in the output of the case. --atol, --rtol, --min-snr and --top1 ask for \
something else instead, all of those that are given. With --float reproducible they also have to equal \
Kiln's interpreter bit for bit in every place. The exit status is 1 on a mismatch.

With --input rows or sliding, the cases are given row by row. A sliding model is also tested on a sequence of at least 200 frames: each \
output is compared with the interpreter's on the window of the latest frames.

Examples:
  cargo kiln validate kws.tflite
  cargo kiln validate kws.tflite --golden kws.npz
  cargo kiln validate kws.tflite --golden kws.npz --on interp
      Builds nothing
  cargo kiln validate kws.tflite --golden kws.npz --on qemu-cortex-m0,qemu-cortex-m33 --json
  cargo kiln validate kws.tflite --on host,aarch64,aarch64-dotprod,wasm32,wasm32-scalar
      Programs for other processors run under QEMU (qemu-aarch64) and in Node
  cargo kiln validate wakeword.tflite --golden wakeword.npz --input sliding
  cargo kiln validate kws.onnx --golden kws.npz --min-snr 60 --top1
      Outputs of another runtime, whose floats differ in more than their last bits";

#[derive(Args)]
pub(crate) struct Arguments {
    /// NumPy archive with in_k and out_k, whose first axis counts cases [default: random inputs, compared with the interpreter]
    #[arg(long, value_name = "CASES.npz")]
    golden: Option<PathBuf>,
    /// Number of random inputs
    #[arg(long, value_name = "COUNT", default_value_t = 20, conflicts_with = "golden", value_parser = clap::value_parser!(u16).range(1..))]
    cases: u16,
    /// Reset a model with state before each case [default: if the file's array `fresh` is true]
    #[arg(long, requires = "golden")]
    fresh: bool,
    /// The cases are steps of one sequence, even if the file's array `fresh` is true
    #[arg(long, requires = "golden", conflicts_with = "fresh")]
    sequence: bool,
    /// Where to run the model: interp, host, aarch64 or wasm32 (emulated), a board, or BOARD@SERIAL of its debug probe
    #[arg(long, value_name = "PLACE", value_delimiter = ',', default_value = "interp,host,qemu-cortex-m4")]
    on: Vec<String>,
    /// Run on this board instead: `cargo kiln boards` lists them
    #[arg(long, conflicts_with = "on", value_parser = boards::any(), hide_possible_values = true)]
    board: Option<String>,
    /// Serial number of the debug probe, if there are several
    #[arg(long, value_name = "SERIAL", requires = "board")]
    probe: Option<String>,
    /// Outputs may differ by so much, quantised ones as the numbers that they stand for; replaces the rule above
    #[arg(long, value_name = "DIFFERENCE", value_parser = at_least_zero)]
    atol: Option<f64>,
    /// Outputs may differ by this part of the expected number; adds to --atol
    #[arg(long, value_name = "PART", value_parser = at_least_zero)]
    rtol: Option<f64>,
    /// Least ratio of signal to noise of each output over all cases; replaces the rule above
    #[arg(long, value_name = "DECIBELS")]
    min_snr: Option<f64>,
    /// Least share of cases, 0 to 1, whose largest number is at the expected place; replaces the rule above
    #[arg(long, value_name = "SHARE", num_args = 0..=1, require_equals = true, default_missing_value = "1", value_parser = share)]
    top1: Option<f64>,
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
        let Arguments { kiln, model, golden, cases, fresh, sequence, on, board, probe, json, .. } = self;
        let limits = Limits { atol: self.atol, rtol: self.rtol, min_snr: self.min_snr, top1: self.top1 };
        kiln.prefer()?;
        let on = match (board, probe) {
            (None, _) => on,
            (Some(board), None) => vec![board],
            (Some(board), Some(probe)) => vec![format!("{board}@{probe}")],
        };
        let source = golden.map_or(Source::Noise(cases.into()), Source::Golden);
        let start = match (fresh, sequence) {
            (true, _) => Start::Fresh,
            (_, true) => Start::Sequence,
            _ => Start::AsTheFileSays,
        };
        let report = validate_on(&model.model, &model.options()?, source, start, limits, &on)?;
        match json {
            true => sayln!("{:#}", report.json()),
            false => say!("{}", report.text()),
        }
        Ok(status(report.passes()))
    }
}

/// A number that is not negative.
fn at_least_zero(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number
        .filter(|number| number.is_finite() && *number >= 0.0)
        .ok_or_else(|| "a number of at least 0, such as 0.01".into())
}

/// A number from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    at_least_zero(text)
        .ok()
        .filter(|share| *share <= 1.0)
        .ok_or_else(|| "a share from 0 to 1, such as 0.99".into())
}
