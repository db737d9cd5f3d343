//! `cargo kiln`: the compiler on the command line.

use anyhow::{bail, Result};
use cargo_kiln::bench::Report;
use cargo_kiln::flash::Firmware;
use cargo_kiln::place::Place;
use cargo_kiln::{bench, emit, explain, flash, kernels, new, plan, report, validate};
use clap::{Args, Parser, Subcommand};
use kiln_boards::Board;
use kiln_codegen::{compile_file, read_file, write_whole, Compiled, Optimize, Options, Target};
use quote::quote;
use std::path::{Path, PathBuf};
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
      Operators, shapes, MACs; whether it compiles, and if not, why; what makes it slower than it could be
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
  cargo kiln explain kws.tflite --kernels --optimize size
  cargo kiln explain kws.tflite > /dev/null && echo it compiles";

const COMPILE_EXAMPLES: &str = "\
Examples:
  cargo kiln compile kws.tflite -o src/kws.rs
      Then, in the crate: `mod kws;` and `use kws::Kws;`
  cargo kiln compile kws.tflite -o src/kws.rs --name Keywords --optimize size --ram 20K --flash 64K
  cargo kiln compile kws.tflite --emit ir-after-each-pass
      For those who work on the compiler: what each pass left of the graph";

const REPORT_EXAMPLES: &str = "\
The page needs nothing else: no network, no file beside it. It has the graph as compiled, the arena over time, a table of layers, what each
pass did, what is proven, and the ways to optimise side by side. Text and JSON say the same. With --on, cycles are estimated layer by layer.

Examples:
  cargo kiln report kws.tflite -o report.html
  cargo kiln report kws.tflite -o report.html --on qemu-cortex-m4
  cargo kiln report kws.tflite --optimize memory --format text
  cargo kiln report kws.tflite --format json | jq .totals";

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

const FLASH_EXAMPLES: &str = "\
The image is checked against the board before a probe is looked for, and the chip's part number against the board's before anything is
erased. Then the sectors that the image touches are erased, programmed, read back and compared, and the chip is reset.

Examples:
  cargo kiln flash --board nrf52840-dk
      The package in this folder
  cargo kiln flash --board nrf52840-dk target/thumbv7em-none-eabihf/release/app --probe 1050001234
  cargo kiln flash --board stm32l4r5zi-nucleo --dry-run
      What would be written, without a probe";

const RUN_EXAMPLES: &str = "\
The firmware's output (RTT, defmt frames decoded, semihosting) is on standard output. It ends by a semihosting call, or with Ctrl-C.
In .cargo/config.toml it is a runner: `runner = \"cargo kiln run --board nrf52840-dk\"`.

Examples:
  cargo kiln run --board nrf52840-dk
  cargo kiln run --board qemu-cortex-m4 target/thumbv7em-none-eabihf/release/app";

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
  cargo kiln bench kws.tflite --on qemu-cortex-m0 --json
  cargo kiln bench kws.tflite --board nrf52840-dk
      Cycles measured on the board, by a counter of its processor";

const NEW_EXAMPLES: &str = "\
The crate has a Cargo.toml, a .cargo/config.toml (target, and what `cargo run` calls), the board's memory.x, the model as src/lib.rs with a test
that runs on this machine (`cargo host-test`), src/main.rs with the firmware, and a README. The firmware runs the model on a sample and compares
with the answer of Kiln's interpreter.

It depends on the release of Kiln that this program is, or on the checkout that it was built in. Before anything is written, the model is compiled
and has to fit the board's memories.

Examples:
  cargo kiln new kws-demo --board qemu-cortex-m4 --model kws.tflite && cd kws-demo && cargo run --release
  cargo kiln new kws-demo --board raspberry-pi-pico --model kws.tflite --embassy
  cargo kiln new kws-demo --board nrf52840-dk --model kws.tflite --kiln-path ~/kiln";

#[derive(Subcommand)]
enum Command {
    /// Write a firmware crate for a model and a board
    #[command(after_long_help = NEW_EXAMPLES)]
    New(NewArgs),
    /// Say what a model is, whether it compiles (exit 1 with every reason if it does not), and what could be better
    #[command(after_long_help = EXPLAIN_EXAMPLES)]
    Explain {
        /// The model, a .tflite file
        model: PathBuf,
        /// Also say which kernel each step gets, with its constants, workspace and requantisation
        #[arg(long)]
        kernels: bool,
        /// The processor whose kernels they are, and that advice is for
        #[arg(long, value_name = "CPU", default_value = "cortex-m4", value_parser = Target::NAMES)]
        target: String,
        /// What they are to favour
        #[arg(long, value_name = "WHAT", default_value = "speed", value_parser = Optimize::NAMES)]
        optimize: String,
    },
    /// Compile a model to a Rust file
    #[command(after_long_help = COMPILE_EXAMPLES)]
    Compile {
        #[command(flatten)]
        model: ModelArgs,
        /// The file to write; never left half-written
        #[arg(short, long, value_name = "FILE", required_unless_present = "emit")]
        output: Option<PathBuf>,
        /// What to write, for those who work on the compiler [default: rust]; to standard output where no file is named
        #[arg(long, value_name = "STAGE", value_parser = emit::STAGES)]
        emit: Option<String>,
    },
    /// Say everything about a compiled model on one page, or as text or JSON
    #[command(after_long_help = REPORT_EXAMPLES)]
    Report {
        #[command(flatten)]
        model: ModelArgs,
        /// The file to write; never left half-written [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// How [default: as the file ends, otherwise text]
        #[arg(long, value_name = "FORMAT", value_parser = ["html", "text", "json"])]
        format: Option<String>,
        /// Estimate cycles on an emulated board: qemu-cortex-m0, qemu-cortex-m3, qemu-cortex-m4, qemu-cortex-m7, qemu-cortex-m33, qemu-cortex-m55, qemu-rv32imc
        #[arg(long, value_name = "BOARD")]
        on: Option<String>,
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
    /// Write firmware to a board over its debug probe, and start it
    #[command(after_long_help = FLASH_EXAMPLES)]
    Flash {
        #[command(flatten)]
        firmware: Firmware,
    },
    /// Write firmware to a board (or start QEMU), print what it says, and end with its exit status
    #[command(after_long_help = RUN_EXAMPLES)]
    Run {
        #[command(flatten)]
        firmware: Firmware,
    },
    /// Run a model on golden cases in several places and compare every output; exit 1 on a mismatch
    #[command(after_long_help = VALIDATE_EXAMPLES)]
    Validate {
        #[command(flatten)]
        model: ModelArgs,
        /// NumPy archive with in_k and out_k, the first axis counting cases
        #[arg(long, value_name = "CASES.npz")]
        golden: PathBuf,
        /// Where to run it: interp, host, a real board (nrf52840-dk, or nrf52840-dk@SERIAL of its probe), qemu-cortex-m0, qemu-cortex-m3, qemu-cortex-m4, qemu-cortex-m7, qemu-cortex-m33, qemu-cortex-m55, qemu-rv32imc
        #[arg(
            long,
            value_name = "PLACE",
            value_delimiter = ',',
            default_value = "interp,host,qemu-cortex-m4"
        )]
        on: Vec<String>,
        #[command(flatten)]
        board: BoardArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Count the instructions and estimate the cycles of one inference on an emulated board, or measure cycles on a real one
    #[command(after_long_help = BENCH_EXAMPLES)]
    Bench {
        #[command(flatten)]
        model: ModelArgs,
        /// The emulated board: qemu-cortex-m0, qemu-cortex-m3, qemu-cortex-m4, qemu-cortex-m7, qemu-cortex-m33, qemu-cortex-m55, qemu-rv32imc
        #[arg(long, value_name = "BOARD", default_value = "qemu-cortex-m4")]
        on: String,
        #[command(flatten)]
        board: BoardArgs,
        /// Also per layer, from a second run with a marker before each
        #[arg(long)]
        per_layer: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// A board instead of the places of `--on`.
#[derive(Args)]
struct BoardArgs {
    /// A board, real (over its debug probe) or emulated; `cargo kiln flash --help` says more about probes
    #[arg(long, conflicts_with = "on")]
    board: Option<String>,
    /// Serial number of the debug probe, where there are several
    #[arg(long, value_name = "SERIAL", requires = "board")]
    probe: Option<String>,
}

impl BoardArgs {
    /// The board as a place, if one was given.
    fn place(&self) -> Option<String> {
        let board = self.board.as_ref()?;
        Some(match &self.probe {
            Some(probe) => format!("{board}@{probe}"),
            None => board.clone(),
        })
    }
}

#[derive(Args)]
struct NewArgs {
    /// The folder to be made; its name is the crate's
    #[arg(value_name = "NAME")]
    folder: PathBuf,
    /// The board; a name that is none gets the list
    #[arg(long, value_name = "BOARD")]
    board: String,
    /// The model, a .tflite file, which is copied into the crate
    #[arg(long, value_name = "MODEL")]
    model: PathBuf,
    /// Firmware without an operating system or executor (the default)
    #[arg(long, group = "flavour")]
    bare: bool,
    /// An Embassy application: another task runs between the layers of the model
    #[arg(long, group = "flavour")]
    embassy: bool,
    /// An RTIC application with the model in a task
    #[arg(long, group = "flavour")]
    rtic: bool,
    /// What to favour
    #[arg(long, value_name = "WHAT", default_value = "speed", value_parser = Optimize::NAMES)]
    optimize: String,
    /// The checkout of Kiln that the crate is to depend on
    #[arg(long, value_name = "FOLDER")]
    kiln_path: Option<PathBuf>,
}

impl NewArgs {
    fn request(self) -> Result<new::Request> {
        let flavour = match (self.embassy, self.rtic) {
            (true, _) => new::Flavour::Embassy,
            (_, true) => new::Flavour::Rtic,
            _ => new::Flavour::Bare,
        };
        Ok(new::Request {
            folder: self.folder,
            board: self.board,
            model: self.model,
            flavour,
            optimize: self.optimize.parse()?,
            kiln: self.kiln_path,
        })
    }
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
    /// What the model tells the observer of `kiln::events` while it runs: for each layer its time and the range of its values
    #[arg(long, value_name = "WHAT", default_value = "none", value_parser = ["none", "layers"])]
    events: String,
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
        options.set("events", &self.events)?;
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

/// Ends with the status of a program that said itself what went wrong.
fn end_with(status: i32) -> ! {
    std::process::exit(status)
}

/// Runs a command; `false` where it did its work and the answer is no.
fn run(command: Command) -> Result<bool> {
    match command {
        Command::New(arguments) => {
            print!("{}", new::create(&arguments.request()?)?);
            Ok(true)
        }
        Command::Explain { model, kernels, target, optimize } => {
            let bytes = read_file(&model)?;
            let (target, optimize) = (Some(target.parse()?), optimize.parse()?);
            let options = Options { target, optimize, ..Options::default() };
            let (text, compiles) = explain::explain(&bytes, &kiln_codegen::model_name(&model), &options)?;
            print!("{text}");
            if compiles && kernels {
                print!("{}", kernels::kernels(&compile_file(&model, &options)?));
            }
            Ok(compiles)
        }
        Command::Compile { model, output: Some(output), emit: None } => {
            let compiled = model.compile()?;
            write_whole(&output, &compiled.file(&quote!(pub))?)?;
            println!("{}: {}", output.display(), plan::summary(&compiled));
            Ok(true)
        }
        Command::Compile { model, output, emit } => {
            let stage = emit.as_deref().unwrap_or("rust");
            write_or_print(output.as_deref(), &emit::emit(&model.model, &model.options()?, stage)?)
        }
        Command::Report { model, output, format, on } => {
            let mut options = model.options()?;
            if model.target.is_none() {
                options.target = Some(Target::CortexMDsp);
            }
            let report = report::report(&model.model, &options, on.as_deref())?;
            let ending = output.as_ref().and_then(|path| path.extension()?.to_str());
            let text = match format.as_deref().or(ending) {
                Some("html") => report.page(),
                Some("json") => report.json()?,
                _ => report.text(),
            };
            write_or_print(output.as_deref(), &text)
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
        Command::Flash { firmware } => end_with(flash::flash(&firmware)?),
        Command::Run { firmware } => end_with(flash::run(&firmware)?),
        Command::Validate { model, golden, on, board, json } => {
            let on = board.place().map_or(on, |place| vec![place]);
            let report = validate::validate(&model.model, &model.options()?, &golden, &on)?;
            match json {
                true => println!("{:#}", report.json()),
                false => print!("{}", report.text()),
            }
            Ok(report.passes())
        }
        Command::Bench { model, on, board, per_layer, json } => {
            let options = model.each_options()?;
            let on = board.place().unwrap_or(on);
            if let Place::Real(board, probe) = Place::find(&on)? {
                return measure(&model.model, &options, board, probe.as_deref(), per_layer, json);
            }
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

/// Writes a file and says so, or prints the text where there is none.
fn write_or_print(path: Option<&Path>, text: &str) -> Result<bool> {
    match path {
        Some(path) => {
            write_whole(path, text)?;
            println!("{}", path.display());
        }
        None => print!("{text}"),
    }
    Ok(true)
}

/// `bench` on a real board.
fn measure(
    model: &Path,
    options: &[Options],
    board: &'static Board,
    probe: Option<&str>,
    per_layer: bool,
    json: bool,
) -> Result<bool> {
    if per_layer {
        bail!(
            "layers are counted under QEMU: --per-layer takes an emulated board, such as --on qemu-cortex-m4"
        );
    }
    for options in options {
        let measurement = bench::measure(model, options, board, probe)?;
        match json {
            true => println!("{:#}", measurement.json()),
            false => print!("{}", measurement.text()),
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn help_names_every_emulated_board() {
        Cli::command().debug_assert();
        for command in ["validate", "bench", "report"] {
            let help = Cli::command().find_subcommand_mut(command).unwrap().render_long_help().to_string();
            for board in kiln_boards::Board::all().iter().filter(|board| board.is_emulated()) {
                assert!(help.contains(&board.name), "{command}: {}", board.name);
            }
        }
    }
}
