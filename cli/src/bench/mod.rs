//! `cargo kiln bench`: what one inference costs, on an emulated board or a real one.

pub(crate) mod macs;
mod measured;
mod text;
mod trade;

pub use measured::{measure, Measurement};
pub use trade::{trade, trade_json};

use crate::place::{build_firmware, emulated, for_board, TIME_LIMIT};
use anyhow::{Context, Result};
use kiln_boards::cycles::Count;
use kiln_boards::qemu::BenchResult;
use kiln_boards::{firmware, qemu};
use kiln_codegen::report::memory;
use kiln_codegen::{compile, Compiled, Input, Options};
use serde_json::{json, Value};
use std::collections::BTreeMap;
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
    step: usize,
    op: String,
    name: String,
    /// The kernels it calls.
    kernels: String,
    /// Multiply-accumulates; `None` for a hop of a sliding model, which computes a part of them.
    macs: Option<u64>,
    instructions: u64,
    cycles: u64,
}

/// Measures one inference: executed instructions (exact), cycles of the board's core (estimated), memory. Of a model that is fed by rows it is all
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
            let macs = (!slides(compiled)).then(|| macs::macs(compiled, step));
            let kernels = kernels(compiled, step);
            Layer { step, op: op.into(), name: name.into(), kernels, macs, instructions: 0, cycles: 0 }
        });
        layer.instructions += count.instructions;
        layer.cycles += count.cycles;
    }
    layers.into_values().collect()
}

/// Names of the kernels that a step calls, each once.
fn kernels(compiled: &Compiled, step: usize) -> String {
    let calls = compiled.program.calls.iter().filter(|call| call.step == step);
    let mut names: Vec<&str> = calls.map(|call| call.kernel).collect();
    names.dedup();
    names.join(", ")
}

fn slides(compiled: &Compiled) -> bool {
    compiled.program.fed.is_some_and(|fed| fed.slide.is_some())
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

    /// What was measured.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// Counts of each step, where they were measured.
    pub fn step_counts(&self) -> impl Iterator<Item = (usize, Count)> + '_ {
        self.layers.iter().map(|l| (l.step, Count { instructions: l.instructions, cycles: l.cycles }))
    }

    /// The measurements.
    pub fn result(&self) -> &BenchResult {
        &self.result
    }

    /// Multiply-accumulates of one inference; `None` of a sliding model, a hop of which computes a part of them.
    pub fn macs(&self) -> Option<u64> {
        let steps = 0..self.compiled.schedule.steps.len();
        (!slides(&self.compiled)).then(|| steps.map(|step| macs::macs(&self.compiled, step)).sum())
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let layers: Vec<Value> = self
            .layers
            .iter()
            .map(|l| json!({ "op": l.op, "name": l.name, "kernels": l.kernels, "macs": l.macs, "instructions": l.instructions, "cycles_estimated": l.cycles }))
            .collect();
        json!({
            "model": self.compiled.graph.name,
            "board": self.board,
            "optimize": self.compiled.options.optimize.name(),
            "input": self.compiled.options.input.name(),
            "instructions": self.result.total.instructions,
            "cycles_estimated": self.result.total.cycles,
            "cycles_estimated_of": self.result.core.estimate(),
            "unaligned_cycles": self.result.unaligned_cycles,
            "macs": self.macs(),
            "arena_bytes": self.compiled.plan.arena_bytes,
            "fast_bytes": self.compiled.plan.fast_bytes,
            "state_bytes": self.compiled.plan.state_bytes,
            "stack_bytes": self.result.stack_bytes,
            "flash_code_bytes": self.result.flash.code,
            "flash_model_code_bytes": self.result.flash.model_code,
            "flash_const_bytes": self.result.flash.constants,
            "flash_weights_bytes": self.result.flash.weights,
            "window_instructions": self.window.map(|count| count.instructions),
            "window_cycles_estimated": self.window.map(|count| count.cycles),
            "layers": layers,
        })
    }
}
