//! `cargo kiln quantize`.

use anyhow::{bail, Result};
use cargo_kiln::quantize::{quantize, Output, Progress};
use clap::Args;
use kiln_codegen::Options;
use kiln_tools::quantize::{Bits, Method, Settings};
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) const EXAMPLES: &str = "\
Write samples with numpy.savez(\"samples.npz\", in_0=…): in_k (or its name) is the k-th input of the model in float32, the first axis counts samples. \
A hundred samples of what the model meets in use are enough for most models. Other arrays, such as the outputs of a golden file, are not read.
Samples of a model with state are consecutive calls. Its states become inputs and outputs of the file; the report shows the options that make states of them again.

The result has quantise and dequantise operators (QDQ) around every layer. ONNX Runtime runs it, and Kiln compiles it. Inputs and outputs stay floats, unless --io quantized is given. \
The signal-to-noise ratio is the power of the float model's outputs divided by the power of the difference: at 20 dB the difference is a tenth, at 40 dB a hundredth.

Examples:
  cargo kiln quantize kws.onnx --calibration samples.npz -o kws_int8.onnx
  cargo kiln quantize kws.tflite --calibration samples.npz --activations int16 -o kws_int16.onnx
  cargo kiln quantize kws.onnx --calibration samples.npz --budget-snr 30 -o kws_int8.onnx
      The worst layers get 16-bit activations, or stay in floats, until the outputs have 30 dB
  cargo kiln quantize kws.onnx --calibration samples.npz --io quantized -o kws_int8.onnx
      Inputs and outputs are integers, too; the report shows their scales
  cargo kiln quantize kws.onnx --calibration samples.npz --keep-float 1,dense_2 -o kws_int8.onnx
      These layers stay in floats; numbers and names as in the report";

#[derive(Args)]
pub(crate) struct Arguments {
    /// The float model: a file of any format that Kiln reads, or the folder of a SavedModel
    model: PathBuf,
    /// NumPy archive with samples of the inputs: in_k, whose first axis counts samples
    #[arg(long, value_name = "SAMPLES.npz")]
    calibration: PathBuf,
    /// The file to write, completely or not at all
    #[arg(short, long, value_name = "OUT.onnx")]
    output: PathBuf,
    /// How ranges of activations are chosen: all values, all but the outermost, least squared error, least information lost [default: the
    /// method with the best outputs]
    #[arg(long, value_name = "METHOD", value_parser = Method::NAMES)]
    method: Option<String>,
    /// With --method percentile: how many percent of the values lie within each bound [default: 99.99]
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
    /// Types of inputs and outputs in the file: floats, or integers
    #[arg(long, value_name = "TYPES", default_value = "float", value_parser = ["float", "quantized"])]
    io: String,
    /// Layers that stay in floats, by number or name as in the report
    #[arg(long, value_name = "LAYERS", value_delimiter = ',')]
    keep_float: Vec<String>,
    /// Least signal-to-noise ratio of the outputs in dB; the worst layers get 16 bits or stay in floats until it is reached
    #[arg(long, value_name = "DB")]
    budget_snr: Option<f64>,
    /// Scale channels between layers so that their weights have similar ranges: always, never, or where it helps
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = ["auto", "on", "off"])]
    equalize: String,
    /// Adjust biases by the average shift that rounded weights cause: always, never, or where it helps
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = ["auto", "on", "off"])]
    bias_correction: String,
    /// Shape of an input whose sizes the file leaves open, e.g. "[1, 49, 40]"; with its name if there are several inputs: "audio=[1, 49, 40]"
    #[arg(long, value_name = "[NAME=]SHAPE")]
    input_shape: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percent) if percent > 50.0 && percent <= 100.0 => Ok(percent),
        _ => Err("write a number above 50 and up to 100".into()),
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
            (_, Some(_)) => bail!("--percentile needs --method percentile"),
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
        Ok(super::answer::status(report.keeps_budget()))
    }
}
