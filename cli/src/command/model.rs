//! A model, and how it is compiled.

use anyhow::{bail, Result};
use cargo_kiln::target;
use clap::builder::PossibleValuesParser;
use clap::Args;
use kiln_codegen::{read_schedule, Compiled, Float, Optimize, Options, Qdq, Reference, Target, Weights};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A model, and how it is compiled: what commands that compile one have in common. Stands last among their arguments: the heading of the options is that of all that
/// follow.
#[derive(Args)]
pub(super) struct ModelArgs {
    /// The model: a file of any format that Kiln reads, or the folder of a SavedModel
    pub(super) model: PathBuf,
    #[command(flatten)]
    options: OptionArgs,
}

impl ModelArgs {
    /// As [`OptionArgs::options`].
    pub(super) fn options(&self) -> Result<Options> {
        self.options.options()
    }

    /// The options, for the processor that Cargo would build for in a folder unless one is named. Says which on standard error.
    pub(super) fn options_in(&self, folder: &Path) -> Result<Options> {
        let mut options = self.options()?;
        if options.target.is_none() {
            let assumed = target::assumed(folder);
            // Where nobody reads it, it is lost.
            let _ = writeln!(io::stderr(), "note: {assumed}");
            options.target = Some(assumed.target);
        }
        Ok(options)
    }

    /// Says on standard error what a written schedule has that the model does not.
    pub(super) fn say_unused(compiled: &Compiled) {
        for line in &compiled.unused {
            // Where nobody reads it, it is lost.
            let _ = writeln!(io::stderr(), "note: {line}");
        }
    }

    /// As [`OptionArgs::each_options`].
    pub(super) fn each_options(&self) -> Result<Vec<Options>> {
        self.options.each_options()
    }
}

/// The options of the compiler.
#[derive(Args)]
#[command(next_help_heading = "Compiler options")]
pub(super) struct OptionArgs {
    /// What to favour; `bench` also takes several: speed,size
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "speed", value_parser = Optimize::NAMES)]
    optimize: Vec<String>,
    /// Budget for arena and state in bytes, e.g. 20K; an error if no schedule fits
    #[arg(long, value_name = "BYTES")]
    ram: Option<String>,
    /// Budget for the predicted cycles of an inference, e.g. 5M: of the schedules that take no more, the one with the least RAM; an error if there is none
    #[arg(long, value_name = "CYCLES")]
    cycles: Option<String>,
    /// Let rows be computed again to save RAM, up to so many multiply-accumulates, as a factor of the model's, e.g. 1.2 [default: 1]
    #[arg(long, value_name = "FACTOR")]
    recompute: Option<String>,
    /// Budget for constants in bytes, e.g. 64K; an error if they need more
    #[arg(long, value_name = "BYTES")]
    flash: Option<String>,
    /// How the input is given: whole, row by row (`push_row`), or as a sliding window of rows (`slide`) [default: whole]
    #[arg(long, value_name = "HOW", value_parser = ["whole", "rows", "sliding"])]
    input: Option<String>,
    /// The lines of a camera that become the input (`push_line`), e.g. "rgb565 320x240, crop = centre, resize = bilinear"
    #[arg(long, value_name = "LINES")]
    source: Option<String>,
    /// Audio features in front of the model, so that its input is samples, e.g. "librosa, sample_rate = 16000, n_fft = 512, hop = 160, n_mels = 40"
    #[arg(long, value_name = "FEATURES")]
    features: Option<String>,
    /// Shape of an input whose sizes the file leaves open, e.g. "[1, 49, 40]"; with its name if there are several inputs: "audio=[1, 49, 40]"
    #[arg(long, value_name = "[NAME=]SHAPE")]
    input_shape: Vec<String>,
    /// Name of an input or output of an ONNX model that is channel-last in the firmware, [n, h, w, c]; repeatable
    #[arg(long, value_name = "NAME")]
    channels_last: Vec<String>,
    /// An output that the model keeps as state and feeds to an input of the next inference; repeatable
    #[arg(long, value_name = "OUTPUT=INPUT")]
    state: Vec<String>,
    /// The function that computes a custom operator; repeatable
    #[arg(long, value_name = "NAME=PATH")]
    custom_op: Vec<String>,
    /// Types of inputs and outputs: those of the file, or integers, without the QUANTIZE and DEQUANTIZE at inputs and outputs [default: native]
    #[arg(long, value_name = "TYPES", value_parser = ["native", "quantized"])]
    io: Option<String>,
    /// The reference to reproduce where TensorFlow Lite Micro and LiteRT disagree [default: tflm]
    #[arg(long, value_name = "WHOSE", value_parser = Reference::NAMES)]
    reference: Option<String>,
    /// Layers of ONNX files in QDQ format: compute in integers, or in the floats that the file describes [default: integers]
    #[arg(long, value_name = "WHAT", value_parser = Qdq::NAMES)]
    qdq: Option<String>,
    /// By how many steps an output may drift when such layers become integer layers [default: 64]
    #[arg(long, value_name = "STEPS")]
    qdq_drift: Option<String>,
    /// Float arithmetic: as fast as possible, or the same bits on every processor [default: fast]
    #[arg(long, value_name = "WHICH", value_parser = Float::NAMES)]
    float: Option<String>,
    /// The processor to compile for [default: that of the board, or else the one that Cargo builds for in this folder]
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
    /// Report each layer to the observer of `kiln::events` while the model runs: its time and the range of its values [default: none]
    #[arg(long, value_name = "WHAT", value_parser = ["none", "layers"])]
    events: Option<String>,
    /// A file with a written schedule: which steps take turns, in what order, by which kernels. `tune` and `plan --emit schedule` write one
    #[arg(long, value_name = "FILE")]
    schedule: Option<String>,
    /// Name of the generated type [default: from the file's name]
    #[arg(long, value_name = "TYPE")]
    name: Option<String>,
}

impl OptionArgs {
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
        let optimize = Some(optimize.to_owned());
        let optional = [
            ("optimize", &optimize),
            ("ram", &self.ram),
            ("cycles", &self.cycles),
            ("recompute", &self.recompute),
            ("flash", &self.flash),
            ("input", &self.input),
            ("source", &self.source),
            ("features", &self.features),
            ("io", &self.io),
            ("reference", &self.reference),
            ("qdq", &self.qdq),
            ("qdq_drift", &self.qdq_drift),
            ("float", &self.float),
            ("target", &self.target),
            ("cores", &self.cores),
            ("fast_ram", &self.fast_ram),
            ("weights", &self.weights),
            ("weights_section", &self.weights_section),
            ("events", &self.events),
            ("schedule", &self.schedule),
            ("name", &self.name),
        ];
        let repeatable = [
            ("input_shape", &self.input_shape),
            ("channels_last", &self.channels_last),
            ("state", &self.state),
            ("custom_op", &self.custom_op),
        ];
        let mut options = Options::default();
        for (option, values) in optional {
            values.iter().try_for_each(|value| options.set(option, value))?;
        }
        for (option, values) in repeatable {
            values.iter().try_for_each(|value| options.set(option, value))?;
        }
        read_schedule(&mut options, Path::new(""))?;
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Command, CommandFactory, Parser};

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        options: OptionArgs,
    }

    /// What one flag sets.
    fn parsed(option: &str, value: &str) -> Options {
        let flag = format!("--{}={value}", option.replace('_', "-"));
        Only::try_parse_from(["kiln", &flag]).unwrap().options.options().unwrap()
    }

    #[test]
    fn every_option_of_the_compiler_is_a_flag() {
        let command: Command = Only::command();
        let flags: Vec<String> =
            command.get_arguments().filter_map(|flag| Some(flag.get_long()?.replace('-', "_"))).collect();
        for option in Options::NAMES {
            assert!(flags.iter().any(|flag| flag == option), "{option}");
        }
        assert_eq!(flags.len(), Options::NAMES.len());
        let values = [
            ("optimize", "memory"),
            ("input", "rows"),
            ("io", "quantized"),
            ("qdq_drift", "7"),
            ("cores", "2"),
            ("state", "h_out=h_in"),
            ("custom_op", "MyOp=a::b"),
        ];
        for (option, value) in values {
            assert_eq!(parsed(option, value).given(), [(option, value.to_owned())]);
        }
    }
}
