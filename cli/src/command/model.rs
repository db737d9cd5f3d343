//! A model, and how it is compiled.

use anyhow::{bail, Result};
use clap::builder::PossibleValuesParser;
use clap::Args;
use kiln_codegen::{compile_file, Compiled, Float, Optimize, Options, Qdq, Reference, Target, Weights};
use std::io::{self, Write};
use std::path::PathBuf;

/// Says on standard error that code is for any processor, where nobody named one: then another one's kernels need other memory and time.
pub(super) fn note_target(options: &Options) {
    if options.target.is_none() {
        // Where nobody reads it, it is lost.
        let _ = writeln!(io::stderr(), "note: this is plain Rust for any processor; --target takes the kernels of yours: cortex-m4, x86-64 …");
    }
}

/// What options say about a model's inputs and outputs.
#[derive(Args)]
pub(super) struct InterfaceArgs {
    /// Shape of an input whose sizes the file leaves open, e.g. "[1, 49, 40]"; with its name if there are several inputs: "audio=[1, 49, 40]"
    #[arg(long, value_name = "[NAME=]SHAPE")]
    input_shape: Vec<String>,
    /// Name of an input or output of an ONNX model that is channel-last in the firmware, [n, h, w, c]; repeatable
    #[arg(long, value_name = "NAME")]
    channels_last: Vec<String>,
    /// An output that the model keeps as state and feeds to an input of the next inference; repeatable
    #[arg(long, value_name = "OUTPUT=INPUT")]
    state: Vec<String>,
    /// Audio features in front of the model, so that its input is samples, e.g. "librosa, sample_rate = 16000, n_fft = 512, hop = 160, n_mels = 40"
    #[arg(long, value_name = "FEATURES")]
    features: Option<String>,
    /// The lines of a camera that become the input (`push_line`), e.g. "rgb565 320x240, crop = centre, resize = bilinear"
    #[arg(long, value_name = "LINES")]
    source: Option<String>,
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
        for (option, value) in [("features", &self.features), ("source", &self.source)] {
            if let Some(value) = value {
                options.set(option, value)?;
            }
        }
        Ok(())
    }
}

/// What commands that compile a model have in common. Stands last among their arguments: its heading is that of all that follow.
#[derive(Args)]
#[command(next_help_heading = "Compiler options")]
pub(super) struct ModelArgs {
    /// The model: a file of any format that Kiln reads, or the folder of a SavedModel
    #[arg(help_heading = None)]
    pub(super) model: PathBuf,
    /// What to favour; `bench` also takes several: speed,size
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "speed", value_parser = Optimize::NAMES)]
    optimize: Vec<String>,
    /// Budget for arena and state in bytes, e.g. 20K; an error if no schedule fits
    #[arg(long, value_name = "BYTES")]
    ram: Option<String>,
    /// Budget for the predicted cycles of an inference, e.g. 5M: of the schedules that take no more, the one with the least RAM; an error if there is none
    #[arg(long, value_name = "CYCLES")]
    cycles: Option<String>,
    /// Budget for constants in bytes, e.g. 64K; an error if they need more
    #[arg(long, value_name = "BYTES")]
    flash: Option<String>,
    /// How the input is given: whole, row by row (`push_row`), or as a sliding window of rows (`slide`)
    #[arg(long, value_name = "HOW", default_value = "whole", value_parser = ["whole", "rows", "sliding"])]
    input: String,
    #[command(flatten)]
    interface: InterfaceArgs,
    /// The function that computes a custom operator; repeatable
    #[arg(long, value_name = "NAME=PATH")]
    custom_op: Vec<String>,
    /// Types of inputs and outputs: those of the file, or integers, without the QUANTIZE and DEQUANTIZE at inputs and outputs
    #[arg(long, value_name = "TYPES", default_value = "native", value_parser = ["native", "quantized"])]
    io: String,
    /// The reference to reproduce where TensorFlow Lite Micro and LiteRT disagree
    #[arg(long, value_name = "WHOSE", default_value = "tflm", value_parser = Reference::NAMES)]
    reference: String,
    /// Layers of ONNX files in QDQ format: compute in integers, or in the floats that the file describes
    #[arg(long, value_name = "WHAT", default_value = "integers", value_parser = Qdq::NAMES)]
    qdq: String,
    /// By how many steps an output may drift when such layers become integer layers [default: 64]
    #[arg(long, value_name = "STEPS")]
    qdq_drift: Option<u32>,
    /// Float arithmetic: as fast as possible, or the same bits on every processor
    #[arg(long, value_name = "WHICH", default_value = "fast", value_parser = Float::NAMES)]
    float: String,
    /// The processor to compile for [default: the board's processor, otherwise any]
    #[arg(long, value_name = "CPU", value_parser = PossibleValuesParser::new(Target::names()))]
    target: Option<String>,
    /// How many threads may compute a step together, of those that `invoke_on` is given: 1 to 64, for hosts
    #[arg(long, value_name = "THREADS")]
    cores: Option<String>,
    /// Bytes of fast RAM, e.g. 16K: a fast arena of at most that size holds the values that are accessed most, a second one the rest
    #[arg(long, value_name = "BYTES")]
    fast_ram: Option<String>,
    /// How flash holds weights of few bits (int8 between -8 and 7, floats of half precision): packed, or widened for the kernel [default: widened; with
    /// --optimize size, packed if that saves a kilobyte of a layer]
    #[arg(long, value_name = "HOW", value_parser = Weights::NAMES)]
    weights: Option<String>,
    /// Link section of the constants, e.g. .flash2
    #[arg(long, value_name = "SECTION")]
    weights_section: Option<String>,
    /// Report each layer to the observer of `kiln::events` while the model runs: its time and the range of its values
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
            ("cycles", &self.cycles),
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
