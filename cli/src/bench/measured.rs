//! What one inference takes on a real board, measured there.

use super::macs;
use super::text::per_mac;
use crate::place::{build_firmware, for_board, TIME_LIMIT};
use anyhow::{Context, Result};
use kiln_boards::{firmware, probe, Board};
use kiln_codegen::{compile, Compiled, Options};
use serde_json::{json, Value};
use std::fmt::Write;
use std::path::Path;

/// What was measured on a board.
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
) -> Result<Measurement> {
    let bytes = kiln_codegen::read_file(model)?;
    let compiled = compile(&bytes, &kiln_codegen::model_name(model), &for_board(options, board))?;
    let image = build_firmware(&compiled, board, firmware::Mode::Bench)?;
    let result = probe::bench(&image, probe, TIME_LIMIT).with_context(|| format!("on {}", board.name))?;
    Ok(Measurement { compiled, board, result })
}

impl Measurement {
    /// For people.
    pub fn text(&self) -> String {
        let (plan, result) = (&self.compiled.plan, &self.result);
        let mut out = format!(
            "{} on {}, optimize = {:?}\n",
            self.compiled.graph.name,
            self.board.name,
            self.compiled.options.optimize.name()
        );
        let mut line = |what: &str, number: u64, note: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "  {what:<17} {number:>13}  {note}");
        };
        line(
            "cycles, measured",
            result.cycles,
            "at the clock after reset, wait states of that clock included",
        );
        let macs = self.macs();
        if macs > 0 {
            line("MACs", macs, &format!("{} cycles each", per_mac(result.cycles, macs)));
        }
        let micros = result.cycles.saturating_mul(1_000_000) / u64::from(self.board.clock_hz).max(1);
        let note = format!("µs at {} MHz, if no wait states come on top", self.board.clock_hz / 1_000_000);
        line("time", micros, &note);
        line("arena", plan.arena_bytes as u64, "bytes (scratch)");
        line("state", plan.state_bytes as u64, "bytes (retained)");
        line("stack, measured", result.stack_bytes, "bytes (painted before, high-water mark after)");
        line(
            "flash: code",
            result.flash.code,
            &format!("bytes: {} of the model and its kernels", result.flash.model_code),
        );
        line("flash: constants", result.flash.constants, "bytes");
        line("flash: weights", result.flash.weights, "bytes");
        out
    }

    /// For programs.
    pub fn json(&self) -> Value {
        json!({
            "model": self.compiled.graph.name,
            "board": self.board.name,
            "optimize": self.compiled.options.optimize.name(),
            "input": self.compiled.options.input.name(),
            "cycles_measured": self.result.cycles,
            "clock_hz": self.board.clock_hz,
            "macs": self.macs(),
            "arena_bytes": self.compiled.plan.arena_bytes,
            "fast_bytes": self.compiled.plan.fast_bytes,
            "state_bytes": self.compiled.plan.state_bytes,
            "stack_bytes": self.result.stack_bytes,
            "flash_code_bytes": self.result.flash.code,
            "flash_model_code_bytes": self.result.flash.model_code,
            "flash_const_bytes": self.result.flash.constants,
            "flash_weights_bytes": self.result.flash.weights,
        })
    }

    /// Multiply-accumulates of one inference; 0 of a sliding model, a hop of which computes a part of them.
    fn macs(&self) -> u64 {
        match super::slides(&self.compiled) {
            true => 0,
            false => {
                (0..self.compiled.schedule.steps.len()).map(|step| macs::macs(&self.compiled, step)).sum()
            }
        }
    }
}
