//! `cargo kiln`: the compiler on the command line.

use anyhow::{Context, Result};
use cargo_kiln::{bench, explain, plan, validate};
use clap::{Args, Parser, Subcommand};
use kiln_codegen::{compile_file, write_whole, Compiled, Optimize, Options};
use quote::quote;
use std::path::PathBuf;
use std::process::ExitCode;

/// Fires trained neural networks into plain no_std Rust.
#[derive(Parser)]
#[command(name = "cargo-kiln", bin_name = "cargo kiln", version, about, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Say what a model is and whether it compiles; exit 1 with every reason if it does not
    Explain {
        /// The model file
        model: PathBuf,
    },
    /// Compile a model to a Rust file
    Compile {
        #[command(flatten)]
        model: ModelArgs,
        /// The Rust file to write
        #[arg(short, long)]
        output: PathBuf,
    },
    /// Show the arena step by step, against the lower bound
    Plan {
        #[command(flatten)]
        model: ModelArgs,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a model on golden cases in several places and compare every output; exit 1 on a mismatch
    Validate {
        #[command(flatten)]
        model: ModelArgs,
        /// NumPy archive with in_k and out_k, the first axis counting cases
        #[arg(long)]
        golden: PathBuf,
        /// Where to run it: interp, host, or an emulated board such as qemu-cortex-m4
        #[arg(long, value_delimiter = ',', default_value = "interp,host,qemu-cortex-m4")]
        on: Vec<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Count the instructions and estimate the cycles of one inference on an emulated board
    Bench {
        #[command(flatten)]
        model: ModelArgs,
        /// The board
        #[arg(long, default_value = "qemu-cortex-m4")]
        on: String,
        /// Also per layer
        #[arg(long)]
        per_layer: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
struct ModelArgs {
    /// The model file
    model: PathBuf,
    /// Name of the generated type [default: from the file's name]
    #[arg(long)]
    name: Option<String>,
    /// What to favour
    #[arg(long, default_value = "speed", value_parser = Optimize::NAMES)]
    optimize: String,
    /// Most bytes of arena and state, e.g. 20K
    #[arg(long)]
    ram: Option<String>,
    /// Most bytes of constants, e.g. 64K
    #[arg(long)]
    flash: Option<String>,
    /// Link section of the constants
    #[arg(long)]
    weights_section: Option<String>,
    /// Types of inputs and outputs
    #[arg(long, default_value = "native", value_parser = ["native", "quantized"])]
    io: String,
}

impl ModelArgs {
    fn options(&self) -> Result<Options> {
        let mut options = Options::default();
        options.set("optimize", &self.optimize)?;
        options.set("io", &self.io)?;
        let optional = [
            ("name", &self.name),
            ("ram", &self.ram),
            ("flash", &self.flash),
            ("weights_section", &self.weights_section),
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
        Command::Explain { model } => {
            let bytes =
                std::fs::read(&model).with_context(|| format!("cannot read `{}`", model.display()))?;
            let (text, compiles) = explain::explain(&bytes, &kiln_codegen::model_name(&model))?;
            print!("{text}");
            Ok(compiles)
        }
        Command::Compile { model, output } => {
            let compiled = model.compile()?;
            write_whole(&output, &compiled.file(&quote!(pub))?)?;
            println!("{}: {}", output.display(), plan::summary(&compiled));
            Ok(true)
        }
        Command::Plan { model, json } => {
            let compiled = model.compile()?;
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
            let report = bench::bench(&model.model, &model.options()?, &on, per_layer)?;
            match json {
                true => println!("{:#}", report.json()),
                false => print!("{}", report.text()),
            }
            Ok(true)
        }
    }
}
