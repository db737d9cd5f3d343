//! `cargo kiln`: the compiler on the command line.

use anyhow::{bail, Result};
use cargo_kiln::bench::Report;
use cargo_kiln::{bench, explain, kernels, plan, validate};
use clap::{Args, Parser, Subcommand};
use kiln_codegen::{compile_file, read_file, write_whole, Compiled, Optimize, Options, Target};
use quote::quote;
use std::path::PathBuf;
use std::process::ExitCode;

/// Fires trained neural networks into plain no_std Rust
///
/// The answer is on standard output, whatever goes wrong on standard error. The exit status is 0 where the answer is good, 1 where it is not
/// (the model does not compile, outputs differ) or there is none, and 2 for arguments that make no sense.
#[derive(Parser)]
#[command(name = "cargo-kiln", bin_name = "cargo kiln", version, propagate_version = true, after_long_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  cargo kiln explain kws.tflite
      Operators, shapes, MACs; whether it compiles, and if not, why
  cargo kiln compile kws.tflite -o src/kws.rs --ram 20K
      A Rust file to check in; fails where arena and state need more than 20 KiB
  cargo kiln validate kws.tflite --golden kws.npz --on interp,host,qemu-cortex-m4
      Generated code against recorded outputs, in three places
  cargo kiln bench kws.tflite --per-layer
      Instructions, cycles, RAM and flash on an emulated Cortex-M4";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  cargo kiln explain kws.tflite
  cargo kiln explain kws.tflite --kernels --target cortex-m0
  cargo kiln explain kws.tflite > /dev/null && echo it compiles";

const COMPILE_EXAMPLES: &str = "\
Examples:
  cargo kiln compile kws.tflite -o src/kws.rs
      Then, in the crate: `mod kws;` and `use kws::Kws;`
  cargo kiln compile kws.tflite -o src/kws.rs --name Keywords --optimize size --ram 20K --flash 64K";

const PLAN_EXAMPLES: &str = "\
Examples:
  cargo kiln plan kws.tflite
  cargo kiln plan kws.tflite --optimize memory --input rows --svg .
  cargo kiln plan kws.tflite --json | jq .arena_bytes";

const VALIDATE_EXAMPLES: &str = "\
A golden file is written with numpy.savez(\"kws.npz\", in_0=…, out_0=…): the k-th input and output of the model in the model's own types,
the first axis counting cases. The cases of a model with state are the steps of one sequence, from a reset.

Integers have to be equal. Floats may differ by 1e-5 of the largest magnitude in the output of the case.

With --input rows or sliding, the cases are given row by row. A sliding model is also given 200 frames or more without an end, and each of
its outputs compared with the interpreter's on the window of the latest frames.

Examples:
  cargo kiln validate kws.tflite --golden kws.npz
  cargo kiln validate kws.tflite --golden kws.npz --on interp
      Without building anything
  cargo kiln validate kws.tflite --golden kws.npz --on qemu-cortex-m0,qemu-cortex-m33 --json
  cargo kiln validate wakeword.tflite --golden wakeword.npz --input sliding";

const BENCH_EXAMPLES: &str = "\
Instructions are exact. Cycles are estimated by the tables of the core's manual, without wait states; docs/cycles.md says what that leaves out.
Flash is that of the whole image, which has 1 to 3 KB besides the model. Stack is the high-water mark of one inference: all that is free of
it is painted before, and searched for the deepest word that changed.

An inference with --input rows is all rows of one input. With --input sliding it is one hop in steady state: the frames from one window's
output to the next, and beside it what the model costs when it is invoked on every window.

Examples:
  cargo kiln bench kws.tflite
  cargo kiln bench wakeword.tflite --input sliding
  cargo kiln bench kws.tflite --optimize size --per-layer
  cargo kiln bench kws.tflite --optimize speed,size,memory
      What each costs, in one table
  cargo kiln bench kws.tflite --on qemu-cortex-m0 --json";

#[derive(Subcommand)]
enum Command {
    /// Say what a model is and whether it compiles; exit 1 with every reason if it does not
    #[command(after_long_help = EXPLAIN_EXAMPLES)]
    Explain {
        /// The model, a .tflite file
        model: PathBuf,
        /// Also say which kernel each step gets, with its constants, workspace and requantisation
        #[arg(long)]
        kernels: bool,
        /// The processor whose kernels they are
        #[arg(long, value_name = "CPU", default_value = "cortex-m4", value_parser = Target::NAMES)]
        target: String,
    },
    /// Compile a model to a Rust file
    #[command(after_long_help = COMPILE_EXAMPLES)]
    Compile {
        #[command(flatten)]
        model: ModelArgs,
        /// The Rust file to write; never left half-written
        #[arg(short, long, value_name = "FILE")]
        output: PathBuf,
    },
    /// Show what runs when, the arena step by step against the lower bound, and which schedules were tried
    #[command(after_long_help = PLAN_EXAMPLES)]
    Plan {
        #[command(flatten)]
        model: ModelArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Also write pictures there: the arena over time, and each pipeline
        #[arg(long, value_name = "FOLDER")]
        svg: Option<PathBuf>,
    },
    /// Run a model on golden cases in several places and compare every output; exit 1 on a mismatch
    #[command(after_long_help = VALIDATE_EXAMPLES)]
    Validate {
        #[command(flatten)]
        model: ModelArgs,
        /// NumPy archive with in_k and out_k, the first axis counting cases
        #[arg(long, value_name = "CASES.npz")]
        golden: PathBuf,
        /// Where to run it: interp, host, qemu-cortex-m0, qemu-cortex-m3, qemu-cortex-m4, qemu-cortex-m7, qemu-cortex-m33
        #[arg(
            long,
            value_name = "PLACE",
            value_delimiter = ',',
            default_value = "interp,host,qemu-cortex-m4"
        )]
        on: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Count the instructions and estimate the cycles of one inference on an emulated board
    #[command(after_long_help = BENCH_EXAMPLES)]
    Bench {
        #[command(flatten)]
        model: ModelArgs,
        /// The emulated board: qemu-cortex-m0, qemu-cortex-m3, qemu-cortex-m4, qemu-cortex-m7, qemu-cortex-m33
        #[arg(long, value_name = "BOARD", default_value = "qemu-cortex-m4")]
        on: String,
        /// Also per layer, from a second run with a marker before each
        #[arg(long)]
        per_layer: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
struct ModelArgs {
    /// The model, a .tflite file
    model: PathBuf,
    /// Name of the generated type [default: from the file's name]
    #[arg(long, value_name = "TYPE")]
    name: Option<String>,
    /// What to favour; for `bench` also several at once, e.g. speed,size
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "speed", value_parser = Optimize::NAMES)]
    optimize: Vec<String>,
    /// Budget of arena and state in bytes, e.g. 20K; over it is an error
    #[arg(long, value_name = "BYTES")]
    ram: Option<String>,
    /// Budget of constants in bytes, e.g. 64K; over it is an error
    #[arg(long, value_name = "BYTES")]
    flash: Option<String>,
    /// Bytes of faster RAM, e.g. 16K: an arena of at most that many holds what is accessed most, another one the rest
    #[arg(long, value_name = "BYTES")]
    fast_ram: Option<String>,
    /// Link section of the constants, e.g. .flash2
    #[arg(long, value_name = "SECTION")]
    weights_section: Option<String>,
    /// Types of inputs and outputs: those of the file, or integers (QUANTIZE and DEQUANTIZE at the edges dropped)
    #[arg(long, value_name = "TYPES", default_value = "native", value_parser = ["native", "quantized"])]
    io: String,
    /// How the input is given: whole, row by row (`push_row`), or as the window of the latest rows (`slide`)
    #[arg(long, value_name = "HOW", default_value = "whole", value_parser = ["whole", "rows", "sliding"])]
    input: String,
    /// The processor that code is made for [default: that of the board it runs on, otherwise any]
    #[arg(long, value_name = "CPU", value_parser = Target::NAMES)]
    target: Option<String>,
}

impl ModelArgs {
    /// The options, where there is one thing to favour.
    fn options(&self) -> Result<Options> {
        let mut all = self.each_options()?;
        match (all.pop(), all.is_empty()) {
            (Some(options), true) => Ok(options),
            _ => bail!("--optimize takes one value here; several are for `cargo kiln bench`"),
        }
    }

    /// The options for each thing to favour.
    fn each_options(&self) -> Result<Vec<Options>> {
        self.optimize.iter().map(|optimize| self.options_for(optimize)).collect()
    }

    fn options_for(&self, optimize: &str) -> Result<Options> {
        let mut options = Options::default();
        options.set("optimize", optimize)?;
        options.set("io", &self.io)?;
        options.set("input", &self.input)?;
        let optional = [
            ("name", &self.name),
            ("ram", &self.ram),
            ("flash", &self.flash),
            ("fast_ram", &self.fast_ram),
            ("weights_section", &self.weights_section),
            ("target", &self.target),
        ];
        for (option, value) in optional {
            if let Some(value) = value {
                options.set(option, value)?;
            }
        }
        Ok(options)
    }

    fn compile(&self) -> Result<Compiled> {
        Ok(compile_file(&self.model, &self.options()?)?)
    }
}

fn main() -> ExitCode {
    // Cargo runs `cargo-kiln kiln …` for `cargo kiln …`.
    let mut args: Vec<_> = std::env::args_os().collect();
    if args.get(1).is_some_and(|arg| arg == "kiln") {
        args.remove(1);
    }
    match run(Cli::parse_from(args).command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command; `false` where it did its work and the answer is no.
fn run(command: Command) -> Result<bool> {
    match command {
        Command::Explain { model, kernels, target } => {
            let bytes = read_file(&model)?;
            let (text, compiles) = explain::explain(&bytes, &kiln_codegen::model_name(&model))?;
            print!("{text}");
            if compiles && kernels {
                let options = Options { target: Some(target.parse()?), ..Options::default() };
                print!("{}", kernels::kernels(&compile_file(&model, &options)?));
            }
            Ok(compiles)
        }
        Command::Compile { model, output } => {
            let compiled = model.compile()?;
            write_whole(&output, &compiled.file(&quote!(pub))?)?;
            println!("{}: {}", output.display(), plan::summary(&compiled));
            Ok(true)
        }
        Command::Plan { model, json, svg } => {
            let compiled = model.compile()?;
            if let Some(folder) = svg {
                for (name, picture) in plan::pictures(&compiled) {
                    write_whole(&folder.join(name), &picture)?;
                }
            }
            match json {
                true => println!("{:#}", plan::json(&compiled)),
                false => print!("{}", plan::text(&compiled)),
            }
            Ok(true)
        }
        Command::Validate { model, golden, on, json } => {
            let report = validate::validate(&model.model, &model.options()?, &golden, &on)?;
            match json {
                true => println!("{:#}", report.json()),
                false => print!("{}", report.text()),
            }
            Ok(report.passes())
        }
        Command::Bench { model, on, per_layer, json } => {
            let options = model.each_options()?;
            let reports: Vec<Report> = options
                .iter()
                .map(|options| bench::bench(&model.model, options, &on, per_layer))
                .collect::<Result<_>>()?;
            match (reports.as_slice(), json) {
                ([report], true) => println!("{:#}", report.json()),
                ([report], false) => print!("{}", report.text()),
                (reports, true) => println!("{:#}", bench::trade_json(reports)),
                (reports, false) => {
                    if per_layer {
                        reports.iter().for_each(|report| println!("{}", report.text()));
                    }
                    print!("{}", bench::trade(reports));
                }
            }
            Ok(true)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn help_names_every_emulated_board() {
        Cli::command().debug_assert();
        for command in ["validate", "bench"] {
            let help = Cli::command().find_subcommand_mut(command).unwrap().render_long_help().to_string();
            for board in kiln_boards::Board::all().iter().filter(|board| board.is_emulated()) {
                assert!(help.contains(&board.name), "{command}: {}", board.name);
            }
        }
    }
}
