//! What one inference takes on a real board, measured there.

use super::costs::{Benchmark, Costs};
use crate::place::{build_firmware, for_board, TIME_LIMIT};
use anyhow::{bail, Context, Result};
use kiln_boards::{firmware, probe, Board};
use kiln_codegen::{compile, Compiled, Options};
use serde_json::{json, Value};
use std::path::Path;

/// What was measured on a real board.
#[derive(Clone, Debug)]
pub struct Measurement {
    compiled: Compiled,
    board: &'static Board,
    result: probe::Measured,
}

/// Measures one inference on a real board: cycles by a counter of the processor, memory. `probe` is the serial number of the debug probe.
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
    if per_layer {
        bail!("layers are counted under QEMU: --per-layer takes an emulated board, such as --board qemu-cortex-m4");
    }
    let bytes = kiln_codegen::read_file(model)?;
    let compiled = compile(&bytes, &kiln_codegen::model_name(model), &for_board(options, board))?;
    let image = build_firmware(&compiled, board, firmware::Mode::Bench)?;
    let result = probe::bench(&image, probe, TIME_LIMIT).with_context(|| format!("on {}", board.name))?;
    Ok(Measurement { compiled, board, result })
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
            layers: &[],
        }
    }

    fn text(&self) -> String {
        let cycles = self.result.cycles;
        let micros = cycles.saturating_mul(1_000_000) / u64::from(self.board.clock_hz).max(1);
        let note = format!("µs at {} MHz, if no wait states come on top", self.board.clock_hz / 1_000_000);
        let after_reset = "at the clock after reset, wait states of that clock included";
        let time = vec![("cycles, measured", cycles, after_reset.into()), ("time", micros, note)];
        self.costs().text(time, "")
    }

    fn json(&self) -> Value {
        self.costs().json(json!({ "cycles_measured": self.result.cycles, "clock_hz": self.board.clock_hz }))
    }
}
