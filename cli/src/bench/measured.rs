//! What one inference takes on a real board, measured there.

use super::costs::{Benchmark, Costs};
use super::layers::{self, Layer};
use crate::on_board::on_board;
use crate::place::{build_firmware, for_board, TIME_LIMIT};
use anyhow::{Context, Result};
use kiln_boards::{firmware, probe, Board};
use kiln_codegen::{compile, Compiled, Events, Options};
use serde_json::{json, Value};
use std::path::Path;

/// What was measured on a real board.
#[derive(Clone, Debug)]
pub struct Measurement {
    compiled: Compiled,
    board: &'static Board,
    result: probe::Measured,
    layers: Vec<Layer>,
}

/// Measures one inference on a real board: cycles by a counter of the processor, memory. `probe` is the serial number of the debug probe.
/// With `per_layer` each layer is measured in a second run, in which the model tells about them: what that takes is not in their cycles.
///
/// # Errors
/// Where the model does not compile, build or run there.
pub fn measure(
    model: &Path,
    options: &Options,
    board: &'static Board,
    probe: Option<&str>,
    per_layer: bool,
) -> Result<Measurement> {
    probe::expect_usb()?;
    let (bytes, name) = (kiln_codegen::read_file(model)?, kiln_codegen::model_name(model));
    let options = for_board(options, board);
    let build = |options: &Options, mode| -> Result<(Compiled, firmware::Firmware)> {
        let compiled = compile(&bytes, &name, options)?;
        let image = build_firmware(&compiled, board, mode)?;
        Ok((compiled, image))
    };
    // Everything that can be wrong with the model is, before a board is touched.
    let (compiled, image) = build(&options, firmware::Mode::Bench)?;
    let told = Options { events: Events::Layers, ..options };
    let told = per_layer.then(|| build(&told, firmware::Mode::Layers)).transpose()?;
    let on = || format!("on {}", board.name);
    let result = probe::bench(&image, probe, TIME_LIMIT).with_context(on)?;
    let layers = match told {
        Some((_, image)) => {
            layers::measured(&compiled, probe::layers(&image, probe, TIME_LIMIT).with_context(on)?)
        }
        None => Vec::new(),
    };
    Ok(Measurement { compiled, board, result, layers })
}

impl Benchmark for Measurement {
    fn costs(&self) -> Costs<'_> {
        Costs {
            compiled: &self.compiled,
            board: &self.board.name,
            instructions: None,
            cycles: self.result.cycles,
            clock: "measured at the clock after reset".into(),
            stack_bytes: self.result.stack_bytes,
            flash: &self.result.flash,
            layers: &self.layers,
            on_boards: vec![on_board(self.board, self.result.cycles)],
            on_boards_title: "at the board's own clock, estimated: as if no wait states came on top",
        }
    }

    fn text(&self) -> String {
        let after_reset = "at the clock after reset, wait states of that clock included";
        let time = vec![("cycles, measured", self.result.cycles, after_reset.into())];
        self.costs().text(time, "")
    }

    fn json(&self) -> Value {
        self.costs().json(json!({ "cycles_measured": self.result.cycles, "clock_hz": self.board.clock_hz }))
    }
}
