//! `cargo kiln bench`.

use super::board::BoardArgs;
use super::kiln::KilnArgs;
use super::model::ModelArgs;
use anyhow::Result;
use cargo_kiln::bench::{bench, measure, trade, trade_json, Benchmark};
use clap::Args;
use std::process::ExitCode;

pub(super) const EXAMPLES: &str = "\
On an emulated board, instructions are exact. Cycles are estimated from the tables of the core's manual, without wait states; docs/cycles.md \
lists what that leaves out. On a real board, the processor's cycle counter measures them.

Flash is that of the whole image: the model, and 1 to 3 KB of other code. Stack is the high-water mark of one inference: the free stack is \
painted before, and searched afterwards for the deepest word that changed.

With --input rows, an inference takes all rows of one input. With --input sliding, it is one hop in steady state: the frames from one output to the next. \
The cost of a whole inference per window is shown for comparison.

Examples:
  cargo kiln bench kws.tflite
  cargo kiln bench wakeword.tflite --input sliding
  cargo kiln bench kws.tflite --optimize size --per-layer
  cargo kiln bench kws.tflite --optimize speed,size,memory
      The cost of each mode, in one table
  cargo kiln bench kws.tflite --board qemu-cortex-m0 --json
  cargo kiln bench kws.tflite --board nrf52840-dk
      Cycles measured on the board";

#[derive(Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    board: BoardArgs,
    /// Also show each layer, measured in a second run
    #[arg(long)]
    per_layer: bool,
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
        self.kiln.prefer()?;
        let (model, options, probe) = (&self.model.model, self.model.each_options()?, self.board.probe());
        let board = self.board.find()?;
        let each = options.iter();
        if board.is_emulated() {
            let reports = each.map(|options| bench(model, options, &board.name, self.per_layer));
            self.print(&reports.collect::<Result<Vec<_>>>()?);
        } else {
            let reports = each.map(|options| measure(model, options, board, probe, self.per_layer));
            self.print(&reports.collect::<Result<Vec<_>>>()?);
        }
        Ok(ExitCode::SUCCESS)
    }

    fn print<B: Benchmark>(&self, reports: &[B]) {
        match (reports, self.json) {
            ([report], true) => sayln!("{:#}", report.json()),
            ([report], false) => say!("{}", report.text()),
            (reports, true) => sayln!("{:#}", trade_json(reports)),
            (reports, false) => {
                if self.per_layer {
                    reports.iter().for_each(|report| sayln!("{}", report.text()));
                }
                say!("{}", trade(reports));
            }
        }
    }
}
