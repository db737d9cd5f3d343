//! `cargo kiln bench`: what one inference costs on an emulated board.

use crate::place::{build_firmware, emulated, for_board, TIME_LIMIT};
use anyhow::{Context, Result};
use kiln_boards::cycles::Count;
use kiln_boards::qemu::BenchResult;
use kiln_boards::{firmware, qemu};
use kiln_codegen::report::memory;
use kiln_codegen::select::{Fed, Slide};
use kiln_codegen::{compile, Compiled, Input, Options};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// What a benchmark found.
#[derive(Clone, Debug)]
pub struct Report {
    compiled: Compiled,
    board: String,
    result: BenchResult,
    layers: Vec<Layer>,
    /// Of a sliding model: an inference on a whole window, as the same model computes it without sliding.
    window: Option<Count>,
}

/// One step.
#[derive(Clone, Debug)]
struct Layer {
    op: String,
    name: String,
    instructions: u64,
    cycles: u64,
}

/// Measures one inference: executed instructions (exact), cycles of a Cortex-M4 (estimated), memory. Of a model that is fed by rows it is all
/// rows of an input, of a sliding model one hop, beside which the model is measured on whole windows.
///
/// With `per_layer` the model is measured once more with a marker before each step; the totals are those without.
///
/// # Errors
/// Where the model does not compile, build or run there.
pub fn bench(model: &Path, options: &Options, on: &str, per_layer: bool) -> Result<Report> {
    let board = emulated(on).context("instructions are counted under QEMU")?;
    let options = &for_board(options, board);
    let bytes = kiln_codegen::read_file(model)?;
    let name = kiln_codegen::model_name(model);
    let measure = |options: &Options| -> Result<(Compiled, BenchResult)> {
        let compiled = compile(&bytes, &name, options)?;
        let image = build_firmware(&compiled, board, firmware::Mode::Bench)?;
        let result = qemu::bench(&image, None, TIME_LIMIT)?;
        Ok((compiled, result))
    };
    let (compiled, result) = measure(options)?;
    let layers = match per_layer {
        true => layers(&compiled, &measure(&Options { trace: true, ..options.clone() })?.1),
        false => Vec::new(),
    };
    let window = match options.input {
        // A budget is for what slides.
        Input::Sliding => {
            let whole = Options { input: Input::Whole, ram: None, flash: None, ..options.clone() };
            Some(measure(&whole)?.1.total)
        }
        Input::Whole | Input::Rows => None,
    };
    Ok(Report { compiled, board: on.into(), result, layers, window })
}

/// What was counted from mark to mark, by step.
fn layers(compiled: &Compiled, traced: &BenchResult) -> Vec<Layer> {
    let mut layers: BTreeMap<usize, Layer> = BTreeMap::new();
    for (step, count) in compiled.program.marks().into_iter().zip(&traced.steps) {
        let layer = layers.entry(step).or_insert_with(|| {
            let (op, name) = memory::computed(compiled, step);
            Layer { op: op.into(), name: name.into(), instructions: 0, cycles: 0 }
        });
        layer.instructions += count.instructions;
        layer.cycles += count.cycles;
    }
    layers.into_values().collect()
}

impl Report {
    /// Executed instructions of one inference.
    pub fn instructions(&self) -> u64 {
        self.result.total.instructions
    }

    /// Of a sliding model: executed instructions of an inference on a whole window, without sliding.
    pub fn window_instructions(&self) -> Option<u64> {
        self.window.map(|count| count.instructions)
    }

    /// The model's name.
    pub fn model(&self) -> &str {
        &self.compiled.graph.name
    }

    /// Bytes of arenas and state.
    pub fn ram_bytes(&self) -> usize {
        self.compiled.plan.ram_bytes()
    }

    /// Bytes of flash that are not model data: code and other constants of the whole image.
    pub fn flash_besides_weights(&self) -> u64 {
        self.result.flash.code + self.result.flash.constants
    }

    /// The measurements.
    pub fn result(&self) -> &BenchResult {
        &self.result
    }

    /// For people.
    pub fn text(&self) -> String {
        let (result, plan) = (&self.result, &self.compiled.plan);
        let fast = plan
            .fast_bytes
            .map_or(String::new(), |bytes| format!("\n\x20 fast arena        {bytes:>12}  bytes (scratch)"));
        let mut out = format!(
            "{} on {}, optimize = {:?}{}\n\
             \x20 instructions      {:>12}\n\
             \x20 cycles, estimated {:>12}  (Cortex-M4, no wait states){fast}\n\
             \x20 arena             {:>12}  bytes (scratch)\n\
             \x20 state             {:>12}  bytes (retained)\n\
             \x20 stack, measured   {:>12}  bytes (painted before, high-water mark after)\n\
             \x20 flash: code       {:>12}  bytes (whole image)\n\
             \x20 flash: constants  {:>12}  bytes\n\
             \x20 flash: weights    {:>12}  bytes\n",
            self.compiled.graph.name,
            self.board,
            self.compiled.options.optimize.name(),
            self.what(),
            result.total.instructions,
            result.total.cycles,
            plan.arena_bytes,
            plan.state_bytes,
            result.stack_bytes,
            result.flash.code,
            result.flash.constants,
            result.flash.weights,
        );
        if let Some(window) = self.window {
            let percent = |hop: u64, window: u64| 100.0 * hop as f64 / window.max(1) as f64;
            // Writing to a string cannot fail.
            let _ = writeln!(
                out,
                "without sliding, a window takes {} instructions and {} cycles: a hop is {:.1} % and {:.1} % of it",
                window.instructions,
                window.cycles,
                percent(result.total.instructions, window.instructions),
                percent(result.total.cycles, window.cycles),
            );
        }
        if !self.layers.is_empty() {
            let width = self.layers.iter().map(|l| l.op.len()).max().unwrap_or(0);
            let _ = writeln!(
                out,
                "\n{:>4}  {:<width$}  {:>12}  {:>12}      %  name",
                "step", "op", "instructions", "cycles"
            );
            let all: u64 = self.layers.iter().map(|l| l.cycles).sum();
            for (step, layer) in self.layers.iter().enumerate() {
                let share = 100.0 * layer.cycles as f64 / all.max(1) as f64;
                let _ = writeln!(
                    out,
                    "{step:>4}  {:<width$}  {:>12}  {:>12}  {share:>5.1}  {}",
                    layer.op, layer.instructions, layer.cycles, layer.name
                );
            }
        }
        out
    }

    /// What was measured, if not an inference on a whole input.
    fn what(&self) -> String {
        match self.compiled.program.fed {
            None => String::new(),
            Some(Fed { slide: Some(Slide { hop: 1, .. }), .. }) => ", each frame".into(),
            Some(Fed { slide: Some(Slide { hop, .. }), .. }) => format!(", each hop of {hop} frames"),
            Some(Fed { rows, .. }) => format!(", {rows} rows"),
        }
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let layers: Vec<Value> = self
            .layers
            .iter()
            .map(|l| json!({ "op": l.op, "name": l.name, "instructions": l.instructions, "cycles_estimated": l.cycles }))
            .collect();
        json!({
            "model": self.compiled.graph.name,
            "board": self.board,
            "optimize": self.compiled.options.optimize.name(),
            "input": self.compiled.options.input.name(),
            "instructions": self.result.total.instructions,
            "cycles_estimated": self.result.total.cycles,
            "arena_bytes": self.compiled.plan.arena_bytes,
            "fast_bytes": self.compiled.plan.fast_bytes,
            "state_bytes": self.compiled.plan.state_bytes,
            "stack_bytes": self.result.stack_bytes,
            "flash_code_bytes": self.result.flash.code,
            "flash_const_bytes": self.result.flash.constants,
            "flash_weights_bytes": self.result.flash.weights,
            "window_instructions": self.window.map(|count| count.instructions),
            "window_cycles_estimated": self.window.map(|count| count.cycles),
            "layers": layers,
        })
    }
}
