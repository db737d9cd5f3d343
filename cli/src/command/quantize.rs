//! `cargo kiln quantize`.

use anyhow::{bail, Result};
use cargo_kiln::quantize::{quantize, Output, Progress};
use clap::Args;
use kiln_codegen::Options;
use kiln_tools::quantize::{Bits, Method, Settings};
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) const EXAMPLES: &str = "\
The calibration set is written with numpy.savez(\"samples.npz\", in_0=…): the k-th input of the model (or its name) in float32, the first axis counting samples. \
A hundred samples of what the model meets in use are enough for most; arrays of other names, as the outputs of a golden file, are not read.

The file that is written has quantise and dequantise operators (QDQ) around every layer: ONNX Runtime runs it, and Kiln compiles it. Inputs and outputs stay floats, without --io quantized. \
Ratios are those of the power of the float model's outputs to that of their difference, in dB: 20 dB is a tenth, 40 dB a hundredth.

Examples:
  cargo kiln quantize kws.onnx --calibration samples.npz -o kws_int8.onnx
  cargo kiln quantize kws.tflite --calibration samples.npz --activations int16 -o kws_int16.onnx
  cargo kiln quantize kws.onnx --calibration samples.npz --budget-snr 30 -o kws_int8.onnx
      Layers get activations of 16 bits, or stay in floats, the worst ones first, until the outputs have 30 dB
  cargo kiln quantize kws.onnx --calibration samples.npz --io quantized -o kws_int8.onnx
      Inputs and outputs are integers, too; the report says of which scale
  cargo kiln quantize kws.onnx --calibration samples.npz --keep-float 1,dense_2 -o kws_int8.onnx
      By number or name, as the report lists them";

#[derive(Args)]
pub(crate) struct Arguments {
    /// The float model, an .onnx or .tflite file
    model: PathBuf,
    /// NumPy archive with samples of the inputs: in_k, the first axis counting samples
    #[arg(long, value_name = "SAMPLES.npz")]
    calibration: PathBuf,
    /// The file to write; never left half-written
    #[arg(short, long, value_name = "OUT.onnx")]
    output: PathBuf,
    /// How ranges of activations are chosen: all numbers, all but the outermost, least squared error, least information lost [default: the
    /// one with the best ratio]
    #[arg(long, value_name = "METHOD", value_parser = Method::NAMES)]
    method: Option<String>,
    /// Which part of the numbers lies within each bound, in percent, with --method percentile [default: 99.99]
    #[arg(long, value_name = "PERCENT", requires = "method", value_parser = percent)]
    percentile: Option<f64>,
    /// A scale for each filter of a layer [default]
    #[arg(long, conflicts_with = "per_tensor")]
    per_channel: bool,
    /// One scale for all weights of a layer
    #[arg(long)]
    per_tensor: bool,
    /// Type of activations
    #[arg(long, value_name = "TYPE", default_value = "int8", value_parser = ["int8", "int16"])]
    activations: String,
    /// Type of weights
    #[arg(long, value_name = "TYPE", default_value = "int8", value_parser = ["int8", "int4"])]
    weights: String,
    /// Types of inputs and outputs in the file: floats, or the integers that they are quantised to
    #[arg(long, value_name = "TYPES", default_value = "float", value_parser = ["float", "quantized"])]
    io: String,
    /// Layers that stay in floats, by number or name as in the report
    #[arg(long, value_name = "LAYERS", value_delimiter = ',')]
    keep_float: Vec<String>,
    /// Least signal-to-noise ratio of the outputs in dB; the worst layers fall back until it is reached
    #[arg(long, value_name = "DB")]
    budget_snr: Option<f64>,
    /// Scale channels between layers so that their weights have like ranges: always, never, or where it helps
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = ["auto", "on", "off"])]
    equalize: String,
    /// Correct biases by what rounded weights shift: always, never, or where it helps
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = ["auto", "on", "off"])]
    bias_correction: String,
    /// Sizes that the file leaves open: the shape of the input, e.g. "[1, 49, 40]", or of each of several by name: "audio=[1, 49, 40]"
    #[arg(long, value_name = "[NAME=]SHAPE")]
    input_shape: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percent) if percent > 50.0 && percent <= 100.0 => Ok(percent),
        _ => Err("a number above 50 and up to 100 is wanted".into()),
    }
}

fn switch(word: &str) -> Option<bool> {
    match word {
        "on" => Some(true),
        "off" => Some(false),
        _ => None,
    }
}

impl Arguments {
    pub(super) fn run(self) -> Result<ExitCode> {
        let mut options = Options::default();
        for shape in &self.input_shape {
            options.set("input_shape", shape)?;
        }
        let method = match (self.method.as_deref().and_then(Method::of_name), self.percentile) {
            (Some(Method::Percentile(_)), Some(percent)) => Some(Method::Percentile(percent)),
            (_, Some(_)) => bail!("--percentile belongs to --method percentile"),
            (method, None) => method,
        };
        let settings = Settings {
            method,
            per_channel: !self.per_tensor,
            wide: self.activations == "int16",
            weights: if self.weights == "int4" { Bits::Four } else { Bits::Eight },
            keep_float: self.keep_float,
            budget_snr: self.budget_snr,
            equalise: switch(&self.equalize),
            correct_bias: switch(&self.bias_correction),
        };
        let progress = Progress::default();
        let output = Output { path: self.output, integers: self.io == "quantized" };
        let report = quantize(&self.model, &self.calibration, &options, &settings, &output, &progress)?;
        drop(progress);
        match self.json {
            true => sayln!("{:#}", report.json()),
            false => say!("{}", report.text()),
        }
        Ok(super::status(report.keeps_budget()))
    }
}
