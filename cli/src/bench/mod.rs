//! `cargo kiln bench`: what one inference costs, on an emulated board or a real one.

mod costs;
mod layers;
mod measured;
mod trade;

pub use costs::{Benchmark, Costs};
pub use measured::{measure, Measurement};
pub use trade::{trade, trade_json};

use crate::on_board;
use crate::place::{build_firmware, emulated, for_board, TIME_LIMIT};
use anyhow::{Context, Result};
use costs::Line;
use kiln_boards::cycles::Count;
use kiln_boards::qemu::BenchResult;
use kiln_boards::{firmware, probe, qemu, Board};
use kiln_codegen::{compile, Compiled, Events, Input, Options};
use kiln_tools::number::grouped;
use kiln_tools::report::on_board::OnBoard;
use layers::{Layer, Took};
use serde_json::{json, Value};
use std::path::Path;

/// What a benchmark on an emulated board found.
#[derive(Clone, Debug)]
pub struct Report {
    compiled: Compiled,
    board: &'static Board,
    result: BenchResult,
    layers: Vec<Layer>,
    /// Of a sliding model: an inference on a whole window, as the same model computes it without sliding.
    window: Option<Count>,
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
        true => {
            // What is counted from mark to mark is of the step that the mark announces.
            let counts = measure(&Options { trace: true, ..options.clone() })?.1.steps;
            layers::counted(&compiled, compiled.program.marks().into_iter().zip(counts))
        }
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
    Ok(Report { compiled, board, result, layers, window })
}

/// Where cycles of a compiled model are counted, with the serial number of a real board's debug probe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bench<'p> {
    pub(crate) board: &'static Board,
    pub(crate) probe: Option<&'p str>,
}

impl Bench<'_> {
    /// Cycles of an inference: estimated on an emulated board, measured on a real one.
    ///
    /// # Errors
    /// Where the model does not build or run there.
    pub(crate) fn whole(&self, compiled: &Compiled) -> Result<u64> {
        let image = build_firmware(compiled, self.board, firmware::Mode::Bench)?;
        match self.board.is_emulated() {
            true => Ok(qemu::bench(&image, None, TIME_LIMIT)?.total.cycles),
            false => Ok(probe::bench(&image, self.probe, TIME_LIMIT)?.cycles),
        }
    }

    /// The same of each step, with its index. `compile` compiles the model with other options than it was compiled with.
    ///
    /// # Errors
    /// As [`Self::whole`], and those of `compile`.
    pub(crate) fn steps(
        &self,
        compiled: &Compiled,
        compile: impl Fn(&Options) -> Result<Compiled>,
    ) -> Result<Vec<(usize, u64)>> {
        let layers = match self.board.is_emulated() {
            true => {
                let traced = compile(&Options { trace: true, ..compiled.options.clone() })?;
                let image = build_firmware(&traced, self.board, firmware::Mode::Bench)?;
                let counts = qemu::bench(&image, None, TIME_LIMIT)?.steps;
                layers::counted(compiled, compiled.program.marks().into_iter().zip(counts))
            }
            false => {
                let told = compile(&Options { events: Events::Layers, ..compiled.options.clone() })?;
                let image = build_firmware(&told, self.board, firmware::Mode::Layers)?;
                layers::measured(compiled, probe::layers(&image, self.probe, TIME_LIMIT)?)
            }
        };
        Ok(layers.iter().map(|layer| (layer.step, layer.took.cycles())).collect())
    }
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
        self.layers.iter().filter_map(|layer| match layer.took {
            Took::Counted(count) => Some((layer.step, count)),
            Took::Measured(_) => None,
        })
    }

    /// The measurements.
    pub fn result(&self) -> &BenchResult {
        &self.result
    }

    /// Multiply-accumulates of one inference; `None` of a sliding model, a hop of which computes a part of them.
    pub fn macs(&self) -> Option<u64> {
        self.costs().macs()
    }

    /// The cycles as time and energy of boards that the emulated one stands for.
    pub fn on_boards(&self) -> Vec<OnBoard> {
        on_board::on_boards_like(self.board, self.result.total.cycles)
    }

    /// Instructions and cycles for people.
    fn time(&self) -> Vec<Line> {
        let result = &self.result;
        let Count { instructions, cycles } = result.total;
        let mut lines = vec![("instructions", instructions, String::new())];
        lines.push(("cycles, estimated", cycles, format!("({})", result.core.estimate())));
        if let Some([slow, cortex_m0]) = result.small_cores() {
            lines.push(("", slow, "(with a multiplier of 32 cycles)".into()));
            lines.push(("", cortex_m0, "(Cortex-M0 with single-cycle multiplier)".into()));
        }
        if result.unaligned_cycles > 0 {
            let note = "more, for loads from unaligned addresses".into();
            lines.push(("cycles, unaligned", result.unaligned_cycles, note));
        }
        lines
    }

    /// What sliding saves, in one line.
    fn beside_a_window(&self) -> Option<String> {
        let (hop, window) = (self.result.total, self.window?);
        let percent = |hop: u64, window: u64| 100.0 * hop as f64 / window.max(1) as f64;
        Some(format!(
            "without sliding, a window takes {} instructions and {} cycles: a hop is {:.1} % and {:.1} % of it\n",
            grouped(window.instructions),
            grouped(window.cycles),
            percent(hop.instructions, window.instructions),
            percent(hop.cycles, window.cycles),
        ))
    }
}

impl Benchmark for Report {
    fn costs(&self) -> Costs<'_> {
        Costs {
            compiled: &self.compiled,
            board: &self.board.name,
            instructions: Some(self.result.total.instructions),
            cycles: self.result.total.cycles,
            clock: format!("estimated ({})", self.result.core.estimate()),
            stack_bytes: self.result.stack_bytes,
            flash: &self.result.flash,
            layers: &self.layers,
            on_boards: self.on_boards(),
            on_boards_title: on_board::ESTIMATED,
        }
    }

    fn text(&self) -> String {
        self.costs().text(self.time(), &self.beside_a_window().unwrap_or_default())
    }

    fn json(&self) -> Value {
        self.costs().json(json!({
            "instructions": self.result.total.instructions,
            "cycles_estimated": self.result.total.cycles,
            "cycles_estimated_of": self.result.core.estimate(),
            "unaligned_cycles": self.result.unaligned_cycles,
            "window_instructions": self.window.map(|count| count.instructions),
            "window_cycles_estimated": self.window.map(|count| count.cycles),
        }))
    }
}
