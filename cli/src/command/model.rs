//! A model, and how it is compiled.

use anyhow::{bail, Result};
use clap::Args;
use kiln_codegen::{compile_file, Compiled, Float, Optimize, Options, Qdq, Reference, Target, Weights};
use std::path::PathBuf;

/// What options say about a model's inputs and outputs.
#[derive(Args)]
pub(super) struct InterfaceArgs {
    /// Sizes that the file leaves open: the shape of the input, e.g. "[1, 49, 40]", or of each of several by name: "audio=[1, 49, 40]"
    #[arg(long, value_name = "[NAME=]SHAPE")]
    input_shape: Vec<String>,
    /// An input or output of an ONNX model that is channel-last, [n, h, w, c]; may be given several times
    #[arg(long, value_name = "NAME")]
    channels_last: Vec<String>,
    /// An output that the model keeps for an input of the next inference; may be given several times
    #[arg(long, value_name = "OUTPUT=INPUT")]
    state: Vec<String>,
}

impl InterfaceArgs {
    /// Sets these options.
    pub(super) fn set(&self, options: &mut Options) -> Result<()> {
        for shape in &self.input_shape {
            options.set("input_shape", shape)?;
        }
        for name in &self.channels_last {
            options.set("channels_last", name)?;
        }
        for pair in &self.state {
            options.set("state", pair)?;
        }
        Ok(())
    }
}

/// What commands that compile a model have in common. Stands last among their arguments: its heading is that of all that follow.
#[derive(Args)]
#[command(next_help_heading = "Compiler options")]
pub(super) struct ModelArgs {
    /// The model, a .tflite or .onnx file
    #[arg(help_heading = None)]
    pub(super) model: PathBuf,
    /// What to favour (for `bench` several at once, too: speed,size)
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "speed", value_parser = Optimize::NAMES)]
    optimize: Vec<String>,
    /// Budget of arena and state in bytes, e.g. 20K; over it is an error
    #[arg(long, value_name = "BYTES")]
    ram: Option<String>,
    /// Budget of constants in bytes, e.g. 64K; over it is an error
    #[arg(long, value_name = "BYTES")]
    flash: Option<String>,
    /// How the input is given: whole, row by row (`push_row`), or as the window of the latest rows (`slide`)
    #[arg(long, value_name = "HOW", default_value = "whole", value_parser = ["whole", "rows", "sliding"])]
    input: String,
    #[command(flatten)]
    interface: InterfaceArgs,
    /// The function that computes a custom operator; may be given several times
    #[arg(long, value_name = "NAME=PATH")]
    custom_op: Vec<String>,
    /// Types of inputs and outputs: those of the file, or integers (QUANTIZE and DEQUANTIZE at the edges dropped)
    #[arg(long, value_name = "TYPES", default_value = "native", value_parser = ["native", "quantized"])]
    io: String,
    /// Whose integers are given where TensorFlow Lite Micro and LiteRT disagree
    #[arg(long, value_name = "WHOSE", default_value = "tflm", value_parser = Reference::NAMES)]
    reference: String,
    /// What becomes of the layers of ONNX files in QDQ format: integers, or the floats that the file describes
    #[arg(long, value_name = "WHAT", default_value = "integers", value_parser = Qdq::NAMES)]
    qdq: String,
    /// How many steps outputs may drift from the floats where such layers become integers [default: 64]
    #[arg(long, value_name = "STEPS")]
    qdq_drift: Option<u32>,
    /// Which bits floats have: those that are computed fastest, or the same on every processor
    #[arg(long, value_name = "WHICH", default_value = "fast", value_parser = Float::NAMES)]
    float: String,
    /// The processor that code is made for [default: that of the board it runs on, otherwise any]
    #[arg(long, value_name = "CPU", value_parser = Target::NAMES)]
    pub(super) target: Option<String>,
    /// How many threads may compute a step together, of those that `invoke_on` is given: 1 to 64, for hosts
    #[arg(long, value_name = "THREADS")]
    cores: Option<String>,
    /// Bytes of faster RAM, e.g. 16K: an arena of at most that many holds what is accessed most, a second one the rest
    #[arg(long, value_name = "BYTES")]
    fast_ram: Option<String>,
    /// How flash holds weights of few bits (int8 between -8 and 7, floats of half precision): packed, or as wide as they are computed with [default: widened; packed
    /// with --optimize size where that saves a kilobyte of a layer]
    #[arg(long, value_name = "HOW", value_parser = Weights::NAMES)]
    weights: Option<String>,
    /// Link section of the constants, e.g. .flash2
    #[arg(long, value_name = "SECTION")]
    weights_section: Option<String>,
    /// What the model tells the observer of `kiln::events` while it runs: for each layer its time and the range of its values
    #[arg(long, value_name = "WHAT", default_value = "none", value_parser = ["none", "layers"])]
    events: String,
    /// Name of the generated type [default: from the file's name]
    #[arg(long, value_name = "TYPE")]
    name: Option<String>,
}

impl ModelArgs {
    /// The options, where there is one thing to favour.
    pub(super) fn options(&self) -> Result<Options> {
        let mut all = self.each_options()?;
        match (all.pop(), all.is_empty()) {
            (Some(options), true) => Ok(options),
            _ => bail!("--optimize takes one value here; several are for `cargo kiln bench`"),
        }
    }

    /// The options for each thing to favour.
    pub(super) fn each_options(&self) -> Result<Vec<Options>> {
        self.optimize.iter().map(|optimize| self.options_for(optimize)).collect()
    }

    fn options_for(&self, optimize: &str) -> Result<Options> {
        let mut options = Options::default();
        options.set("optimize", optimize)?;
        options.set("io", &self.io)?;
        options.set("input", &self.input)?;
        options.set("reference", &self.reference)?;
        options.set("qdq", &self.qdq)?;
        options.qdq_drift = self.qdq_drift;
        options.set("float", &self.float)?;
        options.set("events", &self.events)?;
        self.interface.set(&mut options)?;
        for custom_op in &self.custom_op {
            options.set("custom_op", custom_op)?;
        }
        let optional = [
            ("name", &self.name),
            ("ram", &self.ram),
            ("flash", &self.flash),
            ("fast_ram", &self.fast_ram),
            ("weights", &self.weights),
            ("weights_section", &self.weights_section),
            ("target", &self.target),
            ("cores", &self.cores),
        ];
        for (option, value) in optional {
            if let Some(value) = value {
                options.set(option, value)?;
            }
        }
        Ok(options)
    }

    pub(super) fn compile(&self) -> Result<Compiled> {
        Ok(compile_file(&self.model, &self.options()?)?)
    }
}
