//! `cargo kiln new`.

use super::kiln::KilnArgs;
use super::model::OptionArgs;
use anyhow::Result;
use cargo_kiln::boards;
use cargo_kiln::new::{create, Flavour, Request};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) const EXAMPLES: &str = "\
The crate has a Cargo.toml, a .cargo/config.toml (target and runner), the board's memory.x, the model as src/lib.rs with a test \
that runs on this machine (`cargo host-test`), src/main.rs with the firmware, and a README. The firmware runs the model on a sample input and compares \
the output with that of Kiln's interpreter.

The crate depends on the same release or checkout of Kiln that this program was built from. Before anything is written, the model is compiled \
and has to fit the board's memories.

Examples:
  cargo kiln new kws-demo --board qemu-cortex-m4 --model kws.tflite && cd kws-demo && cargo run --release
  cargo kiln new kws-demo --board raspberry-pi-pico --model kws.tflite --embassy
  cargo kiln new kws-demo --board nrf52840-dk --model kws.tflite --optimize size --ram 20K
      With options of the compiler: they are those of `cargo kiln compile`
  cargo kiln new kws-demo --board nrf52840-dk --model kws.tflite --tests embedded-test
      With a test for the board, which probe-rs runs
  cargo kiln new kws-demo --board nrf52840-dk --model kws.tflite --kiln-path ~/kiln";

#[derive(Args)]
pub(crate) struct Arguments {
    /// The folder to create; its name becomes the crate's name
    #[arg(value_name = "NAME")]
    folder: PathBuf,
    /// The board: `cargo kiln boards` lists them
    #[arg(long, value_name = "BOARD", value_parser = boards::any(), hide_possible_values = true)]
    board: String,
    /// The model: a file of any format that Kiln reads. It is copied into the crate
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
    /// Also write a test that runs on the board: `cargo test`, through probe-rs
    #[arg(long, value_name = "HARNESS", value_parser = ["embedded-test"])]
    tests: Option<String>,
    #[command(flatten)]
    kiln: KilnArgs,
    #[command(flatten)]
    options: OptionArgs,
}

impl Arguments {
    pub(super) fn run(self) -> Result<ExitCode> {
        say!("{}", create(&self.request()?)?);
        Ok(ExitCode::SUCCESS)
    }

    fn request(self) -> Result<Request> {
        let flavour = match (self.embassy, self.rtic) {
            (true, _) => Flavour::Embassy,
            (_, true) => Flavour::Rtic,
            _ => Flavour::Bare,
        };
        Ok(Request {
            folder: self.folder,
            board: self.board,
            model: self.model,
            flavour,
            embedded_test: self.tests.is_some(),
            options: self.options.options()?,
            kiln: self.kiln.kiln_path,
        })
    }
}
